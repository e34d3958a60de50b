package commands

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
)

var splitOptions = NewOptions(1, "a suffix-length=", "additional-suffix=", "b bytes=", "C line-bytes=", "d", "numeric-suffixes=?", "x", "hex-suffixes=?",
	"e elide-empty-files", "filter=", "l lines=", "n number=", "t separator=", "u unbuffered", "verbose")

// splitter is one run of split.
type splitter struct {
	p          *Proc
	prefix     string
	length     int  // of suffixes
	fixed      bool // it was chosen
	alphabet   string
	start      int
	additional string
	filter     string
	verbose    bool
	elide      bool
	sep        byte

	n    int // pieces begun
	name string
	out  io.WriteCloser
	err  error
}

func split(p *Proc) int {
	args := make([]string, len(p.Args))
	for i, arg := range p.Args {
		if len(arg) > 1 && arg[0] == '-' && strings.Trim(arg[1:], "0123456789") == "" {
			arg = "-l" + arg[1:]
		}
		args[i] = arg
	}
	p.Args = args
	o, code := p.Parse(splitOptions)
	if o == nil {
		return code
	}
	s := &splitter{p: p, prefix: "x", length: 2, alphabet: "abcdefghijklmnopqrstuvwxyz", sep: '\n', verbose: o.Has("verbose"), elide: o.Has("e")}
	s.additional, _ = o.Value("additional-suffix")
	s.filter, _ = o.Value("filter")
	if strings.Contains(s.additional, "/") {
		return p.Usage(1, "invalid suffix %s, contains directory separator", Quote(s.additional))
	}
	if problem := s.options(o); problem != "" {
		return p.Errorf(1, "%s", problem)
	}
	if len(o.Args) > 2 {
		return p.Usage(1, "extra operand %s", Quote(o.Args[2]))
	}
	name := "-"
	if len(o.Args) > 0 {
		name = o.Args[0]
	}
	if len(o.Args) > 1 {
		s.prefix = o.Args[1]
	}
	kind, value := "l", "1000"
	ways := 0
	for _, opt := range o.Options {
		if opt.Key == "b" || opt.Key == "C" || opt.Key == "l" || opt.Key == "n" {
			kind, value = opt.Key, opt.Value
			ways++
		}
	}
	if ways > 1 {
		return p.Usage(1, "cannot split in more than one way")
	}
	in := io.NopCloser(p.Stdin)
	if name != "-" {
		f, err := p.Open(name)
		if err != nil {
			return p.Errorf(1, "cannot open %s for reading: %s", Quote(name), Reason(err))
		}
		in = f
	}
	defer in.Close()
	code = s.run(kind, value, name, in)
	s.close()
	if s.err != nil && !p.Stopped() {
		return p.Errorf(1, "%s", Reason(s.err))
	}
	return code
}

func (s *splitter) options(o *Parsed) string {
	for _, opt := range o.Options {
		switch opt.Key {
		case "a":
			n, err := strconv.ParseUint(opt.Value, 10, 16)
			if err != nil || n > 200 {
				return "invalid suffix length: " + Quote(opt.Value)
			}
			if n > 0 {
				s.length, s.fixed = int(n), true
			}
		case "d", "numeric-suffixes", "x", "hex-suffixes":
			base := 10
			s.alphabet = "0123456789"
			if opt.Key == "x" || opt.Key == "hex-suffixes" {
				s.alphabet, base = "0123456789abcdef", 16
			}
			if opt.Value != "" {
				n, err := strconv.ParseUint(opt.Value, base, 31)
				if err != nil {
					return fmt.Sprintf("invalid start value: %s", Quote(opt.Value))
				}
				s.start, s.fixed = int(n), true
				s.length = max(s.length, len(opt.Value))
			}
		case "t":
			switch {
			case opt.Value == `\0`:
				s.sep = 0
			case opt.Value == "":
				return "empty record separator"
			case len(opt.Value) > 1:
				return "multi-character separator " + Quote(opt.Value)
			default:
				s.sep = opt.Value[0]
			}
		}
	}
	return ""
}

func (s *splitter) run(kind, value, name string, in io.Reader) int {
	if kind == "n" {
		return s.chunks(value, name, in)
	}
	n, ok := parseSize(value)
	if !ok || n == 0 {
		what := "lines"
		if kind != "l" {
			what = "bytes"
		}
		return s.p.Errorf(1, "invalid number of %s: %s", what, Quote(value))
	}
	if kind == "b" {
		return s.byBytes(in, n)
	}
	lines := s.p.Lines(in, s.sep)
	defer lines.Close()
	var used int64
	for lines.Next() && s.err == nil {
		line := lines.Bytes()
		if lines.Ended() {
			line = line[:len(line)+1]
		}
		if kind == "l" {
			if used == n || s.out == nil {
				s.open()
				used = 0
			}
			s.write(line)
			used++
			continue
		}
		if used > 0 && used+int64(len(line)) > n || s.out == nil {
			s.open()
			used = 0
		}
		for used+int64(len(line)) > n {
			s.write(line[:n-used])
			line = line[n-used:]
			s.open()
			used = 0
		}
		s.write(line)
		used += int64(len(line))
	}
	if err := lines.Err(); err != nil {
		return s.p.FileError(name, err)
	}
	return 0
}

func (s *splitter) byBytes(in io.Reader, n int64) int {
	for s.err == nil {
		first := make([]byte, 1)
		if _, err := io.ReadFull(in, first); err == io.EOF {
			return 0
		} else if err != nil {
			return s.p.Errorf(1, "%s", Reason(err))
		}
		s.open()
		s.write(first)
		if s.err == nil {
			if _, err := s.p.Copy(s.out, io.LimitReader(in, n-1)); err != nil {
				s.err = err
			}
		}
	}
	return 1
}

// chunks is -n: N, K/N, l/N, l/K/N, r/N, r/K/N.
func (s *splitter) chunks(value, name string, in io.Reader) int {
	kind, rest := "", value
	if strings.HasPrefix(value, "l/") || strings.HasPrefix(value, "r/") {
		kind, rest = value[:1], value[2:]
	}
	only := 0
	if k, of, ok := strings.Cut(rest, "/"); ok {
		v, err := strconv.ParseUint(k, 10, 31)
		if err != nil || v == 0 {
			return s.p.Errorf(1, "invalid chunk number: %s", Quote(k))
		}
		only, rest = int(v), of
	}
	v, err := strconv.ParseUint(rest, 10, 31)
	if err != nil || v == 0 {
		return s.p.Errorf(1, "invalid number of chunks: %s", Quote(rest))
	}
	n := int(v)
	if only > n {
		return s.p.Errorf(1, "invalid chunk number: %s", Quote(strconv.Itoa(only)))
	}
	if !s.fixed {
		for total := len(s.alphabet) * len(s.alphabet); total < n; total *= len(s.alphabet) {
			s.length++
		}
	}
	text, err := s.p.ReadAll(in)
	if err != nil {
		return s.p.FileError(name, err)
	}
	var piece func(i int) [][]byte
	switch kind {
	case "r":
		records := bytes.SplitAfter(text, []byte{s.sep})
		if err := s.p.Hold(24 * len(records)); err != nil {
			return s.p.Errorf(1, "%s", Reason(err))
		}
		piece = func(i int) (out [][]byte) {
			for j := i; j < len(records); j += n {
				out = append(out, records[j])
			}
			return out
		}
	default:
		piece = func(i int) [][]byte { return [][]byte{text[s.cut(text, i, n, kind):s.cut(text, i+1, n, kind)]} }
	}
	if only > 0 {
		for _, b := range piece(only - 1) {
			s.p.Out.Write(b)
		}
		return 0
	}
	for i := 0; i < n && s.err == nil && !s.p.Stopped(); i++ {
		parts := piece(i)
		if s.elide && len(bytes.Join(parts, nil)) == 0 {
			continue
		}
		s.open()
		for _, b := range parts {
			s.write(b)
		}
	}
	return 0
}

// cut is where chunk i of n begins: after the record that its byte is in, for
// chunks of whole lines.
func (s *splitter) cut(text []byte, i, n int, kind string) int {
	if i >= n {
		return len(text)
	}
	at := i * (len(text) / n)
	if kind == "" {
		// The first chunks take a byte more each where it does not divide.
		return at + min(i, len(text)%n)
	}
	if at == 0 {
		return 0
	}
	if j := bytes.IndexByte(text[at-1:], s.sep); j >= 0 {
		return at + j
	}
	return len(text)
}
