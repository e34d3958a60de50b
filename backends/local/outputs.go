//go:build linux || darwin

package local

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"sync"
	"time"
)

// Where the whole output of commands is kept, below the root, and of how many
// commands: the newest, and all that were begun lately, so that a command's
// result names a file that is there. A .gitignore keeps the directory out of
// what the user commits.
const (
	stateDir    = ".mcp-workspace"
	outputDir   = stateDir + "/output"
	keptOutputs = 20
	keptFor     = 10 * time.Minute
)

// outputTime is how the names of output files begin: they sort by age.
const outputTime = "20060102-150405.000000"

// outputName is the form of those names. Nothing else is removed: the directory
// is among the user's files.
var outputName = regexp.MustCompile(`^\d{8}-\d{6}\.\d{6}-[A-Z2-7]{8}\.txt$`)

// outputs keeps the output of commands in files.
type outputs struct {
	files *confined
	log   *slog.Logger

	mu      sync.Mutex
	writing map[string]bool // names that are not to be pruned
}

// open makes a file for one command's output, and takes the oldest ones away.
func (o *outputs) open() (_ string, _ io.WriteCloser, err error) {
	if o.files.gone() {
		return "", nil, goneError(o.files.path)
	}
	dir, err := o.openDir()
	if err != nil {
		return "", nil, err
	}
	defer func() {
		if err != nil {
			dir.Close()
		}
	}()
	name := time.Now().UTC().Format(outputTime) + "-" + rand.Text()[:8] + ".txt"
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.writing == nil {
		o.writing = map[string]bool{}
	}
	o.writing[name] = true
	if err := o.prune(dir); err != nil {
		o.log.Warn("old output files could not be removed", "directory", outputDir, "error", err)
	}
	return filepath.Join(o.files.path, outputDir, name), &outputFile{o: o, dir: dir, name: name, file: f}, nil
}

// openDir opens the directory for outputs, and makes what is missing.
func (o *outputs) openDir() (*os.Root, error) {
	state, err := subdirectory(o.files.root, stateDir)
	if err != nil {
		return nil, err
	}
	defer state.Close()
	if err := hideFromGit(state); err != nil {
		return nil, err
	}
	return subdirectory(state, path.Base(outputDir))
}

// subdirectory opens directory name of dir, made when it is missing. It refuses
// a symlink, even one within the root: files are removed there.
func subdirectory(dir *os.Root, name string) (*os.Root, error) {
	if err := dir.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	sub, err := dir.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if err := sameDir(sub, func() (fs.FileInfo, error) { return dir.Lstat(name) }, name); err != nil {
		sub.Close()
		return nil, err
	}
	return sub, nil
}

func hideFromGit(dir *os.Root) error {
	f, err := dir.OpenFile(".gitignore", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString("*\n")
	if err = errors.Join(err, f.Close()); err != nil {
		err = errors.Join(err, dir.Remove(".gitignore"))
	}
	return err
}

// prune removes all but the newest files, those that were begun lately, and
// those that are being written.
func (o *outputs) prune(dir *os.Root) error {
	entries, err := fs.ReadDir(dir.FS(), ".")
	if err != nil {
		return err
	}
	var names []string
	for _, e := range entries { // by name
		if e.Type().IsRegular() && outputName.MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	lately := time.Now().UTC().Add(-keptFor).Format(outputTime)
	for _, name := range names[:max(0, len(names)-keptOutputs)] {
		if o.writing[name] || name >= lately {
			continue
		}
		if e := dir.Remove(name); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// outputFile is one command's output. When it cannot be written it is removed:
// a part of the output would pass for the whole.
type outputFile struct {
	o    *outputs
	dir  *os.Root // that it is in
	name string
	file *os.File
	bad  bool
}

func (f *outputFile) Write(p []byte) (int, error) {
	n, err := f.file.Write(p)
	f.bad = f.bad || err != nil
	return n, err
}

func (f *outputFile) Close() error {
	err := f.file.Close()
	if f.bad || err != nil {
		err = errors.Join(err, f.dir.Remove(f.name))
	}
	f.dir.Close()
	f.o.mu.Lock()
	defer f.o.mu.Unlock()
	delete(f.o.writing, f.name)
	return err
}
