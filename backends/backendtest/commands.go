package backendtest

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

func testCommands(s *suite) {
	if !s.h.Commands {
		s.claim("a workspace that runs no commands says unsupported", func(p *place) {
			for _, cmd := range []backends.Command{{Script: "exit 0"}, {Argv: []string{"true"}}} {
				_, err := p.ws.Run(p.Context(), cmd)
				wantCode(p.T, "Run", err, backends.CodeUnsupported)
			}
		})
		return
	}
	testExits(s)
	testSurroundings(s)
	testStdin(s)

	s.claim("many commands at once each have their own answer", func(p *place) {
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				res, err := p.try(p.Context(), shell(`echo "out $1"; echo "err $1" >&2; exit "$1"`, fmt.Sprint(i)))
				if err != nil || res.exit.Code != i || res.out != fmt.Sprintf("out %d\n", i) || res.err != fmt.Sprintf("err %d\n", i) {
					p.Errorf("command %d: %+v, %v", i, res, err)
				}
			})
		}
		wg.Wait()
	})

	s.claim("a running command holds up nothing else", func(p *place) {
		p.write("f", "text\n")
		input := newGate("go on\n")
		ended, started := p.start(p.Context(), backends.Command{Script: "echo started; cat", Stdin: input})
		<-started
		p.promptly("other work", func() {
			if err := p.readErr("f"); err != nil {
				p.Errorf("Read: %v", err)
			}
			if res, err := p.try(p.Context(), shell("echo other")); err != nil || res.out != "other\n" {
				p.Errorf("Run: %+v, %v", res, err)
			}
		})
		close(input.open)
		if res := <-ended; res.failed != nil || res.out != "started\ngo on\n" {
			p.Errorf("the running command: %+v", res)
		}
	})
}

// testExits is about how commands end.
func testExits(s *suite) {
	for _, code := range []int{0, 1, 2, 42, 124, 126, 127, 137, 255} {
		s.claim(fmt.Sprintf("exit code %d is the command's own", code), func(p *place) {
			for _, cmd := range []backends.Command{
				{Script: fmt.Sprintf("echo out; echo err >&2; exit %d", code)},
				shell("echo out; echo err >&2; exit $1", fmt.Sprint(code)),
			} {
				res := p.run(cmd)
				if res.exit.Code != code || res.exit.Signal != "" || res.out != "out\n" || res.err != "err\n" {
					p.Errorf("%+v", res)
				}
			}
		})
	}

	for signal, code := range map[string]int{"KILL": 137, "TERM": 143, "INT": 130, "SEGV": 139} {
		s.claim("a command that SIG"+signal+" ended has that code and name", func(p *place) {
			res := p.run(shell("echo before; kill -" + signal + " $$; sleep 60"))
			if res.exit.Code != code || res.exit.Signal != "SIG"+signal || res.out != "before\n" {
				p.Errorf("%+v, want code %d and signal SIG%s", res, code, signal)
			}
		})
	}

	s.claim("a missing program is code 127 with the reason on standard error", func(p *place) {
		p.mkdir(".")
		for _, cmd := range []backends.Command{
			{Argv: []string{"no-such-program-anywhere", "x"}},
			{Argv: []string{p.at("no-such-program-anywhere")}},
			{Argv: []string{"./no-such-program-anywhere"}, Dir: p.dir},
			{Script: "no-such-program-anywhere x"},
			{Argv: []string{"no-such-program-anywhere"}, Merge: true},
		} {
			res := p.run(cmd)
			said := res.err
			if cmd.Merge {
				said = res.out
			}
			if res.exit.Code != 127 || res.exit.Signal != "" || !strings.Contains(said, "no-such-program-anywhere") {
				p.Errorf("%q %q: %+v, want 127 and the name", cmd.Argv, cmd.Script, res)
			}
		}
	})

	s.claim("a program that cannot be executed is code 126 with the reason on standard error", func(p *place) {
		p.writeAll("not-executable", "#!/bin/sh\necho ran\n", "directory/f", "")
		for _, cmd := range []backends.Command{
			{Argv: []string{p.at("not-executable")}},
			{Argv: []string{"./not-executable"}, Dir: p.dir},
			{Argv: []string{p.at("directory")}},
			shell(`exec "$1"`, p.at("not-executable")),
		} {
			res := p.run(cmd)
			if res.exit.Code != 126 || res.out != "" || res.err == "" {
				p.Errorf("%q: %+v, want 126", cmd.Argv, res)
			}
		}
	})

	s.claim("a command of nothing, or of two things, is refused", func(p *place) {
		for _, cmd := range []backends.Command{
			{},
			{Argv: []string{}},
			{Argv: []string{"true"}, Script: "true"},
		} {
			_, err := p.ws.Run(p.Context(), cmd)
			wantCode(p.T, fmt.Sprintf("Run %+v", cmd), err, backends.CodeInvalidArgument)
		}
	})

	s.claim("a NUL in a command is refused", func(p *place) {
		for _, cmd := range []backends.Command{
			{Argv: []string{"echo", "a\x00b"}},
			{Script: "echo a\x00b"},
			{Script: "true", Env: []string{"A=\x00"}},
		} {
			_, err := p.ws.Run(p.Context(), cmd)
			wantCode(p.T, fmt.Sprintf("Run %q", cmd.Argv), err, backends.CodeInvalidArgument)
		}
	})
}

// testSurroundings is about what commands find when they start.
func testSurroundings(s *suite) {
	s.claim("arguments are passed on literally", func(p *place) {
		args := []string{"a b", "$HOME", "`id`", "*", "'", `"`, `\n`, "", "-n", "--", "new\nline", "é🙂", "~", ";exit 3", "%s"}
		res := p.run(shell(`for a; do printf '<%s>' "$a"; done`, args...))
		if want := "<" + strings.Join(args, "><") + ">"; res.out != want {
			p.Errorf("got  %q\nwant %q", res.out, want)
		}
	})

	s.claim("a long argument arrives whole", func(p *place) {
		long := strings.Repeat("0123456789", 10_000)
		if res := p.run(shell(`printf %s "$1"`, long)); res.out != long {
			p.Errorf("got %s", brief(res.out))
		}
	})

	s.claim("a long script is run whole or refused", func(p *place) {
		// Longer than one argument of a program may be on Linux.
		script := "# " + strings.Repeat("a long comment ", 20_000) + "\necho end\n"
		res, err := p.try(p.Context(), backends.Command{Script: script})
		if err != nil {
			wantCode(p.T, "Run", err, backends.CodeTooLarge)
		} else if res.out != "end\n" || res.exit.Code != 0 {
			p.Errorf("%+v", res)
		}
	})

	s.claim("a script is one for the POSIX shell", func(p *place) {
		res := p.run(backends.Command{Script: `f() { echo "$((6*7)) ${1#a}"; }` + "\n" + `x=$(f ab) && [ "$x" = "42 b" ] && echo "$x" | { read -r y z; echo "$z$y"; }`})
		if res.out != "b42\n" {
			p.Errorf("%+v", res)
		}
	})

	s.claim("a script may start with a dash", func(p *place) {
		res := p.run(backends.Command{Script: "-not-an-option; echo on"})
		if res.out != "on\n" {
			p.Errorf("%+v", res)
		}
	})

	s.claim("the environment is added to and overridden", func(p *place) {
		if home := p.sh(`printf %s "$PATH"`); home == "" {
			p.Error("the workspace's environment has no PATH")
		}
		res := p.run(backends.Command{
			Script: `for v in "$SPACES" "$LINES_OF" "$EMPTY" "${EMPTY+set}" "$EQUALS" "$HOME"; do printf '<%s>' "$v"; done; [ -n "$PATH" ] && echo path`,
			Env:    []string{"SPACES=a  b ", "LINES_OF=one\ntwo", "EMPTY=", "EQUALS=a=b=c", "HOME=/else where"},
		})
		if want := "<a  b ><one\ntwo><><set><a=b=c></else where>path\n"; res.out != want {
			p.Errorf("got  %q\nwant %q", res.out, want)
		}
		if got := p.sh(`printf %s "$SPACES$HOME"`); strings.Contains(got, "a  b") || strings.Contains(got, "else where") {
			p.Errorf("the environment of one command reached the next: %q", got)
		}
	})

	s.claim("commands start in the working directory", func(p *place) {
		for _, cmd := range []backends.Command{{Script: "pwd -P"}, shell("pwd -P")} {
			if res := p.run(cmd); res.out != p.ws.WorkingDir()+"\n" {
				p.Errorf("pwd printed %q, want %q", res.out, p.ws.WorkingDir())
			}
		}
	})

	s.claim("commands start in the directory asked for", func(p *place) {
		p.write("sub dir/f", "")
		rel := strings.TrimPrefix(p.dir, p.ws.WorkingDir()+"/")
		for _, dir := range []string{p.at("sub dir"), rel + "/sub dir", rel + "/x/../sub dir/."} {
			if res := p.run(backends.Command{Script: "pwd -P; ls", Dir: dir}); res.out != p.at("sub dir")+"\nf\n" {
				p.Errorf("in %q: printed %q", dir, res.out)
			}
		}
	})

	s.claim("a program given by a relative path is found from the directory asked for", func(p *place) {
		p.writeReq(backends.WriteRequest{Path: p.at("bin/tool"), Content: strings.NewReader("#!/bin/sh\necho ran\n"), Mode: 0o755})
		if res := p.run(backends.Command{Argv: []string{"bin/tool"}, Dir: p.dir}); res.out != "ran\n" {
			p.Errorf("%+v", res)
		}
	})
}

// testStdin is about what commands read.
func testStdin(s *suite) {
	s.claim("without a reader standard input is at its end", func(p *place) {
		p.promptly("cat", func() {
			res, err := p.try(p.Context(), backends.Command{Script: "cat; echo end"})
			if err != nil || res.out != "end\n" {
				p.Errorf("%+v, %v", res, err)
			}
		})
	})

	s.claim("standard input arrives whole", func(p *place) {
		content := strings.Repeat(everyByte(), 8192) // 2 MB
		res := p.run(backends.Command{Argv: []string{"cat"}, Stdin: strings.NewReader(content)})
		if res.out != content || res.exit.Code != 0 {
			p.Errorf("%d bytes came back of %d", len(res.out), len(content))
		}
	})

	s.claim("standard input arrives as it comes", func(p *place) {
		r, w := io.Pipe()
		printed := make(chan struct{}, 10)
		go func() {
			for range 2 {
				if _, err := io.WriteString(w, "a line\n"); err != nil {
					break
				}
				<-printed // before this there is no second line
			}
			w.Close()
		}()
		p.promptly("the exchange", func() {
			res, err := p.try(p.Context(), backends.Command{Script: `while read -r x; do echo "$x"; done`, Stdin: r,
				Output: func(backends.Stream, []byte) { printed <- struct{}{} }})
			if err != nil || res.out != "a line\na line\n" {
				p.Errorf("%+v, %v", res, err)
			}
		})
	})

	s.claim("a command that reads no more ends though input is left", func(p *place) {
		p.promptly("a command with endless input", func() {
			res, err := p.try(p.Context(), backends.Command{Script: "read -r x; echo read", Stdin: &endlessLines{}})
			if err != nil || res.out != "read\n" || res.exit.Code != 0 {
				p.Errorf("%+v, %v", res, err)
			}
		})
	})

	s.claim("a command ends though its input goes on waiting", func(p *place) {
		input := newGate("")
		defer close(input.open)
		p.promptly("a command with waiting input", func() {
			res, err := p.try(p.Context(), backends.Command{Script: "echo done; exit 3", Stdin: input})
			if err != nil || res.out != "done\n" || res.exit.Code != 3 {
				p.Errorf("%+v, %v", res, err)
			}
		})
	})
}

// endlessLines is input without an end.
type endlessLines struct{}

func (endlessLines) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
		if i%10 == 9 {
			b[i] = '\n'
		}
	}
	return len(b), nil
}
