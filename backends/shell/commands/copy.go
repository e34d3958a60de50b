package commands

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
)

var cpOptions = NewOptions(1, "a archive", "b", "backup=?", "d", "f force", "i interactive", "H", "l link", "L dereference", "n no-clobber", "P no-dereference", "p", "preserve=?", "no-preserve=",
	"parents", "r R recursive", "s symbolic-link", "S suffix=", "t target-directory=", "T no-target-directory", "u update=?", "v verbose", "x one-file-system", "strip-trailing-slashes", "remove-destination", "reflink=?", "sparse=", "attributes-only", "Z", "copy-contents")

// copier is one run of cp or mv.
type copier struct {
	p         *Proc
	recursive bool
	deref     byte // 'L' all, 'H' operands, 'P' none
	keep      bool // times and modes
	noClobber bool
	update    bool
	verbose   bool
	hard      bool
	symbolic  bool
	parents   bool
	backup    string // its suffix
	removes   bool
	attrsOnly bool
	code      int
}

func cp(p *Proc) int {
	opts, code := p.Parse(cpOptions)
	if opts == nil {
		return code
	}
	c := &copier{p: p}
	for _, o := range opts.Options {
		switch o.Key {
		case "a":
			c.recursive, c.keep, c.deref = true, true, 'P'
		case "d", "P":
			c.deref = 'P'
		case "H", "L":
			c.deref = o.Key[0]
		case "l":
			c.hard = true
		case "n":
			c.noClobber = true
		case "i", "f":
			c.noClobber = c.noClobber && o.Key != "f"
		case "p", "preserve":
			c.keep = true
		case "no-preserve":
			c.keep = false
		case "parents":
			c.parents = true
		case "r":
			c.recursive = true
		case "s":
			c.symbolic = true
		case "u":
			c.update = o.Value != "all" && o.Value != "none"
			c.noClobber = c.noClobber || o.Value == "none"
		case "v":
			c.verbose = true
		case "b", "backup":
			if c.backup == "" {
				c.backup = "~"
			}
		case "S":
			c.backup = o.Value
		case "remove-destination":
			c.removes = true
		case "attributes-only":
			c.attrsOnly = true
		}
	}
	if c.deref == 0 {
		c.deref = 'L'
		if c.recursive {
			c.deref = 'P'
		}
	}
	return p.eachTarget(opts, func(from, to string) {
		c.copy(from, to, true, 0, nil)
	}, c.parents, &c.code)
}

// eachTarget calls do with each source and where it goes, as cp and mv
// understand their operands.
func (p *Proc) eachTarget(opts *Parsed, do func(from, to string), parents bool, code *int) int {
	args := opts.Args
	dir, hasDir := opts.Value("t")
	switch {
	case len(args) == 0:
		return p.Usage(1, "missing file operand")
	case len(args) == 1 && !hasDir:
		return p.Usage(1, "missing destination file operand after %s", Quote(args[0]))
	case opts.Has("T") && len(args) > 2:
		return p.Usage(1, "extra operand %s", Quote(args[2]))
	case opts.Has("T"):
		do(args[0], args[1])
		return *code
	}
	if !hasDir {
		dir, args = args[len(args)-1], args[:len(args)-1]
	}
	info, err := p.Stat(dir)
	isDir := err == nil && info.IsDir()
	switch {
	case !isDir && hasDir:
		if err == nil {
			err = syscall.ENOTDIR
		}
		return p.Errorf(1, "target directory %s: %s", Quote(dir), Reason(err))
	case !isDir && parents:
		return p.Errorf(1, "with --parents, the destination must be a directory")
	case !isDir && len(args) > 1:
		if err == nil {
			err = syscall.ENOTDIR
		}
		return p.Errorf(1, "target %s: %s", Quote(dir), Reason(err))
	case !isDir && strings.HasSuffix(dir, "/") && err != nil:
		if from, ferr := p.Stat(args[0]); ferr == nil && !from.IsDir() {
			return p.Errorf(1, "cannot create regular file %s: Not a directory", Quote(dir))
		}
	}
	for _, from := range args {
		if p.Stopped() {
			break
		}
		to := dir
		if isDir && parents {
			to = Join(dir, strings.TrimLeft(from, "/"))
			if err := p.makeParents(path.Dir(to)); err != nil {
				*code = p.Errorf(1, "cannot make directory %s: %s", Quote(path.Dir(to)), Reason(err))
				continue
			}
		} else if isDir {
			base := path.Base(strings.TrimRight(from, "/"))
			if base == ".." || base == "." || from == "" {
				base = "."
			}
			to = Join(dir, base)
			if base == "." {
				to = dir
			}
		}
		do(from, to)
	}
	return *code
}

// makeParents makes name and its parents.
func (p *Proc) makeParents(name string) error {
	info, err := p.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return syscall.EEXIST
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if dir := path.Dir(path.Clean(name)); dir != name {
		if err := p.makeParents(dir); err != nil {
			return err
		}
	}
	if err := p.Files.Mkdir(p.Path(name), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// copy copies one file or tree. seen are the directories on the way.
func (c *copier) copy(from, to string, operand bool, depth int, seen []fs.FileInfo) {
	p := c.p
	if p.Stopped() {
		return
	}
	stat := p.Lstat
	if c.deref == 'L' || c.deref == 'H' && operand {
		stat = p.Stat
	}
	info, err := stat(from)
	if err != nil {
		c.code = p.Errorf(1, "cannot stat %s: %s", Quote(from), Reason(err))
		return
	}
	there, terr := p.Stat(to)
	if terr != nil {
		there = nil
	}
	if info.IsDir() {
		c.copyDir(from, to, info, there, depth, seen)
		return
	}
	if there != nil {
		switch {
		case there.IsDir():
			c.code = p.Errorf(1, "cannot overwrite directory %s with non-directory %s", Quote(to), Quote(from))
			return
		case SameFile(info, there) && c.backup == "":
			c.code = p.Errorf(1, "%s and %s are the same file", Quote(from), Quote(to))
			return
		case c.noClobber, c.update && !info.ModTime().After(there.ModTime()):
			return
		}
		if c.backup != "" {
			if err := p.Files.Rename(p.Path(to), p.Path(to+c.backup)); err != nil {
				c.code = p.Errorf(1, "cannot backup %s: %s", Quote(to), Reason(err))
				return
			}
			there = nil
		} else if c.hard || c.symbolic || c.removes || info.Mode()&fs.ModeSymlink != 0 {
			if err := p.Files.Remove(p.Path(to)); err != nil {
				c.code = p.Errorf(1, "cannot remove %s: %s", Quote(to), Reason(err))
				return
			}
			there = nil
		}
	}
	switch {
	case c.hard:
		err = p.Files.Link(p.Path(from), p.Path(to))
	case c.symbolic:
		err = p.Files.Symlink(from, p.Path(to))
	case info.Mode()&fs.ModeSymlink != 0:
		var target string
		if target, err = p.Files.Readlink(p.Path(from)); err == nil {
			if _, lerr := p.Lstat(to); lerr == nil {
				err = p.Files.Remove(p.Path(to))
			}
			if err == nil {
				err = p.Files.Symlink(target, p.Path(to))
			}
		}
	case c.recursive && info.Mode()&fs.ModeDevice != 0:
		c.code = p.Errorf(1, "cannot create special file %s: Operation not permitted", Quote(to))
		return
	default:
		err = c.copyFile(from, to, info, there != nil)
	}
	if err != nil {
		if !p.Stopped() {
			c.code = p.Errorf(1, "cannot create regular file %s: %s", Quote(to), Reason(err))
		}
		return
	}
	if c.verbose {
		p.Out.WriteString(Quote(from) + " -> " + Quote(to) + "\n")
	}
}

// copyFile copies content, mode and, where asked, time.
func (c *copier) copyFile(from, to string, info fs.FileInfo, there bool) error {
	p := c.p
	if !c.attrsOnly {
		r, err := p.Open(from)
		if err != nil {
			return err
		}
		defer r.Close()
		w, err := p.Write(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
		if err != nil {
			return err
		}
		_, err = p.Copy(w, r)
		if cerr := w.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return err
		}
	}
	if !there || c.keep {
		mode := info.Mode().Perm()
		if !c.keep {
			mode &^= 0o022
		}
		if err := p.Files.Chmod(p.Path(to), mode); err != nil && info.Mode().IsRegular() {
			return err
		}
	}
	if c.keep {
		return p.Files.Chtimes(p.Path(to), info.ModTime())
	}
	return nil
}

func (c *copier) copyDir(from, to string, info, there fs.FileInfo, depth int, seen []fs.FileInfo) {
	p := c.p
	if !c.recursive {
		c.code = p.Errorf(1, "-r not specified; omitting directory %s", Quote(from))
		return
	}
	if depth > 500 {
		c.code = p.Errorf(1, "%s: the directories are nested too deep", from)
		return
	}
	for _, s := range seen {
		if SameFile(s, info) {
			c.code = p.Errorf(1, "cannot copy cyclic symbolic link %s", Quote(from))
			return
		}
	}
	if there != nil && !there.IsDir() {
		c.code = p.Errorf(1, "cannot overwrite non-directory %s with directory %s", Quote(to), Quote(from))
		return
	}
	if depth == 0 && p.isInside(from, to) {
		if there == nil { // as GNU leaves it
			if err := p.Files.Mkdir(p.Path(to), info.Mode().Perm()); err != nil {
				c.code = p.Errorf(1, "cannot create directory %s: %s", Quote(to), Reason(err))
			}
		}
		c.code = p.Errorf(1, "cannot copy a directory, %s, into itself, %s", Quote(from), Quote(to))
		return
	}
	entries, err := p.ReadDir(from)
	if err != nil {
		c.code = p.Errorf(1, "cannot open directory %s: %s", Quote(from), Reason(err))
		return
	}
	if there == nil {
		if err := p.Files.Mkdir(p.Path(to), info.Mode().Perm()); err != nil {
			c.code = p.Errorf(1, "cannot create directory %s: %s", Quote(to), Reason(err))
			return
		}
		if c.verbose {
			p.Out.WriteString(Quote(from) + " -> " + Quote(to) + "\n")
		}
	}
	for _, e := range entries {
		c.copy(Join(from, e.Name()), Join(to, e.Name()), false, depth+1, append(seen, info))
	}
	if c.keep {
		if err := p.Files.Chtimes(p.Path(to), info.ModTime()); err != nil {
			c.code = p.Errorf(1, "preserving times for %s: %s", Quote(to), Reason(err))
		}
	}
}

// isInside tells whether to would be below the directory from.
func (p *Proc) isInside(from, to string) bool {
	a, err := p.Files.Resolve(p.Path(from))
	if err != nil {
		return false
	}
	b, err := p.Files.Resolve(p.Path(to))
	if err != nil {
		b, err = p.Files.Resolve(path.Dir(p.Path(to)))
		if err != nil {
			return false
		}
	}
	return b == a || strings.HasPrefix(b, strings.TrimSuffix(a, "/")+"/")
}
