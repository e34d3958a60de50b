package program

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

func TestGivenFileIsUsed(t *testing.T) {
	agent := load(t, "arm64")
	path := filepath.Join(t.TempDir(), "guest")
	write(t, path, bytesOf(t, agent))
	for range 2 {
		p, err := Load(t.Context(), Options{Path: path, Arch: "aarch64"})
		if err != nil {
			t.Fatal(err)
		}
		if p.Digest != agent.Digest {
			t.Error("it is another file's digest")
		}
	}
	// Another file in its place is noticed.
	write(t, path, bytesOf(t, load(t, "amd64")))
	if _, err := Load(t.Context(), Options{Path: path, Arch: "arm64"}); err == nil || !strings.Contains(err.Error(), "EM_X86_64") {
		t.Errorf("the file was replaced by one for amd64: %v", err)
	}
}

func TestGivenFileThatCannotBeUsed(t *testing.T) {
	agent := bytesOf(t, load(t, "amd64"))
	freebsd := bytes.Clone(agent)
	freebsd[elf.EI_OSABI] = byte(elf.ELFOSABI_FREEBSD)
	object := bytes.Clone(agent)
	binary.LittleEndian.PutUint16(object[16:], uint16(elf.ET_REL))
	narrow := bytes.Clone(agent)
	narrow[elf.EI_CLASS] = byte(elf.ELFCLASS32)
	for name, c := range map[string]struct {
		data []byte
		says string
	}{
		"empty":                {nil, "an empty file"},
		"text":                 {[]byte("hello\n"), "not an ELF executable"},
		"script":               {[]byte("#!/bin/sh\n"), "a script"},
		"compressed":           {[]byte("\x1f\x8b\x08\x00"), "a gzip file"},
		"another architecture": {bytesOf(t, load(t, "arm64")), "EM_AARCH64"},
		"another system":       {freebsd, "another system"},
		"object file":          {object, "not an executable"},
		"32 bits":              {narrow, "ELF"},
		"cut in its header":    {agent[:40], "damaged"},
		"only a magic number":  {[]byte(elf.ELFMAG), "damaged"},
		"macOS":                {helloFor(t, "darwin", "arm64"), "a macOS executable"},
		"Windows":              {helloFor(t, "windows", "amd64"), "a Windows executable"},
		"dynamic":              {dynamic(t), "dynamically linked"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "guest")
			write(t, path, c.data)
			_, err := Load(t.Context(), Options{Path: path, Arch: "amd64"})
			if backends.CodeOf(err) != backends.CodeInvalidArgument {
				t.Fatalf("the code is %q: %v", backends.CodeOf(err), err)
			}
			for _, part := range []string{path, "--guest", c.says} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
		})
	}
}

func TestGivenPathWithoutAFile(t *testing.T) {
	dir := t.TempDir()
	for path, says := range map[string]string{
		dir:                         "not a file",
		filepath.Join(dir, "none"):  "no such file",
		os.DevNull:                  "not a file",
		filepath.Join(dir, "a\x00"): "invalid",
	} {
		_, err := Load(t.Context(), Options{Path: path, Arch: "amd64"})
		if backends.CodeOf(err) != backends.CodeInvalidArgument || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", path, err)
		}
	}
}

// helloFor builds a small program for a system.
func helloFor(t *testing.T, goos, goarch string, flags ...string) []byte {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "main.go"), []byte("package main\n\nfunc main() { println(1) }\n"))
	out := filepath.Join(dir, "hello")
	args := append([]string{"build", "-o", out}, flags...)
	cmd := exec.Command("go", append(args, "main.go")...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS="+goos, "GOARCH="+goarch)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build for %s/%s: %v\n%s", goos, goarch, err, said)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// dynamic is a program that is loaded by the system's dynamic linker.
func dynamic(t *testing.T) []byte {
	return helloFor(t, "linux", "amd64", "-buildmode=pie")
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
