package commands

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
)

var installOptions = NewOptions(1, "b", "backup=?", "c", "C compare", "d directory", "D", "g group=", "m mode=", "o owner=", "p preserve-timestamps", "s strip", "strip-program=",
	"S suffix=", "t target-directory=", "T no-target-directory", "v verbose", "preserve-context", "Z context=?")

// installer is one run of install.
type installer struct {
	p                               *Proc
	mode                            fs.FileMode
	parents, compare, keep, verbose bool
	backup                          string
	code                            int
}

func install(p *Proc) int {
	opts, code := p.Parse(installOptions)
	if opts == nil {
		return code
	}
	i := &installer{p: p, mode: 0o755, parents: opts.Has("D"), compare: opts.Has("C"), keep: opts.Has("p"), verbose: opts.Has("v")}
	if opts.Has("b", "backup") {
		i.backup = "~"
	}
	if suffix, ok := opts.Value("S"); ok {
		i.backup = suffix
	}
	if text, ok := opts.Value("m"); ok {
		change, err := parseMode(text)
		if err != nil {
			return p.Errorf(1, "invalid mode: %s", Quote(text))
		}
		i.mode = change.apply(0, opts.Has("d"))
	}
	if opts.Has("d") {
		if len(opts.Args) == 0 {
			return p.Usage(1, "missing file operand")
		}
		for _, name := range opts.Args {
			if i.directory(name) {
				if err := p.Files.Chmod(p.Path(name), i.mode); err != nil {
					i.code = p.Errorf(1, "cannot change permissions of %s: %s", Quote(name), Reason(err))
				}
			}
		}
		return i.code
	}
	if dir, ok := opts.Value("t"); ok && i.parents && !i.directory(dir) {
		return i.code
	}
	return p.eachTarget(opts, i.file, false, &i.code)
}

// directory makes a directory and its parents.
func (i *installer) directory(name string) bool {
	p := i.p
	if info, err := p.Stat(name); err == nil && info.IsDir() {
		return true
	}
	if dir := path.Dir(path.Clean(name)); dir != name && !i.directory(dir) {
		return false
	}
	if err := p.Files.Mkdir(p.Path(name), 0o755); err != nil {
		i.code = p.Errorf(1, "cannot create directory %s: %s", Quote(name), Reason(err))
		return false
	}
	if i.verbose {
		p.Out.WriteString(p.Name + ": creating directory " + Quote(path.Clean(name)) + "\n")
	}
	return true
}

// file installs one file.
func (i *installer) file(from, to string) {
	p := i.p
	if i.parents && !i.directory(path.Dir(to)) {
		return
	}
	info, err := p.Stat(from)
	if err != nil {
		i.code = p.Errorf(1, "cannot stat %s: %s", Quote(from), Reason(err))
		return
	}
	if info.IsDir() {
		i.code = p.Errorf(1, "omitting directory %s", Quote(from))
		return
	}
	there, err := p.Stat(to)
	switch {
	case err == nil && there.IsDir():
		i.code = p.Errorf(1, "cannot overwrite directory %s with non-directory", Quote(to))
		return
	case err == nil && SameFile(info, there):
		i.code = p.Errorf(1, "%s and %s are the same file", Quote(from), Quote(to))
		return
	case err == nil && i.compare && there.Mode() == i.mode && i.same(from, to, info, there):
		return
	}
	if err := i.makeRoom(to); err != nil {
		i.code = p.Errorf(1, "cannot remove %s: %s", Quote(to), Reason(err))
		return
	}
	c := &copier{p: p, keep: i.keep}
	err = c.copyFile(from, to, info, false)
	if err == nil {
		err = p.Files.Chmod(p.Path(to), i.mode)
	}
	if err != nil {
		if !p.Stopped() {
			i.code = p.Errorf(1, "cannot create regular file %s: %s", Quote(to), Reason(err))
		}
		return
	}
	if i.verbose {
		p.Out.WriteString(Quote(from) + " -> " + Quote(to) + "\n")
	}
}

// makeRoom removes what is in the place of a file, or renames it. A symlink goes
// itself, and not the file that it leads to.
func (i *installer) makeRoom(to string) error {
	p := i.p
	if _, err := p.Lstat(to); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	if i.backup != "" {
		return p.Files.Rename(p.Path(to), p.Path(to+i.backup))
	}
	if err := p.Files.Remove(p.Path(to)); err != nil {
		return err
	}
	if i.verbose {
		p.Out.WriteString("removed " + Quote(to) + "\n")
	}
	return nil
}

// same tells whether two files have the same content.
func (i *installer) same(a, b string, x, y fs.FileInfo) bool {
	if x.Size() != y.Size() || !x.Mode().IsRegular() {
		return false
	}
	held := i.p.held
	defer func() { i.p.Release(int(i.p.held - held)) }()
	one, err := i.p.ReadFile(a)
	if err != nil {
		return false // it is said when it is copied
	}
	other, err := i.p.ReadFile(b)
	return err == nil && bytes.Equal(one, other)
}
