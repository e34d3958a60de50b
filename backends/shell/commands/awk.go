package commands

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/commands/awk"
)

var awkOptions = NewOptions(2, "+", "F field-separator=", "v assign=", "f file=", "e source=", "E exec=", "b characters-as-bytes", "c traditional", "P posix", "r re-interval",
	"S sandbox", "t lint-old", "L lint=?", "O optimize", "s no-optimize", "n non-decimal-data", "N use-lc-numeric", "M bignum", "W=", "i include=", "l load=", "d dump-variables=?", "p profile=?", "D debug=?", "o pretty-print=?")

func awkCommand(p *Proc) int {
	o, code := p.Parse(awkOptions)
	if o == nil {
		return code
	}
	cfg := awk.Config{
		Host: p, Stdin: p.Stdin, Stdout: bufio.NewWriterSize(p.Out, 32<<10), Stderr: p.Stderr,
		Open:   p.Open,
		Create: p.awkCreate,
		Run:    p.awkRun,
		Reason: Reason,
		Time: func(format string, t time.Time, utc bool) string {
			if utc {
				return Strftime(format, t.UTC())
			}
			return Strftime(format, t.In(p.location()))
		},
		Location: p.location(),
		Env:      p.Env,
		Name:     p.Name,
	}
	var program []string
	for _, opt := range o.Options {
		switch opt.Key {
		case "F":
			cfg.FieldSeparator, cfg.HasFieldSeparator = opt.Value, true
		case "v":
			name, value, ok := strings.Cut(opt.Value, "=")
			if !ok || name == "" {
				return p.Errorf(2, "fatal: `%s' argument to `-v' not in `var=value' form", opt.Value)
			}
			cfg.Vars = append(cfg.Vars, name, value)
		case "f", "E":
			text, err := p.ReadFile(opt.Value)
			if err != nil {
				return p.Errorf(2, "fatal: cannot open source file `%s' for reading: %s", opt.Value, Reason(err))
			}
			program = append(program, string(text))
		case "e":
			program = append(program, opt.Value)
		case "i", "l", "d", "p", "D", "o":
			return p.Errorf(2, "fatal: option -%s is not available in this workspace", opt.Key)
		}
	}
	args := o.Args
	if program == nil {
		if len(args) == 0 {
			fmt.Fprint(p.Stderr, "Usage: "+p.Name+" [OPTION]... 'PROGRAM' [FILE]...\n")
			return 2
		}
		program, args = args[:1], args[1:]
	}
	cfg.Args = args
	code, err := awk.Run(strings.Join(program, "\n"), cfg)
	var syntax *awk.SyntaxError
	var fatal *awk.FatalError
	switch {
	case err == nil || p.Stopped():
		return code
	case errors.As(err, &syntax):
		return p.Errorf(1, "cmd. line:%d: %s", syntax.Line, syntax.Text)
	case errors.As(err, &fatal) && fatal.Line > 0:
		return p.Errorf(2, "cmd. line:%d: fatal: %s", fatal.Line, fatal.Text)
	}
	return p.Errorf(2, "fatal: %s", Reason(err))
}

func (p *Proc) awkCreate(name string, atEnd bool) (io.WriteCloser, error) {
	flag := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if atEnd {
		flag = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	}
	return p.Write(name, flag)
}

// awkRun runs a command by the shell.
func (p *Proc) awkRun(command string, stdin io.Reader, stdout io.Writer) int {
	if stdin == nil {
		stdin = strings.NewReader("")
	}
	ctx, cancel := context.WithCancel(p.Context())
	defer cancel()
	return p.Run(ctx, Call{Args: []string{"sh", "-c", command}, Stdin: stdin, Stdout: stdout})
}
