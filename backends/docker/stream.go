package docker

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"

	"github.com/docker/docker/api/types"
)

// The engine's format for the outputs of a process without a terminal: frames
// with a header of 8 bytes, which are the stream, three zeros, and the length.
const (
	frameHeader   = 8
	frameStdout   = 1
	frameStderr   = 2
	frameProblem  = 3 // of the engine itself
	maxSaid       = 512
	maxHead       = 512
	maxLogged     = 64 << 10 // bytes of standard error that a session logs
	maxLoggedLine = 1 << 10
)

// stream is an exec'd process as one stream of bytes: reads come from its
// standard output, writes go to its standard input. Its standard error goes to
// the log. Memory is bounded whatever the process writes.
//
// One goroutine may read while others write and close.
type stream struct {
	conn net.Conn
	r    *bufio.Reader
	log  *slog.Logger
	left int    // bytes of the present frame of standard output
	head []byte // the first bytes that were read

	closing  sync.Once
	closeErr error

	mu     sync.Mutex
	said   []byte // the first of standard error
	logged int
}

func newStream(hijacked types.HijackedResponse, log *slog.Logger) *stream {
	return &stream{conn: hijacked.Conn, r: hijacked.Reader, log: log}
}

// Read implements [io.Reader].
func (s *stream) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for s.left == 0 {
		var header [frameHeader]byte
		if _, err := io.ReadFull(s.r, header[:]); err != nil {
			return 0, err // io.EOF between two frames: the process has ended
		}
		size := int(binary.BigEndian.Uint32(header[4:]))
		switch header[0] {
		case frameStdout:
			s.left = size
		case frameStderr:
			if err := s.readStderr(size); err != nil {
				return 0, err
			}
		case frameProblem:
			text, err := io.ReadAll(io.LimitReader(s.r, int64(min(size, maxSaid))))
			return 0, errors.Join(fmt.Errorf("the engine broke off: %s", text), err)
		default:
			return 0, fmt.Errorf("the engine sent a frame of the unknown kind %d", header[0])
		}
	}
	n, err := s.r.Read(p[:min(len(p), s.left)])
	s.left -= n
	if room := maxHead - len(s.head); room > 0 {
		s.head = append(s.head, p[:min(n, room)]...)
	}
	if errors.Is(err, io.EOF) && s.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// readStderr takes a frame of standard error.
func (s *stream) readStderr(size int) error {
	for size > 0 {
		piece := make([]byte, min(size, maxLoggedLine))
		if _, err := io.ReadFull(s.r, piece); err != nil {
			return err
		}
		size -= len(piece)
		s.hear(piece)
	}
	return nil
}

// hear keeps and logs a piece of standard error.
func (s *stream) hear(piece []byte) {
	s.mu.Lock()
	if room := maxSaid - len(s.said); room > 0 {
		s.said = append(s.said, piece[:min(len(piece), room)]...)
	}
	before := s.logged
	s.logged = min(s.logged+len(piece), maxLogged)
	s.mu.Unlock()
	if before >= maxLogged {
		return
	}
	for line := range strings.Lines(string(piece)) {
		s.log.Debug("guest agent", "stderr", strings.TrimRight(line, "\r\n"))
	}
	if before+len(piece) >= maxLogged {
		s.log.Debug("guest agent: the rest of its standard error is not logged")
	}
}

// saidInstead is what came from a process that is no agent: its standard error,
// and, because some engines put their own message there, what has arrived of its
// output. Nobody may be reading any more.
func (s *stream) saidInstead() string {
	rest, _ := s.r.Peek(min(s.r.Buffered(), s.left)) // of what is there, it cannot fail
	s.mu.Lock()
	defer s.mu.Unlock()
	text := append(append(slices.Clone(s.said), s.head...), rest...)
	return strings.TrimSpace(strings.ToValidUTF8(string(text), "\ufffd"))
}

// Write implements [io.Writer].
func (s *stream) Write(p []byte) (int, error) { return s.conn.Write(p) }

// Close ends the connection, and by the end of its standard input the process. It
// may be called more than once.
func (s *stream) Close() error {
	s.closing.Do(func() {
		if half, ok := s.conn.(types.CloseWriter); ok {
			// The engine passes it on as the end of standard input. Where it
			// fails, the whole connection's end does the same.
			_ = half.CloseWrite()
		}
		s.closeErr = s.conn.Close()
	})
	return s.closeErr
}
