package program

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// files keeps the programs that users named, as long as the files are the same.
var files struct {
	sync.Mutex
	known map[file]Program
}

// file is what identifies a file's content without reading it.
type file struct {
	path, arch string
	size       int64 // bytes
	changed    time.Time
}

// given loads the file that the user named with --guest.
func given(path, arch string) (Program, error) {
	// Asked before opening: opening a pipe that nobody writes to waits for ever.
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Program{}, unusable(path, errors.New("there is no such file"))
	case err != nil:
		return Program{}, unusable(path, err)
	case !info.Mode().IsRegular():
		return Program{}, unusable(path, fmt.Errorf("it is not a file (%s)", info.Mode()))
	case info.Size() > maxSize:
		return Program{}, unusable(path, fmt.Errorf("it has %d bytes; the agent has a few megabytes, and more than %d are not read", info.Size(), maxSize))
	}
	key := file{path, arch, info.Size(), info.ModTime()}
	files.Lock()
	defer files.Unlock()
	if p, ok := files.known[key]; ok {
		return p, nil
	}
	data, err := readFile(path)
	if err != nil {
		return Program{}, unusable(path, err)
	}
	if err := checkExecutable(data, arch); err != nil {
		return Program{}, unusable(path, err)
	}
	p := newProgram(data)
	files.known = map[file]Program{key: p} // one is enough: there is one --guest
	return p, nil
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxSize {
		return nil, fmt.Errorf("it grew over %d bytes while it was read", maxSize)
	}
	return data, nil
}

func unusable(path string, why error) error {
	return &backends.Error{
		Code:    backends.CodeInvalidArgument,
		Op:      op,
		Path:    path,
		Message: "this cannot be the guest agent (--guest): " + why.Error(),
		Err:     why,
	}
}

var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// checkExecutable says what keeps data from running as the agent in a Linux
// container of an architecture, whatever else the container holds.
func checkExecutable(data []byte, arch string) error {
	if !bytes.HasPrefix(data, []byte(elf.ELFMAG)) {
		return fmt.Errorf("it is %s, not an ELF executable for linux/%s", kind(data), arch)
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("it is a damaged ELF file: %w", err)
	}
	if f.OSABI != elf.ELFOSABI_NONE && f.OSABI != elf.ELFOSABI_LINUX {
		return fmt.Errorf("it is an ELF file for another system than Linux (%s)", f.OSABI)
	}
	if f.Class != elf.ELFCLASS64 || f.Machine != machines[arch] {
		return fmt.Errorf("it is for %s (%s) and the container is %s; build it with GOARCH=%s", f.Machine, f.Class, arch, arch)
	}
	if f.Type != elf.ET_EXEC && f.Type != elf.ET_DYN {
		return fmt.Errorf("it is an ELF file, but not an executable (%s)", f.Type)
	}
	loads := false
	for _, p := range f.Progs {
		switch p.Type {
		case elf.PT_INTERP:
			return errors.New("it is dynamically linked, and the container may not have its libraries; build it with CGO_ENABLED=0")
		case elf.PT_LOAD:
			loads = true
		}
	}
	if libraries, err := f.ImportedLibraries(); err == nil && len(libraries) > 0 {
		return fmt.Errorf("it needs shared libraries (%v), which the container may not have; build it with CGO_ENABLED=0", libraries)
	}
	if !loads || f.Entry == 0 {
		return errors.New("it is an ELF file that nothing can be run from")
	}
	return nil
}

// kind names what a file seems to be, for those who took the wrong one.
func kind(data []byte) string {
	for _, k := range []struct{ magic, name string }{
		{"\xcf\xfa\xed\xfe", "a macOS executable"},
		{"\xce\xfa\xed\xfe", "a macOS executable"},
		{"\xca\xfe\xba\xbe", "a macOS executable"},
		{"MZ", "a Windows executable"},
		{"#!", "a script"},
		{"\x1f\x8b", "a gzip file"},
		{"PK\x03\x04", "a zip file"},
		{"!<arch>\n", "an archive"},
	} {
		if bytes.HasPrefix(data, []byte(k.magic)) {
			return k.name
		}
	}
	if len(data) == 0 {
		return "an empty file"
	}
	return "something else"
}
