package commands

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/vfs"
)

// sysOf is the inode of a file.
func sysOf(info fs.FileInfo) *vfs.Sys {
	if sys, ok := info.Sys().(*vfs.Sys); ok {
		return sys
	}
	return &vfs.Sys{Links: 1}
}

// action reads a primary that does something.
func (q *findParser) action(name string) (findTest, bool) {
	switch name {
	case "-print", "-print0", "-ls", "-fprint", "-fprint0", "-fls", "-printf", "-fprintf", "-exec", "-execdir", "-ok", "-okdir", "-delete", "-quit":
		q.acts = true
	case "-prune":
	default:
		return nil, false
	}
	switch name {
	case "-prune":
		return func(_ *finder, at *found) bool { at.prune = true; return true }, true
	case "-quit":
		return func(f *finder, _ *found) bool { f.quit = true; return true }, true
	case "-print":
		return printTo(nil, "\n"), true
	case "-print0":
		return printTo(nil, "\x00"), true
	case "-ls":
		return findLs(nil), true
	case "-delete":
		q.f.depth = true
		return func(f *finder, at *found) bool {
			if at.path == "." {
				return true
			}
			if err := f.p.Files.Remove(f.p.Path(at.path)); err != nil {
				f.code = f.p.Errorf(1, "cannot delete %s: %s", Quote(at.path), Reason(err))
				return false
			}
			return true
		}, true
	case "-exec", "-execdir", "-ok", "-okdir":
		return q.exec(name), true
	}
	v, ok := q.value(name)
	if !ok {
		return always, true
	}
	if name == "-printf" {
		return printfTo(nil, v), true
	}
	w, err := q.open(v)
	if err != nil {
		return q.fail("%s: %s", Quote(v), Reason(err)), true
	}
	switch name {
	case "-fprint":
		return printTo(w, "\n"), true
	case "-fprint0":
		return printTo(w, "\x00"), true
	case "-fls":
		return findLs(w), true
	}
	format, ok := q.value(name)
	if !ok {
		return always, true
	}
	return printfTo(w, format), true
}

// open opens a file of -fprint once.
func (q *findParser) open(name string) (io.Writer, error) {
	if w := q.opened[name]; w != nil {
		return w, nil
	}
	w, err := q.f.p.Create(name)
	if err != nil {
		return nil, err
	}
	if q.opened == nil {
		q.opened = map[string]io.WriteCloser{}
	}
	q.opened[name] = w
	return w, nil
}

// output writes to w, or to standard output.
func (f *finder) output(w io.Writer, text string) {
	if w == nil {
		f.p.Out.WriteString(text)
		return
	}
	if _, err := io.WriteString(w, text); err != nil {
		f.code = f.p.Errorf(1, "%s", Reason(err))
	}
}

func printTo(w io.Writer, end string) findTest {
	return func(f *finder, at *found) bool {
		f.output(w, at.path+end)
		return true
	}
}

func findLs(w io.Writer) findTest {
	return func(f *finder, at *found) bool {
		sys := sysOf(at.info)
		text := fmt.Sprintf("%9d %6d %s %3d %-8s %-8s %8d %s %s", sys.Inode, kilobytes(at.info), ModeString(at.info.Mode()), sys.Links,
			f.p.System.User, f.p.System.Group, at.info.Size(), FormatTime("%b %e %H:%M", at.info.ModTime().In(f.p.location())), at.path)
		if to, err := f.p.Files.Readlink(f.p.Path(at.path)); err == nil {
			text += " -> " + to
		}
		f.output(w, text+"\n")
		return true
	}
}

func printfTo(w io.Writer, format string) findTest {
	return func(f *finder, at *found) bool {
		f.output(w, f.printf(format, at))
		return true
	}
}

// printf formats what is known of a file.
func (f *finder) printf(format string, at *found) string {
	var b strings.Builder
	for i := 0; i < len(format); {
		switch {
		case format[i] == '\\' && i+1 < len(format):
			n, stop := escape(&b, format[i+1:], PercentB)
			if stop {
				return b.String()
			}
			i += 1 + n
		case format[i] == '%' && i+1 < len(format):
			start := i
			i++
			for i < len(format) && strings.IndexByte("-+ #0123456789.", format[i]) >= 0 {
				i++
			}
			if i == len(format) {
				b.WriteString(format[start:])
				return b.String()
			}
			spec := format[start+1 : i]
			verb := format[i]
			i++
			var text string
			if strings.IndexByte("ACTB", verb) >= 0 && i < len(format) {
				text = findTime(format[i], at, f)
				i++
			} else {
				text = f.directive(verb, at)
			}
			width, err := strconv.Atoi(strings.TrimLeft(strings.TrimPrefix(spec, "-"), "0"))
			fill := ""
			if err == nil {
				fill = strings.Repeat(" ", max(0, min(width, 4096)-len(text)))
			}
			if strings.HasPrefix(spec, "-") {
				b.WriteString(text + fill)
			} else {
				b.WriteString(fill + text)
			}
		default:
			b.WriteByte(format[i])
			i++
		}
	}
	return b.String()
}

func findTime(k byte, at *found, f *finder) string {
	t := at.info.ModTime().In(f.p.location())
	switch k {
	case '@':
		return fmt.Sprintf("%d.%010d", t.Unix(), t.Nanosecond()*10)
	case '+':
		return FormatTime("%Y-%m-%d+%H:%M:%S.%N0", t)
	case 'S':
		return FormatTime("%S.%N0", t)
	case 'T', 'X':
		return FormatTime("%H:%M:%S.%N0", t)
	}
	return FormatTime("%"+string(k), t)
}

func (f *finder) directive(verb byte, at *found) string {
	sys := sysOf(at.info)
	switch verb {
	case '%':
		return "%"
	case 'p':
		return at.path
	case 'f':
		return path.Base(at.path)
	case 'h':
		if i := strings.LastIndexByte(at.path, '/'); i > 0 {
			return at.path[:i]
		} else if i == 0 {
			return ""
		}
		return "."
	case 'P':
		return strings.TrimPrefix(strings.TrimPrefix(at.path, at.start), "/")
	case 'H':
		return at.start
	case 'd':
		return strconv.Itoa(at.depth)
	case 's':
		return strconv.FormatInt(at.info.Size(), 10)
	case 'k':
		return strconv.FormatInt(kilobytes(at.info), 10)
	case 'b':
		return strconv.FormatInt(2*kilobytes(at.info), 10)
	case 'm':
		return strconv.FormatUint(uint64(at.info.Mode().Perm()), 8)
	case 'M':
		return ModeString(at.info.Mode())
	case 'y', 'Y':
		info := at.info
		if verb == 'Y' {
			to, err := f.p.Stat(at.path)
			if err != nil {
				return "N"
			}
			info = to
		}
		return string(kindLetter(info.Mode()))
	case 'l':
		to, err := f.p.Files.Readlink(f.p.Path(at.path))
		if err != nil {
			return ""
		}
		return to
	case 'n':
		return strconv.Itoa(sys.Links)
	case 'i':
		return strconv.FormatUint(sys.Inode, 10)
	case 'u':
		return f.p.System.User
	case 'g':
		return f.p.System.Group
	case 'U':
		return strconv.Itoa(f.p.System.UID)
	case 'G':
		return strconv.Itoa(f.p.System.GID)
	case 't', 'a', 'c':
		return FormatTime("%a %b %e %H:%M:%S.%N0 %Y", at.info.ModTime().In(f.p.location()))
	}
	return "%" + string(verb)
}

// findExec is -exec.
type findExec struct {
	f     *finder
	args  []string
	batch []string
	size  int
	dir   string // of -execdir
}

// maxBatch is how long the arguments of one command get, in bytes.
const maxBatch = 128 << 10

func (q *findParser) exec(name string) findTest {
	var args []string
	for {
		if len(q.args) == 0 {
			return q.fail("missing argument to `%s'", name)
		}
		arg := q.args[0]
		q.args = q.args[1:]
		if arg == ";" {
			break
		}
		if arg == "+" && len(args) > 0 && args[len(args)-1] == "{}" && !strings.HasPrefix(name, "-ok") {
			e := &findExec{f: q.f, args: args[:len(args)-1]}
			q.f.batches = append(q.f.batches, e)
			inDir := name == "-execdir"
			return func(_ *finder, at *found) bool { e.add(at, inDir); return true }
		}
		args = append(args, arg)
	}
	if len(args) == 0 {
		return q.fail("invalid argument `;' to `%s'", name)
	}
	return func(f *finder, at *found) bool {
		shown, dir := at.path, ""
		if strings.HasSuffix(name, "dir") {
			shown, dir = "./"+path.Base(at.path), path.Dir(f.p.Path(at.path))
		}
		call := make([]string, len(args))
		for i, arg := range args {
			call[i] = strings.ReplaceAll(arg, "{}", shown)
		}
		if strings.HasPrefix(name, "-ok") {
			fmt.Fprintf(f.p.Stderr, "< %s ... %s > ? ", call[0], shown)
			return false // nobody is there to agree
		}
		return f.p.Run(f.p.ctx, Call{Args: call, Dir: dir}) == 0
	}
}

func (e *findExec) add(at *found, inDir bool) {
	name := at.path
	if inDir {
		dir := path.Dir(e.f.p.Path(at.path))
		if dir != e.dir {
			if !e.flush() {
				e.f.code = 1
			}
			e.dir = dir
		}
		name = "./" + path.Base(at.path)
	}
	if e.size+len(name) > maxBatch && !e.flush() {
		e.f.code = 1
	}
	e.batch = append(e.batch, name)
	e.size += len(name) + 1
}

func (e *findExec) flush() bool {
	if len(e.batch) == 0 || e.f.p.Stopped() {
		return true
	}
	args := append(append([]string(nil), e.args...), e.batch...)
	e.batch, e.size = nil, 0
	return e.f.p.Run(e.f.p.ctx, Call{Args: args, Dir: e.dir}) == 0
}
