package backendtest

import (
	"fmt"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// numbered is n lines of width bytes each, so that a loss or a change of order
// shows.
func numbered(prefix string, n, width int) string {
	var b strings.Builder
	for i := range n {
		line := fmt.Sprintf("%s %d ", prefix, i)
		b.WriteString(line + strings.Repeat("x", width-len(line)-1) + "\n")
	}
	return b.String()
}

func testOutput(s *suite) {
	if !s.h.Commands {
		s.t.Skip("this backend runs no commands")
	}

	s.claim("standard output and standard error arrive apart and complete", func(p *place) {
		const lines, width = 20_000, 64 // 1.28 MB each
		out, err := numbered("out", lines, width), numbered("err", lines, width)
		p.writeBig("out", out)
		p.writeBig("err", err)
		res := p.run(shell(`cd "$1" && { cat out & cat err >&2; wait; }`, p.dir))
		if res.out != out {
			p.Errorf("standard output: %d bytes of %d, or others", len(res.out), len(out))
		}
		if res.err != err {
			p.Errorf("standard error: %d bytes of %d, or others", len(res.err), len(err))
		}
	})

	s.claim("every byte value is passed on", func(p *place) {
		p.write("f", everyByte())
		if res := p.run(shell(`cat "$1"; cat "$1" >&2`, p.at("f"))); res.out != everyByte() || res.err != everyByte() {
			p.Errorf("%q and %q", res.out, res.err)
		}
	})

	s.claim("what a command prints just before its end arrives", func(p *place) {
		for range 20 {
			if res := p.run(backends.Command{Script: "printf last; printf word >&2"}); res.out != "last" || res.err != "word" {
				p.Fatalf("%+v", res)
			}
		}
	})

	s.claim("merged output keeps the order in which it was written", func(p *place) {
		const n = 500
		var want strings.Builder
		for i := range n {
			fmt.Fprintf(&want, "out %d\nerr %d\n", i, i)
		}
		res := p.run(backends.Command{Merge: true,
			Script: fmt.Sprintf(`i=0; while [ $i -lt %d ]; do echo "out $i"; echo "err $i" >&2; i=$((i+1)); done`, n)})
		if res.out != want.String() {
			p.Errorf("the order was not kept, or something is missing: %s", brief(res.out))
		}
		if res.err != "" {
			p.Errorf("something came as standard error: %s", brief(res.err))
		}
	})

	s.claim("output arrives as it comes", func(p *place) {
		p.needProcesses()
		p.mkdir(".")
		p.sh(`mkfifo "$1/go"`, p.dir)
		ended, first := p.start(p.Context(), backends.Command{Dir: p.dir, Script: "echo first; read -r x <go; echo $x"})
		p.promptly("output of a command that goes on", func() { <-first })
		p.sh(`echo go >"$1/go"`, p.dir)
		if res := <-ended; res.failed != nil || res.out != "first\ngo\n" {
			p.Errorf("%+v", res)
		}
	})

	s.claim("output may be discarded", func(p *place) {
		exit, err := p.ws.Run(p.Context(), backends.Command{Script: "echo out; echo err >&2; exit 5"})
		if err != nil || exit.Code != 5 {
			p.Errorf("%+v, %v", exit, err)
		}
	})

	s.claim("output over a size is kept whole in a file", func(p *place) {
		want := numbered("line", 5_000, 40)
		p.write("f", want)
		res := p.run(backends.Command{Argv: []string{"cat", p.at("f")}, KeepAbove: 1000})
		if res.out != want {
			p.Errorf("%d bytes arrived of %d", len(res.out), len(want))
		}
		if res.exit.OutputFile == "" {
			p.Fatal("no OutputFile is named")
		}
		if got, err := readAll(p.Context(), p.ws, res.exit.OutputFile); err != nil || got != want {
			p.Errorf("%s holds %s (%v), want the whole output", res.exit.OutputFile, brief(got), err)
		}
	})

	s.claim("the file of merged output has the order in which it was written", func(p *place) {
		res := p.run(backends.Command{Merge: true, KeepAbove: 10,
			Script: `i=0; while [ $i -lt 100 ]; do echo "out $i"; echo "err $i" >&2; i=$((i+1)); done`})
		if got, err := readAll(p.Context(), p.ws, res.exit.OutputFile); err != nil || got != res.out || strings.Count(got, "\n") != 200 {
			p.Errorf("the file holds %s (%v), printed was %s", brief(got), err, brief(res.out))
		}
	})

	s.claim("the file of both outputs has all of both", func(p *place) {
		res := p.run(backends.Command{KeepAbove: 100,
			Script: `i=0; while [ $i -lt 100 ]; do echo "out $i"; echo "err $i" >&2; i=$((i+1)); done`})
		got, err := readAll(p.Context(), p.ws, res.exit.OutputFile)
		if err != nil || len(got) != len(res.out)+len(res.err) {
			p.Errorf("the file holds %s (%v), printed were %d and %d bytes", brief(got), err, len(res.out), len(res.err))
		}
	})

	s.claim("output up to the size leaves no file", func(p *place) {
		for _, keep := range []int64{0, 1000, 2000} {
			res := p.run(backends.Command{Script: `printf '%01000d' 0`, KeepAbove: keep})
			if len(res.out) != 1000 || res.exit.OutputFile != "" {
				p.Errorf("KeepAbove %d: %d bytes and file %q", keep, len(res.out), res.exit.OutputFile)
			}
		}
	})

	s.claim("each command's output has a file of its own", func(p *place) {
		one := p.run(backends.Command{Script: "echo one", KeepAbove: 1}).exit.OutputFile
		two := p.run(backends.Command{Script: "echo two", KeepAbove: 1}).exit.OutputFile
		if one == two {
			p.Fatalf("both are %q", one)
		}
		if got, err := readAll(p.Context(), p.ws, one); err != nil || got != "one\n" {
			p.Errorf("the first holds %q (%v)", got, err)
		}
	})

	s.claim("output over the limit stops the command as too_large", func(p *place) {
		p.promptly("a command that prints without end", func() {
			res, err := p.try(p.Context(), backends.Command{Script: "while :; do echo 0123456789; done", MaxOutput: 100_000})
			wantCode(p.T, "Run", err, backends.CodeTooLarge)
			if len(res.out) < 100_000 || !strings.HasPrefix(res.out, "0123456789\n0123456789\n") {
				p.Errorf("%s arrived, want what was printed up to the limit", brief(res.out))
			}
		})
	})

	s.claim("output up to the limit is no error", func(p *place) {
		res := p.run(backends.Command{Script: `printf '%0600d' 0; printf '%0400d' 0 >&2`, MaxOutput: 1000})
		if len(res.out) != 600 || len(res.err) != 400 || res.exit.Code != 0 {
			p.Errorf("%+v", res)
		}
	})
}
