package commands

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"syscall"
)

var rmOptions = NewOptions(1, "f force", "i", "I", "interactive=?", "r R recursive", "d dir", "v verbose", "one-file-system", "no-preserve-root", "preserve-root=?")

// remover is one run of rm.
type remover struct {
	p         *Proc
	force     bool
	recursive bool
	dirs      bool
	verbose   bool
	ask       bool
	answers   *bufio.Reader
	code      int
}

func rm(p *Proc) int {
	opts, code := p.Parse(rmOptions)
	if opts == nil {
		return code
	}
	r := &remover{p: p, recursive: opts.Has("r"), dirs: opts.Has("d"), verbose: opts.Has("v")}
	switch opts.Last("f", "i", "I", "interactive") {
	case "f":
		r.force = true
	case "i":
		r.ask = true
		r.answers = bufio.NewReader(p.Stdin)
	}
	if len(opts.Args) == 0 {
		if r.force {
			return 0
		}
		return p.Usage(1, "missing operand")
	}
	for _, name := range opts.Args {
		base := path.Base(strings.TrimRight(name, "/"))
		info, err := p.Lstat(name)
		switch {
		case name == "" || err != nil:
			if err == nil {
				err = syscall.ENOENT
			}
			if r.force && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)) {
				continue
			}
			r.code = p.Errorf(1, "cannot remove %s: %s", Quote(name), Reason(err))
		case r.recursive && (base == "." || base == ".."):
			r.code = p.Errorf(1, "refusing to remove '.' or '..' directory: skipping %s", Quote(name))
		case r.recursive && path.Clean(p.Path(name)) == "/" && !opts.Has("no-preserve-root"):
			p.Errorf(1, "it is dangerous to operate recursively on '/'")
			r.code = p.Errorf(1, "use --no-preserve-root to override this failsafe")
		default:
			r.remove(name, info, 0)
		}
	}
	return r.code
}

// remove removes name and what is in it.
func (r *remover) remove(name string, info fs.FileInfo, depth int) {
	p := r.p
	if p.Stopped() {
		return
	}
	if !info.IsDir() {
		if r.ask && !r.agreed("remove %s %s? ", kindName(info), Quote(name)) {
			return
		}
		if err := p.Files.Remove(p.Path(name)); err != nil {
			r.code = p.Errorf(1, "cannot remove %s: %s", Quote(name), Reason(err))
		} else if r.verbose {
			fmt.Fprintf(p.Out, "removed %s\n", Quote(name))
		}
		return
	}
	if !r.recursive && !r.dirs {
		r.code = p.Errorf(1, "cannot remove %s: Is a directory", Quote(name))
		return
	}
	if depth > 1000 {
		r.code = p.Errorf(1, "cannot remove %s: the directories are nested too deep", Quote(name))
		return
	}
	entries, err := p.ReadDir(name)
	if err != nil {
		r.code = p.Errorf(1, "cannot remove %s: %s", Quote(name), Reason(err))
		return
	}
	if r.recursive && len(entries) > 0 {
		if r.ask && !r.agreed("descend into directory %s? ", Quote(name)) {
			return
		}
		for _, e := range entries {
			if kid, err := e.Info(); err == nil {
				r.remove(Join(name, e.Name()), kid, depth+1)
			}
		}
	}
	if p.Stopped() || r.ask && !r.agreed("remove directory %s? ", Quote(name)) {
		return
	}
	if err := p.Files.Remove(p.Path(name)); err != nil {
		r.code = p.Errorf(1, "cannot remove %s: %s", Quote(name), Reason(err))
	} else if r.verbose {
		fmt.Fprintf(p.Out, "removed directory %s\n", Quote(name))
	}
}

func (r *remover) agreed(format string, args ...any) bool {
	fmt.Fprintf(r.p.Stderr, r.p.Name+": "+format, args...)
	answer, err := r.answers.ReadString('\n')
	return (err == nil || answer != "") && strings.HasPrefix(strings.ToLower(strings.TrimSpace(answer)), "y")
}

// kindName is what a file is, in words.
func kindName(info fs.FileInfo) string {
	switch mode := info.Mode(); {
	case mode.IsDir():
		return "directory"
	case mode&fs.ModeSymlink != 0:
		return "symbolic link"
	case mode&fs.ModeCharDevice != 0:
		return "character special file"
	case mode&fs.ModeNamedPipe != 0:
		return "fifo"
	case info.Size() == 0:
		return "regular empty file"
	}
	return "regular file"
}

var mkdirOptions = NewOptions(1, "m mode=", "p parents", "v verbose", "Z", "context=?")

func mkdirCommand(p *Proc) int {
	opts, code := p.Parse(mkdirOptions)
	if opts == nil {
		return code
	}
	if len(opts.Args) == 0 {
		return p.Usage(1, "missing operand")
	}
	mode := fs.FileMode(0o755)
	text, hasMode := opts.Value("m")
	if hasMode {
		change, err := parseMode(text)
		if err != nil {
			return p.Errorf(1, "invalid mode %s", Quote(text))
		}
		mode = change.apply(0o777, true)
	}
	for _, name := range opts.Args {
		made, err := p.mkdirOne(name, mode, opts.Has("p"), hasMode)
		if opts.Has("v") {
			for _, m := range made {
				fmt.Fprintf(p.Out, "%s: created directory %s\n", p.Name, Quote(m))
			}
		}
		if err != nil {
			code = p.Errorf(1, "cannot create directory %s: %s", Quote(name), Reason(err))
		}
	}
	return code
}

// mkdirOne makes a directory, with its parents where asked, and returns what it
// made.
func (p *Proc) mkdirOne(name string, mode fs.FileMode, parents, chmod bool) (made []string, err error) {
	if !parents {
		err = p.Files.Mkdir(p.Path(name), mode)
		if err == nil {
			made = append(made, name)
		}
	} else {
		prefix := ""
		if strings.HasPrefix(name, "/") {
			prefix = "/"
		}
		for part := range strings.SplitSeq(strings.Trim(name, "/"), "/") {
			if part == "" {
				continue
			}
			prefix = Join(prefix, part)
			info, serr := p.Stat(prefix)
			if serr == nil && info.IsDir() {
				continue
			}
			if serr == nil {
				return made, syscall.ENOTDIR
			}
			if err = p.Files.Mkdir(p.Path(prefix), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
				return made, err
			}
			made = append(made, prefix)
		}
		if len(made) == 0 && name == "" {
			err = syscall.ENOENT
		}
		if len(made) == 0 {
			if info, serr := p.Stat(name); serr == nil && !info.IsDir() {
				return nil, syscall.EEXIST
			}
			return nil, err
		}
	}
	if err == nil && chmod {
		err = p.Files.Chmod(p.Path(name), mode)
	}
	return made, err
}

var rmdirOptions = NewOptions(1, "p parents", "v verbose", "ignore-fail-on-non-empty")

func rmdir(p *Proc) int {
	opts, code := p.Parse(rmdirOptions)
	if opts == nil {
		return code
	}
	if len(opts.Args) == 0 {
		return p.Usage(1, "missing operand")
	}
	for _, name := range opts.Args {
		for at := name; ; {
			if opts.Has("v") {
				fmt.Fprintf(p.Out, "%s: removing directory, %s\n", p.Name, Quote(at))
			}
			err := p.rmdirOne(at)
			if err != nil {
				if !opts.Has("ignore-fail-on-non-empty") || !errors.Is(err, syscall.ENOTEMPTY) {
					what := "failed to remove"
					if at != name {
						what = "failed to remove directory"
					}
					code = p.Errorf(1, "%s %s: %s", what, Quote(at), Reason(err))
				}
				break
			}
			parent := path.Dir(strings.TrimRight(at, "/"))
			if !opts.Has("p") || parent == "." || parent == "/" {
				break
			}
			at = parent
		}
	}
	return code
}

func (p *Proc) rmdirOne(name string) error {
	info, err := p.Lstat(name)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return syscall.ENOTDIR
	}
	if base := path.Base(name); base == "." {
		return syscall.EINVAL
	}
	return p.Files.Remove(p.Path(name))
}

var unlinkOptions = NewOptions(1)

func unlink(p *Proc) int {
	opts, code := p.Parse(unlinkOptions)
	switch {
	case opts == nil:
		return code
	case len(opts.Args) == 0:
		return p.Usage(1, "missing operand")
	case len(opts.Args) > 1:
		return p.Usage(1, "extra operand %s", Quote(opts.Args[1]))
	}
	name := opts.Args[0]
	if info, err := p.Lstat(name); err == nil && info.IsDir() {
		return p.Errorf(1, "cannot unlink %s: Is a directory", Quote(name))
	}
	if err := p.Files.Remove(p.Path(name)); err != nil {
		return p.Errorf(1, "cannot unlink %s: %s", Quote(name), Reason(err))
	}
	return 0
}
