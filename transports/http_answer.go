package transports

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// transportError is the JSON-RPC code of what is wrong with the request around
// a message: the first of those that are for servers to define.
const transportError = -32000

// answer is what a message came to: an HTTP status and, unless it is 202, a
// JSON-RPC message.
type answer struct {
	status int
	body   []byte
	retry  time.Duration // for Retry-After; 0 for none
}

var accepted = answer{status: http.StatusAccepted}

// refusal is an answer that says what is wrong. A nil id is written as null.
func refusal(status int, id []byte, code int, message string) answer {
	if id == nil {
		id = null
	}
	body, err := appendErrorResponse(nil, id, mcp.NewJSONRPCErrorDetails(code, message, nil))
	if err != nil { // without data there is nothing that could fail
		return answer{status: http.StatusInternalServerError}
	}
	return answer{status: status, body: body}
}

// refuseBusy is the answer to a message that the gate did not let in, or that
// was cancelled while it waited.
func (h *hub) refuseBusy(id []byte, err error) answer {
	var busy *BusyError
	if errors.As(err, &busy) {
		a := refusal(http.StatusTooManyRequests, id, transportError, busy.Error())
		a.retry = max(busy.RetryAfter, time.Millisecond)
		return a
	}
	switch {
	case errors.Is(err, ErrShutdown):
		return draining(id)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, ErrDisconnected), errors.Is(err, ErrSessionEnded), isCancelled(err):
		return refusal(http.StatusOK, id, mcp.REQUEST_INTERRUPTED, err.Error())
	}
	h.log.Error("the gate failed", "error", err)
	return refusal(http.StatusInternalServerError, id, mcp.INTERNAL_ERROR, "the server failed while it handled this request; its log says how")
}

func isCancelled(err error) bool {
	var c *CancelledError
	return errors.As(err, &c)
}

func draining(id []byte) answer {
	a := refusal(http.StatusServiceUnavailable, id, transportError, ErrShutdown.Error()+"; try again")
	a.retry = 5 * time.Second
	return a
}

// retryAfter writes d as the header has it: whole seconds, never 0.
func retryAfter(d time.Duration) string {
	return strconv.Itoa(max(1, int(math.Ceil(d.Seconds()))))
}

// reply writes an answer as JSON.
func (h *hub) reply(w http.ResponseWriter, a answer) {
	header := w.Header()
	if a.retry > 0 {
		header.Set("Retry-After", retryAfter(a.retry))
	}
	header.Set("Cache-Control", "no-store")
	if len(a.body) == 0 {
		h.limitWrite(w)
		w.WriteHeader(a.status)
		return
	}
	header.Set("Content-Type", "application/json")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Length", strconv.Itoa(len(a.body)))
	w.WriteHeader(a.status)
	if len(a.body) <= pieceSize { // goes out when the handler returns
		h.limitWrite(w)
		if _, err := w.Write(a.body); err != nil {
			h.log.Debug("an answer could not be written", "error", err)
		}
		return
	}
	control := http.NewResponseController(w)
	if err := writePieces(w, control, a.body, func() error { return setWriteDeadline(control, time.Now().Add(h.writeTimeout)) }); err != nil {
		h.log.Debug("an answer could not be written", "error", err)
	}
}

// limitWrite gives what is written from now on WriteTimeout.
func (h *hub) limitWrite(w http.ResponseWriter) {
	// A connection without deadlines, as in a test's recorder, has none to set.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(h.writeTimeout))
}
