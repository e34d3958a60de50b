package commands

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"
)

var touchOptions = NewOptions(1, "a", "c no-create", "d date=", "f", "h no-dereference", "m", "r reference=", "t=", "time=")

func touch(p *Proc) int {
	opts, code := p.Parse(touchOptions)
	if opts == nil {
		return code
	}
	now := time.Now()
	at := now
	if ref, ok := opts.Value("r"); ok {
		info, err := p.Stat(ref)
		if err != nil {
			return p.Errorf(1, "failed to get attributes of %s: %s", Quote(ref), Reason(err))
		}
		at = info.ModTime()
	}
	if text, ok := opts.Value("d"); ok {
		t, err := parseTime(text, at, p.location())
		if err != nil {
			return p.Errorf(1, "invalid date format %s", Quote(text))
		}
		at = t
	}
	if text, ok := opts.Value("t"); ok {
		t, err := parseStamp(text, now.In(p.location()))
		if err != nil {
			return p.Errorf(1, "invalid date format %s", Quote(text))
		}
		at = t
	}
	if len(opts.Args) == 0 {
		return p.Usage(1, "missing file operand")
	}
	onlyAccess := opts.Has("a") && !opts.Has("m") // access times are not kept
	for _, name := range opts.Args {
		if _, err := p.Stat(name); err != nil {
			if opts.Has("c") && errors.Is(err, fs.ErrNotExist) {
				continue
			}
			w, err := p.Write(name, os.O_WRONLY|os.O_CREATE)
			if err == nil {
				err = w.Close()
			}
			if err != nil {
				code = p.Errorf(1, "cannot touch %s: %s", Quote(name), Reason(err))
				continue
			}
		}
		if onlyAccess {
			continue
		}
		if err := p.Files.Chtimes(p.Path(name), at); err != nil {
			code = p.Errorf(1, "setting times of %s: %s", Quote(name), Reason(err))
		}
	}
	return code
}

// parseStamp reads [[CC]YY]MMDDhhmm[.ss].
func parseStamp(text string, now time.Time) (time.Time, error) {
	main, seconds, has := strings.Cut(text, ".")
	if !has {
		seconds = "00"
	}
	switch len(main) {
	case 8:
		main = strconv.Itoa(now.Year()) + main
	case 10:
		century := "20"
		if main[:2] >= "69" {
			century = "19"
		}
		main = century + main
	}
	return time.ParseInLocation("20060102150405", main+seconds, now.Location())
}

// parseTime reads a date as touch -d and find -newermt have it: a timestamp, or
// a time relative to now such as "2 days ago".
func parseTime(text string, now time.Time, loc *time.Location) (time.Time, error) {
	return ReadDate(text, now.In(loc))
}
