package shell

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// attributes are the letters of ${x@a}.
func attributes(v *variable) string {
	if v == nil {
		return ""
	}
	out := ""
	for _, a := range []struct {
		on     bool
		letter string
	}{{v.kind == indexed, "a"}, {v.kind == associative, "A"}, {v.integer, "i"}, {v.lower, "l"}, {v.kind == reference, "n"}, {v.readOnly, "r"}, {v.upper, "u"}, {v.exported, "x"}} {
		if a.on {
			out += a.letter
		}
	}
	return out
}

// assignment is ${x@A}: what gives a variable, or one element, its value and
// attributes.
func (s *shell) assignment(e expansion) string {
	if e.list && e.v.kind != scalar {
		return s.declaration(e.name, e.v)
	}
	value := "'" + strings.ReplaceAll(e.text(), "'", `'\''`) + "'"
	if strings.ContainsFunc(e.text(), func(r rune) bool { return r < ' ' || r == 0x7f }) {
		value = dollarQuote(e.text())
	}
	if flags := attributes(e.v); flags != "" {
		return "declare -" + flags + " " + e.name + "=" + value
	}
	return e.name + "=" + value
}

// declaration is the command that makes v, as declare -p prints it.
func (s *shell) declaration(name string, v *variable) string {
	flags := attributes(v)
	if flags == "" {
		flags = "-"
	}
	head := "declare -" + flags + " " + name
	switch {
	case !v.set:
		return head
	case v.kind == indexed:
		var b strings.Builder
		b.WriteString(head + "=(")
		for i, key := range v.list.keys() {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString("[" + key + "]=" + doubleQuote(v.list.values[i]))
		}
		return b.String() + ")"
	case v.kind == associative:
		var b strings.Builder
		b.WriteString(head + "=(")
		for _, key := range slices.Sorted(maps.Keys(v.table)) {
			k := key
			if shellQuote(k) != k {
				k = doubleQuote(k)
			}
			b.WriteString("[" + k + "]=" + doubleQuote(v.table[key]) + " ")
		}
		return b.String() + ")"
	}
	return head + "=" + doubleQuote(v.value)
}

// doubleQuote is "text" as declare -p has it.
func doubleQuote(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return dollarQuote(text)
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(text) + `"`
}

// number reads an integer as arithmetic does: decimal, 0octal, 0xhex, base#n.
func number(text string) (int64, bool) {
	neg := false
	t := text
	if t != "" && (t[0] == '-' || t[0] == '+') {
		neg, t = t[0] == '-', t[1:]
	}
	base := 10
	switch {
	case strings.HasPrefix(t, "0x"), strings.HasPrefix(t, "0X"):
		base, t = 16, t[2:]
	case strings.Contains(t, "#"):
		b, digits, _ := strings.Cut(t, "#")
		n, err := strconv.Atoi(b)
		if err != nil || n < 2 || n > 64 || digits == "" {
			return 0, false
		}
		base, t = n, digits
	case len(t) > 1 && t[0] == '0':
		base, t = 8, t[1:]
	}
	if t == "" {
		return 0, false
	}
	var n uint64
	for i := range len(t) {
		var d int
		switch c := t[i]; {
		case c >= '0' && c <= '9':
			d = int(c - '0')
		case c >= 'a' && c <= 'z':
			d = int(c-'a') + 10
		case c >= 'A' && c <= 'Z' && base <= 36:
			d = int(c-'A') + 10
		case c >= 'A' && c <= 'Z':
			d = int(c-'A') + 36
		case c == '@':
			d = 62
		case c == '_':
			d = 63
		default:
			return 0, false
		}
		if d >= base {
			return 0, false
		}
		n = n*uint64(base) + uint64(d)
	}
	if neg {
		n = -n
	}
	return int64(n), true
}
