package transports

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// gatePass is what a gate gave a call for as long as it is handled.
type gatePass struct {
	mu    sync.Mutex
	leave func() // nil while the call has nothing
}

// set keeps leave for later.
func (p *gatePass) set(leave func()) {
	p.mu.Lock()
	old := p.leave
	p.leave = leave
	p.mu.Unlock()
	if old != nil { // of two questions of one call, both have come back
		old()
	}
}

// giveBack calls leave, once.
func (p *gatePass) giveBack() { p.set(nil) }

// comeBack enters a gate again after a person has answered. A gate that is busy
// is a reason to wait then, not to forget the answer.
func (p *gatePass) comeBack(ctx context.Context, enter func(context.Context) (func(), error)) error {
	for ctx.Err() == nil {
		leave, err := enter(ctx)
		if err == nil {
			p.set(leave)
			return nil
		}
		var busy *BusyError
		if !errors.As(err, &busy) {
			return err
		}
		again := time.NewTimer(busy.RetryAfter)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
		}
	}
	return context.Cause(ctx)
}

// enterGate waits until the call may run. It returns what to answer when it may
// not.
func (c *conn) enterGate(cl *call) *mcp.JSONRPCError {
	if c.gate == nil {
		return nil
	}
	leave, err := c.gate(cl.ctx, gated(cl.id, cl.method))
	if err == nil {
		if cl.endless() { // it would keep its turn for ever
			leave()
			return nil
		}
		cl.pass.set(leave)
		return nil
	}
	var busy *BusyError
	code := mcp.INTERNAL_ERROR
	var data any
	if errors.As(err, &busy) {
		code, data = transportError, map[string]any{"retryAfter": busy.RetryAfter.Seconds()}
	}
	refused := mcp.NewJSONRPCError(mcp.NewRequestId(0), code, err.Error(), data)
	return &refused
}

// comeBack enters the gate again, in the time of the call: that of its question
// may be up.
func (c *conn) comeBack(cl *call) error {
	if c.gate == nil {
		return nil
	}
	return cl.pass.comeBack(cl.ctx, func(ctx context.Context) (func(), error) { return c.gate(ctx, cl.method) })
}
