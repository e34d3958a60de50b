package commands

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

func simple(text func(p *Proc) string) func(p *Proc) int {
	none := NewOptions(1)
	return func(p *Proc) int {
		opts, code := p.Parse(none)
		if opts == nil {
			return code
		}
		p.Out.WriteString(text(p) + "\n")
		return 0
	}
}

var idOptions = NewOptions(1, "a", "g group", "G groups", "n name", "r real", "u user", "z zero", "Z context")

func id(p *Proc) int {
	opts, code := p.Parse(idOptions)
	if opts == nil {
		return code
	}
	s := p.System
	for _, who := range opts.Args {
		if who != s.User && who != strconv.Itoa(s.UID) {
			return p.Errorf(1, "%s: no such user", Quote(who))
		}
	}
	text := fmt.Sprintf("uid=%d(%s) gid=%d(%s) groups=%d(%s)", s.UID, s.User, s.GID, s.Group, s.GID, s.Group)
	switch opts.Last("u", "g", "G") {
	case "u":
		if text = strconv.Itoa(s.UID); opts.Has("n") {
			text = s.User
		}
	case "g", "G":
		if text = strconv.Itoa(s.GID); opts.Has("n") {
			text = s.Group
		}
	}
	p.Out.WriteString(text + "\n")
	return 0
}

var unameOptions = NewOptions(1, "a all", "s kernel-name", "n nodename", "r kernel-release", "v kernel-version", "m machine", "p processor", "i hardware-platform", "o operating-system")

// uname tells of a machine that there is not.
func uname(p *Proc) int {
	opts, code := p.Parse(unameOptions)
	if opts == nil {
		return code
	}
	if len(opts.Args) > 0 {
		return p.Usage(1, "extra operand %s", Quote(opts.Args[0]))
	}
	var out []string
	for _, part := range []struct{ key, text string }{
		{"s", "Linux"}, {"n", p.System.Host}, {"r", "6.0.0-workspace"}, {"v", "#1"}, {"m", "x86_64"}, {"p", "x86_64"}, {"i", "x86_64"}, {"o", "GNU/Linux"},
	} {
		if opts.Has(part.key) || opts.Has("a") && part.key != "p" && part.key != "i" || len(opts.Options) == 0 && part.key == "s" {
			out = append(out, part.text)
		}
	}
	p.Out.WriteString(strings.Join(out, " ") + "\n")
	return 0
}

var hostnameOptions = NewOptions(1, "s short", "f fqdn long", "d domain", "i ip-address", "I all-ip-addresses")

func hostname(p *Proc) int {
	opts, code := p.Parse(hostnameOptions)
	if opts == nil {
		return code
	}
	switch {
	case len(opts.Args) > 0:
		return p.Errorf(1, "you must be root to change the host name")
	case opts.Has("i", "I"):
		p.Out.WriteString("127.0.0.1\n")
	case opts.Has("d"):
		p.Out.WriteString("\n")
	default:
		p.Out.WriteString(p.System.Host + "\n")
	}
	return 0
}

var nprocOptions = NewOptions(1, "all", "ignore=")

func nproc(p *Proc) int {
	opts, code := p.Parse(nprocOptions)
	if opts == nil {
		return code
	}
	p.Out.WriteString("1\n")
	return 0
}

var seqOptions = NewOptions(1, "f format=", "s separator=", "w equal-width")

func seq(p *Proc) int {
	// Negative numbers are operands.
	var numbers []string
	for i, arg := range p.Args {
		if len(arg) > 1 && arg[0] == '-' && (arg[1] >= '0' && arg[1] <= '9' || arg[1] == '.') {
			numbers, p.Args = p.Args[i:], p.Args[:i]
			break
		}
	}
	opts, code := p.Parse(seqOptions)
	if opts == nil {
		return code
	}
	args := slices.Concat(opts.Args, numbers)
	if len(args) == 0 {
		return p.Usage(1, "missing operand")
	}
	if len(args) > 3 {
		return p.Usage(1, "extra operand %s", Quote(args[3]))
	}
	first, step, last := "1", "1", args[len(args)-1]
	if len(args) > 1 {
		first = args[0]
	}
	if len(args) > 2 {
		step = args[1]
	}
	var v [3]float64
	decimals, width := 0, 0
	for i, text := range []string{first, step, last} {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || f != f {
			return p.Usage(1, "invalid floating point argument: %s", Quote(text))
		}
		v[i] = f
		if i < 2 {
			if dot := strings.IndexByte(text, '.'); dot >= 0 {
				decimals = max(decimals, len(text)-dot-1)
			}
		}
	}
	if v[1] == 0 {
		return p.Usage(1, "invalid Zero increment value: %s", Quote(step))
	}
	if opts.Has("w") {
		for _, f := range []float64{v[0], v[2]} {
			width = max(width, len(strconv.FormatFloat(f, 'f', decimals, 64)))
		}
	}
	sep, ok := opts.Value("s")
	if !ok {
		sep = "\n"
	}
	format, hasFormat := opts.Value("f")
	count := 0
	for i := 0; ; i++ {
		n := v[0] + float64(i)*v[1]
		// A little more than last, for sums that cannot be exact.
		slack := v[1] * 1e-9
		if v[1] > 0 && n > v[2]+slack || v[1] < 0 && n < v[2]+slack {
			break
		}
		if i%1024 == 1023 && p.Stopped() {
			return 1
		}
		if count++; count > 1 {
			p.Out.WriteString(sep)
		}
		if hasFormat {
			pr := &printer{p: p, args: []string{strconv.FormatFloat(n, 'f', -1, 64)}}
			if !pr.format(format) {
				return 1
			}
			continue
		}
		text := strconv.FormatFloat(n, 'f', decimals, 64)
		if fill := width - len(text); fill > 0 {
			zeros := strings.Repeat("0", fill)
			if text[0] == '-' {
				text = "-" + zeros + text[1:]
			} else {
				text = zeros + text
			}
		}
		p.Out.WriteString(text)
	}
	if count > 0 {
		p.Out.WriteByte('\n')
	}
	return 0
}

var yesOptions = NewOptions(1)

func yes(p *Proc) int {
	opts, code := p.Parse(yesOptions)
	if opts == nil {
		return code
	}
	line := "y\n"
	if len(opts.Args) > 0 {
		line = strings.Join(opts.Args, " ") + "\n"
	}
	chunk := line
	if len(line) < 4096 {
		chunk = strings.Repeat(line, 4096/len(line)+1)
	}
	for !p.Stopped() {
		p.Out.WriteString(chunk)
	}
	return 1
}
