package shell

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/commands"
)

// nested runs sh with args: options, then a command string or a file and its
// parameters. It is a shell of its own in everything but its limits.
func (s *shell) nested(ctx context.Context, c commands.Call, args []string) int {
	s.enter()
	defer func() { s.depth-- }()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	sub := newShell(ctx, s.m, c.Args[0], c.Dir, c.Env)
	defer sub.end()
	sub.depth = s.depth
	for n, d := range s.fds {
		if n > 2 {
			sub.fds[n] = d.keep()
		}
	}
	sub.fds[0] = newDescriptor(c.Stdin, nil, nil)
	sub.fds[1] = newDescriptor(nil, c.Stdout, nil)
	sub.fds[2] = newDescriptor(nil, c.Stderr, nil)
	for name, action := range s.traps {
		if action == "" {
			sub.setTrap(name, "")
		}
	}
	sub.receive(end)
	defer sub.unreachable()
	text, where, code, ok := sub.nestedScript(args)
	if !ok {
		return code
	}
	code = sub.run(func(sub *shell) flow { return sub.runText(text, where) })
	s.childSignal = sub.endedBy
	return code
}

// nestedScript reads the arguments of sh and returns the script to run.
func (s *shell) nestedScript(args []string) (text, where string, code int, ok bool) {
	command, input := false, false
	for len(args) > 0 && len(args[0]) > 1 && (args[0][0] == '-' || args[0][0] == '+') {
		arg := args[0]
		args = args[1:]
		if arg == "--" {
			break
		}
		switch arg {
		case "--norc", "--noprofile", "--posix", "--login", "--restricted":
			continue
		case "--version":
			return "", "", s.print("bash", "GNU bash, version "+bashVersion+" (mcp-workspace)\n"), false
		}
		if arg == "-o" || arg == "+o" || arg == "-O" || arg == "+O" {
			if len(args) > 0 {
				if arg[1] == 'o' {
					s.setOption(args[0], arg[0] == '-')
				} else {
					s.setShopt(args[0], arg[0] == '-')
				}
				args = args[1:]
			}
			continue
		}
		for _, c := range []byte(arg[1:]) {
			switch c {
			case 'c':
				command = true
			case 's':
				input = true
			case 'i', 'l':
			case 'o':
				if len(args) > 0 {
					s.setOption(args[0], arg[0] == '-')
					args = args[1:]
				}
			default:
				if !s.setLetter(c, arg[0] == '-') {
					s.say(s.name + ": -" + string(rune(c)) + ": invalid option\n")
					return "", "", 2, false
				}
			}
		}
	}
	switch {
	case command && len(args) == 0:
		s.say(s.name + ": -c: option requires an argument\n")
		return "", "", 2, false
	case command:
		s.commandString = true
		text = args[0]
		if len(args) > 1 {
			s.name, s.params = args[1], args[2:]
		}
		return text, s.name + ": -c", 0, true
	case input || len(args) == 0:
		s.params = args
		b, err := s.readAllInput()
		if err != nil {
			s.say(s.name + ": " + commands.Reason(err) + "\n")
			return "", "", 1, false
		}
		return string(b), s.name, 0, true
	}
	file := args[0]
	text, err := s.readFile(s.path(file), s.m.limits.Script)
	if err != nil {
		var at *fs.PathError
		code := 126
		if errors.As(err, &at) && errors.Is(err, fs.ErrNotExist) {
			code = 127
		}
		s.say(s.name + ": " + file + ": " + commands.Reason(err) + "\n")
		return "", "", code, false
	}
	if strings.IndexByte(text[:min(len(text), 80)], 0) >= 0 {
		s.say(s.name + ": " + file + ": cannot execute binary file\n")
		return "", "", 126, false
	}
	s.name, s.script, s.params = file, file, args[1:]
	return text, file, 0, true
}

// readAllInput reads a script from standard input.
func (s *shell) readAllInput() ([]byte, error) {
	var out bytes.Buffer
	buf := make([]byte, 16<<10)
	for {
		n, err := commands.ReadContext(s.ctx, s.reader(0), buf)
		out.Write(buf[:n])
		s.charge(n)
		if out.Len() > s.m.limits.Script {
			return nil, errTooLong
		}
		if errors.Is(err, io.EOF) {
			return out.Bytes(), nil
		}
		if err != nil {
			return nil, err
		}
	}
}
