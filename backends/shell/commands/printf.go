package commands

import (
	"math"
	"strconv"
	"strings"
)

// maxWidth is how wide printf pads, in bytes.
const maxWidth = 1 << 20

// printer is one run of printf.
type printer struct {
	p    *Proc
	args []string
	used bool // an argument was asked for
	code int
	stop bool
}

func printf(p *Proc) int {
	args := p.Args
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return p.Errorf(2, "usage: printf [-v var] format [arguments]")
	}
	pr := &printer{p: p, args: args[1:]}
	for {
		pr.used = false
		if !pr.format(args[0]) || pr.stop || len(pr.args) == 0 || !pr.used || p.Stopped() {
			return pr.code
		}
	}
}

// format prints the format once; false ends the command.
func (pr *printer) format(f string) bool {
	var b strings.Builder
	for i := 0; i < len(f); {
		switch {
		case f[i] == '\\' && i+1 < len(f):
			b.Reset()
			n, _ := escape(&b, f[i+1:], FormatEscapes)
			pr.p.Out.WriteString(b.String())
			i += 1 + n
		case f[i] == '%' && i+1 < len(f) && f[i+1] == '%':
			pr.p.Out.WriteByte('%')
			i += 2
		case f[i] == '%':
			n, ok := pr.directive(f[i:])
			if !ok || pr.stop {
				return false
			}
			i += n
		default:
			end := strings.IndexAny(f[i:], `\%`)
			if end <= 0 {
				if end = len(f) - i; f[i] == '\\' {
					end = 1
				}
			}
			pr.p.Out.WriteString(f[i : i+end])
			i += end
		}
	}
	return true
}

func (pr *printer) next() (string, bool) {
	pr.used = true
	if len(pr.args) == 0 {
		return "", false
	}
	arg := pr.args[0]
	pr.args = pr.args[1:]
	return arg, true
}

// spec is a directive taken apart.
type spec struct {
	flags     string
	width     int
	precision int // -1 when there is none
}

// directive prints what t starts with and returns its length.
func (pr *printer) directive(t string) (int, bool) {
	s := spec{precision: -1}
	i := 1
	for i < len(t) && strings.IndexByte("-+ #0'", t[i]) >= 0 {
		s.flags += string(t[i])
		i++
	}
	number := func() (int, bool) {
		if i < len(t) && t[i] == '*' {
			i++
			arg, _ := pr.next()
			return int(max(min(pr.integer(arg), maxWidth), -maxWidth)), true
		}
		n, any := 0, false
		for ; i < len(t) && t[i] >= '0' && t[i] <= '9'; i++ {
			n, any = min(n*10+int(t[i]-'0'), math.MaxInt32), true
		}
		return n, any
	}
	s.width, _ = number()
	if s.width < 0 {
		s.flags, s.width = s.flags+"-", -s.width
	}
	if i < len(t) && t[i] == '.' {
		i++
		s.precision, _ = number()
	}
	if s.width > maxWidth || s.precision > maxWidth {
		pr.code = pr.p.Errorf(1, "a width of more than %d is too much for this workspace", maxWidth)
		return 0, false
	}
	for i < len(t) && strings.IndexByte("hlLjzt", t[i]) >= 0 {
		i++
	}
	if i < len(t) && t[i] == '(' {
		if end := strings.Index(t[i:], ")T"); end > 0 {
			pr.time(s, t[i+1:i+end])
			return i + end + 2, true
		}
	}
	if i >= len(t) {
		pr.code = pr.p.Errorf(1, "`%s': missing format character", t)
		return 0, false
	}
	if !pr.convert(s, t[i]) {
		pr.code = pr.p.Errorf(1, "`%c': invalid format character", t[i])
		return 0, false
	}
	return i + 1, true
}

func (pr *printer) convert(s spec, verb byte) bool {
	switch verb {
	case 's':
		arg, _ := pr.next()
		pr.text(s, arg)
	case 'b':
		arg, _ := pr.next()
		text, stop := Unescape(arg, PercentB)
		pr.text(s, text)
		pr.stop = stop
	case 'q':
		arg, _ := pr.next()
		pr.text(s, quoteShell(arg))
	case 'c':
		arg, _ := pr.next()
		pr.text(s, arg[:min(1, len(arg))])
		if arg == "" {
			pr.p.Out.WriteByte(0)
		}
	case 'd', 'i':
		arg, ok := pr.next()
		n := int64(0)
		if ok {
			n = pr.integer(arg)
		}
		pr.number(s, n < 0, strconv.FormatUint(magnitude(n), 10), "")
	case 'u', 'o', 'x', 'X':
		arg, ok := pr.next()
		n := uint64(0)
		if ok {
			n = uint64(pr.integer(arg))
		}
		base := map[byte]int{'u': 10, 'o': 8, 'x': 16, 'X': 16}[verb]
		text, prefix := strconv.FormatUint(n, base), ""
		if strings.Contains(s.flags, "#") && n != 0 {
			prefix = map[byte]string{'o': "0", 'x': "0x", 'X': "0X"}[verb]
		}
		if verb == 'X' {
			text = strings.ToUpper(text)
		}
		s.flags = strings.NewReplacer("+", "", " ", "").Replace(s.flags)
		pr.number(s, false, text, prefix)
	case 'e', 'E', 'f', 'F', 'g', 'G', 'a', 'A':
		arg, ok := pr.next()
		pr.float(s, verb, arg, ok)
	case 'n':
		pr.next()
	default:
		return false
	}
	return true
}
