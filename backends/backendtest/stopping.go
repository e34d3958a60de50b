package backendtest

import (
	"context"
	"strings"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

func testStopping(s *suite) {
	if !s.h.Commands {
		s.t.Skip("this backend runs no commands")
	}

	s.claim("a command over its time is stopped, with what it printed", func(p *place) {
		p.promptly("a command with a timeout", func() {
			res, err := p.try(p.Context(), backends.Command{Script: "echo begun; echo trouble >&2; sleep 300; echo not reached", Timeout: time.Second})
			wantCode(p.T, "Run", err, backends.CodeTimeout)
			if res.exit.Code != 124 || res.out != "begun\n" || res.err != "trouble\n" {
				p.Errorf("%+v, want code 124 and what was printed", res)
			}
		})
	})

	s.claim("a command within its time is not stopped", func(p *place) {
		res := p.run(backends.Command{Script: "echo done; exit 7", Timeout: time.Minute})
		if res.exit.Code != 7 || res.out != "done\n" {
			p.Errorf("%+v", res)
		}
	})

	s.claim("a command over its time that ignores signals is stopped", func(p *place) {
		p.promptly("a command that ignores signals", func() {
			_, err := p.try(p.Context(), backends.Command{Script: "trap '' TERM INT HUP; echo begun; while :; do sleep 1; done", Timeout: time.Second})
			wantCode(p.T, "Run", err, backends.CodeTimeout)
		})
	})

	s.claim("a context that expires is a cancellation and no timeout", func(p *place) {
		ctx, cancel := context.WithTimeout(p.Context(), time.Second)
		defer cancel()
		p.promptly("a command whose context expires", func() {
			_, err := p.try(ctx, backends.Command{Script: "sleep 300", Timeout: time.Minute})
			wantCode(p.T, "Run", err, backends.CodeCancelled)
		})
	})

	// Trees of processes that a stop has to reach; each prints "ready" when all
	// of it is there.
	trees := []struct{ name, script string }{
		{"the command itself", "echo ready; exec sleep 300"},
		{"a child", "echo ready; sleep 300; echo not reached"},
		{"children in the background", "sleep 300 & sleep 300 & echo ready; wait"},
		{"a pipeline", "(echo ready; sleep 300) | cat"},
		{"grandchildren", `sh -c 'sh -c "sleep 300 & sleep 300 & echo ready; wait" & wait' & wait`},
		{"orphans", `sh -c 'sleep 300 & sleep 300 &'; echo ready; sleep 300`},
		{"children that ignore signals", `sh -c 'trap "" TERM INT HUP; echo ready; while :; do sleep 1; done' & wait`},
		{"children in a process group of their own", `if command -v bash >/dev/null; then
			bash -c 'set -m; sleep 300 & echo ready; wait' & wait
		else
			timeout 300 sh -c 'echo ready; sleep 300' & wait
		fi`},
	}
	for _, tree := range trees {
		s.claim("cancelling stops "+tree.name, func(p *place) {
			p.wantStopped(tree.script, func(cmd backends.Command) {
				ctx, cancel := context.WithCancel(p.Context())
				defer cancel()
				var seen strings.Builder
				cmd.Output = func(_ backends.Stream, data []byte) {
					if seen.Write(data); strings.Contains(seen.String(), "ready") {
						cancel()
					}
				}
				res, err := p.try(ctx, cmd)
				wantCode(p.T, "Run", err, backends.CodeCancelled)
				if res.out != "ready\n" {
					p.Errorf("what was printed before is %q", res.out)
				}
			})
		})
	}
	s.claim("a timeout stops everything the command started", func(p *place) {
		p.wantStopped(`sh -c 'sleep 300 & echo ready; sleep 300' & wait`, func(cmd backends.Command) {
			cmd.Timeout = time.Second
			_, err := p.try(p.Context(), cmd)
			wantCode(p.T, "Run", err, backends.CodeTimeout)
		})
	})
	s.claim("too much output stops everything the command started", func(p *place) {
		p.wantStopped(`sleep 300 & while :; do echo 0123456789; done`, func(cmd backends.Command) {
			cmd.MaxOutput = 10_000
			_, err := p.try(p.Context(), cmd)
			wantCode(p.T, "Run", err, backends.CodeTooLarge)
		})
	})

	s.claim("cancelling one command leaves the others alone", func(p *place) {
		input := newGate("go on\n")
		ended, started := p.start(p.Context(), backends.Command{Script: "echo started; cat; exit 9", Stdin: input})
		<-started
		ctx, cancel := context.WithCancel(p.Context())
		defer cancel()
		_, err := p.try(ctx, backends.Command{Script: "echo ready; sleep 300", Output: func(backends.Stream, []byte) { cancel() }})
		wantCode(p.T, "Run", err, backends.CodeCancelled)
		close(input.open)
		if res := <-ended; res.failed != nil || res.out != "started\ngo on\n" || res.exit.Code != 9 {
			p.Errorf("the other command: %+v", res)
		}
	})

	s.claim("a cancelled command may be waiting for its input", func(p *place) {
		input := newGate("")
		defer close(input.open)
		ctx, cancel := context.WithCancel(p.Context())
		defer cancel()
		p.promptly("the cancelled command", func() {
			_, err := p.try(ctx, backends.Command{Script: "echo ready; cat", Stdin: input, Output: func(backends.Stream, []byte) { cancel() }})
			wantCode(p.T, "Run", err, backends.CodeCancelled)
		})
	})

	s.claim("a background child that holds the output does not hold up the call and goes on", func(p *place) {
		p.needProcesses()
		p.mkdir(".")
		p.sh(`cd "$1" && mkfifo go answer`, p.dir)
		for _, cmd := range []backends.Command{{}, {Merge: true}, {KeepAbove: 1}} {
			cmd.Dir = p.dir
			cmd.Script = `(read -r x <go; echo late; echo late >&2; echo "alive $x" >answer) & echo begun; exit 4`
			p.promptly("a command with a background child", func() {
				res, err := p.try(p.Context(), cmd)
				if err != nil || res.exit.Code != 4 || res.out != "begun\n" {
					p.Errorf("%+v, %v", res, err)
				}
			})
			p.wantAlive()
		}
	})

	s.claim("a child with a session of its own outlives a cancellation", func(p *place) {
		p.needProcesses()
		p.needProgram("setsid")
		p.mkdir(".")
		p.sh(`cd "$1" && mkfifo go answer`, p.dir)
		ctx, cancel := context.WithCancel(p.Context())
		defer cancel()
		p.promptly("the cancelled command", func() {
			_, err := p.try(ctx, backends.Command{Dir: p.dir, Output: func(backends.Stream, []byte) { cancel() },
				Script: `setsid sh -c 'echo ready; exec >/dev/null 2>&1; read -r x <go; echo "alive $x" >answer' & wait`})
			wantCode(p.T, "Run", err, backends.CodeCancelled)
		})
		p.wantAlive()
	})

	s.claim("a workspace works on after commands were stopped", func(p *place) {
		for range 5 {
			ctx, cancel := context.WithCancel(p.Context())
			_, err := p.try(ctx, backends.Command{Script: "echo ready; sleep 300", Output: func(backends.Stream, []byte) { cancel() }})
			wantCode(p.T, "Run", err, backends.CodeCancelled)
			cancel()
		}
		if got := p.sh("echo fine"); got != "fine\n" {
			p.Errorf("printed %q", got)
		}
	})
}

// wantStopped runs script, which stop must stop, and holds it to having stopped
// every process: all of them inherit the writing end of a FIFO, whose reader
// comes to its end when the last of them is gone.
func (p *place) wantStopped(script string, stop func(backends.Command)) {
	p.Helper()
	p.mkdir(".")
	if p.h.NoProcesses { // Run itself must not return before
		p.promptly("the stop", func() { stop(backends.Command{Script: script, Dir: p.dir}) })
		return
	}
	p.sh(`mkfifo "$1/held"`, p.dir)
	// The reader and the writer wait for each other to open the FIFO.
	gone, _ := p.start(p.Context(), backends.Command{Argv: []string{"cat", "held"}, Dir: p.dir})
	p.promptly("the stop", func() { stop(backends.Command{Script: "exec 3>held; " + script, Dir: p.dir}) })
	p.promptly("the last process that the command had started", func() {
		if res := <-gone; res.failed != nil || res.exit.Code != 0 {
			p.Errorf("reading the FIFO: %+v", res)
		}
	})
}

// wantAlive holds a process to being there that answers what comes through the
// FIFO "go" through the FIFO "answer".
func (p *place) wantAlive() {
	p.Helper()
	res, err := p.try(p.Context(), backends.Command{Script: "echo and well >go; cat answer", Dir: p.dir, Timeout: p.h.Prompt})
	if err != nil || res.out != "alive and well\n" {
		p.Errorf("the process is not there any more: %+v, %v", res, err)
	}
}
