package transports

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// conn is one run of Stdio.Serve.
type conn struct {
	server       *server.MCPServer
	log          *slog.Logger
	maxLine      int64
	questionTime time.Duration
	gate         func(ctx context.Context, method string) (leave func(), err error) // nil lets everything in
	session      *session
	calls        *callTable
	asked        asked
	askable      func() (done func(), ok bool) // counts a question to the person; nil counts none
	out          *lineWriter

	ctx    context.Context // of every call
	cancel context.CancelCauseFunc

	work   chan *call    // to a worker that has nothing to do
	eof    chan error    // how the input ended
	broken chan struct{} // closed when out has failed
	outErr error         // why; set before broken is closed
	done   chan struct{} // closed when all calls have ended
	pumped chan struct{} // closed when pumpNotifications has returned
}

// fail is told once that out has failed.
func (c *conn) fail(err error) {
	c.outErr = err
	close(c.broken)
}

// wait returns when there is nothing more to do on this connection, and why.
func (c *conn) wait(ctx context.Context) error {
	var readErr error
	select {
	case readErr = <-c.eof:
		c.asked.end()
		c.calls.endListening(ErrInputEnded)
	case <-c.broken:
		return c.disconnected()
	case <-ctx.Done():
		return shutdown(ctx)
	}
	for {
		if owed, _ := c.calls.counts(); owed == 0 {
			break
		}
		select {
		case <-c.calls.ended:
		case <-c.broken:
			return c.disconnected()
		case <-ctx.Done():
			return shutdown(ctx)
		}
	}
	select {
	case <-c.out.idle():
	case <-ctx.Done():
		return shutdown(ctx)
	}
	select {
	case <-c.broken:
		return c.disconnected()
	default:
	}
	if !errors.Is(readErr, io.EOF) {
		return fmt.Errorf("reading from the client: %w", readErr)
	}
	return nil
}

func (c *conn) disconnected() error { return fmt.Errorf("%w: %w", ErrDisconnected, c.outErr) }

func shutdown(ctx context.Context) error {
	return fmt.Errorf("%w: %w", ErrShutdown, context.Cause(ctx))
}

// close ends every call with cause, and tells whether all have ended and been
// answered in good time.
func (c *conn) close(cause error) bool {
	late := time.NewTimer(grace)
	defer late.Stop()
	c.calls.close()
	c.cancel(cause)
	c.asked.end()
	inTime := true
	for inTime {
		if _, live := c.calls.counts(); live == 0 {
			break
		}
		select {
		case <-c.calls.ended:
		case <-late.C:
			inTime = false
		}
	}
	close(c.done)
	if !inTime {
		return false
	}
	select {
	case <-c.pumped:
	case <-late.C:
		return false
	}
	select {
	case <-c.out.idle():
		return true
	case <-late.C:
		return false
	}
}

// read takes in messages until the input ends or the connection does.
func (c *conn) read(lines *lineReader) {
	for {
		line, err := lines.next()
		switch {
		case errors.Is(err, errLineTooLong):
			c.refuse(origin{}, nil, mcp.INVALID_REQUEST, fmt.Sprintf(
				"the line is longer than %d bytes, the most this server takes in one message", c.maxLine))
		case err != nil:
			c.eof <- err
			return
		case line[0] == '[':
			if !c.takeBatch(line, nil) {
				return
			}
		default:
			if !c.take(line, origin{}) {
				return
			}
		}
	}
}

// origin is where a message came from: the batch it was in, if it was, and what
// its transport knows of who sent it.
type origin struct {
	batch  *batch
	slot   int
	caller callerFunc // nil adds nothing
}

// callerFunc adds to a call's context what the transport knows of the caller.
type callerFunc func(context.Context) context.Context

const parseError = "not valid JSON: send one JSON-RPC message a line"

// takeBatch takes in a JSON array of messages. It returns false when the
// connection is ending.
func (c *conn) takeBatch(line []byte, caller callerFunc) bool {
	messages, err := splitBatch(line)
	if err != nil {
		if errors.Is(err, errSyntax) {
			c.refuse(origin{}, nil, mcp.PARSE_ERROR, parseError)
		} else {
			c.refuse(origin{}, nil, mcp.INVALID_REQUEST, err.Error())
		}
		return true
	}
	b := newBatch(len(messages))
	for i, m := range messages {
		if !c.take(m, origin{b, i, caller}) {
			return false
		}
	}
	return true
}

// take takes in one message: it routes an answer, cancels a call, or starts or
// queues one. It returns false when the connection is ending.
func (c *conn) take(raw []byte, from origin) bool {
	env, wrong := readMessage(raw)
	switch {
	case wrong != nil && wrong.code == mcp.PARSE_ERROR:
		c.refuse(from, nil, mcp.PARSE_ERROR, parseError)
		return true
	case wrong != nil:
		c.refuse(from, wrong.id, wrong.code, wrong.message)
		return true
	case env.isResponse():
		c.route(&env)
		c.settle(from, nil)
		return true
	case env.id == nil && env.method == string(mcp.MethodNotificationCancelled):
		if !c.cancelCall(env.params) && !json.Valid(raw) {
			c.refuse(from, nil, mcp.PARSE_ERROR, parseError)
			return true
		}
		c.settle(from, nil)
		return true
	}
	var key string
	if env.id != nil {
		key, _ = idKey(env.id) // checked by readMessage
	}

	cl := &call{raw: raw, id: env.id, key: key, method: env.method, size: int64(len(raw)) + callOverhead, origin: from}
	cl.view = requestSession{session: c.session, call: cl}
	cl.ctx, cl.cancel = context.WithCancelCause(c.ctx)
	if from.caller != nil {
		cl.ctx = from.caller(cl.ctx)
	}
	cl.ctx = c.server.WithContext(cl.ctx, &cl.view)
	admitted := c.calls.admit(cl)
	switch admitted {
	case admitRun:
		c.run(cl)
		return true
	case admitQueued:
		return true
	}
	cl.cancel(nil)
	switch admitted {
	case admitDuplicate:
		c.refuse(from, env.id, mcp.INVALID_REQUEST, fmt.Sprintf(
			"the id %.100s belongs to a request that has not been answered yet; every request needs an id of its own", env.id))
	case admitBusy:
		c.refuse(from, env.id, mcp.INTERNAL_ERROR,
			"too much is waiting behind a question to the user; send this again once that is answered")
	case admitClosed:
		return false
	}
	return true
}

// route passes the client's answer on to who asked.
func (c *conn) route(env *envelope) {
	key, err := idKey(env.id)
	if err == nil {
		if ch, ok := c.asked.take(key); ok {
			ch <- reply{result: env.result, failure: env.failure}
			return
		}
	}
	c.log.Debug("ignored an answer to a request that is not open", "id", fmt.Sprintf("%.100s", env.id))
}

// cancelCall does what notifications/cancelled asks for. It returns false when
// params cannot be read.
func (c *conn) cancelCall(params []byte) bool {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
		Reason    any             `json:"reason"`
	}
	err := json.Unmarshal(params, &p)
	var key string
	if err == nil {
		key, err = idKey(p.RequestID)
	}
	if err != nil {
		c.log.Debug("ignored a cancellation without a usable requestId", "error", err)
		return false
	}
	reason, _ := p.Reason.(string)
	if cl := c.calls.cancelID(key, &CancelledError{Reason: reason}); cl != nil {
		c.settle(cl.origin, nil)
	}
	return true
}

// run runs a call from a goroutine that waits for one, whose stack has grown to
// what a call needs, or else from a new one.
func (c *conn) run(cl *call) {
	select {
	case c.work <- cl:
	default:
		go c.worker(cl)
	}
}

func (c *conn) runAll(calls []*call) {
	for _, cl := range calls {
		c.run(cl)
	}
}

// worker runs cl, what its end lets start, and what comes later.
func (c *conn) worker(cl *call) {
	for {
		for cl != nil {
			next := c.serve(cl)
			cl = nil
			if len(next) > 0 {
				cl = next[0]
				c.runAll(next[1:])
			}
		}
		select {
		case cl = <-c.work:
		case <-c.done:
			return
		}
	}
}

// serve runs one call to its end, however that comes, and returns what can run
// after it.
func (c *conn) serve(cl *call) (next []*call) {
	var resp mcp.JSONRPCMessage
	returned := false
	defer func() {
		if !returned {
			// A panic, or runtime.Goexit, which ends this goroutine in spite of us.
			p := recover()
			c.log.Error("a handler panicked", "method", cl.method, "panic", p, "stack", string(debug.Stack()))
			resp = internalError("the server failed while it handled this request; its log says how")
			if p == nil {
				defer func() { c.runAll(next) }()
			}
		}
		cl.cancel(nil)
		cl.pass.giveBack()
		c.answer(cl, resp)
		next = c.calls.finish(cl)
	}()
	cl.sends = c.session.sends.Load()
	if cause := context.Cause(cl.ctx); cause != nil && !cl.endless() {
		// Cancelled between its turn and now: it must not begin.
		resp = internalError(cause.Error())
	} else if refused := c.enterGate(cl); refused != nil {
		resp = *refused
	} else {
		resp = c.server.HandleMessage(cl.ctx, cl.raw)
	}
	returned = true
	return nil
}

// internalError is a response to whichever request it is written for.
func internalError(message string) mcp.JSONRPCError {
	return mcp.NewJSONRPCError(mcp.NewRequestId(0), mcp.INTERNAL_ERROR, message, nil)
}

// answer writes what a call came to, unless nobody waits for it.
func (c *conn) answer(cl *call, resp mcp.JSONRPCMessage) {
	if cl.id == nil {
		if e, ok := resp.(mcp.JSONRPCError); ok && e.Error.Code == mcp.PARSE_ERROR {
			c.refuse(cl.origin, nil, mcp.PARSE_ERROR, parseError)
			return
		}
		c.settle(cl.origin, nil)
		return
	}
	if !c.calls.claim(cl) {
		return
	}
	c.flushSince(cl)
	if resp == nil {
		resp = internalError("the server has no answer to this request")
	}
	buf := getBuffer()
	defer putBuffer(buf)
	b, err := appendResponse((*buf)[:0], cl.id, resp)
	if err != nil {
		c.log.Error("a response could not be encoded", "method", cl.method, "error", err)
		b, _ = appendResponse((*buf)[:0], cl.id, internalError("the response could not be encoded; the server's log says why"))
	}
	*buf = b
	c.send(cl.origin, buf)
}

// refuse answers a message that is not handled. A nil id is written as null.
func (c *conn) refuse(from origin, id []byte, code int, message string) {
	if id == nil {
		id = null
	}
	buf := getBuffer()
	defer putBuffer(buf)
	*buf, _ = appendErrorResponse((*buf)[:0], id, mcp.NewJSONRPCErrorDetails(code, message, nil))
	c.send(from, buf)
}

// send writes the answer in buf, or keeps it for its batch.
func (c *conn) send(from origin, buf *[]byte) {
	if from.batch != nil {
		c.settle(from, append([]byte{}, *buf...))
		return
	}
	*buf = append(*buf, '\n')
	c.out.write(*buf)
}

// settle records what a message in a batch came to; nil is no answer.
func (c *conn) settle(from origin, answer []byte) {
	if from.batch == nil {
		return
	}
	if whole := from.batch.settle(from.slot, answer); whole != nil {
		c.out.write(append(whole, '\n'))
	}
}

// writeLine writes what encode appends to its argument.
func (c *conn) writeLine(encode func([]byte) []byte) {
	buf := getBuffer()
	defer putBuffer(buf)
	*buf = append(encode((*buf)[:0]), '\n')
	c.out.write(*buf)
}
