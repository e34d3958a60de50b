package shell

import (
	"context"
	"errors"
	"io"
	"path"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/commands"
)

// programDirs are where the commands of this package seem to be.
var programDirs = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}

// shells are the names under which this shell itself can be called.
var shells = map[string]bool{"sh": true, "bash": true, "dash": true, "ash": true}

// program is what a name leads to.
type program struct {
	command *commands.Command
	shell   bool
	file    string // a file of the workspace
}

// find looks a program up as a shell does: by path, or in $PATH.
func (s *shell) find(name string) (program, string, bool) {
	if strings.Contains(name, "/") {
		if _, err := s.m.files.Stat(s.path(name)); err == nil {
			return program{file: s.path(name)}, name, true
		}
		clean := path.Clean(s.path(name))
		if isProgramDir(path.Dir(clean)) {
			if p, ok := builtIn(path.Base(clean)); ok {
				return p, clean, true
			}
		}
		return program{}, "", false
	}
	search, ok := s.variable("PATH").str()
	if !ok {
		search = strings.Join(programDirs, ":")
	}
	for dir := range strings.SplitSeq(search, ":") {
		if dir == "" {
			dir = "."
		}
		file := commands.Join(dir, name)
		if info, err := s.m.files.Stat(s.path(file)); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return program{file: s.path(file)}, file, true
		}
		if isProgramDir(path.Clean(dir)) {
			if p, ok := builtIn(name); ok {
				return p, commands.Join("/usr/bin", name), true
			}
		}
	}
	return program{}, "", false
}

func isProgramDir(dir string) bool {
	for _, d := range programDirs {
		if d == dir {
			return true
		}
	}
	return false
}

func builtIn(name string) (program, bool) {
	if shells[name] {
		return program{shell: true}, true
	}
	if c := commands.Lookup(name); c != nil {
		return program{command: c}, true
	}
	return program{}, false
}

// proc makes a run of a command with the streams and the environment of s.
func (s *shell) proc(name string, args []string) *commands.Proc {
	return &commands.Proc{
		Name: name, Args: args, Dir: s.dir, Env: nil,
		Stdin: s.reader(0), Stdout: s.writer(1), Stderr: s.writer(2),
		Files: s.m.files, Memory: s.m.memory, System: s.m.system,
		Start: s.start, Descriptor: s.streams, IsSet: s.isSet,
	}
}

// streams are what /dev/fd/N leads to.
func (s *shell) streams(n int) (io.Reader, io.Writer) {
	if d := s.fds[n]; d != nil {
		return d.in, d.out
	}
	return nil, nil
}

// external runs a command that is no function and no builtin.
func (s *shell) external(args []string) int {
	code := s.startCall(s.ctx, commands.Call{Args: args, Dir: s.dir, Env: s.environment(),
		Stdin: s.reader(0), Stdout: s.writer(1), Stderr: s.writer(2)})
	s.check()
	return code
}

// start runs a command for another one (xargs, env, timeout).
func (s *shell) start(ctx context.Context, c commands.Call) int {
	if ctx.Err() != nil {
		return 143
	}
	sub := s.subshell(ctx)
	defer sub.end()
	return sub.protect(func() int {
		sub.enter()
		sub.step()
		return sub.startCall(ctx, c)
	})
}

// startCall runs a program. Its environment is that of the call only.
func (s *shell) startCall(ctx context.Context, c commands.Call) int {
	name := c.Args[0]
	say := func(code int, text string) int {
		where := s.name
		if s.line > 0 {
			where += ": line " + itoa(s.line)
		}
		_, _ = commands.WriteContext(ctx, c.Stderr, []byte(where+": "+name+": "+text+"\n"))
		return code
	}
	p, found, ok := s.find(name)
	switch {
	case name == "":
		return say(127, "command not found")
	case !ok && strings.Contains(name, "/"):
		return say(127, "No such file or directory")
	case !ok:
		text, code := commands.NotFound(name)
		if first, _, more := strings.Cut(text, ". "); more && s.m.listed.Swap(true) { // the list once is enough
			text = first
		}
		return say(code, text)
	case p.shell:
		return s.nested(ctx, c, c.Args[1:])
	case p.command != nil:
		return s.runCommand(ctx, p.command, path.Base(name), c)
	}
	info, err := s.m.files.Stat(p.file)
	switch {
	case err != nil:
		return say(126, commands.Reason(err))
	case info.IsDir():
		return say(126, "Is a directory")
	case !info.Mode().IsRegular() || info.Mode()&0o111 == 0:
		return say(126, "Permission denied")
	}
	return s.runFile(ctx, c, p.file, found, say)
}

// runCommand runs one command of package commands.
func (s *shell) runCommand(ctx context.Context, cmd *commands.Command, name string, c commands.Call) int {
	p := s.proc(name, c.Args[1:])
	p.Dir, p.Env, p.Stdin, p.Stdout, p.Stderr = c.Dir, c.Env, c.Stdin, c.Stdout, c.Stderr
	return p.Main(ctx, cmd)
}

// runFile runs an executable file: a script, by the program that its first line
// names.
func (s *shell) runFile(ctx context.Context, c commands.Call, file, found string, say func(int, string) int) int {
	text, err := s.readFile(file, s.m.limits.Script)
	if err != nil {
		return say(126, commands.Reason(err))
	}
	first, _, _ := strings.Cut(text, "\n")
	line, isScript := strings.CutPrefix(first, "#!")
	if !isScript {
		if strings.IndexByte(first, 0) >= 0 || strings.HasPrefix(text, "\x7fELF") {
			return say(126, "cannot execute binary file: Exec format error")
		}
		return s.nested(ctx, c, append([]string{found}, c.Args[1:]...))
	}
	words := strings.Fields(strings.TrimSuffix(line, "\r"))
	if len(words) == 0 {
		return s.nested(ctx, c, append([]string{found}, c.Args[1:]...))
	}
	interpreter, args := words[0], words[1:]
	if path.Base(interpreter) == "env" {
		for len(args) > 0 && (strings.HasPrefix(args[0], "-") || strings.Contains(args[0], "=")) {
			args = args[1:]
		}
		if len(args) == 0 {
			return say(126, "bad interpreter: env names no program")
		}
		interpreter, args = args[0], args[1:]
	} else if len(args) > 1 {
		args = []string{strings.Join(args, " ")}
	}
	p, _, ok := s.find(interpreter)
	if !ok || p.file != "" {
		text, _ := commands.NotFound(path.Base(interpreter))
		return say(126, interpreter+": bad interpreter: "+text)
	}
	c.Args = append(append([]string{interpreter}, args...), append([]string{found}, c.Args[1:]...)...)
	if p.shell {
		return s.nested(ctx, c, c.Args[1:])
	}
	return s.runCommand(ctx, p.command, path.Base(interpreter), c)
}

var errTooLong = errors.New("the file is too long for a script")

// readFile reads a file of at most limit bytes.
func (s *shell) readFile(name string, limit int) (string, error) {
	f, err := s.m.files.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if info.Size() > int64(limit) && !info.IsDir() {
		return "", errTooLong
	}
	s.charge(int(min(info.Size(), int64(limit))))
	b, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if len(b) > limit {
		return "", errTooLong
	}
	return string(b), err
}
