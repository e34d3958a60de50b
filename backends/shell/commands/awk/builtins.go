package awk

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// builtin calls a function of the language.
func (in *interp) builtin(x *builtinExpr) value {
	in.line = x.line
	switch x.name {
	case "length":
		return in.length(x)
	case "split", "patsplit":
		return in.splitInto(x)
	case "sub", "gsub":
		return in.substitute(x)
	case "gensub":
		return in.gensub(x)
	case "match":
		return in.match(x)
	case "asort", "asorti":
		return in.asort(x)
	case "typeof":
		return str(in.typeOf(x.args[0]))
	case "isarray":
		return boolean(in.typeOf(x.args[0]) == "array")
	}
	args := in.values(x.args)
	text := func(i int) string { return args[i].str(in.convfmt) }
	n := func(i int) float64 { return args[i].num() }
	switch x.name {
	case "substr":
		return in.substr(args)
	case "index":
		return num(float64(characters(text(0), strings.Index(text(0), text(1)))))
	case "sprintf":
		return str(in.format(args))
	case "tolower":
		in.passing(2 * len(text(0)))
		return str(strings.ToLower(text(0)))
	case "toupper":
		in.passing(2 * len(text(0)))
		return str(strings.ToUpper(text(0)))
	case "sin":
		return num(math.Sin(n(0)))
	case "cos":
		return num(math.Cos(n(0)))
	case "atan2":
		return num(math.Atan2(n(0), n(1)))
	case "exp":
		return num(math.Exp(n(0)))
	case "log":
		return num(math.Log(n(0)))
	case "sqrt":
		return num(math.Sqrt(n(0)))
	case "int":
		return num(math.Trunc(n(0)))
	case "rand":
		return num(in.random.Float64())
	case "srand":
		old := in.seed
		if in.seed = float64(time.Now().Unix()); len(args) > 0 {
			in.seed = n(0)
		}
		in.random = rand.New(rand.NewPCG(math.Float64bits(in.seed), 0))
		return num(old)
	case "system":
		return num(in.system(text(0)))
	case "close":
		return num(in.close(text(0)))
	case "fflush":
		in.flush()
		return num(0)
	case "mkbool":
		return boolean(args[0].truth())
	case "strtonum":
		return num(strtonum(args[0]))
	case "systime", "mktime", "strftime":
		return in.timeFunction(x.name, args)
	}
	return in.bits(x.name, args)
}

// characters is the number, from 1, of the character at byte i of s; 0 for -1.
func characters(s string, i int) int {
	if i < 0 {
		return 0
	}
	return utf8.RuneCountInString(s[:i]) + 1
}

func (in *interp) length(x *builtinExpr) value {
	if len(x.args) == 0 {
		return num(float64(utf8.RuneCountInString(in.record0())))
	}
	switch a := x.args[0].(type) {
	case *variable:
		c := in.cell(a)
		if c.arr == nil && c.ref != nil {
			c = c.ref
		}
		if c.arr != nil {
			return num(float64(c.arr.len()))
		}
	case *indexExpr:
		if arr := in.subArray(a); arr != nil {
			return num(float64(arr.len()))
		}
	}
	return num(float64(utf8.RuneCountInString(in.eval(x.args[0]).str(in.convfmt))))
}

func (in *interp) substr(args []value) value {
	s := args[0].str(in.convfmt)
	// As gawk has it: a start before the first character is the first.
	from := max(math.Trunc(args[1].num()), 1)
	to := math.Inf(1)
	if len(args) == 3 {
		to = from + math.Trunc(args[2].num())
	}
	if from != from || !(to > from) {
		return str("")
	}
	ascii := true
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			ascii = false
			break
		}
	}
	if ascii {
		lo := int(min(from-1, float64(len(s))))
		hi := int(min(to-1, float64(len(s))))
		return value{kind: text, s: s[lo:hi], part: true}
	}
	lo := byteOffset(s, int(min(from-1, float64(len(s)))))
	hi := lo + byteOffset(s[lo:], int(min(to-from, float64(len(s)))))
	return value{kind: text, s: s[lo:hi], part: true}
}

func (in *interp) typeOf(x expr) string {
	switch x := x.(type) {
	case *variable:
		c := in.cell(x)
		if c.arr == nil && c.ref != nil {
			c = c.ref
		}
		if c.arr != nil {
			return "array"
		}
		if c.v.kind == unset && (x.local || x.index >= specialCount) {
			return "untyped"
		}
	case *indexExpr:
		if in.subArray(x) != nil {
			return "array"
		}
		if in.eval(x).kind == unset {
			return "untyped"
		}
	}
	switch v := in.eval(x); v.kind {
	case number:
		return "number"
	case unset:
		return "unassigned"
	case input:
		if _, ok := looksNumeric(v.s); ok {
			return "strnum"
		}
	}
	return "string"
}

// strtonum reads octal and hexadecimal numbers as well.
func strtonum(v value) float64 {
	if v.kind == number {
		return v.n
	}
	s := strings.TrimSpace(v.s)
	negative := strings.HasPrefix(s, "-")
	digits := strings.TrimLeft(s, "+-")
	var base int
	switch {
	case len(digits) > 2 && (digits[:2] == "0x" || digits[:2] == "0X"):
		base, digits = 16, digits[2:]
	case len(digits) > 1 && digits[0] == '0' && strings.Trim(digits, "01234567") == "":
		base = 8
	default:
		return v.num()
	}
	n := 0.0
	for _, c := range []byte(strings.ToLower(digits)) {
		d := strings.IndexByte("0123456789abcdef", c)
		if d < 0 || d >= base {
			break
		}
		n = n*float64(base) + float64(d)
	}
	if negative {
		return -n
	}
	return n
}

func (in *interp) bits(name string, args []value) value {
	whole := func(i int) uint64 {
		n := args[i].num()
		if n < 0 {
			in.fatal("%s: argument %d negative value %s is not allowed", name, i+1, formatNumber(n, "%.6g"))
		}
		return uint64(n)
	}
	n := whole(0)
	switch name {
	case "compl":
		return num(float64(^n & (1<<53 - 1)))
	case "lshift":
		return num(float64(n << min(whole(1), 63)))
	case "rshift":
		return num(float64(n >> min(whole(1), 63)))
	}
	for i := 1; i < len(args); i++ {
		switch name {
		case "and":
			n &= whole(i)
		case "or":
			n |= whole(i)
		case "xor":
			n ^= whole(i)
		}
	}
	return num(float64(n))
}

func (in *interp) timeFunction(name string, args []value) value {
	switch name {
	case "systime":
		return num(float64(time.Now().Unix()))
	case "mktime":
		parts := strings.Fields(args[0].str(in.convfmt))
		if len(parts) < 6 {
			return num(-1)
		}
		var n [6]int
		for i := range n {
			v, err := strconv.Atoi(parts[i])
			if err != nil {
				return num(-1)
			}
			n[i] = v
		}
		where := in.cfg.Location
		if len(args) > 1 && args[1].truth() {
			where = time.UTC
		}
		return num(float64(time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], 0, where).Unix()))
	}
	format, at, utc := "%a %b %e %H:%M:%S %Z %Y", time.Now(), false
	if len(args) > 0 {
		format = args[0].str(in.convfmt)
	}
	if len(args) > 1 {
		at = time.Unix(int64(args[1].num()), 0)
	}
	if len(args) > 2 {
		utc = args[2].truth()
	}
	in.passing(8 * len(format))
	return str(in.cfg.Time(format, at, utc))
}

// asort sorts the values (asort) or keys (asorti) of an array into elements 1,
// 2, and so on.
func (in *interp) asort(x *builtinExpr) value {
	from := in.arrayOf(x.args[0])
	order := "@val_type_asc"
	if x.name == "asorti" {
		order = "@ind_str_asc"
	}
	if len(x.args) > 2 {
		order = in.eval(x.args[2]).str(in.convfmt)
	}
	by, ok := sortOrders[strings.TrimSuffix(strings.TrimSuffix(order, "_asc"), "_desc")]
	if !ok {
		in.fatal("%s: the order %q is not known in this workspace", x.name, order)
	}
	in.hold(3 * elementCost * from.len())
	defer in.release(3 * elementCost * from.len())
	var list []entry
	for _, e := range from.entries {
		if e.live {
			list = append(list, e)
		}
	}
	slices.SortStableFunc(list, func(a, b entry) int {
		in.tick()
		if strings.HasSuffix(order, "_desc") {
			return by(b, a)
		}
		return by(a, b)
	})
	to := from
	if len(x.args) > 1 {
		to = in.arrayOf(x.args[1])
	}
	in.clear(to)
	for i, e := range list {
		v := e.val
		if x.name == "asorti" {
			v = str(e.key)
		}
		if v.arr != nil {
			in.fatal("%s: an element is an array", x.name)
		}
		in.store(in.element(to, strconv.Itoa(i+1)), v)
	}
	return num(float64(len(list)))
}
