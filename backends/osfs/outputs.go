//go:build linux || darwin

package osfs

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"regexp"
	"sync"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends/fsops"
)

// The output of how many commands is kept: of the newest, and of all that were
// begun lately, so that a command's result names a file that is there.
const (
	keptOutputs = 20
	keptFor     = 10 * time.Minute
)

// outputTime is how the names of output files begin: they sort by age.
const outputTime = "20060102-150405.000000"

// outputName is the form of those names. Nothing else is removed: the directory
// may be among the user's files.
var outputName = regexp.MustCompile(`^\d{8}-\d{6}\.\d{6}-[A-Z2-7]{8}\.txt$`)

// Outputs keeps the whole output of commands in files: of the 20 newest
// commands, and of all that were begun in the last 10 minutes. It is safe for
// concurrent use, by several processes too.
type Outputs struct {
	files *FS
	base  string // where the next is, which may be reached through symlinks
	state string // the name of a directory there
	dir   string // the name of the directory there that the files are in
	log   *slog.Logger

	mu      sync.Mutex
	writing map[string]bool // names that are not to be pruned
}

// NewOutputs keeps files in dir, an absolute path at least two parts below the
// root of files, such as "/tmp/.mcp-workspace/output". What is missing of it is
// made with the first output. The last two parts of dir are for this alone: they are made for this
// user only, are never followed when they are symlinks, and the upper one gets
// a .gitignore that keeps both out of what the user commits. Logger hears of old
// files that cannot be removed; nil is silent.
func NewOutputs(files *FS, dir string, logger *slog.Logger) *Outputs {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	state := path.Dir(path.Clean(dir))
	return &Outputs{files: files, base: path.Dir(state), state: path.Base(state), dir: path.Base(dir), log: logger, writing: map[string]bool{}}
}

// path is the directory's.
func (o *Outputs) path() string { return path.Join(o.base, o.state, o.dir) }

// Open makes a file for one command's output, returns its path, and takes the
// oldest files away. The file is removed again when Write or Close fails: a part
// of the output would pass for the whole. It suits the OpenOutputFile of package
// procs.
func (o *Outputs) Open() (_ string, _ io.WriteCloser, err error) {
	if o.files.Gone() {
		return "", nil, goneError(o.files.path)
	}
	dir, err := o.openDir()
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", o.path(), err)
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
	o.writing[name] = true
	if err := o.prune(dir); err != nil {
		o.log.Warn("old output files could not be removed", "directory", o.path(), "error", err)
	}
	return path.Join(o.path(), name), &outputFile{o: o, dir: dir, name: name, file: f}, nil
}

// openDir opens the directory for outputs, and makes what is missing.
func (o *Outputs) openDir() (*os.Root, error) {
	base, err := o.openBase()
	if err != nil {
		return nil, err
	}
	defer base.Close()
	state, err := subdirectory(base, o.state)
	if err != nil {
		return nil, err
	}
	defer state.Close()
	if err := hideFromGit(state); err != nil {
		return nil, err
	}
	return subdirectory(state, o.dir)
}

// openBase opens the directory that theirs is in, and makes what is missing.
func (o *Outputs) openBase() (*os.Root, error) {
	at, err := fsops.New(o.files, o.files.path).Resolve(context.Background(), o.base)
	if err != nil {
		return nil, err
	}
	rel, err := o.files.rel(at.Resolved)
	if err != nil {
		return nil, err
	}
	dir, err := o.files.openRoot(rel, at.Resolved)
	if errors.Is(err, fs.ErrNotExist) {
		if err := o.files.MkdirAll(at.Resolved); err != nil {
			return nil, err
		}
		dir, err = o.files.openRoot(rel, at.Resolved)
	}
	return dir, o.files.fail(at.Resolved, err)
}

// subdirectory opens directory name of dir, made when it is missing. It refuses
// a symlink, even one within the root: files are removed there.
func subdirectory(dir *os.Root, name string) (*os.Root, error) {
	if err := dir.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	sub, err := openSub(dir, name)
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
func (o *Outputs) prune(dir *os.Root) error {
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

// outputFile is one command's output.
type outputFile struct {
	o    *Outputs
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
