package transports

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// envelope is what routing needs to know of a JSON-RPC message. Its slices
// point into the message.
type envelope struct {
	id      []byte // raw JSON; nil when there is none
	version []byte // raw JSON of "jsonrpc"
	method  string
	named   bool // there is a method
	params  []byte
	result  []byte // raw JSON; nil when there is none
	failure []byte // raw JSON of "error"; nil when there is none
}

// isResponse tells whether the message answers a request of ours.
func (e *envelope) isResponse() bool {
	return !e.named && (e.result != nil || e.failure != nil)
}

var (
	errSyntax = errors.New("not valid JSON")
	errMethod = errors.New("\"method\" must be a string")
	errCase   = errors.New("a member of the message is misspelt: upper and lower case count")
)

// members are the names that a message's members have, in quotes.
var members = []string{`"jsonrpc"`, `"id"`, `"method"`, `"params"`, `"result"`, `"error"`}

// parseEnvelope finds the parts of a JSON object in one pass over msg. It
// looks no deeper than it must: brackets inside params are balanced but
// otherwise unchecked, which is left to the full parse that follows. Of a
// repeated member the last counts.
func parseEnvelope(msg []byte) (envelope, error) {
	var e envelope
	var wrong error
	i := skipSpace(msg, 0)
	if i >= len(msg) || msg[i] != '{' {
		return e, errSyntax
	}
	i = skipSpace(msg, i+1)
	if i < len(msg) && msg[i] == '}' {
		i++
		return e, atEnd(msg, i)
	}
	for {
		if i >= len(msg) || msg[i] != '"' {
			return e, errSyntax
		}
		end := skipString(msg, i)
		if end < 0 {
			return e, errSyntax
		}
		key := msg[i:end]
		i = skipSpace(msg, end)
		if i >= len(msg) || msg[i] != ':' {
			return e, errSyntax
		}
		i = skipSpace(msg, i+1)
		end = skipValue(msg, i)
		if end < 0 {
			return e, errSyntax
		}
		value := msg[i:end]
		if bytes.IndexByte(key, '\\') >= 0 {
			s, err := unquote(key)
			if err != nil {
				return e, errSyntax
			}
			key = []byte(`"` + s + `"`)
		}
		switch string(key) {
		case `"jsonrpc"`:
			e.version = value
		case `"id"`:
			e.id = value
		case `"method"`:
			s, err := unquote(value)
			if err != nil {
				wrong = errMethod
			}
			e.method, e.named = s, true
		case `"params"`:
			e.params = value
		case `"result"`:
			e.result = value
		case `"error"`:
			e.failure = value
		default:
			// encoding/json would take it for the member that it resembles.
			if slices.ContainsFunc(members, func(m string) bool { return strings.EqualFold(m, string(key)) }) {
				wrong = errCase
			}
		}
		i = skipSpace(msg, end)
		if i >= len(msg) {
			return e, errSyntax
		}
		if msg[i] == '}' {
			if err := atEnd(msg, i+1); err != nil {
				return e, err
			}
			return e, wrong
		}
		if msg[i] != ',' {
			return e, errSyntax
		}
		i = skipSpace(msg, i+1)
	}
}

func atEnd(b []byte, i int) error {
	if skipSpace(b, i) != len(b) {
		return errSyntax
	}
	return nil
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// skipString returns the index after the string that starts at i, or -1.
func skipString(b []byte, i int) int {
	for i++; ; {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		slashes := 0
		for slashes < n && b[i+n-1-slashes] == '\\' {
			slashes++
		}
		i += n + 1
		if slashes%2 == 0 {
			return i
		}
		// The quote is escaped, and so cannot be counted again as a slash.
	}
}

// skipValue returns the index after the value that starts at i, or -1. It
// keeps no stack: how deep a message nests costs nothing.
func skipValue(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		depth := 0
		for i < len(b) {
			switch b[i] {
			case '"':
				if i = skipString(b, i); i < 0 {
					return -1
				}
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
		return -1
	default:
		start := i
		for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' && skipSpace(b, i) == i {
			i++
		}
		if !json.Valid(b[start:i]) {
			return -1
		}
		return i
	}
}

// unquote returns the text of a JSON string.
func unquote(raw []byte) (string, error) {
	if len(raw) >= 2 && raw[0] == '"' && raw[len(raw)-1] == '"' && bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), nil
	}
	var s string
	if len(raw) == 0 || raw[0] != '"' {
		return "", errSyntax
	}
	err := json.Unmarshal(raw, &s)
	return s, err
}

// idKey returns what two ids have in common exactly when they are the same:
// a string is told from a number, and spelling ("A", 1.0) does not count.
// It refuses what cannot be an id.
func idKey(raw []byte) (string, error) {
	if len(raw) == 0 || !json.Valid(raw) || !utf8.Valid(raw) {
		return "", errSyntax
	}
	switch c := raw[0]; {
	case c == '"':
		if bytes.IndexByte(raw, '\\') < 0 {
			return string(raw), nil
		}
		s, err := unquote(raw)
		return `"` + s + `"`, err
	case c == '-' || c >= '0' && c <= '9':
		if !bytes.ContainsAny(raw, ".eE") && len(raw) < 18 {
			return string(raw), nil
		}
		f, err := strconv.ParseFloat(string(raw), 64)
		if err != nil {
			return "", err
		}
		if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return strconv.FormatInt(int64(f), 10), nil
		}
		return string(raw), nil
	default:
		return "", errSyntax
	}
}
