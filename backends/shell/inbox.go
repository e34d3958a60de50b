package shell

import (
	"context"
	"sync"
	"sync/atomic"
)

// inbox is where signals to a shell arrive that come from other goroutines.
type inbox struct {
	some    atomic.Bool
	arrived chan struct{} // has an element when some is set
	// end ends the shell from any goroutine.
	end context.CancelCauseFunc

	mu      sync.Mutex
	trapped map[string]bool // signals with a trap, the ignored ones being false
	waiting []string
}

func newInbox(end context.CancelCauseFunc) *inbox {
	return &inbox{end: end, arrived: make(chan struct{}, 1), trapped: map[string]bool{}}
}

// deliver leaves a signal for the shell, and tells whether the shell catches or
// ignores it: otherwise it is to be ended.
func (b *inbox) deliver(name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	acts, trapped := b.trapped[name]
	if !trapped || name == "KILL" || name == "STOP" {
		return false
	}
	if acts && len(b.waiting) < 64 {
		b.waiting = append(b.waiting, name)
		b.some.Store(true)
		select {
		case b.arrived <- struct{}{}:
		default:
		}
	}
	return true
}

func (b *inbox) take() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.waiting
	b.waiting = nil
	b.some.Store(false)
	select {
	case <-b.arrived:
	default:
	}
	return out
}

func (b *inbox) set(name string, trapped, acts bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if trapped {
		b.trapped[name] = acts
	} else {
		delete(b.trapped, name)
	}
}

// handleSignals runs the traps of signals that have arrived.
func (s *shell) handleSignals() {
	if s.inbox == nil || !s.inbox.some.Load() || s.trapping {
		return
	}
	for _, name := range s.inbox.take() {
		if action := s.traps[name]; action != "" {
			if s.runTrap(action) == leave {
				panic(failed{code: s.status, fatal: true})
			}
		}
	}
}

// receive makes the shell one that signals can be sent to; end ends its context.
func (s *shell) receive(end context.CancelCauseFunc) {
	s.inbox = newInbox(end)
	for name, action := range s.traps {
		s.inbox.set(name, true, action != "")
	}
	s.m.mu.Lock()
	s.m.inboxes[s.pid] = s.inbox
	s.m.mu.Unlock()
}

// unreachable ends that.
func (s *shell) unreachable() {
	s.m.mu.Lock()
	delete(s.m.inboxes, s.pid)
	s.m.mu.Unlock()
}
