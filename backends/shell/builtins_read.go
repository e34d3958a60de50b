package shell

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// maxLine is how long a line can be that the shell itself reads, in bytes.
const maxLine = 16 << 20

// reading is what read was asked for.
type reading struct {
	raw, exact bool
	array      string
	delim      byte
	chars      int // -n, -N; -1 is no limit
	fd         int
	timeout    time.Duration
	limited    bool
	prompt     string
	names      []string
}

func (s *shell) readOptions(args []string) (reading, int) {
	r := reading{delim: '\n', chars: -1}
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		arg := args[0]
		args = args[1:]
		if arg == "--" {
			break
		}
		for i := 1; i < len(arg); i++ {
			c := arg[i]
			value := ""
			if strings.IndexByte("adinNptu", c) >= 0 {
				if value = arg[i+1:]; value == "" {
					if len(args) == 0 {
						s.errorf("read: -%c: option requires an argument", c)
						return r, 2
					}
					value, args = args[0], args[1:]
				}
				i = len(arg)
			}
			var err error
			switch c {
			case 'r':
				r.raw = true
			case 's', 'e':
			case 'a':
				r.array = value
			case 'd':
				if r.delim = 0; value != "" {
					r.delim = value[0]
				}
			case 'n', 'N':
				r.chars, err = strconv.Atoi(value)
				r.exact = c == 'N'
			case 'p':
				r.prompt = value
			case 't':
				var sec float64
				sec, err = strconv.ParseFloat(value, 64)
				r.timeout, r.limited = time.Duration(sec*float64(time.Second)), true
			case 'u':
				r.fd, err = strconv.Atoi(value)
			case 'i':
			default:
				s.errorf("read: -%c: invalid option", c)
				return r, 2
			}
			if err != nil {
				s.errorf("read: %s: invalid number", value)
				return r, 1
			}
		}
	}
	r.names = args
	for _, name := range args {
		if base, _, _ := cutIndex(name); !syntax.ValidName(base) {
			s.errorf("read: `%s': not a valid identifier", name)
			return r, 1
		}
	}
	return r, 0
}

func (s *shell) read(args []string) int {
	r, code := s.readOptions(args)
	if code != 0 {
		return code
	}
	if s.fds[r.fd] == nil {
		s.errorf("read: %d: invalid file descriptor: Bad file descriptor", r.fd)
		return 1
	}
	ctx := s.ctx
	if r.limited {
		if r.timeout <= 0 {
			return 0
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(s.ctx, r.timeout)
		defer cancel()
	}
	line, ended := s.readLine(ctx, r)
	s.check()
	late := ctx.Err() != nil
	s.storeRead(r, line)
	switch {
	case late:
		return 142
	case !ended:
		return 1
	}
	return 0
}

// readText is what was read; a quoted byte does not separate fields.
type readText struct {
	text   []byte
	quoted []bool // nil when nothing is
}

// readLine reads up to the delimiter, and tells whether it came.
func (s *shell) readLine(ctx context.Context, r reading) (readText, bool) {
	var out readText
	if r.chars >= 0 {
		return s.readChars(ctx, r)
	}
	for {
		chunk, err := s.readUntil(ctx, r.fd, r.delim, maxLine)
		s.charge(len(chunk))
		ended := len(chunk) > 0 && chunk[len(chunk)-1] == r.delim
		if ended {
			chunk = chunk[:len(chunk)-1]
		}
		chunk = bytes.ReplaceAll(chunk, []byte{0}, nil)
		if r.raw || !bytes.ContainsRune(chunk, '\\') {
			out.append(chunk, false)
			return out, ended && err == nil
		}
		goes := false
		for i := 0; i < len(chunk); i++ {
			if chunk[i] != '\\' {
				out.append(chunk[i:i+1], false)
				continue
			}
			if i++; i < len(chunk) {
				out.append(chunk[i:i+1], true)
			} else {
				goes = ended // the line goes on
			}
		}
		if !goes {
			return out, ended && err == nil
		}
	}
}

func (t *readText) append(b []byte, quoted bool) {
	if quoted && t.quoted == nil {
		t.quoted = make([]bool, len(t.text))
	}
	t.text = append(t.text, b...)
	if t.quoted != nil {
		for range b {
			t.quoted = append(t.quoted, quoted)
		}
	}
}

// readChars reads -n or -N characters.
func (s *shell) readChars(ctx context.Context, r reading) (readText, bool) {
	var out readText
	for n := 0; n < r.chars; n++ {
		var char []byte
		for {
			b, err := s.readUntil(ctx, r.fd, 0, 1)
			if err != nil && len(b) == 0 {
				out.append(char, false)
				return out, false
			}
			char = append(char, b...)
			if utf8.FullRune(char) || len(char) >= utf8.UTFMax {
				break
			}
		}
		s.charge(len(char))
		if !r.exact && len(char) == 1 && char[0] == r.delim {
			return out, true
		}
		out.append(char, false)
	}
	return out, true
}

// storeRead puts what was read into variables.
func (s *shell) storeRead(r reading, line readText) {
	ifs := " \t\n"
	if v, ok := s.variable("IFS").str(); ok {
		ifs = v
	}
	switch {
	case r.exact && r.array == "":
		name := "REPLY"
		if len(r.names) > 0 {
			name = r.names[0]
		}
		s.assign(name, string(line.text))
	case r.array != "":
		fields := line.split(s, ifs, -1)
		v := s.writable(s.deref(r.array))
		if v == nil {
			return
		}
		v.kind, v.value, v.table, v.shared = indexed, "", nil, false
		v.list = &array{values: fields}
		s.stored(r.array, v)
	case len(r.names) == 0:
		s.assign("REPLY", string(line.text))
	default:
		fields := line.split(s, ifs, len(r.names))
		for i, name := range r.names {
			text := ""
			if i < len(fields) {
				text = fields[i]
			}
			if base, index, ok := cutIndex(name); ok {
				s.assignElement(base, index, text, false)
			} else {
				s.assign(name, text)
			}
		}
	}
}

// split cuts the text into fields; the last of n has all the rest.
func (t *readText) split(s *shell, ifs string, n int) []string {
	is := func(i int) bool {
		return (t.quoted == nil || !t.quoted[i]) && strings.IndexByte(ifs, t.text[i]) >= 0
	}
	white := func(i int) bool {
		return is(i) && (t.text[i] == ' ' || t.text[i] == '\t' || t.text[i] == '\n')
	}
	start, end := 0, len(t.text)
	for start < end && white(start) {
		start++
	}
	for end > start && white(end-1) {
		end--
	}
	var out []string
	for i := start; i < end; {
		if n > 0 && len(out) == n-1 {
			// One delimiter at the end of the last field goes, when it has no other.
			rest := t.text[i:end]
			last := end - 1
			if last >= i && is(last) && !white(last) {
				other := false
				for j := i; j < last; j++ {
					other = other || is(j) && !white(j)
				}
				if !other {
					rest = t.text[i:last]
					for k := last; k > i && white(k-1); k-- {
						rest = rest[:len(rest)-1]
					}
				}
			}
			return append(out, string(rest))
		}
		j := i
		for j < end && !is(j) {
			j++
		}
		s.charge(j - i + 48)
		out = append(out, string(t.text[i:j]))
		for j < end && white(j) {
			j++
		}
		if j < end && is(j) { // a delimiter that is no white space
			j++
			for j < end && white(j) {
				j++
			}
		}
		i = j
	}
	return out
}
