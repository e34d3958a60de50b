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

func (b *budget) give(principal string, n int64) { b.add(principal, -n) }

// add counts n bytes that have been let in already, or, below 0, ones that are
// not held any more.
func (b *budget) add(principal string, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all += n
	if b.each[principal] += n; b.each[principal] == 0 {
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
	defer func() {
		if !ok {
			h.bodies.give(principal, held)
			held = 0
		}
	}()
	control := http.NewResponseController(w)
	limit := h.bodyGrace + time.Duration(float64(size)/bodyRate*float64(time.Second))
	// Without deadlines, as in a test's recorder, there is nothing to wait for.
	_ = control.SetReadDeadline(time.Now().Add(limit))
	body, err := readAll(http.MaxBytesReader(w, r.Body, h.maxBody), r.ContentLength, func(n int64) bool {
		taken := h.bodies.take(principal, n)
		if taken {
			held += n
		}
		return taken
	})
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, held, tooLarge, false
	case errors.Is(err, errNoRoom):
		w.Header().Set("Connection", "close")
		refused = refusal(http.StatusServiceUnavailable, nil, transportError, "the server holds as many messages as it can; try again")
		refused.retry = time.Second
		return nil, held, refused, false
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.Header().Set("Connection", "close")
		return nil, held, refusal(http.StatusRequestTimeout, nil, mcp.INVALID_REQUEST, "the body took too long to arrive"), false
	case err != nil && r.Context().Err() != nil, errors.Is(err, io.ErrUnexpectedEOF):
		return nil, held, answer{}, false
	case err != nil:
		w.Header().Set("Connection", "close")
		return nil, held, refusal(http.StatusBadRequest, nil, mcp.PARSE_ERROR, "the body could not be read"), false
	}
	// The server reads on to see whether the client is there.
	_ = control.SetReadDeadline(time.Time{})
	return body, held, answer{}, true
}

var errNoRoom = errors.New("too many bytes of messages are held")

// readAll reads r to its end. It takes memory for what has come, not for what
// was announced, and asks take before it does.
func readAll(r io.Reader, announced int64, take func(n int64) bool) ([]byte, error) {
	size := int64(4 << 10)
	if announced >= 0 {
		size = min(announced, 64<<10) + 1 // one more, for the end to be seen
	}
	if !take(size) {
		return nil, errNoRoom
	}
	b := make([]byte, 0, size)
	for {
		if len(b) == cap(b) {
			if !take(size) {
				return nil, errNoRoom
			}
			b = append(make([]byte, 0, 2*size), b...)
			size *= 2
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
