package transports

import (
	"context"
	"fmt"
	"sync"
)

// flight counts the calls that are being handled, so that a server that stops
// can wait for them.
type flight struct {
	mu       sync.Mutex
	calls    int
	draining bool
	empty    chan struct{} // closed when draining and no call is left
}

// enter counts a call. It returns false when no more are taken.
func (f *flight) enter() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.draining {
		return false
	}
	f.calls++
	return true
}

func (f *flight) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls--
	if f.draining && f.calls == 0 {
		close(f.empty)
	}
}

// drain makes enter refuse, and returns how many calls there are, and what is
// closed when the last has left.
func (f *flight) drain() (calls int, empty <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.draining {
		f.draining = true
		if f.calls == 0 {
			close(f.empty)
		}
	}
	return f.calls, f.empty
}

func (f *flight) left() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

func (f *flight) isDraining() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.draining
}

// Drained is what became of the calls that were in flight when the server began
// to stop.
type Drained struct{ Finished, Cut int }

// drain is Drain.
func (h *hub) drain(ctx context.Context) (Drained, error) {
	calls, empty := h.flight.drain()
	cut := 0
	var late error
	select {
	case <-empty:
	case <-ctx.Done():
		cut = h.flight.left()
		late = fmt.Errorf("calls were still running: %w", context.Cause(ctx))
	}
	for _, s := range h.sessions.close() {
		s.end(ErrShutdown)
	}
	h.cancel(ErrShutdown)
	ended := make(chan struct{})
	go func() {
		h.sessions.gone.Wait()
		h.ends.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		if late == nil {
			late = fmt.Errorf("sessions were still ending: %w", context.Cause(ctx))
		}
	}
	return Drained{Finished: calls - cut, Cut: cut}, late
}
