package transports

import (
	"io"
	"sync"
)

// maxPending is how many bytes may wait behind a write in progress before
// those who add more have to wait themselves.
const maxPending = 4 << 20

// lineWriter writes whole lines from many goroutines. A line goes out at once
// when no write is in progress; lines that come meanwhile are collected and go
// out together with the next write, so that a line is never split and a busy
// connection costs few system calls.
type lineWriter struct {
	w      io.Writer
	broken func(error) // called once, with the first error of w

	mu      sync.Mutex
	room    sync.Cond // pending shrank, the writer went idle, or err was set
	writing bool
	pending []byte
	spare   []byte
	err     error
}

func newLineWriter(w io.Writer, broken func(error)) *lineWriter {
	lw := &lineWriter{w: w, broken: broken}
	lw.room.L = &lw.mu
	return lw
}

// write sends line, which ends in a newline and may be reused on return. What
// goes wrong is told to broken: there is nothing a caller could do.
func (lw *lineWriter) write(line []byte) {
	lw.mu.Lock()
	defer lw.mu.Unlock()
	for lw.writing && lw.err == nil && len(lw.pending) >= maxPending {
		lw.room.Wait()
	}
	if lw.err != nil {
		return
	}
	if lw.writing {
		lw.pending = append(lw.pending, line...)
		return
	}
	lw.writing = true
	lw.send(line)
	for len(lw.pending) > 0 && lw.err == nil {
		batch := lw.pending
		lw.pending = lw.spare[:0]
		lw.spare = nil
		lw.room.Broadcast()
		lw.send(batch)
		if cap(batch) <= maxPending {
			lw.spare = batch
		}
	}
	lw.writing = false
	lw.room.Broadcast()
}

// send writes b with mu released.
func (lw *lineWriter) send(b []byte) {
	lw.mu.Unlock()
	n, err := lw.w.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	lw.mu.Lock()
	if err != nil {
		lw.err = err
		lw.pending = nil
		lw.broken(err)
	}
}

// idle returns a channel that is closed when everything has been written, or
// never will be.
func (lw *lineWriter) idle() <-chan struct{} {
	ch := make(chan struct{})
	lw.mu.Lock()
	busy := lw.writing && lw.err == nil
	lw.mu.Unlock()
	if !busy {
		close(ch)
		return ch
	}
	go func() {
		defer close(ch)
		lw.mu.Lock()
		defer lw.mu.Unlock()
		for lw.writing && lw.err == nil {
			lw.room.Wait()
		}
	}()
	return ch
}
