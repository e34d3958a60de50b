package commands

import (
	"bytes"
	crand "crypto/rand"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

var shufOptions = NewOptions(1, "e echo", "i input-range=", "n head-count=", "o output=", "r repeat", "z zero-terminated", "random-source=")

func shuf(p *Proc) int {
	o, code := p.Parse(shufOptions)
	if o == nil {
		return code
	}
	limit := int64(-1)
	for _, opt := range o.Options {
		if opt.Key == "n" {
			n, err := strconv.ParseInt(opt.Value, 10, 64)
			if err != nil || n < 0 {
				return p.Errorf(1, "invalid line count: %s", Quote(opt.Value))
			}
			if limit < 0 || n < limit {
				limit = n
			}
		}
	}
	sep := separator(o)
	line, n, code := shufLines(p, o, sep)
	if code != 0 {
		return code
	}
	random, err := shufRandom(p, o)
	if err != nil {
		return p.Errorf(1, "%s", Reason(err))
	}
	out := p.Out
	name, toFile := o.Value("o")
	var closing io.Closer
	if toFile {
		w, err := p.Create(name)
		if err != nil {
			return p.FileError(name, err)
		}
		b := newBlocks(w)
		out, closing = b, flushClose{b.Flush, w}
	}
	write := func(i int64) {
		out.Write(line(i))
		out.WriteByte(sep)
	}
	switch {
	case limit == 0:
	case o.Has("r"):
		if n == 0 {
			return p.Errorf(1, "no lines to repeat")
		}
		for i := int64(0); (limit < 0 || i < limit) && !p.Stopped(); i++ {
			write(random.Int64N(n))
		}
	default:
		code = shufOnce(p, random, n, limit, write)
	}
	if closing != nil {
		if err := closing.Close(); err != nil && !p.Stopped() {
			return p.FileError(name, err)
		}
	}
	return code
}

// shufOnce writes limit (or with -1 all) of n lines in random order, each once.
func shufOnce(p *Proc, random *rand.Rand, n, limit int64, write func(int64)) int {
	if limit < 0 || limit > n {
		limit = n
	}
	// The order is made step by step; only what was moved is kept.
	moved := map[int64]int64{}
	at := func(i int64) int64 {
		if v, ok := moved[i]; ok {
			return v
		}
		return i
	}
	for i := int64(0); i < limit && !p.Stopped(); i++ {
		if i%1024 == 0 {
			if err := p.Hold(1024 * 48); err != nil {
				return p.Errorf(1, "%s", Reason(err))
			}
		}
		j := i + random.Int64N(n-i)
		write(at(j))
		moved[j] = at(i)
		delete(moved, i)
	}
	return 0
}

// shufLines returns what is to be shuffled: how many lines, and each of them.
func shufLines(p *Proc, o *Parsed, sep byte) (line func(int64) []byte, n int64, code int) {
	if text, ok := o.Value("i"); ok {
		lo, hi, okRange := strings.Cut(text, "-")
		a, errA := strconv.ParseInt(lo, 10, 64)
		b, errB := strconv.ParseInt(hi, 10, 64)
		switch {
		case !okRange || errA != nil || errB != nil || a < 0 || b < a-1 || b == math.MaxInt64:
			return nil, 0, p.Errorf(1, "invalid input range: %s", Quote(text))
		case len(o.Args) > 0:
			return nil, 0, p.Usage(1, "extra operand %s", Quote(o.Args[0]))
		case o.Has("e"):
			return nil, 0, p.Usage(1, "cannot combine -e and -i options")
		}
		return func(i int64) []byte { return strconv.AppendInt(nil, a+i, 10) }, b - a + 1, 0
	}
	if o.Has("e") {
		return func(i int64) []byte { return []byte(o.Args[i]) }, int64(len(o.Args)), 0
	}
	if len(o.Args) > 1 {
		return nil, 0, p.Usage(1, "extra operand %s", Quote(o.Args[1]))
	}
	name := "-"
	if len(o.Args) == 1 {
		name = o.Args[0]
	}
	text, err := p.ReadFile(name)
	if err != nil {
		return nil, 0, p.FileError(name, err)
	}
	if len(text) == 0 {
		return nil, 0, 0
	}
	if text[len(text)-1] == sep {
		text = text[:len(text)-1]
	}
	if err := p.Hold(24 * (bytes.Count(text, []byte{sep}) + 1)); err != nil {
		return nil, 0, p.Errorf(1, "%s", Reason(err))
	}
	lines := bytes.Split(text, []byte{sep})
	return func(i int64) []byte { return bytes.Clone(lines[i]) }, int64(len(lines)), 0
}

// shufRandom makes random numbers, from a file where --random-source names one:
// the same file gives the same order.
func shufRandom(p *Proc, o *Parsed) (*rand.Rand, error) {
	var seed [32]byte
	name, ok := o.Value("random-source")
	if !ok {
		_, _ = crand.Read(seed[:]) // never fails
		return rand.New(rand.NewChaCha8(seed)), nil
	}
	f, err := p.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text := make([]byte, 4096)
	n, err := io.ReadFull(f, text)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	for i, b := range text[:n] {
		seed[i%32] = seed[i%32]*31 + b
	}
	binary.LittleEndian.PutUint16(seed[:], binary.LittleEndian.Uint16(seed[:])+uint16(n))
	return rand.New(rand.NewChaCha8(seed)), nil
}
