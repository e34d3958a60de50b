package transports

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// exchange is one request of a session from its arrival to its answer.
type exchange struct {
	hub     *hub
	session *httpSession
	post    *post
	raw     []byte
	id      []byte // raw JSON; nil of a notification
	key     string // see idKey
	method  string
	ctx     context.Context
	cancel  context.CancelCauseFunc
	view    sessionView
	pass    gatePass
}

// sessionView is the session as one request sees it: what it sends goes to the
// response of this request.
type sessionView struct {
	requestSession
	x     *exchange
	notes notes
}

// NotificationChannel is where mcp-go sends what the call has to say.
func (v *sessionView) NotificationChannel() chan<- mcp.JSONRPCNotification {
	return v.notes.channel(v.x.notify)
}

// flush writes what the call has sent so far. Later notifications are lost.
func (v *sessionView) flush() { v.notes.flush() }

func (x *exchange) notify(n mcp.JSONRPCNotification) {
	data, err := marshalNotification(n)
	if err != nil {
		x.hub.log.Error("a notification could not be encoded", "method", n.Method, "error", err)
		return
	}
	x.send(data)
}

// send writes a message to the client beside the answer. It returns false when
// there is no way for it.
func (x *exchange) send(data []byte) bool {
	switch {
	case x.post.send(data):
		return true
	case x.session.hasListener():
		x.session.listening().add(data)
		return true
	default:
		return false
	}
}

// RequestElicitation asks the person through the client, as that of stdio does.
func (v *sessionView) RequestElicitation(ctx context.Context, request mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	if v.GetClientCapabilities().Elicitation == nil {
		return nil, server.ErrElicitationNotSupported
	}
	done, ok := v.x.hub.asking.ask(v.x.session.principal)
	if !ok {
		return unasked(v.x.hub.log), nil
	}
	defer done()
	limited, cancel := context.WithTimeout(ctx, v.x.hub.questionTime)
	defer cancel()
	result := new(mcp.ElicitationResult)
	raw, err := v.x.ask(limited, mcp.MethodElicitationCreate, request.Params)
	if err == nil {
		err = json.Unmarshal(raw, result)
	}
	switch {
	case err == nil:
		return result, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, server.ErrElicitationNotSupported):
		return nil, err
	}
	v.x.hub.log.Info("a question to the person got no answer", "cause", err)
	return &mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{Action: mcp.ElicitationResponseActionCancel}}, nil
}

// ask sends a request to the client and waits for its result. When ctx ends
// first, the client is told that the request is void.
func (x *exchange) ask(ctx context.Context, method mcp.MCPMethod, params any) ([]byte, error) {
	data, err := json.Marshal(params)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", method, err)
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	id, reply, err := x.session.asked.open()
	if err != nil {
		return nil, err
	}
	key := strconv.FormatInt(id, 10)
	message := appendHead(nil, []byte(key))
	message = append(message, `,"method":`...)
	message = appendString(message, string(method))
	message = append(message, `,"params":`...)
	message = append(message, data...)
	if !x.send(append(message, '}')) {
		x.session.asked.take(key)
		return nil, fmt.Errorf("%w: the client accepts no stream that the question could be sent on", server.ErrElicitationNotSupported)
	}

	// A call that waits for a person takes nobody's turn meanwhile.
	x.pass.giveBack()
	var raw []byte
	select {
	case r := <-reply:
		raw, err = r.open(method)
	case <-ctx.Done():
		if _, open := x.session.asked.take(key); open {
			x.send(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":"the call that asked has ended"}}`, key))
		}
		err = context.Cause(ctx)
	}
	return raw, errors.Join(err, x.comeBack())
}

// comeBack enters the gate again, in the time of the call: that of its question
// may be up.
func (x *exchange) comeBack() error {
	gate := x.hub.cfg.Gate
	if gate == nil {
		return nil
	}
	return x.pass.comeBack(x.ctx, func(ctx context.Context) (func(), error) {
		return gate.Enter(ctx, x.session.principal, x.method)
	})
}

// run handles the message and returns what it came to. The answer's body is in
// buf when that is large enough.
func (x *exchange) run(ctx context.Context, buf []byte) answer {
	h := x.hub
	x.ctx = ctx
	if x.id != nil {
		if !x.session.begin(x) {
			return refusal(http.StatusBadRequest, x.id, mcp.INVALID_REQUEST, fmt.Sprintf(
				"the id %.100s belongs to a request that has not been answered yet; every request needs an id of its own", x.id))
		}
		defer x.session.finished(x)
	}
	if h.cfg.Gate != nil {
		leave, err := h.cfg.Gate.Enter(ctx, x.session.principal, gated(x.id, x.method))
		if err != nil {
			return h.refuseBusy(x.id, err)
		}
		x.pass.set(leave)
		defer x.pass.giveBack()
	}
	defer x.view.flush()
	x.view.x = x
	x.view.requestSession = requestSession{session: x.session.session, call: &call{method: x.method}}
	resp, ok := x.handle(x.session.server.WithContext(ctx, &x.view))
	if !ok {
		return refusal(http.StatusInternalServerError, x.id, mcp.INTERNAL_ERROR, "the server failed while it handled this request; its log says how")
	}
	x.view.flush()
	if x.id == nil {
		if e, ok := resp.(mcp.JSONRPCError); ok && e.Error.Code == mcp.PARSE_ERROR {
			return refusal(http.StatusBadRequest, nil, mcp.PARSE_ERROR, notJSON)
		}
		return accepted
	}
	if resp == nil {
		resp = internalError("the server has no answer to this request")
	}
	status := http.StatusOK
	if e, ok := resp.(mcp.JSONRPCError); ok && e.Error.Code == mcp.PARSE_ERROR {
		status = http.StatusBadRequest
	}
	body, err := appendResponse(buf, x.id, resp)
	if err != nil {
		h.log.Error("a response could not be encoded", "method", x.method, "error", err)
		return refusal(http.StatusInternalServerError, x.id, mcp.INTERNAL_ERROR, "the response could not be encoded; the server's log says why")
	}
	return answer{status: status, body: body}
}

// handle calls mcp-go. It returns false when a handler panicked.
func (x *exchange) handle(ctx context.Context) (resp mcp.JSONRPCMessage, ok bool) {
	defer func() {
		if p := recover(); p != nil {
			x.hub.log.Error("a handler panicked", "method", x.method, "panic", p, "stack", string(debug.Stack()))
		}
	}()
	return x.session.server.HandleMessage(ctx, x.raw), true
}
