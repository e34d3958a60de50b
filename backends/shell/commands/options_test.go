package commands

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestParse holds the parser of options against what getopt_long does.
func TestParse(t *testing.T) {
	options := NewOptions(2, "a all", "b", "n lines=", "c color=?", "R r recursive", "reverse", "quiet silent")
	for _, c := range []struct {
		args string
		want string // options and operands
		says string // on standard error
	}{
		{"", "[]", ""},
		{"-a x -b y", "a b [x y]", ""},
		{"-ab x", "a b [x]", ""},
		{"-n3 x", "n=3 [x]", ""},
		{"-n 3 x", "n=3 [x]", ""},
		{"-an3 x", "a n=3 [x]", ""},
		{"-an 3 x", "a n=3 [x]", ""},
		{"--lines=3 --lines 4", "n=3 n=4 []", ""},
		{"--lines= x", "n= [x]", ""},
		{"-c x", "c [x]", ""},
		{"-cred x", "c=red [x]", ""},
		{"--color x --color=red", "c c=red [x]", ""},
		{"-r -R --recursive", "R R R []", ""},
		{"--rec", "R []", ""},
		{"--silent --qui", "quiet quiet []", ""},
		{"x -- -a --all", "[x -a --all]", ""},
		{"- -a", "a [-]", ""},
		{"-x", "exit 2", "cmd: invalid option -- 'x'\nTry 'cmd --help' for more information.\n"},
		{"-ax", "exit 2", "cmd: invalid option -- 'x'\n"},
		{"-n", "exit 2", "cmd: option requires an argument -- 'n'\n"},
		{"--lines", "exit 2", "cmd: option '--lines' requires an argument\n"},
		{"--all=x", "exit 2", "cmd: option '--all' doesn't allow an argument\n"},
		{"--nope", "exit 2", "cmd: unrecognized option '--nope'\n"},
		{"--re", "exit 2", "cmd: option '--re' is ambiguous; possibilities: '--recursive' '--reverse'\n"},
		{"--help", "exit 0", ""},
	} {
		t.Run(c.args, func(t *testing.T) {
			var got string
			cmd := &Command{Name: "cmd", Usage: "[OPTION]...", Summary: "Test", Run: func(p *Proc) int {
				parsed, code := p.Parse(options)
				if parsed == nil {
					got = fmt.Sprintf("exit %d", code)
					return code
				}
				for _, o := range parsed.Options {
					got += o.Key
					if o.HasValue {
						got += "=" + o.Value
					}
					got += " "
				}
				got += fmt.Sprint(parsed.Args)
				return 0
			}}
			var out, errs strings.Builder
			p := &Proc{Name: "cmd", Args: strings.Fields(c.args), Stdout: &out, Stderr: &errs}
			p.Main(t.Context(), cmd)
			if got != c.want {
				t.Errorf("parsed as %q, want %q", got, c.want)
			}
			if !strings.HasPrefix(errs.String(), c.says) || c.says == "" && errs.Len() > 0 {
				t.Errorf("it says %q, want %q", errs.String(), c.says)
			}
		})
	}
	t.Run("options end at the first operand where they are in order", func(t *testing.T) {
		p := &Proc{Name: "cmd", Args: []string{"-a", "x", "-b"}}
		parsed, _ := p.Parse(NewOptions(1, "+", "a", "b"))
		if parsed == nil || !parsed.Has("a") || parsed.Has("b") || !slices.Equal(parsed.Args, []string{"x", "-b"}) {
			t.Errorf("%+v", parsed)
		}
	})
}

// TestEveryCommand runs each command with --help and with input at its end: it
// says what it is for, and ends.
func TestEveryCommand(t *testing.T) {
	plain := []string{"[", "test", "echo", "true", "false", "expr", "tty", "sync", "printf", "yes", "sleep"}
	for _, c := range All() {
		t.Run(c.Name, func(t *testing.T) {
			if c.Summary == "" || strings.HasSuffix(c.Summary, ".") {
				t.Errorf("its summary is %q", c.Summary)
			}
			if !slices.Contains(plain, c.Name) {
				if r := runCommand(t, nil, "", c.Name, "--help"); !strings.Contains(r.out+r.err, "sage") {
					t.Errorf("--help prints %q %q", r.out, r.err)
				}
			}
			if c.Name != "yes" {
				runCommand(t, map[string]string{"f": "a\n"}, "", c.Name)
				runCommand(t, map[string]string{"f": "a\n", "d/": ""}, "x\n", c.Name, "d", "f", "nothere")
			}
		})
	}
}

// TestWriteFailures: what nobody reads any more ends a command like SIGPIPE.
func TestWriteFailures(t *testing.T) {
	var errs strings.Builder
	p := &Proc{Name: "yes", Stdout: brokenPipe{}, Stderr: &errs}
	if code := p.Main(t.Context(), Lookup("yes")); code != 141 || errs.Len() > 0 {
		t.Errorf("a closed pipe: code %d, %q", code, &errs)
	}
	p = &Proc{Name: "yes", Stdout: fullDisk{}, Stderr: &errs}
	if code := p.Main(t.Context(), Lookup("yes")); code != 1 || !strings.Contains(errs.String(), "yes: write error: No space left on device") {
		t.Errorf("a full disk: code %d, %q", code, &errs)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, syscall.EPIPE }

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestReplaceFileKeepsTheOldContentWhenItFails(t *testing.T) {
	r := runCommand(t, map[string]string{"f": "old", "l": "-> f"}, "", "true")
	p := &Proc{Name: "x", Dir: "/work", Files: r.files, ctx: t.Context()}
	err := p.ReplaceFile("l", func(w io.Writer) error {
		if _, err := io.WriteString(w, "new"); err != nil {
			return err
		}
		return io.ErrUnexpectedEOF
	})
	if !errors.Is(err, io.ErrUnexpectedEOF) || r.read(t, "f") != "old" {
		t.Errorf("%v, and f holds %q", err, r.read(t, "f"))
	}
	if err := p.ReplaceFile("l", func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }); err != nil {
		t.Fatal(err)
	}
	if to, err := r.files.Readlink("/work/l"); err != nil || to != "f" || r.read(t, "f") != "new" {
		t.Errorf("the link leads to %q (%v), f holds %q", to, err, r.read(t, "f"))
	}
	if entries, err := r.files.ReadDir("/work"); err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
}
