package shell

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/shell/commands"
	"github.com/mcp-workspace/mcp-workspace/backends/shell/fair"
)

// machine is what all shells and commands of one script share.
type machine struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	files  commands.Files
	memory *commands.Memory
	turns  *fair.Turns
	owner  string // whose turns
	system commands.System
	limits Limits
	log    *slog.Logger
	begun  time.Time

	steps  atomic.Int64
	tasks  atomic.Int64
	pids   atomic.Int64
	listed atomic.Bool    // an unknown command has been told which there are
	ending sync.WaitGroup // goroutines

	mu   sync.Mutex
	jobs map[int]*job // by pid, of all shells
	// inboxes are those of shells that signals can be sent to, by pid.
	inboxes map[int]*inbox
	fault   error
}

// The ways in which a shell is unwound from any depth. They are panics, because
// an expansion can be in the middle of anything; each goroutine and each script
// that a command runs recovers them.
type (
	// stopped unwinds because the context has ended.
	stopped struct{}
	// killed unwinds the shell of that id because of a signal that it sent to
	// itself, or is the cause of the end of its context.
	killed struct {
		pid    int
		signal string
		number int
	}
	// failed ends the command (or, if it is fatal, the shell) in which an
	// expansion went wrong; the reason has been said.
	failed struct {
		code  int
		fatal bool
		arith bool // it was arithmetic
	}
)

// fail ends the whole script for err.
func (m *machine) fail(err error) {
	m.mu.Lock()
	if m.fault == nil && m.ctx.Err() == nil {
		m.fault = err
	}
	m.mu.Unlock()
	m.cancel(err)
}

// step counts a command, and unwinds when the script is to end.
func (s *shell) step() {
	s.turn.Take(s.ctx)
	if s.ctx.Err() != nil {
		panic(stopped{})
	}
	if n := s.m.steps.Add(1); n > s.m.limits.Steps {
		s.m.fail(overLimit("it ran more than %d commands", s.m.limits.Steps))
		panic(stopped{})
	}
	s.handleSignals()
}

// charge takes n bytes until the current command ends.
func (s *shell) charge(n int) {
	s.spent += int64(n)
	if s.spent <= s.taken {
		return
	}
	more := max(s.spent-s.taken, 64<<10)
	if s.m.memory.Grow(more) != nil {
		s.m.fail(s.m.memoryError())
		panic(stopped{})
	}
	s.taken += more
}

// settle gives back what was charged since the mark.
func (s *shell) settle(mark int64) {
	s.spent = mark
	if spare := s.taken - s.spent; spare > 256<<10 {
		s.m.memory.Free(spare)
		s.taken -= spare
	}
}

// hold takes n bytes until the shell ends, or gives back -n.
func (s *shell) hold(n int64) {
	switch {
	case n > 0 && s.m.memory.Grow(n) != nil:
		s.m.fail(s.m.memoryError())
		panic(stopped{})
	case n < 0:
		s.m.memory.Free(-n)
	}
	s.held += n
}

// enter goes one level deeper; leave with s.depth--.
func (s *shell) enter() {
	if s.depth++; s.depth > s.m.limits.Depth {
		s.m.fail(overLimit("functions, substitutions and scripts nest more than %d deep", s.m.limits.Depth))
		panic(stopped{})
	}
	if s.depth > s.deepest {
		s.deepest = s.depth
		s.hold(levelCost)
	}
}

// goroutine is the context of a new goroutine that computes.
func (m *machine) goroutine(ctx context.Context) context.Context {
	return m.turns.With(ctx, m.owner, m.begun)
}

// spawn runs do in a goroutine; done is called when it has ended, in any case.
func (m *machine) spawn(do func(), done func()) {
	if m.tasks.Add(1) > int64(m.limits.Tasks) {
		m.tasks.Add(-1)
		done()
		m.fail(overLimit("more than %d jobs and pipeline stages ran at one time", m.limits.Tasks))
		panic(stopped{})
	}
	if m.memory.Grow(taskCost) != nil {
		m.tasks.Add(-1)
		done()
		m.fail(m.memoryError())
		panic(stopped{})
	}
	m.ending.Add(1)
	go func() {
		defer m.ending.Done()
		defer m.tasks.Add(-1)
		defer m.memory.Free(taskCost)
		defer done()
		// Nothing is above this goroutine: a panic that got here would end the
		// process.
		defer func() {
			if r := recover(); r != nil {
				m.defect(r)
			}
		}()
		do()
	}()
}

// protect runs do and returns its exit code, whatever becomes of it.
func (s *shell) protect(do func() int) (code int) {
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		code = s.recovered(r)
	}()
	return do()
}

// recovered turns a panic into the exit code of the shell s.
func (s *shell) recovered(r any) int {
	switch r := r.(type) {
	case stopped:
		var k killed
		if errors.As(context.Cause(s.ctx), &k) {
			if k.pid == s.pid {
				s.endedBy = k.signal
			}
			return 128 + k.number
		}
		return 143
	case killed:
		s.endedBy = r.signal
		return 128 + r.number
	case failed:
		return r.code
	}
	s.m.defect(r)
	return 134
}

// defect stops the script for a defect of ours; the server goes on.
func (m *machine) defect(r any) {
	m.log.Error("the shell has a defect", "panic", r, "stack", string(debug.Stack()))
	if defects != nil {
		defects(r, debug.Stack())
	}
	m.fail(backends.Errorf(backends.CodeInternal, op, "", "the script was stopped: it met a defect of the shell: %v", r))
}

// defects hears of defects; tests make them failures.
var defects func(r any, stack []byte)

func (k killed) Error() string { return fmt.Sprintf("ended by %s", k.signal) }
