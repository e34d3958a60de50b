package awk

import (
	"io"
	"regexp"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/commands/posixre"
)

// recordSep is how RS divides input.
type recordSep struct {
	in         *interp
	one        byte // one byte
	re         *posixre.Regexp
	paragraphs bool // RS is empty
}

func (r *recordSep) set(rs string) {
	*r = recordSep{in: r.in}
	switch {
	case rs == "":
		r.paragraphs = true
	case len(rs) == 1 && (!r.in.fold || strings.ToLower(rs) == strings.ToUpper(rs)):
		r.one = rs[0]
	default:
		r.re = r.in.regexp(rs)
	}
}

// source is a stream of records.
type source struct {
	r    io.Reader
	done func() error
	buf  []byte
	at   int // what is before was read
	held int
	eof  bool
	code int // of a command
}

const readSize = 32 << 10

// fill reads more; false at the end.
func (in *interp) fill(s *source) bool {
	if s.eof {
		return false
	}
	if s.at > 0 {
		s.buf = s.buf[:copy(s.buf, s.buf[s.at:])]
		s.at = 0
	}
	if len(s.buf) == cap(s.buf) {
		grown := max(readSize, 2*cap(s.buf))
		in.hold(grown)
		next := make([]byte, len(s.buf), grown)
		copy(next, s.buf)
		s.buf = next
		in.release(s.held)
		s.held = grown
	}
	for {
		in.tick()
		n, err := s.r.Read(s.buf[len(s.buf):cap(s.buf)])
		s.buf = s.buf[:len(s.buf)+n]
		if err != nil {
			s.eof = true
			if err != io.EOF {
				in.failed(err)
			}
		}
		if n > 0 || s.eof {
			return n > 0
		}
	}
}

// record reads a record and what ended it.
func (in *interp) readRecord(s *source) (record, rt string, ok bool) {
	by := &in.recordsBy
	switch {
	case by.paragraphs:
		return in.readParagraph(s)
	case by.re != nil:
		return in.readByRegexp(s, by.re)
	}
	looked := 0
	for {
		rest := s.buf[s.at:]
		if i := indexByte(rest[looked:], by.one); i >= 0 {
			record = string(rest[:looked+i])
			s.at += looked + i + 1
			return record, string(by.one), true
		}
		looked = len(rest)
		if !in.fill(s) {
			rest = s.buf[s.at:]
			s.at = len(s.buf)
			return string(rest), "", len(rest) > 0
		}
	}
}

func indexByte(b []byte, c byte) int {
	for i, x := range b {
		if x == c {
			return i
		}
	}
	return -1
}

// readParagraph reads up to an empty line.
func (in *interp) readParagraph(s *source) (record, rt string, ok bool) {
	for { // newlines before it
		for s.at < len(s.buf) && s.buf[s.at] == '\n' {
			s.at++
		}
		if s.at < len(s.buf) {
			break
		}
		if !in.fill(s) {
			return "", "", false
		}
	}
	looked := 0
	for {
		rest := s.buf[s.at:]
		if i := strings.Index(string(rest[looked:]), "\n\n"); i >= 0 {
			end := looked + i
			after := end + 2
			for {
				for after < len(rest) && rest[after] == '\n' {
					after++
				}
				if after < len(rest) || !in.fill(s) {
					break
				}
				rest = s.buf[s.at:]
			}
			rest = s.buf[s.at:]
			record, rt = string(rest[:end]), string(rest[end:after])
			s.at += after
			return record, rt, true
		}
		looked = max(len(rest)-1, 0)
		if !in.fill(s) {
			rest = s.buf[s.at:]
			s.at = len(s.buf)
			record = strings.TrimSuffix(string(rest), "\n")
			return record, string(rest)[len(record):], true
		}
	}
}

func (in *interp) readByRegexp(s *source, re *posixre.Regexp) (record, rt string, ok bool) {
	for {
		rest := s.buf[s.at:]
		text := string(rest)
		for from := 0; from <= len(text) && text != ""; {
			loc := in.find(re, text, from)
			if loc == nil {
				break
			}
			if loc[0] == loc[1] {
				from = loc[1] + 1
				continue
			}
			if loc[1] == len(text) && !s.eof {
				break // it could be longer
			}
			s.at += loc[1]
			return text[:loc[0]], text[loc[0]:loc[1]], true
		}
		if s.eof || !in.fill(s) && s.eof && len(s.buf) == s.at {
			s.at = len(s.buf)
			if text == "" {
				return "", "", false
			}
			return strings.TrimSuffix(text, "\n"), text[len(strings.TrimSuffix(text, "\n")):], true
		}
	}
}

func (in *interp) closeSource(s *source) {
	in.release(s.held)
	s.buf, s.held, s.eof = nil, 0, true
	if s.done != nil {
		if err := s.done(); err != nil {
			in.failed(err)
		}
		s.done = nil
	}
}

var assignment = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*)=`)

// nextSource opens the next file of ARGV, or standard input where there is none.
func (in *interp) nextSource() bool {
	for {
		argc := int(in.globals[vARGC].v.num())
		if in.argAt >= argc {
			if in.opened {
				return false
			}
			in.opened = true
			return in.openInput("-", "-")
		}
		argv := in.array(&in.globals[vARGV], "ARGV")
		key := num(float64(in.argAt)).str("%d")
		in.argAt++
		if !argv.has(key) {
			continue
		}
		name := in.element(argv, key).str(in.convfmt)
		if name == "" {
			continue
		}
		if m := assignment.FindStringSubmatch(name); m != nil {
			in.assignByName(m[1], name[len(m[0]):])
			continue
		}
		in.opened = true
		if in.openInput(name, name) {
			return true
		}
	}
}

func (in *interp) openInput(name, shown string) bool {
	in.store(&in.globals[vFILENAME].v, str(shown))
	in.fnr = 0
	s := &source{r: in.cfg.Stdin}
	var err error
	if name != "-" && name != "/dev/stdin" {
		var f io.ReadCloser
		if f, err = in.cfg.Open(name); err == nil {
			s.r, s.done = f, f.Close
		}
	}
	in.input = s
	if err == nil {
		err = in.peek(s)
	}
	text := ""
	if err != nil {
		text = in.cfg.Reason(err)
	}
	in.store(&in.globals[vERRNO].v, str(text))
	for _, b := range in.prog.beginFile {
		if f := in.guarded(func() flow { return in.stmts(b.list) }); f == flowNextFile {
			in.closeInput(false)
			return false
		} else if f == flowExit {
			panic(fault{errExit})
		}
	}
	switch {
	case err == nil:
		return true
	case text == "Is a directory":
		in.warn("command line argument `" + name + "' is a directory: skipped")
	case len(in.prog.beginFile) == 0:
		in.line = 0
		in.fatal("cannot open file `%s' for reading: %s", name, text)
	default:
		in.exitCode = 2
		in.warn("cannot open file `" + name + "' for reading: " + text)
	}
	in.closeInput(false)
	return false
}

// peek reads the first piece, to see whether s can be read.
func (in *interp) peek(s *source) (err error) {
	if s.done == nil {
		return nil
	}
	return in.protect(func() { in.fill(s) })
}

func (in *interp) closeInput(rules bool) {
	if in.input == nil {
		return
	}
	if rules {
		for _, b := range in.prog.endFile {
			if f := in.guarded(func() flow { return in.stmts(b.list) }); f == flowExit {
				panic(fault{errExit})
			}
		}
	}
	s := in.input
	in.input = nil
	in.closeSource(s)
}

// readMain reads a record of the main input.
func (in *interp) readMain() (record string, ok bool) {
	for {
		if in.input == nil && !in.nextSource() {
			return "", false
		}
		record, rt, ok := in.readRecord(in.input)
		if ok {
			in.nr++
			in.fnr++
			in.store(&in.globals[vRT].v, str(rt))
			return record, true
		}
		in.closeInput(true)
	}
}

// nextRecord makes the next record the current one.
func (in *interp) nextRecord() bool {
	record, ok := in.readMain()
	if ok {
		in.setRecord(record)
	}
	return ok
}

func (in *interp) skipFile() { in.closeInput(true) }
