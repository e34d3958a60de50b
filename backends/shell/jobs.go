package shell

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// job is a background command.
type job struct {
	number, pid int
	text        string
	done        chan struct{}
	ctx         context.Context
	cancel      context.CancelCauseFunc
	code        int  // once done is closed
	reported    bool // wait has told of it
}

func (j *job) running() bool {
	select {
	case <-j.done:
		return false
	default:
		return true
	}
}

// background runs a statement as a job.
func (s *shell) background(st *syntax.Stmt) {
	fore := *st
	fore.Background, fore.Coprocess, fore.Disown = false, false, false
	s.spawnJob(jobText(&fore), nil, func(sub *shell) flow {
		if c, ok := fore.Cmd.(*syntax.Subshell); ok && len(fore.Redirs) == 0 && !fore.Negated {
			return sub.stmts(c.Stmts) // it has a subshell already, which signals reach
		}
		return sub.stmt(&fore)
	})
	s.status = 0
}

// jobText is a job as jobs lists it. It stays there for as long as the job does,
// and so is short.
func jobText(st *syntax.Stmt) string {
	text := sourceOf(st)
	if len(text) > 200 {
		text = strings.Clone(text[:200]) + "…"
	}
	return text
}

// spawnJob runs do in a subshell in the background. prepare can change the
// subshell before it starts.
func (s *shell) spawnJob(text string, prepare func(*shell), do func(*shell) flow) *job {
	ctx, cancel := context.WithCancelCause(s.ctx)
	sub := s.subshell(s.m.goroutine(ctx))
	j := &job{number: s.nextJob(), pid: sub.pid, text: text, done: make(chan struct{}), ctx: ctx, cancel: cancel}
	sub.setFD(0, newDescriptor(nothing{}, nil, nil))
	if prepare != nil {
		prepare(sub)
	}
	s.m.mu.Lock()
	s.m.jobs[j.pid] = j
	s.m.mu.Unlock()
	sub.receive(cancel)
	s.m.spawn(func() { j.code = sub.run(do) }, func() {
		sub.unreachable()
		sub.end()
		sub.turn.Give()
		cancel(nil)
		s.m.mu.Lock()
		delete(s.m.jobs, j.pid) // no signal reaches it
		s.m.mu.Unlock()
		close(j.done)
	})
	if len(s.jobs) > 1000 {
		s.forgetJobs()
	}
	s.jobs = append(s.jobs, j)
	s.lastJob = j.pid
	return j
}

// nextJob is the number of the next job: one more than the highest that is still
// in use.
func (s *shell) nextJob() int {
	n := 0
	for _, j := range s.jobs {
		if j.running() || !j.reported {
			n = max(n, j.number)
		}
	}
	return n + 1
}

// knownJobs are the jobs of this shell and, in a substitution or a pipeline,
// those of the shell that it is a part of. Only its own can be waited for.
func (s *shell) knownJobs() []*job {
	if len(s.outerJobs) == 0 {
		return s.jobs
	}
	return slices.Concat(s.outerJobs, s.jobs)
}

// forgetJobs drops jobs that have ended and that nobody asked for.
func (s *shell) forgetJobs() {
	var keep []*job
	for _, j := range s.jobs {
		if j.running() || len(keep) < 100 && !j.reported {
			keep = append(keep, j)
			continue
		}
	}
	s.jobs = keep
}

// wait waits for jobs; no arguments are all of them.
func (s *shell) wait(args []string) int {
	next := false
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		switch args[0] {
		case "-n":
			next = true
		case "-f":
		case "--":
		default:
			s.errorf("wait: %s: invalid option", args[0])
			return 2
		}
		args = args[1:]
	}
	if next {
		return s.waitNext()
	}
	if len(args) == 0 {
		for _, j := range s.jobs {
			s.await(j)
		}
		s.jobs = nil
		return 0
	}
	code := 0
	for _, arg := range args {
		j := findJob(s.jobs, arg)
		if j == nil {
			if strings.HasPrefix(arg, "%") {
				s.errorf("wait: %s: no such job", arg)
			} else if _, err := strconv.Atoi(arg); err != nil {
				s.errorf("wait: `%s': not a pid or valid job spec", arg)
			} else {
				s.errorf("wait: pid %s is not a child of this shell", arg)
			}
			code = 127
			continue
		}
		code = s.await(j)
	}
	return code
}

func (s *shell) await(j *job) int {
	var signals chan struct{}
	if s.inbox != nil {
		signals = s.inbox.arrived
	}
	for ended := false; !ended; {
		s.turn.Give()
		select {
		case <-j.done:
			ended = true
		case <-signals:
			s.handleSignals()
			return 129
		case <-s.ctx.Done():
			panic(stopped{})
		}
	}
	j.reported = true
	return j.code
}

// waitNext waits for any one job.
func (s *shell) waitNext() int {
	first := make(chan *job, len(s.jobs))
	watching, cancel := context.WithCancel(s.ctx)
	defer cancel()
	n := 0
	for _, j := range s.jobs {
		if j.reported {
			continue
		}
		if !j.running() {
			return s.await(j)
		}
		n++
		go func() {
			select {
			case <-j.done:
				first <- j
			case <-watching.Done():
			}
		}()
	}
	if n == 0 {
		return 127
	}
	s.turn.Give()
	select {
	case j := <-first:
		return s.await(j)
	case <-s.ctx.Done():
		panic(stopped{})
	}
}

// findJob finds a job of list by pid, %number, %%, %+, %- or %text.
func findJob(list []*job, arg string) *job {
	spec, isSpec := strings.CutPrefix(arg, "%")
	n, err := strconv.Atoi(spec)
	for i := len(list) - 1; i >= 0; i-- {
		j := list[i]
		switch {
		case !isSpec && err == nil && j.pid == n,
			isSpec && err == nil && j.number == n,
			isSpec && (spec == "" || spec == "%" || spec == "+"),
			isSpec && err != nil && spec != "-" && strings.HasPrefix(j.text, spec):
			return j
		case isSpec && spec == "-" && i == max(0, len(list)-2):
			return j
		}
	}
	return nil
}

// listJobs prints the jobs that run.
func (s *shell) listJobs(args []string) int {
	pids, long, stopped := false, false, false
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if strings.Trim(args[0][1:], "plrsn") != "" {
			s.errorf("jobs: %s: invalid option", args[0])
			return 2
		}
		pids = pids || strings.Contains(args[0], "p")
		long = long || strings.Contains(args[0], "l")
		stopped = stopped || strings.Contains(args[0], "s")
		args = args[1:]
	}
	if stopped {
		return 0 // a job here cannot be
	}
	var running []*job
	for _, j := range s.knownJobs() {
		if j.running() {
			running = append(running, j)
		}
	}
	code := 0
	var asked map[*job]bool
	for _, arg := range args {
		if asked == nil {
			asked = map[*job]bool{}
		}
		j := findJob(running, arg)
		if j == nil {
			s.errorf("jobs: %s: no such job", arg)
			code = 1
		}
		asked[j] = true
	}
	var b strings.Builder
	for i, j := range running {
		mark := " "
		switch i {
		case len(running) - 1:
			mark = "+"
		case len(running) - 2:
			mark = "-"
		}
		switch {
		case asked != nil && !asked[j]:
		case pids:
			b.WriteString(strconv.Itoa(j.pid) + "\n")
		case long:
			fmt.Fprintf(&b, "[%d]%s %d Running                 %s &\n", j.number, mark, j.pid, j.text)
		default:
			fmt.Fprintf(&b, "[%d]%s  Running                 %s &\n", j.number, mark, j.text)
		}
	}
	return max(code, s.print("jobs", b.String()))
}

// processSubst runs <(…) and >(…) and returns the name that stands for it.
func (s *shell) processSubst(p *syntax.ProcSubst) string {
	if p.Op != syntax.CmdIn && p.Op != syntax.CmdOut {
		s.fault("this shell has no %s…)", p.Op)
	}
	s.enter()
	defer func() { s.depth-- }()
	r, w := newPipe()
	mine, theirs, at := r, w, 1
	if p.Op == syntax.CmdOut {
		mine, theirs, at = w, r, 0
	}
	n := 63
	for ; s.fds[n] != nil && n > 10; n-- {
	}
	last := s.lastJob
	s.spawnJob("", func(sub *shell) { sub.nesting++; sub.setFD(at, theirs) }, func(sub *shell) flow { return sub.stmts(p.Stmts) })
	s.jobs = s.jobs[:len(s.jobs)-1]
	s.lastJob = last
	s.setFD(n, mine)
	s.temporary = append(s.temporary, n)
	return "/dev/fd/" + strconv.Itoa(n)
}

// endSubstitutes closes what process substitutions opened for a command.
func (s *shell) endSubstitutes() {
	for _, n := range s.temporary {
		s.setFD(n, nil)
	}
	s.temporary = s.temporary[:0]
}
