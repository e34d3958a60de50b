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
	"slices"
	"sync"
	"time"
)

// Where the whole output of commands is kept, below the root, and of how many
// commands. A .gitignore keeps the directory out of what the user commits.
const (
	stateDir    = ".mcp-workspace"
	outputDir   = stateDir + "/output"
	keptOutputs = 20
)

// outputs keeps the output of commands in files.
type outputs struct {
	files *confined
	log   *slog.Logger

	mu      sync.Mutex
	writing map[string]bool // names that are not to be pruned
}

// open makes a file for one command's output, and takes the oldest ones away.
func (o *outputs) open() (string, io.WriteCloser, error) {
	root := o.files.root
	if err := root.MkdirAll(outputDir, 0o700); err != nil {
		return "", nil, err
	}
	if err := o.hideFromGit(); err != nil {
		return "", nil, err
	}
	// Names sort by age.
	name := time.Now().UTC().Format("20060102-150405.000000") + "-" + rand.Text()[:8] + ".txt"
	f, err := root.OpenFile(path.Join(outputDir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.writing == nil {
		o.writing = map[string]bool{}
	}
	o.writing[name] = true
	if err := o.prune(); err != nil {
		o.log.Warn("old output files could not be removed", "directory", outputDir, "error", err)
	}
	return filepath.Join(o.files.path, outputDir, name), &outputFile{o: o, name: name, file: f}, nil
}

func (o *outputs) hideFromGit() error {
	f, err := o.files.root.OpenFile(stateDir+"/.gitignore", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString("*\n")
	if err = errors.Join(err, f.Close()); err != nil {
		err = errors.Join(err, o.files.root.Remove(stateDir+"/.gitignore"))
	}
	return err
}

// prune removes all but the newest files, and those that are being written.
func (o *outputs) prune() error {
	entries, err := o.files.ReadDir(filepath.Join(o.files.path, outputDir))
	if err != nil {
		return err
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && path.Ext(e.Name()) == ".txt" {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	for _, name := range names[:max(0, len(names)-keptOutputs)] {
		if o.writing[name] {
			continue
		}
		if e := o.files.root.Remove(path.Join(outputDir, name)); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// outputFile is one command's output. When it cannot be written it is removed:
// a part of the output would pass for the whole.
type outputFile struct {
	o    *outputs
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
		err = errors.Join(err, f.o.files.root.Remove(path.Join(outputDir, f.name)))
	}
	f.o.mu.Lock()
	defer f.o.mu.Unlock()
	delete(f.o.writing, f.name)
	return err
}
