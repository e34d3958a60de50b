package transports

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
)

// envelope is what routing needs to know of a JSON-RPC message. Its slices
// point into the message.
type envelope struct {
	id       []byte // raw JSON; nil when there is none
	version  []byte // raw JSON of "jsonrpc"
	method   string
	named    bool // there is a method
	params   []byte
	protocol string // version of the protocol in the _meta of params; "" when there is none
	result   []byte // raw JSON; nil when there is none
	failure  []byte // raw JSON of "error"; nil when there is none
}

// isResponse tells whether the message answers a request of ours.
func (e *envelope) isResponse() bool {
	return !e.named && (e.result != nil || e.failure != nil)
}

var (
	errSyntax = errors.New("not valid JSON")
	errMethod = errors.New("\"method\" must be a string")
)

// maxMembers is how many members an object of the envelope may have. Each is
// compared with those before it.
const maxMembers = 256

// Names of members that mean something, by the object they are in.
var (
	messageNames = []string{"jsonrpc", "id", "method", "params", "result", "error"}
	paramsNames  = []string{
		"_meta", "name", "arguments", "task", "inputResponses", "requestState", "uri", "cursor", "level",
		"protocolVersion", "capabilities", "clientInfo", "requestId", "reason", "taskId", "ref", "argument", "context",
		"notifications", "progressToken", "progress", "total", "message",
	}
	metaNames = []string{
		mcp.MetaKeyProtocolVersion, mcp.MetaKeyClientInfo, mcp.MetaKeyClientCapabilities, mcp.MetaKeyLogLevel, mcp.MetaKeySubscriptionID,
		"progressToken", "mcp-workspace/ref", "mcp-workspace/name", "mcp-workspace/image", "mcp-workspace/runtime",
	}
)

// memberError says what two readers of a message could understand differently.
// encoding/json, by which mcp-go reads, takes a name in any case for the one that
// it resembles, and makes one of two members with the same name.
type memberError struct {
	in   string // "params" or "_meta"; "" for the message itself
	text string
}

func (e *memberError) Error() string {
	if e.in == "" {
		return e.text
	}
	return "in " + e.in + ": " + e.text
}

// parseEnvelope finds the parts of a JSON object in one pass over msg. It
// looks no deeper than it must: brackets inside params are balanced but
// otherwise unchecked, which is left to the full parse that follows. With
// errSyntax nothing is known of the message, with any other error its id is.
func parseEnvelope(msg []byte) (envelope, error) {
	var e envelope
	var method, params error
	end, wrong := scanObject(msg, skipSpace(msg, 0), "", messageNames, func(name []byte, at int) (end int) {
		if string(name) == "params" {
			end, params = e.scanParams(msg, at)
		} else {
			end = skipValue(msg, at)
		}
		if end < 0 {
			return end
		}
		value := msg[at:end]
		switch string(name) {
		case "jsonrpc":
			e.version = value
		case "id":
			e.id = value
		case "method":
			s, err := unquote(value)
			if err != nil {
				method = errMethod
			}
			e.method, e.named = s, true
		case "params":
			e.params = value
		case "result":
			e.result = value
		case "error":
			e.failure = value
		}
		return end
	})
	switch {
	case end < 0 || skipSpace(msg, end) != len(msg):
		return e, errSyntax
	case wrong != nil:
		return e, wrong
	case method != nil:
		return e, method
	}
	return e, params
}

// scanParams reads the protocol version in params, and returns the index after
// them, or -1.
func (e *envelope) scanParams(b []byte, i int) (end int, wrong error) {
	var meta error
	end, wrong = scanObject(b, i, "params", paramsNames, func(name []byte, at int) (end int) {
		if string(name) != "_meta" {
			return skipValue(b, at)
		}
		end, meta = scanObject(b, at, "_meta", metaNames, func(name []byte, at int) int {
			end := skipValue(b, at)
			if end >= 0 && string(name) == mcp.MetaKeyProtocolVersion {
				e.protocol, _ = unquote(b[at:end]) // what is no string is no version
			}
			return end
		})
		return end
	})
	if wrong == nil {
		wrong = meta
	}
	return end, wrong
}

// scanObject calls member with the name of each member of the object that
// begins at i, and the index of its value, to which it answers with the index
// after that. It returns the index after the object, or -1; a value that is no
// object is passed over. wrong is the first member whose name is there twice or
// is like one of known but for upper and lower case.
func scanObject(b []byte, i int, in string, known []string, member func(name []byte, at int) (end int)) (end int, wrong error) {
	if i >= len(b) || b[i] != '{' {
		return skipValue(b, i), nil
	}
	var few [16][]byte
	seen := few[:0]
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == '}' {
		return i + 1, nil
	}
	for {
		if i >= len(b) || b[i] != '"' {
			return -1, nil
		}
		end := skipString(b, i)
		if end < 0 {
			return -1, nil
		}
		name := b[i+1 : end-1]
		if bytes.IndexByte(name, '\\') >= 0 {
			s, err := unquote(b[i:end])
			if err != nil {
				return -1, err
			}
			name = []byte(s)
		}
		if wrong == nil {
			if text := misread(name, seen, known); text != "" {
				wrong = &memberError{in, text}
			}
			seen = append(seen, name)
		}
		i = skipSpace(b, end)
		if i >= len(b) || b[i] != ':' {
			return -1, nil
		}
		if end = member(name, skipSpace(b, i+1)); end < 0 {
			return -1, nil
		}
		i = skipSpace(b, end)
		switch {
		case i >= len(b):
			return -1, nil
		case b[i] == '}':
			return i + 1, wrong
		case b[i] != ',':
			return -1, nil
		}
		i = skipSpace(b, i+1)
	}
}

// misread says what is wrong with the name of a member, "" when nothing is.
func misread(name []byte, seen [][]byte, known []string) string {
	for _, other := range seen {
		if bytes.Equal(name, other) {
			return fmt.Sprintf("%.100q is there more than once; a member may be there once", name)
		}
	}
	if len(seen) == maxMembers {
		return fmt.Sprintf("there are more than %d members", maxMembers)
	}
	for _, k := range known {
		if string(name) == k {
			return ""
		}
	}
	for _, k := range known {
		if strings.EqualFold(string(name), k) {
			return fmt.Sprintf("%.100q must be written %q: upper and lower case count", name, k)
		}
	}
	return ""
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
