package program

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
)

// maxSize bounds an executable of the agent, in bytes. It is a few megabytes.
const maxSize = 256 << 20

// pack compresses an executable, the same bytes to the same bytes.
func pack(data []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// unpack is the reverse of pack. What was cut short or changed by accident is an
// error: gzip carries a checksum and the length.
func unpack(r io.Reader) ([]byte, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(z, maxSize+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxSize {
		return nil, fmt.Errorf("it is larger than %d bytes", maxSize)
	}
	return data, nil
}
