// Package zones has the time zones of $TZ, from a copy of the IANA time zone
// database (which is in the public domain) that is part of this package.
// Nothing of the machine is read: no file, no environment. time.LoadLocation
// would look there first.
package zones

import (
	"archive/zip"
	"bytes"
	_ "embed" // for the database
	"encoding/binary"
	"io"
	"strings"
	"sync"
	"time"
)

// database is the file lib/time/zoneinfo.zip of Go's distribution.
//
//go:generate sh -c "cp $(go env GOROOT)/lib/time/zoneinfo.zip ."
//go:embed zoneinfo.zip
var database []byte

// open finds the zones in the database.
var open = sync.OnceValues(func() (map[string]*zip.File, error) {
	r, err := zip.NewReader(bytes.NewReader(database), int64(len(database)))
	if err != nil {
		return nil, err
	}
	out := make(map[string]*zip.File, len(r.File))
	for _, f := range r.File {
		out[f.Name] = f
	}
	return out, nil
})

// cache holds what was asked for; there are only as many as the database has.
var cache sync.Map

// Load returns the zone that a value of $TZ means: the name of one in the
// database, with or without a colon before it, or a POSIX rule such as
// EST5EDT,M3.2.0,M11.1.0. An empty value and one that is not understood are
// UTC, and ok is false for the latter.
func Load(name string) (loc *time.Location, ok bool) {
	name = strings.TrimPrefix(name, ":")
	switch name {
	case "", "UTC", "UTC0", "GMT0", "Z":
		return time.UTC, true
	}
	if len(name) > 128 {
		return time.UTC, false
	}
	if loc, ok := cache.Load(name); ok {
		return loc.(*time.Location), true
	}
	if loc, ok := load(name); ok {
		cache.Store(name, loc)
		return loc, true
	}
	if loc, ok := rule(name); ok {
		return loc, true
	}
	return time.UTC, false
}

func load(name string) (*time.Location, bool) {
	files, err := open()
	if err != nil || files[name] == nil {
		return nil, false
	}
	r, err := files[name].Open()
	if err != nil {
		return nil, false
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, false
	}
	loc, err := time.LoadLocationFromTZData(name, data)
	return loc, err == nil
}

// rule makes a zone of a POSIX rule, with the help of package time: it reads
// such a rule at the end of a zone file.
func rule(text string) (*time.Location, bool) {
	name, offset, ok := first(text)
	if !ok {
		return nil, false
	}
	if rest := text[len(name):]; strings.Trim(rest, "+-:0123456789") != "" && !strings.Contains(text, ",") {
		text += ",M3.2.0,M11.1.0" // as in the United States, unless it says otherwise
	}
	plain := strings.Trim(name, "<>")
	var b bytes.Buffer
	header := func(types, chars uint32) {
		b.WriteString("TZif2")
		b.Write(make([]byte, 15))
		for _, n := range []uint32{0, 0, 0, 0, types, chars} {
			_ = binary.Write(&b, binary.BigEndian, n) // a buffer takes everything
		}
	}
	body := func() {
		_ = binary.Write(&b, binary.BigEndian, int32(-offset))
		b.Write([]byte{0, 0})
		b.WriteString(plain + "\x00")
	}
	header(1, uint32(len(plain)+1))
	body()
	header(1, uint32(len(plain)+1))
	body()
	b.WriteString("\n" + text + "\n")
	loc, err := time.LoadLocationFromTZData("", b.Bytes())
	return loc, err == nil
}

// first reads the name and the offset, in seconds west, that a rule starts with.
func first(text string) (name string, offset int, ok bool) {
	i := 0
	if strings.HasPrefix(text, "<") {
		if i = strings.IndexByte(text, '>') + 1; i < 5 {
			return "", 0, false
		}
	} else {
		for i < len(text) && (text[i]|0x20 >= 'a' && text[i]|0x20 <= 'z') {
			i++
		}
		if i < 3 {
			return "", 0, false
		}
	}
	name, text = text[:i], text[i:]
	sign := 1
	if text != "" && (text[0] == '-' || text[0] == '+') {
		if text[0] == '-' {
			sign = -1
		}
		text = text[1:]
	}
	unit, digits := 3600, 0
	for value := 0; ; {
		if text != "" && text[0] >= '0' && text[0] <= '9' && value < 1000 {
			value, digits = value*10+int(text[0]-'0'), digits+1
			text = text[1:]
			continue
		}
		offset += value * unit
		if text == "" || text[0] != ':' || unit == 1 {
			break
		}
		text, unit, value = text[1:], unit/60, 0
	}
	return name, sign * offset, digits > 0 && offset <= 25*3600
}
