package transports

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// ErrInputEnded is why a request to the client fails once the client has
// closed its side: the answer can never come.
var ErrInputEnded = errors.New("the client has closed its side of the connection, so it cannot answer")

// ClientError is an error that the client answered one of our requests with.
type ClientError struct {
	Method  string // what was asked, for instance elicitation/create
	Code    int    // JSON-RPC error code
	Message string // the client's own words
}

func (e *ClientError) Error() string {
	return fmt.Sprintf("the client answered %s with error %d: %s", e.Method, e.Code, e.Message)
}

// maxAsked is how many requests to one client over the network may be without
// an answer.
const maxAsked = 64

// asked holds the requests to the client that have no answer yet.
type asked struct {
	mu      sync.Mutex
	last    int64
	waiting map[string]chan<- reply
	limit   int // of those waiting; 0 is none
	ended   bool
}

type reply struct {
	result  []byte // raw JSON
	failure []byte // raw JSON of an error, nil when there is a result
	err     error
}

func (a *asked) open() (id int64, answer <-chan reply, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return 0, nil, ErrInputEnded
	}
	if a.limit > 0 && len(a.waiting) >= a.limit {
		return 0, nil, fmt.Errorf("%d questions to this client have no answer yet, as many as may", a.limit)
	}
	a.last++
	ch := make(chan reply, 1)
	if a.waiting == nil {
		a.waiting = map[string]chan<- reply{}
	}
	a.waiting[strconv.FormatInt(a.last, 10)] = ch
	return a.last, ch, nil
}

// take returns who waits for the answer to the request with this id.
func (a *asked) take(key string) (chan<- reply, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	ch, ok := a.waiting[key]
	delete(a.waiting, key)
	return ch, ok
}

// end fails what waits, and what asks later.
func (a *asked) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	for key, ch := range a.waiting {
		ch <- reply{err: ErrInputEnded}
		delete(a.waiting, key)
	}
}

// ask sends a request to the client and waits for its result. When ctx ends
// first, the client is told that the request is void.
func ask(ctx context.Context, v *requestSession, method mcp.MCPMethod, params any) (result []byte, err error) {
	c := v.conn
	data, err := json.Marshal(params)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", method, err)
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	id, answer, err := c.asked.open()
	if err != nil {
		return nil, err
	}
	key := strconv.FormatInt(id, 10)

	c.runAll(c.calls.suspend(v.call))
	defer c.calls.resume(v.call)
	v.call.pass.giveBack()
	defer func() { err = errors.Join(err, c.comeBack(v.call)) }()

	c.flushSince(v.call)
	c.writeLine(func(b []byte) []byte {
		b = appendHead(b, []byte(key))
		b = append(b, `,"method":`...)
		b = appendString(b, string(method))
		b = append(b, `,"params":`...)
		b = append(b, data...)
		return append(b, '}')
	})

	select {
	case r := <-answer:
		return r.open(method)
	case <-ctx.Done():
		if _, open := c.asked.take(key); open {
			c.writeLine(func(b []byte) []byte {
				b = append(b, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`...)
				b = append(b, key...)
				return append(b, `,"reason":"the call that asked has ended"}}`...)
			})
		}
		return nil, context.Cause(ctx)
	}
}

// open returns the result, or the error that the client answered with.
func (r reply) open(method mcp.MCPMethod) ([]byte, error) {
	if r.err != nil || r.failure == nil {
		return r.result, r.err
	}
	var details mcp.JSONRPCErrorDetails
	if err := json.Unmarshal(r.failure, &details); err != nil {
		return nil, fmt.Errorf("the client's error for %s: %w", method, err)
	}
	return nil, &ClientError{Method: string(method), Code: details.Code, Message: details.Message}
}
