package commands

import (
	"errors"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/commands/posixre"
)

func (q *findParser) pattern(pattern string, fold bool, of func(*finder, *found) string) findTest {
	re, err := globRegexp(pattern, fold)
	if err != nil {
		return q.fail("%s is no pattern that can be used: %s", Quote(pattern), err)
	}
	return func(f *finder, at *found) bool { return re.MatchString(of(f, at)) }
}

// globRegexp makes a regular expression of a pattern in which * matches "/",
// too.
func globRegexp(pattern string, fold bool) (*regexp.Regexp, error) {
	var b strings.Builder
	b.WriteString("(?s")
	if fold {
		b.WriteString("i")
	}
	b.WriteString(")^")
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '*':
			b.WriteString(".*")
		case '?':
			b.WriteString(".")
		case '[':
			end := i + 1
			if end < len(pattern) && (pattern[end] == '!' || pattern[end] == '^') {
				end++
			}
			if end < len(pattern) && pattern[end] == ']' {
				end++
			}
			for end < len(pattern) && pattern[end] != ']' {
				if strings.HasPrefix(pattern[end:], "[:") {
					if k := strings.Index(pattern[end:], ":]"); k > 0 {
						end += k + 1
					}
				}
				end++
			}
			if end >= len(pattern) {
				b.WriteString(`\[`)
				continue
			}
			class := pattern[i+1 : end]
			if class[0] == '!' {
				class = "^" + class[1:]
			}
			b.WriteString("[" + strings.ReplaceAll(class, `\`, `\\`) + "]")
			i = end
		case '\\':
			if i+1 < len(pattern) {
				i++
			}
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		default:
			// Byte by byte is right for UTF-8: only ASCII is special.
			if c < 0x80 {
				b.WriteString(regexp.QuoteMeta(string(c)))
			} else {
				b.WriteByte(c)
			}
		}
	}
	b.WriteString("$")
	return regexp.Compile(b.String())
}

// regexp is -regex: the whole path, in Emacs' syntax unless -regextype says
// otherwise.
func (q *findParser) regexp(expr string, fold bool) findTest {
	if !strings.Contains(q.regex, "extended") && q.regex != "posix-egrep" && q.regex != "egrep" && q.regex != "awk" {
		expr = swapEscapes(expr)
	}
	flags := posixre.Extended | posixre.Whole
	if fold {
		flags |= posixre.IgnoreCase
	}
	re, err := posixre.Compile(q.f.p, expr, flags)
	if err != nil {
		return q.fail("%s cannot be used as a regular expression here: %s", Quote(expr), err)
	}
	return func(f *finder, at *found) bool {
		ok, err := re.Match(at.path)
		if err != nil {
			f.code = f.p.Errorf(1, "%s: %s", Quote(at.path), err)
		}
		return ok
	}
}

// swapEscapes makes an extended expression of one in which ( ) | { } are
// special when they are escaped.
func swapEscapes(expr string) string {
	var b strings.Builder
	for i := 0; i < len(expr); i++ {
		switch c := expr[i]; {
		case c == '\\' && i+1 < len(expr) && strings.IndexByte("()|{}", expr[i+1]) >= 0:
			i++
			b.WriteByte(expr[i])
		case c == '\\' && i+1 < len(expr):
			b.WriteString(expr[i : i+2])
			i++
		case strings.IndexByte("()|{}", c) >= 0:
			b.WriteString(`\` + string(c))
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func (q *findParser) kind(v string, follow bool) findTest {
	var kinds []byte
	for part := range strings.SplitSeq(v, ",") {
		if len(part) != 1 || strings.IndexByte("bcdpflsD", part[0]) < 0 {
			return q.fail("Unknown argument to -type: %s", v)
		}
		kinds = append(kinds, part[0])
	}
	return func(f *finder, at *found) bool {
		info := at.info
		if follow {
			if to, err := f.p.Stat(at.path); err == nil {
				info = to
			}
		}
		return slices.Contains(kinds, kindLetter(info.Mode()))
	}
}

func kindLetter(mode fs.FileMode) byte {
	switch {
	case mode.IsDir():
		return 'd'
	case mode&fs.ModeSymlink != 0:
		return 'l'
	case mode&fs.ModeCharDevice != 0:
		return 'c'
	case mode&fs.ModeNamedPipe != 0:
		return 'p'
	}
	return 'f'
}

// comparison reads +n, -n or n.
func comparison(v string) (sign byte, n int64, ok bool) {
	if v != "" && (v[0] == '+' || v[0] == '-') {
		sign, v = v[0], v[1:]
	}
	n, err := strconv.ParseInt(v, 10, 64)
	return sign, n, err == nil
}

func compared(sign byte, have, want int64) bool {
	switch sign {
	case '+':
		return have > want
	case '-':
		return have < want
	}
	return have == want
}

func (q *findParser) size(v string) findTest {
	unit := int64(512)
	if v != "" {
		if u, ok := map[byte]int64{'c': 1, 'w': 2, 'b': 512, 'k': 1 << 10, 'M': 1 << 20, 'G': 1 << 30, 'T': 1 << 40}[v[len(v)-1]]; ok {
			unit, v = u, v[:len(v)-1]
		}
	}
	sign, n, ok := comparison(v)
	if !ok {
		return q.fail("Invalid argument `%s' to -size", v)
	}
	return func(_ *finder, at *found) bool {
		return compared(sign, (at.info.Size()+unit-1)/unit, n)
	}
}

func (q *findParser) age(name, v string, unit time.Duration) findTest {
	sign, text := byte(0), v
	if v != "" && (v[0] == '+' || v[0] == '-') {
		sign, text = v[0], v[1:]
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return q.fail("invalid argument `%s' to `%s'", v, name)
	}
	if unit == time.Minute {
		return func(f2 *finder, at *found) bool {
			age := f2.now.Sub(at.info.ModTime()).Minutes()
			switch sign {
			case '+':
				return age > f
			case '-':
				return age < f
			}
			return age > f-1 && age <= f
		}
	}
	return func(f2 *finder, at *found) bool {
		return compared(sign, int64(f2.now.Sub(at.info.ModTime())/unit), int64(f))
	}
}

func (q *findParser) perm(v string) findTest {
	mode := byte(0)
	text := v
	if v != "" && (v[0] == '-' || v[0] == '/') {
		mode, text = v[0], v[1:]
	}
	change, err := parseMode(text)
	if err != nil {
		return q.fail("invalid mode %s", Quote(v))
	}
	want := change.apply(0, false)
	return func(_ *finder, at *found) bool {
		have := at.info.Mode().Perm()
		switch mode {
		case '-':
			return have&want == want
		case '/':
			return want == 0 || have&want != 0
		}
		return have == want
	}
}

func (q *findParser) links(name, v string) findTest {
	sign, n, ok := comparison(v)
	if !ok {
		return q.fail("invalid argument `%s' to `%s'", v, name)
	}
	return func(_ *finder, at *found) bool {
		sys := sysOf(at.info)
		if name == "-links" {
			return compared(sign, int64(sys.Links), n)
		}
		return compared(sign, int64(sys.Inode), n)
	}
}

// close closes the files of -fprint.
func (q *findParser) close() error {
	var all error
	for _, w := range q.opened {
		all = errors.Join(all, w.Close())
	}
	return all
}
