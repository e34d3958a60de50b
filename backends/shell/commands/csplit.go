package commands

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/commands/posixre"
)

var csplitOptions = NewOptions(1, "b suffix-format=", "f prefix=", "k keep-files", "n digits=", "s q quiet silent", "z elide-empty-files", "suppress-matched")

// csplitter is one run of csplit.
type csplitter struct {
	p        *Proc
	text     [][]byte // lines with their newlines
	at       int      // the line that is next
	prefix   string
	format   string
	quiet    bool
	elide    bool
	suppress bool
	names    []string
}

// csplitPattern is where to cut.
type csplitPattern struct {
	text    string
	line    int // a line number, or 0
	re      *posixre.Regexp
	skip    bool // %re%: what comes before is not written
	offset  int
	repeats int // -1: as often as it matches
}

var suffixFormat = regexp.MustCompile(`^((?:[^%]|%%)*)%([-0#' ]*)([0-9]{0,3})(?:\.([0-9]{1,3}))?([diuoxX])((?:[^%]|%%)*)$`)

func csplit(p *Proc) int {
	o, code := p.Parse(csplitOptions)
	if o == nil {
		return code
	}
	switch len(o.Args) {
	case 0:
		return p.Usage(1, "missing operand")
	case 1:
		return p.Usage(1, "missing operand after %s", Quote(o.Args[0]))
	}
	c := &csplitter{p: p, prefix: "xx", format: "%02d", quiet: o.Has("s"), elide: o.Has("z"), suppress: o.Has("suppress-matched")}
	if v, ok := o.Value("f"); ok {
		c.prefix = v
	}
	if v, ok := o.Value("n"); ok {
		n, err := strconv.ParseUint(v, 10, 8)
		if err != nil {
			return p.Errorf(1, "invalid number of digits: %s", Quote(v))
		}
		c.format = fmt.Sprintf("%%0%dd", n)
	}
	if v, ok := o.Value("b"); ok {
		m := suffixFormat.FindStringSubmatch(v)
		if m == nil {
			return p.Errorf(1, "invalid suffix format: %s", Quote(v))
		}
		verb := map[string]string{"d": "d", "i": "d", "u": "d", "o": "o", "x": "x", "X": "X"}[m[5]]
		precision := ""
		if m[4] != "" {
			precision = "." + m[4]
		}
		c.format = m[1] + "%" + strings.ReplaceAll(m[2], "'", "") + m[3] + precision + verb + m[6]
	}
	patterns, problem := csplitPatterns(p, o.Args[1:])
	if problem != "" {
		return p.Errorf(1, "%s", problem)
	}
	text, err := p.ReadFile(o.Args[0])
	if err != nil {
		if p.Stopped() {
			return 1
		}
		if o.Args[0] != "-" {
			return p.Errorf(1, "cannot open %s for reading: %s", Quote(o.Args[0]), Reason(err))
		}
		return p.Errorf(1, "read error: %s", Reason(err))
	}
	if err := p.Hold(24 * (bytes.Count(text, []byte{'\n'}) + 1)); err != nil {
		return p.Errorf(1, "%s", Reason(err))
	}
	c.text = bytes.SplitAfter(text, []byte{'\n'})
	if n := len(c.text); len(c.text[n-1]) == 0 {
		c.text = c.text[:n-1]
	}
	if err := c.run(patterns); err != nil {
		if !o.Has("k") {
			for _, name := range c.names {
				if rerr := p.Files.Remove(p.Path(name)); rerr != nil && !p.Stopped() {
					p.FileError(name, rerr)
				}
			}
		}
		if p.Stopped() {
			return 1
		}
		return p.Errorf(1, "%s", Reason(err))
	}
	return 0
}

func csplitPatterns(p *Proc, args []string) (out []*csplitPattern, problem string) {
	last := 0
	for _, arg := range args {
		if strings.HasPrefix(arg, "{") && len(out) > 0 {
			count := strings.TrimSuffix(arg[1:], "}")
			if !strings.HasSuffix(arg, "}") {
				return nil, arg + ": '}' is required in repeat count"
			}
			if count == "*" {
				out[len(out)-1].repeats = -1
				continue
			}
			n, err := strconv.ParseUint(count, 10, 31)
			if err != nil {
				return nil, arg + "}: integer required between '{' and '}'"
			}
			out[len(out)-1].repeats = int(n)
			continue
		}
		pat := &csplitPattern{text: arg}
		out = append(out, pat)
		if arg != "" && (arg[0] == '/' || arg[0] == '%') {
			end := strings.LastIndexByte(arg, arg[0])
			if end == 0 {
				return nil, fmt.Sprintf("%s: closing delimiter '%c' missing", arg, arg[0])
			}
			pat.skip = arg[0] == '%'
			if offset := arg[end+1:]; offset != "" {
				n, err := strconv.Atoi(offset)
				if err != nil {
					return nil, arg + ": integer expected after delimiter"
				}
				pat.offset = n
			}
			re, err := posixre.Compile(p, arg[1:end], 0)
			if err != nil {
				return nil, arg + ": invalid regular expression: " + Reason(err)
			}
			pat.re = re
			continue
		}
		n, err := strconv.ParseUint(arg, 10, 31)
		switch {
		case err != nil:
			return nil, arg + ": invalid pattern"
		case n == 0:
			return nil, arg + ": line number must be greater than zero"
		case int(n) < last:
			return nil, fmt.Sprintf("line number %s is smaller than preceding line number, %d", Quote(arg), last)
		}
		last, pat.line = int(n), int(n)
	}
	return out, ""
}

func (c *csplitter) run(patterns []*csplitPattern) error {
	for _, pat := range patterns {
		for round := 0; pat.repeats < 0 || round <= pat.repeats; round++ {
			if c.p.Stopped() {
				return errors.New("interrupted")
			}
			ended, err := c.apply(pat, round)
			if err != nil {
				return err
			}
			if ended {
				break
			}
		}
	}
	return c.write(len(c.text))
}

// apply cuts once; ended tells that a pattern that repeats for ever did so.
func (c *csplitter) apply(pat *csplitPattern, round int) (ended bool, err error) {
	repetition := ""
	if round > 0 {
		repetition = fmt.Sprintf(" on repetition %d", round)
	}
	if pat.re == nil {
		to := pat.line*(round+1) - 1
		if to > len(c.text) || to == len(c.text) && pat.repeats < 0 {
			if pat.repeats < 0 {
				return true, nil
			}
			if err := c.write(len(c.text)); err != nil {
				return false, err
			}
			return false, fmt.Errorf("%s: line number out of range%s", Quote(pat.text), repetition)
		}
		if err := c.write(max(to, c.at)); err != nil {
			return false, err
		}
		if c.suppress && c.at < len(c.text) {
			c.at++
		}
		return false, nil
	}
	from := c.at
	if round > 0 || len(c.names) > 0 || c.at > 0 {
		from++ // the line that was cut at is not looked at again
	}
	if c.suppress {
		from = c.at
	}
	for i := from; i < len(c.text); i++ {
		ok, err := pat.re.Match(view(bytes.TrimSuffix(c.text[i], []byte{'\n'})))
		if err != nil {
			return false, err
		}
		if !ok {
			continue
		}
		to := i + pat.offset
		if to < c.at || to > len(c.text) {
			return false, fmt.Errorf("%s: line number out of range%s", Quote(pat.text), repetition)
		}
		if pat.skip {
			c.at = to
		} else if err := c.write(to); err != nil {
			return false, err
		}
		if c.suppress && c.at < len(c.text) {
			c.at++
		}
		return false, nil
	}
	if pat.repeats < 0 {
		if pat.skip {
			c.at = len(c.text)
		}
		return true, nil
	}
	if !pat.skip {
		if err := c.write(len(c.text)); err != nil {
			return false, err
		}
	}
	return false, fmt.Errorf("%s: match not found%s", Quote(pat.text), repetition)
}

// write makes the next file, of the lines before to.
func (c *csplitter) write(to int) error {
	size := 0
	for _, line := range c.text[c.at:to] {
		size += len(line)
	}
	if size == 0 && c.elide {
		c.at = to
		return nil
	}
	name := c.prefix + fmt.Sprintf(c.format, len(c.names))
	w, err := c.p.Create(name)
	if err != nil {
		return fmt.Errorf("%s: %s", name, Reason(err))
	}
	c.names = append(c.names, name)
	b := newBlocks(w)
	for _, line := range c.text[c.at:to] {
		b.Write(line)
	}
	if err := (flushClose{b.Flush, w}).Close(); err != nil {
		return fmt.Errorf("%s: %s", name, Reason(err))
	}
	if !c.quiet {
		fmt.Fprintln(c.p.Out, size)
	}
	c.at = to
	return nil
}
