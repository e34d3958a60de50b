package state

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"
)

// marshal returns the JSON form: indented, sorted, with a final newline. It is
// written by hand because a document can be large: no copy of the content is
// made on the way.
func (t *tree) marshal() []byte {
	out := make([]byte, 0, t.bytes+t.bytes/8+512)
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

	dirs := listing{empty: "[]", open: "[", close: "\n  ]"}
	files := listing{empty: "{}", open: "{", close: "\n  }"}
	t.walk(func(name string, n *node) {
		list := &files
		if n.IsDir() {
			list = &dirs
		}
		list.names, list.nodes = append(list.names, name), append(list.nodes, n)
	})
	out = append(out, ",\n  \"directories\": "...)
	out = dirs.append(out, func(out []byte, _ *node) []byte { return out })
	out = append(out, ",\n  \"files\": "...)
	out = files.append(out, appendFile)
	return append(out, "\n}\n"...)
}

// listing is a JSON array or object with an entry a line.
type listing struct {
	names              []string
	nodes              []*node
	empty, open, close string
}

func (l *listing) append(out []byte, value func([]byte, *node) []byte) []byte {
	if len(l.names) == 0 {
		return append(out, l.empty...)
	}
	sep := l.open
	for i, name := range l.names {
		out = append(append(out, sep...), "\n    "...)
		out = value(appendString(out, name), l.nodes[i])
		sep = ","
	}
	return append(out, l.close...)
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
	out = fmt.Appendf(out, ",\n      \"mode\": \"%04o\"", n.mode.Perm())
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
