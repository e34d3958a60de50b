package transports

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// errLineTooLong is what lineReader.next answers with once for a line over
// its limit.
var errLineTooLong = errors.New("line too long")

// lineReader splits input into lines. Memory is bounded by the limit.
type lineReader struct {
	r     *bufio.Reader
	limit int64
	begun bool // the first line has been read
}

func newLineReader(in io.Reader, limit int64) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(in, 64<<10), limit: limit}
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// next returns the next line that is not blank, without surrounding white
// space, in memory of its own. A last line without a newline counts. After
// errLineTooLong the line is behind us; any other error is the end, io.EOF
// when the input ended.
func (l *lineReader) next() ([]byte, error) {
	for {
		line, err := l.line()
		if !l.begun {
			l.begun = true
			line = bytes.TrimPrefix(line, byteOrderMark)
		}
		if err == nil || errors.Is(err, io.EOF) {
			if line = bytes.Trim(line, " \t\r\n"); len(line) > 0 {
				return line, nil
			}
		}
		if err != nil {
			return nil, err
		}
	}
}

func (l *lineReader) line() ([]byte, error) {
	part, err := l.r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		if int64(len(part)) > l.limit {
			return nil, errLineTooLong
		}
		return bytes.Clone(part), err
	}
	// Growing by doubling keeps the cost of a long line linear.
	line := make([]byte, 0, 4*len(part))
	for {
		if int64(len(line)+len(part)) > l.limit {
			return nil, l.skip(err)
		}
		if need := len(line) + len(part); need > cap(line) {
			grown := make([]byte, len(line), max(need, 2*cap(line)))
			copy(grown, line)
			line = grown
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
		part, err = l.r.ReadSlice('\n')
	}
}

// skip reads to the end of a line of which the last piece came with err.
func (l *lineReader) skip(err error) error {
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = l.r.ReadSlice('\n')
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return errLineTooLong // the end of the input is met again by the next read
}
