package transports

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// serveBatch handles a JSON array of messages, which only 2025-03-26 has.
func (h *hub) serveBatch(w http.ResponseWriter, r *http.Request, client *Client, body []byte) {
	invalid := func(message string) {
		h.reply(w, refusal(http.StatusBadRequest, nil, mcp.INVALID_REQUEST, message))
	}
	version := r.Header.Get(mcp.HeaderProtocolVersion)
	if refused, bad := badVersion(version); bad {
		h.reply(w, refused)
		return
	}
	if version > mcp.ProtocolVersion20250326 {
		invalid("protocol version " + version + " has no batches: send one message")
		return
	}
	messages, err := splitBatch(body)
	if err != nil {
		code := mcp.INVALID_REQUEST
		if errors.Is(err, errSyntax) {
			code, err = mcp.PARSE_ERROR, errors.New(notJSON)
		}
		h.reply(w, refusal(http.StatusBadRequest, nil, code, err.Error()))
		return
	}
	s, refused, ok := h.sessionOf(r, client, nil)
	if !ok {
		h.reply(w, refused)
		return
	}
	defer s.done()
	if v := s.ProtocolVersion(); v > mcp.ProtocolVersion20250326 {
		invalid("protocol version " + v + " has no batches: send one message")
		return
	}
	if !h.flight.enter() {
		h.reply(w, draining(nil))
		return
	}
	defer h.flight.leave()
	p, ctx := h.newPost(w, r, s)
	final := accepted
	defer func() { p.finish(final) }()
	b := newBatch(len(messages) + 1)
	ctx = h.withCaller(ctx, r, client, s.id, p)
	var running sync.WaitGroup
	turns := make(chan struct{}, 16)
	for i, msg := range messages {
		env, refused, ok := checkMessage(msg)
		if ok && env.id != nil && env.method == string(mcp.MethodInitialize) {
			refused, ok = refusal(http.StatusBadRequest, env.id, mcp.INVALID_REQUEST, "initialize cannot be part of a batch"), false
		}
		if !ok {
			b.settle(i, refused.body)
			continue
		}
		if a, done := s.take(&env); done {
			b.settle(i, a.body)
			continue
		}
		turns <- struct{}{}
		running.Go(func() {
			a := refusal(http.StatusInternalServerError, env.id, mcp.INTERNAL_ERROR, "the server failed while it handled this request; its log says how")
			defer func() {
				b.settle(i, a.body)
				<-turns
			}()
			x := h.newExchange(p, s, msg, &env)
			one, cancel := context.WithCancelCause(ctx)
			defer cancel(nil)
			x.cancel = cancel
			a = x.run(one, nil)
			if a.retry > 0 {
				p.retryAfter(a.retry)
			}
		})
	}
	running.Wait()
	if whole := b.settle(len(messages), nil); whole != nil {
		final = answer{status: http.StatusOK, body: whole}
	}
	p.finish(final)
}
