package transports

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
)

// buffers are reused for outgoing lines.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxPooled is the largest buffer worth keeping.
const maxPooled = 1 << 20

func getBuffer() *[]byte { return buffers.Get().(*[]byte) }

func putBuffer(b *[]byte) {
	if cap(*b) <= maxPooled {
		*b = (*b)[:0]
		buffers.Put(b)
	}
}

var null = []byte("null")

// appendResponse encodes what HandleMessage answered, without a newline,
// under the id as the client wrote it. The result is encoded once; what
// mcp-go marshals would be marshalled, scanned and copied at every level.
// A value that cannot be encoded, or whose own encoding panics, is an error.
func appendResponse(b, id []byte, resp mcp.JSONRPCMessage) (_ []byte, err error) {
	defer recoverEncoding(&err)
	switch resp := resp.(type) {
	case mcp.JSONRPCResponse:
		b = appendHead(b, id)
		b = append(b, `,"result":`...)
		b, err = appendResult(b, resp.Result)
		return append(b, '}'), err
	case mcp.JSONRPCError:
		if resp.ID.IsNil() {
			id = null
		}
		return appendErrorResponse(b, id, resp.Error)
	default:
		return nil, fmt.Errorf("unexpected kind of response %T", resp)
	}
}

// recoverEncoding turns a panic of a value's own MarshalJSON into an error.
func recoverEncoding(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("encoding panicked: %v", p)
	}
}

func appendHead(b, id []byte) []byte {
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	return append(b, id...)
}

func appendErrorResponse(b, id []byte, details mcp.JSONRPCErrorDetails) (_ []byte, err error) {
	b = appendHead(b, id)
	b = append(b, `,"error":{"code":`...)
	b = strconv.AppendInt(b, int64(details.Code), 10)
	b = append(b, `,"message":`...)
	b = appendString(b, details.Message)
	if details.Data != nil {
		b = append(b, `,"data":`...)
		b, err = appendJSON(b, details.Data)
	}
	return append(b, `}}`...), err
}

func appendResult(b []byte, result any) ([]byte, error) {
	switch r := result.(type) {
	case *mcp.CallToolResult:
		if r != nil {
			return appendToolResult(b, r)
		}
	case mcp.CallToolResult:
		return appendToolResult(b, &r)
	}
	return appendJSON(b, result)
}

// appendToolResult encodes the result of a tool as its MarshalJSON would.
func appendToolResult(b []byte, r *mcp.CallToolResult) (_ []byte, err error) {
	b = append(b, `{"content":[`...)
	for i, c := range r.Content {
		if i > 0 {
			b = append(b, ',')
		}
		if text, ok := c.(mcp.TextContent); ok && text.Annotations == nil && text.Meta == nil {
			b = append(b, `{"type":`...)
			b = appendString(b, text.Type)
			b = append(b, `,"text":`...)
			b = appendString(b, text.Text)
			b = append(b, '}')
		} else if b, err = appendJSON(b, c); err != nil {
			return b, err
		}
	}
	b = append(b, ']')
	member := func(name string, value any) {
		if err == nil {
			b = append(b, ',')
			b = appendString(b, name)
			b = append(b, ':')
			b, err = appendValue(b, value)
		}
	}
	if r.Meta != nil {
		member("_meta", r.Meta)
	}
	if r.ResultType != "" {
		member("resultType", string(r.ResultType))
	}
	if len(r.RawStructuredContent) > 0 {
		member("structuredContent", r.RawStructuredContent)
	} else if r.StructuredContent != nil {
		member("structuredContent", r.StructuredContent)
	}
	if r.IsError {
		member("isError", true)
	}
	if len(r.InputRequests) > 0 {
		member("inputRequests", r.InputRequests)
	}
	if r.RequestState != "" {
		member("requestState", r.RequestState)
	}
	return append(b, '}'), err
}

// appendValue encodes v: by hand what results usually carry, else as
// encoding/json does.
func appendValue(b []byte, v any) (_ []byte, err error) {
	switch v := v.(type) {
	case string:
		return appendString(b, v), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case int:
		return strconv.AppendInt(b, int64(v), 10), nil
	case int64:
		return strconv.AppendInt(b, v, 10), nil
	case *mcp.Meta:
		if v == nil {
			return append(b, "null"...), nil
		}
		if v.ProgressToken != nil {
			return appendJSON(b, v)
		}
		if v.AdditionalFields == nil {
			return append(b, "{}"...), nil
		}
		return appendValue(b, v.AdditionalFields)
	case map[string]any:
		if v == nil {
			return append(b, "null"...), nil
		}
		var room [16]string
		keys := room[:0]
		for key := range v {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		b = append(b, '{')
		for i, key := range keys {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendString(b, key)
			b = append(b, ':')
			if nested, ok := v[key].(map[string]any); ok {
				// Only here can a value contain itself; encoding/json notices.
				b, err = appendJSON(b, nested)
			} else {
				b, err = appendValue(b, v[key])
			}
			if err != nil {
				return b, err
			}
		}
		return append(b, '}'), nil
	default:
		return appendJSON(b, v)
	}
}

func appendJSON(b []byte, v any) ([]byte, error) {
	data, err := json.Marshal(v)
	return append(b, data...), err
}

// plainPrefix returns how many bytes from i on stand for themselves in a JSON
// string: all but control characters, '"', '\\' and what is not ASCII. It looks
// at eight at a time, since most text is plain for long stretches.
func plainPrefix(s string, i int) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	start := i
	for ; i+8 <= len(s); i += 8 {
		p := s[i : i+8]
		w := uint64(p[0]) | uint64(p[1])<<8 | uint64(p[2])<<16 | uint64(p[3])<<24 |
			uint64(p[4])<<32 | uint64(p[5])<<40 | uint64(p[6])<<48 | uint64(p[7])<<56
		// A subtraction borrows into the top bit of each byte that is below
		// what is subtracted; only bytes after the first such can be wrong.
		quote, slash := w^ones*'"', w^ones*'\\'
		special := ((w-ones*' ')&^w | (quote-ones)&^quote | (slash-ones)&^slash | w) & tops
		if special != 0 {
			return i + bits.TrailingZeros64(special)/8 - start
		}
	}
	for i < len(s) && s[i] >= ' ' && s[i] < utf8.RuneSelf && s[i] != '"' && s[i] != '\\' {
		i++
	}
	return i - start
}

const hexDigits = "0123456789abcdef"

// appendString encodes s as a JSON string. Bytes that are not UTF-8 become
// U+FFFD. U+2028 and U+2029 are escaped, because JavaScript before 2019 takes
// them for line ends; characters that only matter in HTML are not.
func appendString(b []byte, s string) []byte {
	b = slices.Grow(b, len(s)+len(s)/16+2)
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		i += plainPrefix(s, i)
		if i == len(s) {
			break
		}
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			switch {
			case r == utf8.RuneError && size == 1:
				b = append(b, s[start:i]...)
				b = append(b, "\ufffd"...)
				start = i + size
			case r == '\u2028' || r == '\u2029':
				b = append(b, s[start:i]...)
				b = append(b, `\u202`...)
				b = append(b, hexDigits[r&15])
				start = i + size
			}
			i += size
			continue
		}
		b = append(b, s[start:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		start = i
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}
