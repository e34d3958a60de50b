package commands

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"syscall"
)

var lnOptions = NewOptions(1, "b", "backup=?", "d F directory", "f force", "i interactive", "L logical", "n no-dereference", "P physical", "r relative", "s symbolic", "S suffix=", "t target-directory=", "T no-target-directory", "v verbose")

func ln(p *Proc) int {
	opts, code := p.Parse(lnOptions)
	if opts == nil {
		return code
	}
	args := opts.Args
	dir, hasDir := opts.Value("t")
	switch {
	case len(args) == 0:
		return p.Usage(1, "missing file operand")
	case hasDir:
	case opts.Has("T"):
		if len(args) != 2 {
			return p.Usage(1, "extra operand %s", Quote(args[len(args)-1]))
		}
		return p.linkOne(opts, args[0], args[1])
	case len(args) == 1:
		dir = "."
	default:
		last := args[len(args)-1]
		info, err := p.Stat(last)
		if err == nil && opts.Has("n") {
			if l, lerr := p.Lstat(last); lerr == nil && l.Mode()&fs.ModeSymlink != 0 {
				info = l
			}
		}
		isDir := err == nil && info.IsDir()
		if !isDir && len(args) > 2 {
			if err == nil {
				err = syscall.ENOTDIR
			}
			return p.Errorf(1, "target %s: %s", Quote(last), Reason(err))
		}
		if !isDir {
			return p.linkOne(opts, args[0], last)
		}
		dir, args = last, args[:len(args)-1]
	}
	for _, target := range args {
		code = max(code, p.linkOne(opts, target, Join(dir, path.Base(target))))
	}
	return code
}

func (p *Proc) linkOne(opts *Parsed, target, name string) int {
	kind := "hard"
	if opts.Has("s") {
		kind = "symbolic"
	}
	text := target
	if opts.Has("s") && opts.Has("r") {
		text = p.relative(path.Dir(p.Path(name)), p.Path(target))
	}
	if _, err := p.Lstat(name); err == nil {
		switch {
		case opts.Has("b", "backup", "S"):
			suffix, ok := opts.Value("S")
			if !ok {
				suffix = "~"
			}
			if err := p.Files.Rename(p.Path(name), p.Path(name+suffix)); err != nil {
				return p.Errorf(1, "cannot backup %s: %s", Quote(name), Reason(err))
			}
		case opts.Has("f"):
			if a, err := p.Stat(target); err == nil && !opts.Has("s") {
				if b, err := p.Stat(name); err == nil && SameFile(a, b) {
					return p.Errorf(1, "%s and %s are the same file", Quote(target), Quote(name))
				}
			}
			if err := p.Files.Remove(p.Path(name)); err != nil {
				return p.Errorf(1, "cannot remove %s: %s", Quote(name), Reason(err))
			}
		}
	}
	var err error
	if opts.Has("s") {
		err = p.Files.Symlink(text, p.Path(name))
	} else {
		info, serr := p.Lstat(target)
		switch {
		case serr != nil:
			return p.Errorf(1, "failed to access %s: %s", Quote(target), Reason(serr))
		case info.IsDir():
			return p.Errorf(1, "%s: hard link not allowed for directory", target)
		}
		from := p.Path(target)
		if opts.Has("L") {
			if from, err = p.Files.Resolve(from); err != nil {
				return p.Errorf(1, "failed to access %s: %s", Quote(target), Reason(err))
			}
		}
		err = p.Files.Link(from, p.Path(name))
	}
	switch {
	case err != nil && kind == "hard":
		return p.Errorf(1, "failed to create hard link %s: %s", Quote(name), Reason(err))
	case err != nil:
		return p.Errorf(1, "failed to create symbolic link %s: %s", Quote(name), Reason(err))
	case opts.Has("v"):
		fmt.Fprintf(p.Out, "%s %s %s\n", Quote(name), map[string]string{"hard": "=>", "symbolic": "->"}[kind], Quote(text))
	}
	return 0
}

// relative is the path from the directory dir to the file to.
func (p *Proc) relative(dir, to string) string {
	if real, err := p.Files.Resolve(dir); err == nil {
		dir = real
	}
	to = path.Clean(to)
	if parent, err := p.Files.Resolve(path.Dir(to)); err == nil {
		to = path.Join(parent, path.Base(to))
	}
	return relativePath(dir, to)
}

// relativePath is the way from the clean absolute path a to b.
func relativePath(a, b string) string {
	from, to := strings.Split(strings.Trim(a, "/"), "/"), strings.Split(strings.Trim(b, "/"), "/")
	if a == "/" {
		from = nil
	}
	if b == "/" {
		to = nil
	}
	i := 0
	for i < len(from) && i < len(to) && from[i] == to[i] {
		i++
	}
	var out []string
	for range from[i:] {
		out = append(out, "..")
	}
	if out = append(out, to[i:]...); len(out) == 0 {
		return "."
	}
	return strings.Join(out, "/")
}

var readlinkOptions = NewOptions(1, "f canonicalize", "e canonicalize-existing", "m canonicalize-missing", "n no-newline", "q quiet", "s silent", "v verbose", "z zero")

func readlink(p *Proc) int {
	opts, code := p.Parse(readlinkOptions)
	if opts == nil {
		return code
	}
	if len(opts.Args) == 0 {
		return p.Usage(1, "missing operand")
	}
	end := "\n"
	switch {
	case opts.Has("z"):
		end = "\x00"
	case opts.Has("n") && len(opts.Args) == 1:
		end = ""
	}
	for _, name := range opts.Args {
		var text string
		var err error
		if mode := opts.Last("f", "e", "m"); mode != "" {
			text, err = p.canonical(name, mode)
		} else {
			text, err = p.Files.Readlink(p.Path(name))
		}
		if err != nil {
			code = 1
			if opts.Has("v") {
				p.FileError(name, err)
			}
			continue
		}
		p.Out.WriteString(text + end)
	}
	return code
}

// canonical resolves symlinks: mode "e" wants all of it to exist, "f" all but
// the last element, "m" nothing.
func (p *Proc) canonical(name, mode string) (string, error) {
	if name == "" {
		return "", syscall.ENOENT
	}
	abs := p.Path(name)
	text, err := p.Files.Resolve(abs)
	switch {
	case mode == "e" && err == nil:
		_, err = p.Files.Stat(abs)
	case mode == "m" && err != nil && !errors.Is(err, syscall.ELOOP):
		// What is missing is kept as it is written.
		parent, last := path.Split(strings.TrimRight(path.Clean(abs), "/"))
		if parent == "" || parent == abs {
			return path.Clean(abs), nil
		}
		text, err = p.canonical(strings.TrimRight(parent, "/")+"/", mode)
		text = path.Join(text, last)
	}
	return text, err
}

var realpathOptions = NewOptions(1, "e canonicalize-existing", "m canonicalize-missing", "L logical", "P physical", "q quiet", "relative-to=", "relative-base=", "s strip no-symlinks", "z zero")

func realpath(p *Proc) int {
	opts, code := p.Parse(realpathOptions)
	if opts == nil {
		return code
	}
	if len(opts.Args) == 0 {
		return p.Usage(1, "missing operand")
	}
	end := "\n"
	if opts.Has("z") {
		end = "\x00"
	}
	mode := opts.Last("e", "m")
	if mode == "" {
		mode = "f"
	}
	resolve := func(name string) (string, error) {
		if opts.Has("s") {
			return path.Clean(p.Path(name)), nil
		}
		return p.canonical(name, mode)
	}
	to, hasTo := opts.Value("relative-to")
	base, hasBase := opts.Value("relative-base")
	for _, dir := range []*string{&to, &base} {
		if *dir != "" {
			real, err := resolve(*dir)
			if err != nil {
				return p.FileError(*dir, err)
			}
			*dir = real
		}
	}
	for _, name := range opts.Args {
		text, err := resolve(name)
		if err != nil {
			code = 1
			if !opts.Has("q") {
				p.FileError(name, err)
			}
			continue
		}
		below := !hasBase || text == base || strings.HasPrefix(text, strings.TrimSuffix(base, "/")+"/")
		switch {
		case hasTo && below:
			text = relativePath(to, text)
		case hasBase && below:
			text = relativePath(base, text)
		}
		p.Out.WriteString(text + end)
	}
	return code
}

var basenameOptions = NewOptions(1, "+", "a multiple", "s suffix=", "z zero")

func basename(p *Proc) int {
	opts, code := p.Parse(basenameOptions)
	if opts == nil {
		return code
	}
	args := opts.Args
	suffix, hasSuffix := opts.Value("s")
	switch {
	case len(args) == 0:
		return p.Usage(1, "missing operand")
	case opts.Has("a") || hasSuffix:
	case len(args) > 2:
		return p.Usage(1, "extra operand %s", Quote(args[2]))
	case len(args) == 2:
		args, suffix = args[:1], args[1]
	}
	end := byte('\n')
	if opts.Has("z") {
		end = 0
	}
	for _, name := range args {
		base := name
		if name != "" {
			base = path.Base(name)
		}
		if base != suffix {
			base = strings.TrimSuffix(base, suffix)
		}
		p.Out.WriteString(base)
		p.Out.WriteByte(end)
	}
	return 0
}

var dirnameOptions = NewOptions(1, "z zero")

func dirname(p *Proc) int {
	opts, code := p.Parse(dirnameOptions)
	if opts == nil {
		return code
	}
	if len(opts.Args) == 0 {
		return p.Usage(1, "missing operand")
	}
	end := byte('\n')
	if opts.Has("z") {
		end = 0
	}
	for _, name := range opts.Args {
		trimmed := strings.TrimRight(name, "/")
		out := "."
		if i := strings.LastIndexByte(trimmed, '/'); i >= 0 {
			if out = strings.TrimRight(trimmed[:i], "/"); out == "" {
				out = "/"
			}
		} else if trimmed == "" && name != "" {
			out = "/"
		}
		p.Out.WriteString(out)
		p.Out.WriteByte(end)
	}
	return 0
}

var mktempOptions = NewOptions(1, "d directory", "u dry-run", "q quiet", "p=", "tmpdir=?", "t", "suffix=")

func mktemp(p *Proc) int {
	opts, code := p.Parse(mktempOptions)
	if opts == nil {
		return code
	}
	template, inTmp := "tmp.XXXXXXXXXX", true
	switch {
	case len(opts.Args) > 1:
		return p.Usage(1, "too many templates")
	case len(opts.Args) == 1:
		template, inTmp = opts.Args[0], opts.Has("t", "p", "tmpdir")
	}
	suffix, _ := opts.Value("suffix")
	template += suffix
	end := strings.LastIndexByte(template[:len(template)-len(suffix)], 'X') + 1
	start := end
	for start > 0 && template[start-1] == 'X' {
		start--
	}
	if end-start < 3 {
		return p.Errorf(1, "too few X's in template %s", Quote(template))
	}
	if inTmp {
		dir, _ := p.Getenv("TMPDIR")
		for _, key := range []string{"tmpdir", "p"} {
			if v, ok := opts.Value(key); ok && v != "" {
				dir = v
			}
		}
		if dir == "" {
			dir = "/tmp"
		}
		shift := len(dir) + 1
		if strings.HasSuffix(dir, "/") {
			shift--
		}
		template, start, end = Join(dir, template), start+shift, end+shift
	}
	for range 100 {
		name := template[:start] + randomName(end-start) + template[end:]
		if opts.Has("u") {
			p.Out.WriteString(name + "\n")
			return 0
		}
		var err error
		if opts.Has("d") {
			err = p.Files.Mkdir(p.Path(name), 0o700)
		} else {
			err = p.createNew(name)
		}
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			if opts.Has("q") {
				return 1
			}
			what := "file"
			if opts.Has("d") {
				what = "directory"
			}
			return p.Errorf(1, "failed to create %s via template %s: %s", what, Quote(template), Reason(err))
		}
		p.Out.WriteString(name + "\n")
		return 0
	}
	return p.Errorf(1, "failed to create file via template %s: File exists", Quote(template))
}
