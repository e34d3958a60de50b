package transports

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// eventWriter writes a response as server-sent events. Each write has a
// deadline, and a comment goes out whenever nothing else has for a while.
type eventWriter struct {
	w         http.ResponseWriter
	control   *http.ResponseController
	timeout   time.Duration // of a write
	heartbeat time.Duration

	broken chan struct{} // closed when a write has failed

	mu     sync.Mutex
	timer  *time.Timer
	last   time.Time // of the last write
	err    error     // of the first write that failed, or errStreamEnded
	buffer []byte

	ending  sync.Mutex // not held while something is written
	aborted bool
	ended   bool // the response must not be touched any more
}

// comment is what clients and proxies see of a stream that has nothing to say.
var comment = []byte(":\n\n")

var errStreamEnded = errors.New("the stream has ended")

// newEventWriter sends the headers of a stream of events.
func (h *hub) newEventWriter(w http.ResponseWriter) *eventWriter {
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-cache, no-transform")
	header.Set("X-Accel-Buffering", "no") // nginx would collect events otherwise
	e := &eventWriter{w: w, control: http.NewResponseController(w), timeout: h.writeTimeout, heartbeat: h.heartbeat, broken: make(chan struct{})}
	e.mu.Lock()
	defer e.mu.Unlock()
	w.WriteHeader(http.StatusOK)
	_ = e.write(nil) // broken says so
	e.timer = time.AfterFunc(e.heartbeat, e.beat)
	return e
}

// pieceSize is how much is written under one deadline: a client that is slow
// but takes what it is sent keeps its connection.
const pieceSize = 256 << 10

// writePieces writes b and flushes it, each piece after extend has given it a
// deadline.
func writePieces(w http.ResponseWriter, control *http.ResponseController, b []byte, extend func() error) error {
	for {
		if err := extend(); err != nil {
			return err
		}
		piece := b[:min(len(b), pieceSize)]
		if len(piece) > 0 {
			if _, err := w.Write(piece); err != nil {
				return err
			}
		}
		if b = b[len(piece):]; len(b) == 0 {
			return control.Flush()
		}
	}
}

// setWriteDeadline leaves alone what has no deadlines, as a test's recorder.
func setWriteDeadline(control *http.ResponseController, t time.Time) error {
	if err := control.SetWriteDeadline(t); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

// write writes b, or nothing but the headers. The caller holds mu.
func (e *eventWriter) write(b []byte) error {
	if e.err != nil {
		return e.err
	}
	err := writePieces(e.w, e.control, b, func() error { return e.setDeadline(time.Now().Add(e.timeout)) })
	if err == nil {
		// Over HTTP/2 a deadline ends the stream when it passes, whether or
		// not something is being written then: it has to go again at once.
		err = e.setDeadline(time.Time{})
	}
	e.last = time.Now()
	if err != nil {
		e.err = fmt.Errorf("writing to the client: %w", err)
		close(e.broken)
	}
	return e.err
}

// event writes one message. An empty id is left out, and so is the name of an
// event without data.
func (e *eventWriter) event(id, name string, data []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	b := e.buffer[:0]
	if id != "" {
		b = append(append(append(b, "id: "...), id...), '\n')
	}
	if len(data) > 0 {
		b = append(append(append(b, "event: "...), name...), '\n')
	}
	b = append(append(append(b, "data: "...), data...), "\n\n"...)
	err := e.write(b)
	if cap(b) <= 4<<10 { // an idle stream keeps what it has
		e.buffer = b
	}
	return err
}

// raw writes what is framed as events already.
func (e *eventWriter) raw(b []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.write(b)
}

// beat writes a comment if nothing was written for a heartbeat.
func (e *eventWriter) beat() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err != nil {
		return
	}
	if quiet := time.Since(e.last); quiet < e.heartbeat {
		e.timer.Reset(e.heartbeat - quiet)
		return
	}
	if e.write(comment) == nil {
		e.timer.Reset(e.heartbeat)
	}
}

// setDeadline sets the deadline of writes, unless they are to fail.
func (e *eventWriter) setDeadline(t time.Time) error {
	e.ending.Lock()
	defer e.ending.Unlock()
	if e.aborted {
		return errStreamEnded
	}
	return setWriteDeadline(e.control, t)
}

// abort makes a write that blocks fail, and those that follow. It can come at
// any time, also when the response is over.
func (e *eventWriter) abort() {
	e.ending.Lock()
	defer e.ending.Unlock()
	if e.ended || e.aborted {
		return
	}
	e.aborted = true
	_ = setWriteDeadline(e.control, time.Unix(1, 0)) // a connection that is gone needs none
}

// end waits for a write in progress. Nothing is written after it.
func (e *eventWriter) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.timer != nil {
		e.timer.Stop()
	}
	if e.err == nil {
		e.err = errStreamEnded
		// For what net/http writes after the last event.
		_ = e.setDeadline(time.Now().Add(e.timeout)) // a connection that is gone needs none
	}
	e.ending.Lock()
	defer e.ending.Unlock()
	e.ended = true
}
