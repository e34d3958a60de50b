package commands

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

var errSuffixes = errors.New("output file suffixes exhausted")

// suffix is the name of piece n after the prefix. Unless the length was chosen,
// it grows: after "yz" comes "zaaa".
func (s *splitter) suffix(n int) (string, bool) {
	base := len(s.alphabet)
	n += s.start
	length, lead := s.length, ""
	if !s.fixed {
		for block := (base - 1) * pow(base, length-1); n >= block; block = (base - 1) * pow(base, length-1) {
			n -= block
			lead += s.alphabet[base-1:]
			if length++; length > 8 {
				return "", false
			}
		}
	}
	out := make([]byte, length)
	for i := length - 1; i >= 0; i-- {
		out[i] = s.alphabet[n%base]
		n /= base
	}
	return lead + string(out), n == 0
}

func pow(base, n int) int {
	v := 1
	for range n {
		v *= base
	}
	return v
}

// open begins the next piece.
func (s *splitter) open() {
	s.close()
	if s.err != nil {
		return
	}
	suffix, ok := s.suffix(s.n)
	if !ok {
		s.err = errSuffixes
		return
	}
	s.n++
	s.name = s.prefix + suffix + s.additional
	if s.filter != "" {
		s.out = &filtered{s: s, name: s.name}
		return
	}
	if s.verbose {
		fmt.Fprintf(s.p.Out, "creating file %s\n", Quote(s.name))
	}
	w, err := s.p.Create(s.name)
	if err != nil {
		s.err = fmt.Errorf("%s: %s", s.name, Reason(err))
		return
	}
	b := newBlocks(w)
	s.out = struct {
		io.Writer
		io.Closer
	}{b, flushClose{b.Flush, w}}
}

func (s *splitter) write(b []byte) {
	if s.err != nil || s.out == nil {
		return
	}
	if _, err := s.out.Write(b); err != nil {
		s.err = fmt.Errorf("%s: %s", s.name, Reason(err))
	}
}

func (s *splitter) close() {
	if s.out == nil {
		return
	}
	if err := s.out.Close(); err != nil && s.err == nil {
		s.err = fmt.Errorf("%s: %s", s.name, Reason(err))
	}
	s.out = nil
}

// filtered is a piece that a command reads, with its name in $FILE. The command
// runs once the piece is complete.
type filtered struct {
	s    *splitter
	name string
	text bytes.Buffer
	held int
}

func (f *filtered) Write(b []byte) (int, error) {
	if need := 2 * (f.text.Len() + len(b)); need > f.held {
		if err := f.s.p.Hold(need - f.held); err != nil {
			return 0, err
		}
		f.held = need
	}
	return f.text.Write(b)
}

func (f *filtered) Close() error {
	p := f.s.p
	defer p.Release(f.held)
	env := append(append([]string(nil), p.Env...), "FILE="+f.name)
	code := p.Run(p.Context(), Call{Args: []string{"sh", "-c", f.s.filter}, Env: env, Stdin: strings.NewReader(f.text.String())})
	if code != 0 {
		return fmt.Errorf("with FILE=%s, exit %d from command: %s", f.name, code, f.s.filter)
	}
	return nil
}
