package shell

import (
	"fmt"
	"time"

	"mvdan.cc/sh/v3/syntax"
)

// pipeline runs a | b | c.
func (s *shell) pipeline(c *syntax.BinaryCmd) flow {
	stages, all := flatten(c)
	n := len(stages)
	codes := make([]int, n)
	s.enter()
	defer func() { s.depth-- }()

	finished := make(chan struct{}, n)
	started := 0
	var in *descriptor // what the next stage reads
	for i, st := range stages[:n-1] {
		r, w := newPipe()
		sub := s.subshell(s.m.goroutine(s.ctx))
		sub.outerJobs = s.knownJobs()
		if in != nil {
			sub.setFD(0, in)
		}
		if all[i] {
			sub.setFD(2, w.keep())
		}
		sub.setFD(1, w)
		in = r
		started++
		s.m.spawn(func() { codes[i] = sub.run(func(sub *shell) flow { return sub.stmt(st) }) }, func() {
			sub.end()
			sub.turn.Give()
			finished <- struct{}{}
		})
	}
	last := stages[n-1]
	if _, simple := last.Cmd.(*syntax.CallExpr); simple && !s.trapping {
		s.running = last
	}
	f := goOn
	if s.options.lastpipe && !s.options.monitor {
		old := s.fds[0]
		s.fds[0] = in
		func() {
			defer func() {
				s.setFD(0, old)
			}()
			f = s.stmt(last)
		}()
		codes[n-1] = s.status
	} else {
		sub := s.subshell(s.ctx)
		sub.outerJobs = s.knownJobs()
		sub.setFD(0, in)
		codes[n-1] = sub.run(func(sub *shell) flow { return sub.stmt(last) })
	}
	for range started {
		s.turn.Give()
		select {
		case <-finished:
		case <-s.ctx.Done():
			panic(stopped{})
		}
	}
	s.pipeStatus = codes
	s.status = codes[n-1]
	if s.options.pipefail {
		for _, code := range codes {
			if code != 0 {
				s.status = code
			}
		}
	}
	return f
}

// flatten lists the stages of a pipeline, and after which of them standard
// error is piped as well.
func flatten(c *syntax.BinaryCmd) (stages []*syntax.Stmt, all []bool) {
	var walk func(st *syntax.Stmt)
	walk = func(st *syntax.Stmt) {
		b, ok := st.Cmd.(*syntax.BinaryCmd)
		if !ok || b.Op != syntax.Pipe && b.Op != syntax.PipeAll || st.Negated || len(st.Redirs) > 0 || st.Background {
			stages = append(stages, st)
			return
		}
		walk(b.X)
		all = append(all, b.Op == syntax.PipeAll)
		walk(b.Y)
	}
	walk(&syntax.Stmt{Cmd: c})
	return stages, all
}

func (s *shell) timeClause(c *syntax.TimeClause) flow {
	begun := time.Now()
	f := goOn
	if c.Stmt != nil {
		f = s.stmt(c.Stmt)
	}
	real := time.Since(begun).Seconds()
	if c.PosixFormat {
		s.say(fmt.Sprintf("real %.2f\nuser 0.00\nsys 0.00\n", real))
	} else {
		s.say(fmt.Sprintf("\nreal\t%dm%.3fs\nuser\t0m0.000s\nsys\t0m0.000s\n", int(real)/60, real-float64(int(real)/60*60)))
	}
	return f
}
