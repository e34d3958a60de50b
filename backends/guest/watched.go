package guest

import (
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"time"
)

// Bounds on what an agent may send that no agent of ours sends, or few, a minute.
const (
	// maxPings is how many times it may ask whether the host is still there. One
	// that is well asks 6 times.
	maxPings = 60
	// maxStrays is how many frames may belong to no stream that is open, or say
	// nothing. What an agent that hung still has to say of a request that was long
	// given up is bounded by what the pipes on the way hold.
	maxStrays = 20_000
	// maxStrayBytes bounds the content of such frames.
	maxStrayBytes = 64 << 20
)

// watched ends the session of an agent that keeps the host busy with nothing. yamux
// answers each ping from a goroutine of its own, and where the agent does not read
// they pile up; and it reads frames of streams that are not open, or no more, and
// throws them away, for as long as they come.
type watched struct {
	io.ReadWriteCloser
	in, out frames

	mu      sync.Mutex
	streams map[uint32]*ends // those that are open
	since   time.Time        // of what follows
	pings   int
	strays  int
	wasted  int64 // bytes
}

// ends are what is known of a stream.
type ends struct {
	begun   bool  // the agent has acknowledged it
	closed  bool  // by the host
	ended   bool  // by the agent
	granted int64 // bytes that the host may send
	sent    int64 // bytes that it has
}

func watch(conn io.ReadWriteCloser) *watched {
	return &watched{ReadWriteCloser: conn, streams: map[uint32]*ends{}}
}

// Read implements [io.Reader].
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.ReadWriteCloser.Read(p)
	if tooMuch := w.in.follow(p[:n], w.came); tooMuch != nil {
		return 0, tooMuch
	}
	return n, err
}

// Write implements [io.Writer]. What is written is known before an answer can come.
func (w *watched) Write(p []byte) (int, error) {
	if err := w.out.follow(p, w.goes); err != nil {
		return 0, err
	}
	return w.ReadWriteCloser.Write(p)
}

// goes follows a frame of the host's.
func (w *watched) goes(f frameHead) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if f.flags&yamuxSYN != 0 {
		w.streams[f.stream] = &ends{granted: yamuxWindow}
	}
	s := w.streams[f.stream]
	if s == nil {
		return nil
	}
	if f.kind == yamuxData {
		s.sent += int64(f.length)
	}
	s.closed = s.closed || f.flags&yamuxFIN != 0
	w.forget(f, s)
	return nil
}

// came follows a frame of the agent's.
func (w *watched) came(f frameHead) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := time.Now(); now.Sub(w.since) > time.Minute {
		w.since, w.pings, w.strays, w.wasted = now, 0, 0, 0
	}
	if f.kind == yamuxPing {
		if w.pings++; w.pings > maxPings {
			return errors.New("the guest agent pings without end")
		}
		return nil
	}
	s := w.streams[f.stream]
	if s == nil || s.ended || f.kind > yamuxPing || !s.says(f) {
		w.strays++
		if f.kind == yamuxData {
			w.wasted += int64(f.length)
		}
		if w.strays > maxStrays || w.wasted > maxStrayBytes {
			return errors.New("the guest agent sends without end what belongs to nothing")
		}
	}
	if s != nil {
		s.ended = s.ended || f.flags&yamuxFIN != 0
		w.forget(f, s)
	}
	return nil
}

// says tells whether a frame of an open stream says anything: that the stream has
// begun, or ends, or that as much may be sent again as was, or data.
func (s *ends) says(f frameHead) bool {
	begins := f.flags&yamuxACK != 0 && !s.begun
	s.begun = s.begun || begins
	more := f.length > 0
	if f.kind != yamuxData {
		s.granted += int64(f.length)
		more = more && s.granted <= maxWindow+s.sent
	}
	return begins || more || f.flags&(yamuxFIN|yamuxRST) != 0
}

// forget forgets a stream that is over. The caller has the lock.
func (w *watched) forget(f frameHead, s *ends) {
	if s.closed && s.ended || f.flags&yamuxRST != 0 {
		delete(w.streams, f.stream)
	}
}

// frameHead is the header of a frame of yamux.
type frameHead struct {
	kind           byte
	flags          uint16
	stream, length uint32
}

// frames follows the frames of one direction.
type frames struct {
	header [yamuxHeader]byte
	have   int    // of header
	body   uint32 // bytes of a body that are still to come
}

// follow tells next of each frame that begins in p.
func (r *frames) follow(p []byte, next func(frameHead) error) error {
	for len(p) > 0 {
		if r.body > 0 {
			n := min(uint64(r.body), uint64(len(p)))
			r.body -= uint32(n) //nolint:gosec // at most r.body
			p = p[n:]
			continue
		}
		n := copy(r.header[r.have:], p)
		p = p[n:]
		if r.have += n; r.have < yamuxHeader {
			return nil
		}
		r.have = 0
		f := frameHead{
			kind:   r.header[1],
			flags:  binary.BigEndian.Uint16(r.header[2:]),
			stream: binary.BigEndian.Uint32(r.header[4:]),
			length: binary.BigEndian.Uint32(r.header[8:]),
		}
		if f.kind == yamuxData {
			r.body = f.length
		}
		if err := next(f); err != nil {
			return err
		}
	}
	return nil
}
