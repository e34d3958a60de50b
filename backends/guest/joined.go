package guest

import (
	"encoding/binary"
	"io"
)

// yamux's header, as far as joined and watched need it: version, type, flags, stream id
// and length, in 12 bytes, big endian.
const (
	yamuxHeader       = 12
	yamuxData         = 0
	yamuxWindowUpdate = 1
	yamuxPing         = 2
	yamuxSYN          = 1
	yamuxACK          = 2
	yamuxFIN          = 4
	yamuxRST          = 8
	yamuxWindow       = 256 << 10 // that a stream begins with
)

// joined writes what belongs together in one piece. yamux writes a header and
// its body by themselves, and every write wakes up each process on the way to
// the container. Only yamux's one sender writes, so there is no lock.
type joined struct {
	io.ReadWriteCloser
	held []byte
	body bool // what comes next is a body, whatever it looks like
}

// Join returns conn with writes of [github.com/hashicorp/yamux] joined.
func Join(conn io.ReadWriteCloser) io.ReadWriteCloser {
	return &joined{ReadWriteCloser: conn}
}

// Write implements [io.Writer].
func (j *joined) Write(p []byte) (int, error) {
	header := !j.body
	j.body = false
	if header && j.moreFollows(p) {
		j.held = append(j.held, p...)
		return len(p), nil
	}
	if len(j.held) == 0 {
		return j.ReadWriteCloser.Write(p)
	}
	j.held = append(j.held, p...)
	_, err := j.ReadWriteCloser.Write(j.held)
	if cap(j.held) > 2*MaxData {
		j.held = nil
	}
	j.held = j.held[:0]
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// moreFollows tells whether header p is one that yamux, as it is used here,
// writes something behind at once: the body of data, and the request on a new
// stream.
func (j *joined) moreFollows(p []byte) bool {
	if len(p) != yamuxHeader {
		return false
	}
	switch p[1] {
	case yamuxData:
		j.body = binary.BigEndian.Uint32(p[8:]) > 0
		return j.body
	case yamuxWindowUpdate:
		return binary.BigEndian.Uint16(p[2:])&yamuxSYN != 0
	default:
		return false
	}
}
