package guest

import (
	"encoding/binary"
	"errors"
	"io"
	"time"
)

// maxPings is how many times a minute an agent may ask whether the host is still
// there. One that is well asks 6 times.
const maxPings = 60

// watched ends the session of an agent that pings without measure: yamux answers
// each ping from a goroutine of its own, and where the agent does not read they
// pile up.
type watched struct {
	io.ReadWriteCloser
	header [yamuxHeader]byte
	have   int    // of header
	body   uint32 // bytes of a body that are still to come
	pings  int
	since  time.Time
}

// Read implements [io.Reader].
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.ReadWriteCloser.Read(p)
	if tooMany := w.follow(p[:n]); tooMany != nil {
		return 0, tooMany
	}
	return n, err
}

func (w *watched) follow(p []byte) error {
	for len(p) > 0 {
		if w.body > 0 {
			n := min(uint64(w.body), uint64(len(p)))
			w.body -= uint32(n) //nolint:gosec // at most w.body
			p = p[n:]
			continue
		}
		n := copy(w.header[w.have:], p)
		p = p[n:]
		if w.have += n; w.have < yamuxHeader {
			return nil
		}
		w.have = 0
		switch w.header[1] {
		case yamuxData:
			w.body = binary.BigEndian.Uint32(w.header[8:])
		case yamuxPing:
			if now := time.Now(); now.Sub(w.since) > time.Minute {
				w.since, w.pings = now, 0
			}
			if w.pings++; w.pings > maxPings {
				return errors.New("the guest agent pings without end")
			}
		}
	}
	return nil
}
