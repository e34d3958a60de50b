package commands

import (
	"bufio"
	"encoding/base32"
	"encoding/base64"
	"errors"
	"io"
	"strconv"
)

var basencFlags = NewOptions(1, "d decode", "i ignore-garbage", "w wrap=")

// encoding is what base64 and base32 have in common.
type encoding struct {
	alphabet string
	// Blocks of in bytes become out characters.
	in, out int
	encode  func(dst, src []byte)
	// decode writes what the characters, padded with "=", stand for.
	decode func(dst, src []byte) (int, error)
}

var (
	encoding64 = encoding{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 3, 4, base64.StdEncoding.Encode, base64.StdEncoding.Decode}
	encoding32 = encoding{"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 5, 8, base32.StdEncoding.Encode, base32.StdEncoding.Decode}
)

var errInvalidInput = errors.New("invalid input")

func basenc(e encoding) func(p *Proc) int {
	return func(p *Proc) int {
		parsed, code := p.Parse(basencFlags)
		if parsed == nil {
			return code
		}
		wrap := 76
		if v, ok := parsed.Value("w"); ok {
			n, err := strconv.ParseUint(v, 10, 62)
			if err != nil {
				return p.Errorf(1, "invalid wrap size: %s", Quote(v))
			}
			wrap = int(n)
		}
		if len(parsed.Args) > 1 {
			return p.Usage(1, "extra operand %s", Quote(parsed.Args[1]))
		}
		return p.Inputs(parsed.Args, func(_ string, r io.Reader) (int, error) {
			if !parsed.Has("d") {
				return 0, e.encodeAll(p, r, wrap)
			}
			err := e.decodeAll(p, r, parsed.Has("i"))
			if errors.Is(err, errInvalidInput) {
				return p.Errorf(1, "invalid input"), nil
			}
			return 0, err
		})
	}
}

func (e encoding) encodeAll(p *Proc, r io.Reader, wrap int) error {
	src, dst := make([]byte, e.in*4096), make([]byte, e.out*4096)
	column := 0
	for {
		n, err := io.ReadFull(r, src)
		text := dst[:(n+e.in-1)/e.in*e.out]
		e.encode(text, src[:n])
		for len(text) > 0 {
			part := len(text)
			if wrap > 0 {
				part = min(part, wrap-column)
			}
			p.Out.Write(text[:part])
			text, column = text[part:], column+part
			if column == wrap {
				p.Out.WriteByte('\n')
				column = 0
			}
		}
		switch {
		case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
			if wrap > 0 && column > 0 {
				p.Out.WriteByte('\n')
			}
			return nil
		case err != nil:
			return err
		}
		if p.Stopped() {
			return p.Context().Err()
		}
	}
}

func (e encoding) decodeAll(p *Proc, r io.Reader, ignore bool) error {
	var known [256]bool
	for i := range len(e.alphabet) {
		known[e.alphabet[i]] = true
	}
	in := bufio.NewReaderSize(r, 32<<10)
	block, dst := make([]byte, 0, e.out), make([]byte, e.in)
	flush := func() error {
		n, err := e.decode(dst, block)
		p.Out.Write(dst[:n])
		if err != nil {
			// What the characters before the wrong one stand for comes out.
			return errInvalidInput
		}
		block = block[:0]
		return nil
	}
	for i := 0; ; i++ {
		c, err := in.ReadByte()
		switch {
		case err == io.EOF:
			if len(block) > 0 {
				e.rest(p, block)
				return errInvalidInput
			}
			return nil
		case err != nil:
			return err
		case c == '\n' || ignore && !known[c] && c != '=':
			continue
		case !known[c] && c != '=':
			e.rest(p, block)
			return errInvalidInput
		}
		if block = append(block, c); len(block) == e.out {
			if err := flush(); err != nil {
				return err
			}
		}
		if i%4096 == 0 && p.Stopped() {
			return p.Context().Err()
		}
	}
}

// rest writes the whole bytes of a block that is not complete.
func (e encoding) rest(p *Proc, block []byte) {
	n := len(block) * e.in / e.out
	for i, c := range block {
		if c == '=' {
			n = i * e.in / e.out
			block = block[:i]
			break
		}
	}
	if n == 0 {
		return
	}
	for len(block) < e.out {
		block = append(block, 'A')
	}
	dst := make([]byte, e.in)
	if _, err := e.decode(dst, block); err == nil {
		p.Out.Write(dst[:n])
	}
}
