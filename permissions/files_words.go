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
// host:X, X,Y.
func (w *walker) optionPaths(name string, a field) {
	s := a.value
	if len(s) == 0 || s[0].kind != lit {
		return
	}
	head := s[0].text
	check := func(v value) {
		if v.hasPrefix("@") {
			v = v.trimPrefix(1)
		}
		if v, ok := filePath(v); ok && looksLikePath(v) {
			w.denyPath(Read, v, false)
		}
	}
	switch {
	case strings.HasPrefix(head, "@"):
		w.denyPath(Read, s.trimPrefix(1), false)
	case strings.HasPrefix(head, "--"):
		if key, _, ok := strings.Cut(head, "="); ok && !slices.Contains(ignoring, key) {
			check(s.trimPrefix(len(key) + 1))
		}
	case strings.HasPrefix(head, "-") && len(head) > 2:
		if v := s.trimPrefix(2); v.hasPrefix(".") || v.hasPrefix("/") || v.hasPrefix("@") || v.hasPrefix("~") {
			check(v)
		}
	default:
		if i := strings.IndexAny(head, "=@"); i > 0 && !strings.Contains(head[:i], "/") && head[i] == '=' {
			check(s.trimPrefix(i + 1))
		}
		if i := strings.IndexByte(head, ':'); i > 0 && !strings.Contains(head, "://") && !strings.Contains(head[:i], "/") && name != "docker" {
			check(s.trimPrefix(i + 1))
		}
	}
}
