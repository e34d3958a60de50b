package transports

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	// bodyGrace is how long a body may take beside what its size needs.
	bodyGrace = 30 * time.Second
	// bodyRate is how slow a body may be, in bytes per second.
	bodyRate = 64 << 10
	// maxBodies is how many bytes of bodies are held at once.
	maxBodies = 1 << 30
)

// budget bounds the memory that bodies take. One principal can have half of it.
type budget struct {
	mu   sync.Mutex
	all  int64
	each map[string]int64
}

func newBudget() *budget { return &budget{each: map[string]int64{}} }

func (b *budget) take(principal string, n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.all > 0 && b.all+n > maxBodies || b.each[principal] > 0 && b.each[principal]+n > maxBodies/2 {
		return false
	}
	b.all += n
	b.each[principal] += n
	return true
}

func (b *budget) give(principal string, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all -= n
	if b.each[principal] -= n; b.each[principal] == 0 {
		delete(b.each, principal)
	}
}

// readBody reads a JSON body. What it took of the budget is to be given back
// when the message has been handled. When it fails, the refusal says why; one
// without a status is for a client that is gone.
func (h *hub) readBody(w http.ResponseWriter, r *http.Request, principal string) (body []byte, held int64, refused answer, ok bool) {
	if media, params, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" ||
		params["charset"] != "" && !strings.EqualFold(params["charset"], "utf-8") {
		return nil, 0, refusal(http.StatusUnsupportedMediaType, nil, mcp.INVALID_REQUEST, "the Content-Type must be application/json, in UTF-8"), false
	}
	if enc := r.Header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		return nil, 0, refusal(http.StatusUnsupportedMediaType, nil, mcp.INVALID_REQUEST, "a body cannot have a Content-Encoding here"), false
	}
	tooLarge := refusal(http.StatusRequestEntityTooLarge, nil, mcp.INVALID_REQUEST, fmt.Sprintf(
		"the body is longer than %d bytes, the most this server takes in one message", h.maxBody))
	size := r.ContentLength
	if size > h.maxBody {
		return nil, 0, tooLarge, false
	}
	if size < 0 {
		size = h.maxBody
	}
	if !h.bodies.take(principal, size) {
		refused = refusal(http.StatusServiceUnavailable, nil, transportError, "the server holds as many messages as it can; try again")
		refused.retry = time.Second
		return nil, 0, refused, false
	}
	defer func() {
		if !ok {
			h.bodies.give(principal, size)
		}
	}()
	control := http.NewResponseController(w)
	limit := h.bodyGrace + time.Duration(float64(size)/bodyRate*float64(time.Second))
	// Without deadlines, as in a test's recorder, there is nothing to wait for.
	_ = control.SetReadDeadline(time.Now().Add(limit))
	if r.ContentLength >= 0 {
		body = make([]byte, 0, r.ContentLength+1) // one more, for the end to be seen
	}
	body, err := readAll(http.MaxBytesReader(w, r.Body, h.maxBody), body)
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, 0, tooLarge, false
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.Header().Set("Connection", "close")
		return nil, 0, refusal(http.StatusRequestTimeout, nil, mcp.INVALID_REQUEST, "the body took too long to arrive"), false
	case err != nil && r.Context().Err() != nil, errors.Is(err, io.ErrUnexpectedEOF):
		return nil, 0, answer{}, false
	case err != nil:
		w.Header().Set("Connection", "close")
		return nil, 0, refusal(http.StatusBadRequest, nil, mcp.PARSE_ERROR, "the body could not be read"), false
	}
	// The server reads on to see whether the client is there.
	_ = control.SetReadDeadline(time.Time{})
	return body, size, answer{}, true
}

// readAll reads r to its end, growing what it holds with what has come, not
// with what was announced.
func readAll(r io.Reader, b []byte) ([]byte, error) {
	if cap(b) > 1<<20 {
		b = make([]byte, 0, 1<<20)
	}
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if errors.Is(err, io.EOF) {
			return b, nil
		}
		if err != nil {
			return b, err
		}
	}
}

func cut(s string, sep byte) (before, after string) {
	before, after, _ = strings.Cut(s, string(sep))
	return before, after
}

func trimLower(s string) string { return strings.ToLower(strings.TrimSpace(s)) }
