package commands

import (
	"io"
	"strings"
)

var tailOptions = NewOptions(1, "c bytes=", "n lines=", "q quiet silent", "v verbose", "z zero-terminated", "f", "follow=?", "F", "retry", "pid=", "s sleep-interval=", "max-unchanged-stats=")

func tail(p *Proc) int {
	p.Args = obsolete(p.Args, true)
	o, code := p.Parse(tailOptions)
	if o == nil {
		return code
	}
	n, fromStart, byBytes := int64(10), false, false
	if key := o.Last("c", "n"); key != "" {
		text, _ := o.Value(key)
		byBytes = key == "c"
		digits, plus := strings.CutPrefix(text, "+")
		fromStart = plus
		var ok bool
		if n, ok = parseSize(strings.TrimPrefix(digits, "-")); !ok {
			return p.Errorf(1, "invalid number of %s: %s", map[bool]string{true: "bytes", false: "lines"}[byBytes], Quote(text))
		}
	}
	h := newHeader(o)
	sep := separator(o)
	names := o.Args
	if len(names) == 0 {
		names = []string{"-"}
	}
	for _, name := range names {
		if p.Stopped() {
			break
		}
		code = max(code, tailFile(p, name, h, n, fromStart, byBytes, sep))
	}
	if o.Has("f", "F", "follow") && !p.Stopped() {
		return p.Errorf(1, "files are not followed in this workspace: nothing writes to them while this runs. Use tail without -f")
	}
	return code
}

func tailFile(p *Proc, name string, h *header, n int64, fromStart, byBytes bool, sep byte) int {
	in := io.NopCloser(p.Stdin)
	if name != "-" {
		f, err := p.Open(name)
		if err != nil {
			return p.Errorf(1, "cannot open %s for reading: %s", Quote(name), Reason(err))
		}
		in = f
	}
	defer in.Close()
	h.write(p, name)
	var err error
	switch {
	case byBytes && fromStart:
		if _, err = p.Copy(io.Discard, io.LimitReader(in, max(n-1, 0))); err == nil {
			_, err = p.Copy(p.Out, in)
		}
	case byBytes:
		err = tailBytes(p, in, n)
	case fromStart:
		err = tailFromLine(p, in, n, sep)
	default:
		err = tailLines(p, in, n, sep)
	}
	if err != nil && !p.Stopped() {
		return p.Errorf(1, "error reading %s: %s", Quote(name), Reason(err))
	}
	return 0
}

func tailBytes(p *Proc, r io.Reader, n int64) error {
	if s, ok := r.(io.Seeker); ok {
		if size, err := s.Seek(0, io.SeekEnd); err == nil {
			if _, err := s.Seek(max(size-n, 0), io.SeekStart); err != nil {
				return err
			}
			_, err = p.Copy(p.Out, r)
			return err
		}
	}
	text, err := p.ReadAll(r)
	if int64(len(text)) > n {
		text = text[int64(len(text))-n:]
	}
	p.Out.Write(text)
	return err
}

func tailFromLine(p *Proc, r io.Reader, n int64, sep byte) error {
	lines := p.Lines(r, sep)
	defer lines.Close()
	for lines.Next() {
		if n--; n > 0 {
			continue
		}
		p.Out.Write(lines.Bytes())
		if lines.Ended() {
			p.Out.WriteByte(sep)
		}
	}
	return lines.Err()
}

func tailLines(p *Proc, r io.Reader, n int64, sep byte) error {
	ring := newRing(p, n)
	lines := p.Lines(r, sep)
	defer lines.Close()
	for lines.Next() {
		line := lines.Bytes()
		if lines.Ended() {
			line = line[:len(line)+1]
		}
		if _, err := ring.push(line); err != nil {
			return err
		}
	}
	ring.each(func(line []byte) { p.Out.Write(line) })
	return lines.Err()
}
