package commands

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
)

// Inputs calls do with each operand opened, "-" and no operand being standard
// input. What cannot be opened or read is said, as "cat: name: why", and makes
// the exit code 1; do's own code counts where it is higher. It goes on after a
// failure, until the command is to end.
func (p *Proc) Inputs(names []string, do func(name string, r io.Reader) (int, error)) (code int) {
	if len(names) == 0 {
		names = []string{"-"}
	}
	for _, name := range names {
		if p.Stopped() {
			break
		}
		code = max(code, p.input(name, do))
	}
	return code
}

func (p *Proc) input(name string, do func(string, io.Reader) (int, error)) int {
	in := io.NopCloser(p.Stdin)
	if name != "-" {
		f, err := p.Open(name)
		if err != nil {
			return p.FileError(name, err)
		}
		in = f
	}
	defer in.Close()
	code, err := do(name, in)
	if err != nil {
		code = max(code, p.FileError(name, err))
	}
	return code
}

// ReadAll reads r to its end and holds it; see [Proc.Hold].
func (p *Proc) ReadAll(r io.Reader) ([]byte, error) {
	var out []byte
	held := 0
	for {
		if len(out) == cap(out) {
			grown := max(4096, 2*cap(out))
			if err := p.Hold(grown); err != nil { // on top of the old one, while both are there
				return nil, err
			}
			next := make([]byte, len(out), grown)
			copy(next, out)
			out = next
			p.Release(held)
			held = grown
		}
		n, err := r.Read(out[len(out):cap(out)])
		out = out[:len(out)+n]
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
	}
}

// ReadFile reads the file name, or standard input where it is "-", and holds
// it.
func (p *Proc) ReadFile(name string) ([]byte, error) {
	if name == "-" {
		return p.ReadAll(p.Stdin)
	}
	f, err := p.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return p.ReadAll(f)
}

// Lines reads lines of any length that memory allows.
type Lines struct {
	p    *Proc
	r    *bufio.Reader
	sep  byte
	long []byte
	held int
	line []byte
	end  bool // the line had its separator
	err  error
}

var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 64<<10) }}

// Lines reads the lines of r, which end in sep. Close it.
func (p *Proc) Lines(r io.Reader, sep byte) *Lines {
	br := readers.Get().(*bufio.Reader)
	br.Reset(r)
	return &Lines{p: p, r: br, sep: sep}
}

// Next goes to the next line, and returns false at the end or after a failure;
// see Err.
func (l *Lines) Next() bool {
	if l.err != nil || l.r == nil {
		return false
	}
	if l.p.Stopped() {
		l.err = context.Cause(l.p.ctx)
		return false
	}
	line, err := l.r.ReadSlice(l.sep)
	if errors.Is(err, bufio.ErrBufferFull) {
		l.long = append(l.long[:0], line...)
		for errors.Is(err, bufio.ErrBufferFull) {
			if need := 2 * (len(l.long) + len(line)); need > l.held {
				if herr := l.p.Hold(need - l.held); herr != nil {
					l.err = herr
					return false
				}
				l.held = need
			}
			line, err = l.r.ReadSlice(l.sep)
			l.long = append(l.long, line...)
		}
		line = l.long
	}
	if err != nil {
		l.err = err
		if len(line) == 0 || err != io.EOF {
			return false
		}
	}
	l.line = line
	l.end = line[len(line)-1] == l.sep
	if l.end {
		l.line = line[:len(line)-1]
	}
	return true
}

// Bytes is the line without its separator, valid until the next.
func (l *Lines) Bytes() []byte { return l.line }

// Text is the line without its separator.
func (l *Lines) Text() string { return string(l.line) }

// Ended tells whether the line had its separator; the last may lack it.
func (l *Lines) Ended() bool { return l.end }

// Err is why Next returned false, or nil at the end.
func (l *Lines) Err() error {
	if errors.Is(l.err, io.EOF) {
		return nil
	}
	return l.err
}

// Close gives back what was held.
func (l *Lines) Close() {
	if l.r != nil {
		l.r.Reset(nil)
		readers.Put(l.r)
		l.r = nil
		l.p.Release(l.held)
		l.held, l.long = 0, nil
	}
}

// Copy copies r to w, until the command is to end.
func (p *Proc) Copy(w io.Writer, r io.Reader) (int64, error) {
	buf := copies.Get().(*[]byte)
	defer copies.Put(buf)
	var total int64
	for {
		n, err := r.Read(*buf)
		if n > 0 {
			m, werr := w.Write((*buf)[:n])
			total += int64(m)
			if werr != nil {
				return total, werr
			}
		}
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
		if p.Stopped() {
			return total, context.Cause(p.ctx)
		}
	}
}

var copies = sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}

// splitLines splits what was read whole into lines without their newlines; a
// last one without a newline counts.
func splitLines(b []byte) [][]byte {
	if len(b) == 0 {
		return nil
	}
	return bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n"))
}
