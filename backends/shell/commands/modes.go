package commands

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

var errMode = errors.New("invalid mode")

// modeChange is what chmod does to a mode.
type modeChange struct {
	octal   bool
	value   fs.FileMode
	clauses []modeClause
}

type modeClause struct {
	who   fs.FileMode // bits of u, g, o
	all   bool        // nobody was named: all, less 022
	op    byte
	bits  fs.FileMode // rwx, for all three
	x     bool        // X
	copyT string      // "u", "g", "o": the bits of that one
}

// parseMode reads an octal or a symbolic mode.
func parseMode(text string) (modeChange, error) {
	if n, err := strconv.ParseUint(text, 8, 16); err == nil {
		if n > 0o7777 {
			return modeChange{}, errMode
		}
		return modeChange{octal: true, value: fs.FileMode(n & 0o777)}, nil
	}
	var out modeChange
	for clause := range strings.SplitSeq(text, ",") {
		c := modeClause{}
		i := 0
		for ; i < len(clause) && strings.IndexByte("ugoa", clause[i]) >= 0; i++ {
			c.who |= map[byte]fs.FileMode{'u': 0o700, 'g': 0o070, 'o': 0o007, 'a': 0o777}[clause[i]]
		}
		if c.who == 0 {
			c.who, c.all = 0o777, true
		}
		if i == len(clause) {
			return out, errMode
		}
		for i < len(clause) {
			if strings.IndexByte("+-=", clause[i]) < 0 {
				return out, errMode
			}
			part := c
			part.op = clause[i]
			for i++; i < len(clause) && strings.IndexByte("+-=", clause[i]) < 0; i++ {
				switch clause[i] {
				case 'r':
					part.bits |= 0o444
				case 'w':
					part.bits |= 0o222
				case 'x':
					part.bits |= 0o111
				case 'X':
					part.x = true
				case 's', 't':
				case 'u', 'g', 'o':
					part.copyT = clause[i : i+1]
				default:
					return out, errMode
				}
			}
			out.clauses = append(out.clauses, part)
		}
	}
	return out, nil
}

// apply returns mode as it is after the change.
func (m modeChange) apply(mode fs.FileMode, dir bool) fs.FileMode {
	if m.octal {
		return m.value
	}
	mode &= 0o777
	for _, c := range m.clauses {
		bits := c.bits
		if c.x && (dir || mode&0o111 != 0) {
			bits |= 0o111
		}
		if c.copyT != "" {
			shift := map[string]uint{"u": 6, "g": 3, "o": 0}[c.copyT]
			three := mode >> shift & 7
			bits |= three<<6 | three<<3 | three
		}
		bits &= c.who
		if c.all {
			bits &^= 0o022
		}
		switch c.op {
		case '+':
			mode |= bits
		case '-':
			mode &^= bits
		case '=':
			mode = mode&^c.who | bits
		}
	}
	return mode
}

var chmodOptions = NewOptions(1, "c changes", "f silent quiet", "v verbose", "R recursive", "reference=", "no-preserve-root", "preserve-root")

func chmod(p *Proc) int {
	// A mode can look like an option: chmod -x file.
	args := p.Args
	var early []string
	for i, arg := range args {
		if len(arg) > 1 && arg[0] == '-' && strings.Trim(arg[1:], "rwxXstugo,=+-") == "" && strings.ContainsAny(arg, "rwxXst") {
			early = append(early, arg)
			args = append(append([]string(nil), args[:i]...), args[i+1:]...)
			break
		}
	}
	p.Args = args
	opts, code := p.Parse(chmodOptions)
	if opts == nil {
		return code
	}
	operands := slices.Concat(early, opts.Args)
	var change modeChange
	if ref, ok := opts.Value("reference"); ok {
		info, err := p.Stat(ref)
		if err != nil {
			return p.Errorf(1, "failed to get attributes of %s: %s", Quote(ref), Reason(err))
		}
		change = modeChange{octal: true, value: info.Mode().Perm()}
	} else {
		if len(operands) == 0 {
			return p.Usage(1, "missing operand")
		}
		var err error
		if change, err = parseMode(operands[0]); err != nil {
			return p.Usage(1, "invalid mode: %s", Quote(operands[0]))
		}
		if len(operands) == 1 {
			return p.Usage(1, "missing operand after %s", Quote(operands[0]))
		}
		operands = operands[1:]
	}
	for _, name := range operands {
		code = max(code, p.chmodTree(opts, change, name, 0))
	}
	return code
}

func (p *Proc) chmodTree(opts *Parsed, change modeChange, name string, depth int) (code int) {
	if p.Stopped() || depth > 1000 {
		return 1
	}
	info, err := p.Stat(name)
	if err != nil {
		if opts.Has("f") {
			return 1
		}
		if _, lerr := p.Lstat(name); lerr == nil && errors.Is(err, fs.ErrNotExist) {
			return p.Errorf(1, "cannot operate on dangling symlink %s", Quote(name))
		}
		return p.Errorf(1, "cannot access %s: %s", Quote(name), Reason(err))
	}
	before := info.Mode().Perm()
	after := change.apply(before, info.IsDir())
	if err := p.Files.Chmod(p.Path(name), after); err != nil {
		return p.Errorf(1, "changing permissions of %s: %s", Quote(name), Reason(err))
	}
	switch {
	case before != after && opts.Has("v", "c"):
		fmt.Fprintf(p.Out, "mode of %s changed from %04o (%s) to %04o (%s)\n", Quote(name), before, ModeString(before)[1:], after, ModeString(after)[1:])
	case opts.Has("v"):
		fmt.Fprintf(p.Out, "mode of %s retained as %04o (%s)\n", Quote(name), after, ModeString(after)[1:])
	}
	if !opts.Has("R") || !info.IsDir() {
		return 0
	}
	entries, err := p.ReadDir(name)
	if err != nil {
		return p.Errorf(1, "cannot read directory %s: %s", Quote(name), Reason(err))
	}
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink == 0 {
			code = max(code, p.chmodTree(opts, change, Join(name, e.Name()), depth+1))
		}
	}
	return code
}

var chownOptions = NewOptions(1, "c changes", "f silent quiet", "v verbose", "R recursive", "h no-dereference", "dereference", "reference=", "from=", "H", "L", "P")

// chown accepts the one owner that there is: a workspace of files has no others.
func chown(p *Proc) int {
	opts, code := p.Parse(chownOptions)
	if opts == nil {
		return code
	}
	if len(opts.Args) < 2 {
		return p.Usage(1, "missing operand")
	}
	owner, group, _ := strings.Cut(strings.Replace(opts.Args[0], ".", ":", 1), ":")
	if p.Name == "chgrp" {
		owner, group = "", owner
	}
	for _, name := range opts.Args[1:] {
		if _, err := p.Lstat(name); err != nil {
			code = p.Errorf(1, "cannot access %s: %s", Quote(name), Reason(err))
			continue
		}
		if owner != "" && owner != p.System.User && owner != strconv.Itoa(p.System.UID) || group != "" && group != p.System.Group && group != strconv.Itoa(p.System.GID) {
			code = p.Errorf(1, "changing ownership of %s: Operation not permitted: this workspace holds files without owners", Quote(name))
		}
	}
	return code
}
