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

// drain makes enter refuse, and returns what is closed when the last call has
// left.
func (f *flight) drain() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.draining {
		f.draining = true
		if f.calls == 0 {
			close(f.empty)
		}
	}
	return f.empty
}

func (f *flight) isDraining() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.draining
}

// drain is Drain.
func (h *hub) drain(ctx context.Context) error {
	empty := h.flight.drain()
	var late error
	select {
	case <-empty:
	case <-ctx.Done():
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
	return late
}
