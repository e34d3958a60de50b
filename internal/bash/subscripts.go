package bash

import "strings"

// maxKey is how long a subscript can be that is mended, and maxWithin how many
// others can begin between its start and what is wrong.
const (
	maxKey    = 1024
	maxWithin = 8
)

// quoteSubscript quotes the subscript that the parser could not read, in which,
// or at the bracket of which, at is.
func quoteSubscript(text string, at int) (string, bool) {
	if at > len(text) {
		return "", false
	}
	within := 0
	for open := min(at, len(text)-1); open >= 0 && at-open <= maxKey && within <= maxWithin; open-- {
		if text[open] == '\n' && open < at {
			break
		}
		if text[open] != '[' {
			continue
		}
		within++
		end := closing(text, open)
		if end < 0 || end < at && open != at || !isSubscript(text, open, end) {
			continue
		}
		if key := text[open+1 : end]; key != "" {
			if quoted := quoteKey(key); quoted != key {
				return text[:open+1] + quoted + text[end:], true
			}
		}
	}
	return "", false
}

// isSubscript tells whether text[open:end+1] is one of name[key], or of the
// element [key]=value of an array.
func isSubscript(text string, open, end int) bool {
	rest := text[end+1:]
	if strings.HasPrefix(rest, "=") || strings.HasPrefix(rest, "+=") {
		return true
	}
	start := open
	for start > 0 && isNameByte(text[start-1]) {
		start--
	}
	return start < open && (text[start] < '0' || text[start] > '9')
}

func isNameByte(b byte) bool {
	return b == '_' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9'
}

// closing is where the bracket at open is closed, or -1.
func closing(text string, open int) int {
	depth := 0
	for i := open; i < len(text) && i-open <= maxKey; {
		switch text[i] {
		case '\n':
			return -1
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return i
			}
		}
		n, _ := segment(text[i:])
		if n == 0 {
			return -1
		}
		i += n
	}
	return -1
}

// segment is how many bytes the piece at the start of text has, which is a
// character, something quoted or an expansion; 0 when that is not closed. quoted
// tells that it means itself between unquoted text.
func segment(text string) (n int, quoted bool) {
	switch text[0] {
	case '\\':
		if len(text) < 2 {
			return 0, false
		}
		return 2, true
	case '\'':
		return through(text, 1, '\''), true
	case '"':
		return through(text, 1, '"'), true
	case '`':
		return through(text, 1, '`'), false
	case '$':
		if len(text) == 1 {
			return 1, false
		}
		switch text[1] {
		case '\'':
			return through(text, 2, '\''), true
		case '(':
			return through(text, 2, ')'), false
		case '{':
			return through(text, 2, '}'), false
		}
	}
	return 1, false
}

// through is how many bytes there are up to the unquoted end, from from.
func through(text string, from int, end byte) int {
	for i := from; i < len(text) && i <= maxKey; {
		switch {
		case text[i] == end:
			return i + 1
		case end == '\'' && !strings.HasPrefix(text, "$"):
			i++
			continue
		case (end == '"' || end == '\'') && (text[i] == '\'' || text[i] == '"'):
			i++
			continue
		case end == ')' && text[i] == '(':
			n := through(text[i:], 1, ')')
			if n == 0 {
				return 0
			}
			i += n
			continue
		}
		n, _ := segment(text[i:])
		if n == 0 {
			return 0
		}
		i += n
	}
	return 0
}

// quoteKey puts what is unquoted in key between double quotes, in which
// expansions are made as they are in a key.
func quoteKey(key string) string {
	var b strings.Builder
	open := false
	for i := 0; i < len(key); {
		n, quoted := segment(key[i:])
		if n == 0 {
			return key
		}
		if quoted == open {
			b.WriteByte('"')
			open = !open
		}
		b.WriteString(key[i : i+n])
		i += n
	}
	if open {
		b.WriteByte('"')
	}
	return b.String()
}
