package commands

import "io"

var tailOptions = NewOptions(1, "c bytes=", "n lines=", "q quiet silent", "v verbose", "z zero-terminated", "f", "follow=?", "F", "retry", "pid=", "s sleep-interval=", "max-unchanged-stats=")

func tail(p *Proc) int {
	p.Args = obsolete(p.Args, true)
	o, code := p.Parse(tailOptions)
	if o == nil {
		return code
	}
	code = parts(p, o, "+", "-", func(in io.Reader, want part) (err error) {
		switch {
		case want.byBytes && want.signed:
			if _, err = p.Copy(io.Discard, io.LimitReader(in, max(want.n-1, 0))); err == nil {
				_, err = p.Copy(p.Out, in)
			}
		case want.byBytes:
			err = tailBytes(p, in, want.n)
		case want.signed:
			err = tailFromLine(p, in, want.n, want.sep)
		default:
			err = tailLines(p, in, want.n, want.sep)
		}
		return err
	})
	if o.Has("f", "F", "follow") && !p.Stopped() {
		return p.Errorf(1, "files are not followed in this workspace: nothing writes to them while this runs. Use tail without -f")
	}
	return code
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
