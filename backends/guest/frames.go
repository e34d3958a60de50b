package guest

import (
	"encoding/binary"
	"fmt"
	"io"
)

// FrameKind says what a frame is.
type FrameKind byte

// The kinds of frames.
const (
	FrameRequest FrameKind = 'q' // operation (one byte), CBOR of the request
	FrameReply   FrameKind = 'r' // CBOR of the result; the last frame
	FrameFailure FrameKind = 'f' // CBOR of a Failure; the last frame
	FrameData    FrameKind = 'd' // content of a file, standard input or output
	FrameStderr  FrameKind = 'e' // standard error
	FrameEnd     FrameKind = 'z' // no more data
	FrameBroken  FrameKind = 'x' // the data could not be read to its end; the payload says why
)

// Bounds on the payload of a frame, in bytes.
const (
	// MaxRequest bounds a request: an edit carries its whole text.
	MaxRequest = 256 << 20
	// MaxReply bounds a reply or failure. What is longer fails as too_large
	// where it is made.
	MaxReply = 16 << 20
	// MaxData bounds a piece of data.
	MaxData = 64 << 10
)

const frameHeader = 5

// AppendFrame appends a whole frame to buf.
func AppendFrame(buf []byte, kind FrameKind, payload []byte) []byte {
	buf = append(buf, byte(kind))
	buf = binary.BigEndian.AppendUint32(buf, uint32(len(payload))) //nolint:gosec // bounded by what the peer takes
	return append(buf, payload...)
}

// FrameWriter writes frames, each in one piece.
type FrameWriter struct {
	w   io.Writer
	buf []byte
}

// NewFrameWriter returns a FrameWriter that is not safe for concurrent use.
func NewFrameWriter(w io.Writer) *FrameWriter { return &FrameWriter{w: w} }

// Write writes one frame.
func (f *FrameWriter) Write(kind FrameKind, payload []byte) error {
	f.buf = AppendFrame(f.buf[:0], kind, payload)
	_, err := f.w.Write(f.buf)
	return err
}

// WriteFrame writes a frame that may be large in pieces of MaxData, so that it
// neither holds up what others write nor takes longer than a write may.
func WriteFrame(w io.Writer, frame []byte) error {
	for len(frame) > 0 {
		n := min(len(frame), MaxData)
		if _, err := w.Write(frame[:n]); err != nil {
			return err
		}
		frame = frame[n:]
	}
	return nil
}

// ReadFrame reads one frame of at most limit bytes. The payload is put into buf
// when that has room. Memory grows with what arrives, not with what the header
// promises. io.EOF is the end before a frame.
func ReadFrame(r io.Reader, buf []byte, limit int) (FrameKind, []byte, error) {
	var header [frameHeader]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return 0, nil, err
	}
	size := int64(binary.BigEndian.Uint32(header[1:]))
	kind := FrameKind(header[0])
	if size > int64(limit) {
		return kind, nil, fmt.Errorf("a frame %q of %d bytes is over the limit of %d", kind, size, limit)
	}
	n := int(size)
	payload := buf[:0]
	for len(payload) < n {
		step := min(n-len(payload), max(MaxData, len(payload)))
		if cap(payload)-len(payload) < step {
			grown := make([]byte, len(payload), len(payload)+step)
			copy(grown, payload)
			payload = grown
		}
		at := len(payload)
		payload = payload[:at+step]
		if _, err := io.ReadFull(r, payload[at:]); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return kind, nil, err
		}
	}
	return kind, payload, nil
}
