package permissions

import (
	"slices"
	"strings"
)

func hasBlank(v value) bool {
	return slices.ContainsFunc(v, func(p piece) bool { return p.kind == lit && strings.ContainsAny(p.text, " \t\n") })
}

// filePath is the local path that a word names: file: is taken off, and an
// address elsewhere is none.
func filePath(v value) (value, bool) {
	if v.hasPrefix("file://") {
		v = v.trimPrefix(len("file://"))
		return v, len(v) > 0
	}
	if len(v) == 0 {
		return nil, false
	}
	if v[0].kind == lit {
		head := v[0].text
		if scheme, _, ok := strings.Cut(head, "://"); ok && scheme != "" && strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyz0123456789+.-") == "" {
			return nil, false
		}
		if host, _, ok := strings.Cut(head, ":"); ok && strings.Contains(host, "@") && !strings.Contains(host, "/") {
			return nil, false
		}
	}
	return v, true
}

// looksLikePath tells from a word alone whether it is meant as a path.
func looksLikePath(v value) bool {
	if len(v) == 0 || hasBlank(v) {
		return false
	}
	if v[0].kind == home || v.hasPrefix(".") && !v.hasPrefix("...") {
		return true
	}
	if v.hasPrefix("-") {
		return false
	}
	v, ok := filePath(v)
	if !ok {
		return false
	}
	for _, p := range v {
		if p.kind == lit && strings.Contains(p.text, "/") {
			return true
		}
	}
	last := v[len(v)-1]
	if last.kind != lit {
		return v.has(wild) // "se*" may be a file
	}
	dot := strings.LastIndexByte(last.text, '.')
	return dot >= 0 && dot < len(last.text)-1 && len(last.text)-dot <= 12 && strings.Trim(last.text[dot+1:], "0123456789") != "" &&
		strings.IndexFunc(last.text[dot+1:], func(r rune) bool { return r >= 0x80 || !isNameByte(byte(r)) && r != '-' && r != '~' }) < 0
}

// optionPaths looks for paths inside a word: --file=X, -fX, if=X, @X, a=@X,
// host:X, X,Y, X:Y.
func (w *walker) optionPaths(name string, a field) {
	v := a.value
	if len(v) == 0 || hasBlank(v) {
		return
	}
	if _, local := filePath(v); !local {
		return
	}
	if v.hasPrefix("@") {
		w.denyPath(Read, v.trimPrefix(1), false)
		return
	}
	if v.hasPrefix("-") && v[0].kind == lit {
		if key, _, _ := strings.Cut(v[0].text, "="); slices.Contains(ignoring, key) {
			return
		}
		if !v.hasPrefix("--") && len(v[0].text) > 2 {
			if joined := v.trimPrefix(2); joined.hasPrefix(".") || joined.hasPrefix("/") || joined.hasPrefix("~") {
				w.denyPath(Read, joined, false)
			}
		}
	}
	container := name == "docker" || name == "podman" // after a colon is the container's
	split := parts(v)
	for i, part := range split {
		if len(split) == 1 || i == 0 && v.hasPrefix("-") || part.after == ':' && container {
			continue
		}
		if looksLikePath(part.value) {
			w.denyPath(Read, part.value, false)
		}
	}
}

// part is a part of a word, and the character before it.
type part struct {
	value value
	after byte
}

// parts splits v where programs do: KEY=VALUE, A,B, A:B, NAME@FILE, NAME=<FILE.
func parts(v value) []part {
	out := []part{{}}
	for _, p := range v {
		if p.kind != lit {
			out[len(out)-1].value.add(p)
			continue
		}
		rest := p.text
		for {
			i := strings.IndexAny(rest, "=,:@<;")
			if i < 0 {
				break
			}
			out[len(out)-1].value.add(piece{kind: lit, text: rest[:i]})
			if len(out) < 64 {
				out = append(out, part{after: rest[i]})
			}
			rest = rest[i+1:]
		}
		out[len(out)-1].value.add(piece{kind: lit, text: rest})
	}
	return out
}
