package commands

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// transfer is one run of dd.
type transfer struct {
	p                *Proc
	in, out          string
	ibs, obs         int64
	count            int64 // blocks; -1 is all
	skip, seek       int64
	countBytes       bool
	skipBytes        bool
	seekBytes        bool
	full             bool
	appends          bool
	conv             map[string]bool
	quiet            bool
	noXfer           bool
	whole, part      int64 // blocks read
	wroteFull, wrote int64 // blocks written
	bytes            int64
}

// maxBlock is how large a block can be.
const maxBlock = 64 << 20

func dd(p *Proc) int {
	if len(p.Args) == 1 && (p.Args[0] == "--help" || p.Args[0] == "--version") {
		_, code := p.Parse(NewOptions(1))
		return code
	}
	t := &transfer{p: p, ibs: 512, obs: 512, count: -1, conv: map[string]bool{}}
	for _, arg := range p.Args {
		name, value, ok := strings.Cut(arg, "=")
		if !ok {
			return p.Usage(1, "unrecognized operand %s", Quote(arg))
		}
		if code := t.operand(name, value); code != 0 {
			return code
		}
	}
	if t.ibs < 1 || t.obs < 1 || t.ibs > maxBlock || t.obs > maxBlock {
		return p.Errorf(1, "invalid number: a block can have 1 byte to %d", maxBlock)
	}
	if err := p.Hold(int(t.ibs)); err != nil {
		return p.Errorf(1, "%s", err)
	}
	return t.run()
}

func (t *transfer) operand(name, value string) int {
	p := t.p
	size := func(to *int64) int {
		n := int64(1)
		for part := range strings.SplitSeq(strings.TrimSuffix(value, "B"), "x") {
			k, ok := ParseSize(strings.TrimSuffix(part, "c"))
			if !ok || k > 0 && n > (1<<50)/k {
				return p.Errorf(1, "invalid number: %s", Quote(value))
			}
			n *= k
		}
		*to = n
		return 0
	}
	switch name {
	case "if":
		t.in = value
	case "of":
		t.out = value
	case "bs":
		code := size(&t.ibs)
		t.obs = t.ibs
		return code
	case "ibs":
		return size(&t.ibs)
	case "obs":
		return size(&t.obs)
	case "cbs":
	case "count":
		t.countBytes = t.countBytes || strings.HasSuffix(value, "B")
		return size(&t.count)
	case "skip", "iseek":
		t.skipBytes = t.skipBytes || strings.HasSuffix(value, "B")
		return size(&t.skip)
	case "seek", "oseek":
		t.seekBytes = t.seekBytes || strings.HasSuffix(value, "B")
		return size(&t.seek)
	case "status":
		t.quiet, t.noXfer = value == "none", value == "noxfer"
	case "conv", "iflag", "oflag":
		for flag := range strings.SplitSeq(value, ",") {
			switch flag {
			case "notrunc", "noerror", "sync", "fsync", "fdatasync", "ucase", "lcase", "swab", "excl", "nocreat", "sparse":
				t.conv[flag] = true
			case "fullblock":
				t.full = true
			case "append":
				t.appends = true
			case "count_bytes":
				t.countBytes = true
			case "skip_bytes":
				t.skipBytes = true
			case "seek_bytes":
				t.seekBytes = true
			case "direct", "dsync", "nonblock", "noatime", "nocache", "nofollow", "binary", "text":
			default:
				return p.Usage(1, "invalid %s: %s", map[string]string{"conv": "conversion", "iflag": "input flag", "oflag": "output flag"}[name], Quote(flag))
			}
		}
	default:
		return p.Usage(1, "unrecognized operand %s", Quote(name+"="+value))
	}
	return 0
}

func (t *transfer) run() int {
	p := t.p
	begun := time.Now()
	in := io.NopCloser(p.Stdin)
	if t.in != "" {
		f, err := p.Open(t.in)
		if err != nil {
			return p.Errorf(1, "failed to open %s: %s", Quote(t.in), Reason(err))
		}
		in = f
	}
	defer in.Close()
	out, err := t.open()
	if err != nil {
		return p.Errorf(1, "failed to open %s: %s", Quote(t.out), Reason(err))
	}
	skip := t.skip
	if !t.skipBytes {
		skip *= t.ibs
	}
	code := 0
	if skip > 0 {
		if _, err := p.Copy(io.Discard, io.LimitReader(in, skip)); err != nil {
			code = p.Errorf(1, "%s: cannot skip: %s", Quote(t.in), Reason(err))
		}
	}
	if err := t.blocks(in, out); err != nil && !p.Stopped() {
		code = p.Errorf(1, "error while copying: %s", Reason(err))
	}
	if err := out.Close(); err != nil {
		code = p.Errorf(1, "%s: %s", Quote(t.out), Reason(err))
	}
	if !t.quiet {
		fmt.Fprintf(p.Stderr, "%d+%d records in\n%d+%d records out\n", t.whole, t.part, t.wroteFull, t.wrote)
		if !t.noXfer {
			spent := time.Since(begun).Seconds()
			fmt.Fprintf(p.Stderr, "%d bytes copied, %.6g s, %s/s\n", t.bytes, spent, Human(int64(float64(t.bytes)/max(spent, 1e-9))))
		}
	}
	return code
}

// open opens the output where writing is to start.
func (t *transfer) open() (io.WriteCloser, error) {
	if t.out == "" {
		return nopWriter{t.p.Out}, nil
	}
	flag := os.O_WRONLY | os.O_CREATE
	if t.conv["nocreat"] {
		flag = os.O_WRONLY
	}
	if t.conv["excl"] {
		flag |= os.O_EXCL
	}
	if t.appends {
		flag |= os.O_APPEND
	}
	seek := t.seek
	if !t.seekBytes {
		seek *= t.obs
	}
	if !t.conv["notrunc"] && !t.appends && seek == 0 {
		flag |= os.O_TRUNC
	}
	w, err := t.p.Write(t.out, flag)
	if err != nil {
		return nil, err
	}
	f, ok := w.(*writer)
	if !ok || seek == 0 {
		return w, nil
	}
	if !t.conv["notrunc"] {
		err = f.Truncate(seek)
	}
	if err == nil {
		_, err = f.Seek(seek, io.SeekStart)
	}
	if err != nil {
		_ = w.Close()
		return nil, err
	}
	return w, nil
}

func (t *transfer) blocks(in io.Reader, out io.Writer) error {
	block := make([]byte, t.ibs)
	left := t.count
	for left != 0 {
		if t.p.Stopped() {
			return nil
		}
		want := block
		if t.countBytes && left > 0 && left < int64(len(want)) {
			want = want[:left]
		}
		var n int
		var err error
		if t.full {
			n, err = io.ReadFull(in, want)
		} else {
			n, err = in.Read(want)
		}
		if n > 0 {
			if int64(n) == t.ibs {
				t.whole++
			} else {
				t.part++
			}
			b := want[:n]
			if t.conv["sync"] && n < len(block) {
				clear(block[n:])
				b = block
			}
			b = t.converted(b)
			if _, err := out.Write(b); err != nil {
				return err
			}
			t.bytes += int64(len(b))
			t.wroteFull = t.bytes / t.obs
			t.wrote = 0
			if t.bytes%t.obs > 0 {
				t.wrote = 1
			}
			switch {
			case left > 0 && t.countBytes:
				left -= int64(n)
			case left > 0:
				left--
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *transfer) converted(b []byte) []byte {
	switch {
	case t.conv["ucase"]:
		return bytes.ToUpper(b)
	case t.conv["lcase"]:
		return bytes.ToLower(b)
	case t.conv["swab"]:
		for i := 0; i+1 < len(b); i += 2 {
			b[i], b[i+1] = b[i+1], b[i]
		}
	}
	return b
}
