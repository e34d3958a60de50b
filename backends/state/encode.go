package state

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"time"
	"unicode/utf8"
)

// marshal returns the JSON form: indented, sorted, with a final newline. It is
// written by hand because a document can be large and is written whole with
// every change: no copy of the content is made on the way, and little else.
func (t *tree) marshal() []byte {
	// Enough for most documents: growing would copy what is there already.
	const frame = 120 // of an entry, around its path and content
	room := len(t.workingDir) + len(t.owner) + 512
	t.walk(func(path []byte, n *node) {
		room += len(path) + len(n.link) + len(n.content) + len(n.content)/3 + frame
	})
	out := make([]byte, 0, room)
	out = append(out, "{\n  \"version\": "...)
	out = strconv.AppendInt(out, documentVersion, 10)
	out = append(out, ",\n  \"working_dir\": "...)
	out = appendString(out, t.workingDir)
	if t.owner != "" {
		out = append(out, ",\n  \"owner\": "...)
		out = appendString(out, t.owner)
	}
	if !t.created.IsZero() {
		out = append(out, ",\n  \"created\": "...)
		out = appendTime(out, t.created)
	}

	out = append(out, ",\n  \"directories\": ["...)
	start := len(out)
	t.walk(func(path []byte, n *node) {
		if n.IsDir() {
			out = appendString(append(out, "\n    "...), path)
			out = append(out, ',')
		}
	})
	out = closeList(out, start, ']')
	out = append(out, ",\n  \"files\": {"...)
	start = len(out)
	t.walk(func(path []byte, n *node) {
		if !n.IsDir() {
			out = appendString(append(out, "\n    "...), path)
			out = append(appendFile(out, n), ',')
		}
	})
	out = closeList(out, start, '}')
	return append(out, "\n}\n"...)
}

// closeList ends an array or object whose entries start at start, each on a
// line and followed by a comma.
func closeList(out []byte, start int, end byte) []byte {
	if len(out) == start {
		return append(out, end)
	}
	return append(out[:len(out)-1], '\n', ' ', ' ', end)
}

func appendFile(out []byte, n *node) []byte {
	out = append(out, ": {\n      "...)
	if n.isLink() {
		out = appendString(append(out, `"link": `...), n.link)
		return append(out, "\n    }"...)
	}
	if isText(n.content) {
		out = appendString(append(out, `"text": `...), n.content)
	} else {
		out = append(out, `"base64": "`...)
		out = base64.StdEncoding.AppendEncode(out, n.content)
		out = append(out, '"')
	}
	out = append(out, ",\n      \"mode\": \"0"...)
	out = append(out, '0'+byte(n.mode>>6&7), '0'+byte(n.mode>>3&7), '0'+byte(n.mode&7), '"')
	if !n.mtime.IsZero() {
		out = appendTime(append(out, ",\n      \"modified\": "...), n.mtime)
	}
	return append(out, "\n    }"...)
}

// isText tells whether content is held as text: what is not UTF-8 cannot be,
// and NUL is refused by some that read JSON (PostgreSQL's jsonb is one).
func isText(content []byte) bool {
	return utf8.Valid(content) && bytes.IndexByte(content, 0) < 0
}

func appendTime(out []byte, t time.Time) []byte {
	out = t.UTC().AppendFormat(append(out, '"'), time.RFC3339Nano)
	return append(out, '"')
}

// appendString appends s, which is valid UTF-8, as a JSON string that escapes
// only what JSON makes it.
func appendString[S string | []byte](out []byte, s S) []byte {
	const hex = "0123456789abcdef"
	out = append(out, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		out = append(out, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			out = append(out, '\\', c)
		case '\n':
			out = append(out, '\\', 'n')
		case '\r':
			out = append(out, '\\', 'r')
		case '\t':
			out = append(out, '\\', 't')
		default:
			out = append(out, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(out, s[from:]...), '"')
}
