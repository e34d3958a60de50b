package commands

import (
	"strings"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/commands/zones"
)

var dateFlags = NewOptions(1, "d date=", "f file=", "I iso-8601=?", "R rfc-2822 rfc-email", "rfc-3339=", "r reference=", "s set=", "u utc universal uct", "debug", "resolution")

var isoFormats = map[string]string{"date": "%Y-%m-%d", "hours": "%Y-%m-%dT%H%:z", "minutes": "%Y-%m-%dT%H:%M%:z", "seconds": "%Y-%m-%dT%H:%M:%S%:z",
	"ns": "%Y-%m-%dT%H:%M:%S,%N%:z"}

var rfc3339Formats = map[string]string{"date": "%Y-%m-%d", "seconds": "%Y-%m-%d %H:%M:%S%:z", "ns": "%Y-%m-%d %H:%M:%S.%N%:z"}

// date prints a time. There is no clock to set.
func date(p *Proc) int {
	parsed, code := p.Parse(dateFlags)
	if parsed == nil {
		return code
	}
	format := ""
	choose := func(f string) bool {
		if format != "" {
			p.Errorf(1, "multiple output formats specified")
			return false
		}
		format = f
		return true
	}
	tz, _ := p.Getenv("TZ")
	loc, _ := zones.Load(tz)
	for _, o := range parsed.Options {
		switch o.Key {
		case "u":
			loc = time.UTC
		case "s":
			return p.Errorf(1, "cannot set date: Operation not permitted")
		case "R":
			if !choose("%a, %d %b %Y %H:%M:%S %z") {
				return 1
			}
		case "I", "rfc-3339":
			formats, value := isoFormats, o.Value
			if o.Key == "rfc-3339" {
				formats = rfc3339Formats
			} else if !o.HasValue {
				value = "date"
			}
			f := ""
			for name, candidate := range formats {
				if value != "" && strings.HasPrefix(name, value) {
					f = candidate
				}
			}
			if f == "" {
				return p.Usage(1, "invalid argument %s for '--%s'", Quote(value), map[string]string{"I": "iso-8601", "rfc-3339": "rfc-3339"}[o.Key])
			}
			if !choose(f) {
				return 1
			}
		case "resolution":
			p.Out.WriteString("0.000000001\n")
			return 0
		}
	}
	sources := 0
	for _, key := range []string{"d", "f", "r"} {
		if parsed.Has(key) {
			sources++
		}
	}
	if sources > 1 {
		return p.Usage(1, "the options to specify dates for printing are mutually exclusive")
	}
	if len(parsed.Args) > 1 {
		return p.Usage(1, "extra operand %s", Quote(parsed.Args[1]))
	}
	if len(parsed.Args) == 1 {
		f, ok := strings.CutPrefix(parsed.Args[0], "+")
		switch {
		case ok && format != "":
			return p.Errorf(1, "multiple output formats specified")
		case ok && f == "":
			p.Out.WriteByte('\n')
			return 0
		case ok:
			format = f
		case sources > 0:
			return p.Usage(1, "the argument %s lacks a leading '+';\nwhen using an option to specify date(s), any non-option\nargument must be a format string beginning with '+'", Quote(parsed.Args[0]))
		case strings.Trim(parsed.Args[0], "0123456789.") == "" && len(parsed.Args[0]) >= 8:
			return p.Errorf(1, "cannot set date: Operation not permitted")
		default:
			return p.Errorf(1, "invalid date %s", Quote(parsed.Args[0]))
		}
	}
	if format == "" {
		format = "%a %b %e %H:%M:%S %Z %Y"
	}
	print := func(t time.Time) {
		p.Out.WriteString(FormatTime(format, t.In(loc)))
		p.Out.WriteByte('\n')
	}
	now := time.Now().In(loc)
	if name, ok := parsed.Value("r"); ok {
		info, err := p.Stat(name)
		if err != nil {
			return p.FileError(name, err)
		}
		print(info.ModTime())
		return 0
	}
	if name, ok := parsed.Value("f"); ok {
		return dateFile(p, name, now, print)
	}
	if text, ok := parsed.Value("d"); ok {
		t, err := ReadDate(text, now)
		if err != nil {
			return p.Errorf(1, "invalid date %s", Quote(text))
		}
		now = t
	}
	print(now)
	return 0
}

// dateFile prints the date of each line of a file.
func dateFile(p *Proc, name string, now time.Time, print func(time.Time)) int {
	r, err := p.Open(name)
	if name == "-" {
		r, err = p.Open("/dev/stdin")
	}
	if err != nil {
		return p.FileError(name, err)
	}
	defer r.Close()
	lines := p.Lines(r, '\n')
	defer lines.Close()
	code := 0
	for lines.Next() {
		t, err := ReadDate(lines.Text(), now)
		if err != nil {
			code = p.Errorf(1, "invalid date %s", Quote(lines.Text()))
			continue
		}
		print(t)
	}
	if err := lines.Err(); err != nil {
		return p.FileError(name, err)
	}
	return code
}
