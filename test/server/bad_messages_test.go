package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// corpus are the well-formed messages that malformed ones are made of, in the
// order of their names.
func corpus(t *testing.T) [][]byte {
	t.Helper()
	files, err := filepath.Glob("testdata/messages/*.json")
	if err != nil || len(files) < 10 {
		t.Fatalf("there are %d messages: %v", len(files), err)
	}
	slices.Sort(files)
	var all [][]byte
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data)
	}
	return all
}

// spoiler makes malformed messages and requests. With the same seed it makes
// the same.
type spoiler struct {
	*rand.Rand
	corpus [][]byte
	token  string
	// session is one that is the token's.
	session string
}

func (s *spoiler) pick(from ...string) string { return from[s.IntN(len(from))] }

func (s *spoiler) bytes(n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(s.Uint32())
	}
	return out
}

// message is one that is wrong in some way, or happens to be right.
func (s *spoiler) message() []byte {
	base := s.corpus[s.IntN(len(s.corpus))]
	switch s.IntN(10) {
	case 0, 1, 2:
		return s.spoilBytes(base)
	case 3, 4, 5, 6:
		return s.spoilTree(base)
	case 7:
		return s.nested()
	case 8:
		return s.batch()
	default:
		return []byte(s.pick("", " ", "null", "true", "0", "-1", `""`, "[]", "{}", "[[]]", "[null]", "[{}]", `{"":""}`, "\x00", "\xff\xfe{}", "\xef\xbb\xbf{}", "NaN", "1e999", "{}{}", "{}\n{}",
			`{"jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","id":1}`, `{"jsonrpc":"1.0","id":1,"method":"ping"}`, `{"jsonrpc":2.0,"id":1,"method":"ping"}`, `{"JSONRPC":"2.0","ID":1,"METHOD":"ping"}`,
			`{"jsonrpc":"2.0","id":null,"method":"ping"}`, `{"jsonrpc":"2.0","id":{},"method":"ping"}`, `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, `{"jsonrpc":"2.0","id":1e400,"method":"ping"}`,
			`{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}`, `{"jsonrpc":"2.0","id":1,"method":"","params":{}}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":null}`, `{"jsonrpc":"2.0","id":1,"result":{},"error":{}}`, `{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}`,
			`{'jsonrpc':'2.0','id':1,'method':'ping'}`, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pi\nng\"}", `{"jsonrpc":"2.0","id":`+strings.Repeat("9", 5000)+`,"method":"ping"}`,
			`{"jsonrpc":"2.0","id":"`+strings.Repeat("i", 5000)+`","method":"ping"}`, `{"jsonrpc":"2.0","id":1,"method":"`+strings.Repeat("m/", 5000)+`"}`))
	}
}

// tokens are what JSON and this protocol are made of.
var tokens = []string{`{`, `}`, `[`, `]`, `,`, `:`, `"`, `\`, `\u0000`, `\ud800`, `\udc00\ud800`, `null`, `true`, `1e999`, `-0`, `0.1e-400`, `"id"`, `"method"`, `"params"`, `"_meta"`, `"jsonrpc":"2.0"`, "\x00", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\u2028", "/*", "//", "\r\n\r\n", "\v"}

func (s *spoiler) spoilBytes(base []byte) []byte {
	out := bytes.Clone(base)
	for range 1 + s.IntN(4) {
		if len(out) < 2 {
			return out
		}
		at := s.IntN(len(out))
		switch s.IntN(7) {
		case 0:
			out[at] ^= 1 << s.IntN(8)
		case 1:
			out = out[:at]
		case 2:
			out = slices.Delete(out, at, min(len(out), at+1+s.IntN(8)))
		case 3:
			end := min(len(out), at+1+s.IntN(30))
			out = slices.Insert(out, at, bytes.Clone(out[at:end])...)
		case 4:
			out = slices.Insert(out, at, []byte(tokens[s.IntN(len(tokens))])...)
		case 5:
			other := s.corpus[s.IntN(len(s.corpus))]
			out = append(out[:at:at], other[s.IntN(len(other)):]...)
		default:
			out = slices.Insert(out, at, s.bytes(1+s.IntN(12))...)
		}
	}
	return out
}

// node is a JSON value that keeps its members' order, and can have some twice.
type node struct {
	raw     string // of what is neither object nor array
	keys    []string
	members []*node // of an object or an array
	object  bool
	array   bool
}

func treeOf(v any) *node {
	switch v := v.(type) {
	case map[string]any:
		n := &node{object: true}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			n.keys, n.members = append(n.keys, k), append(n.members, treeOf(v[k]))
		}
		return n
	case []any:
		n := &node{array: true}
		for _, e := range v {
			n.members = append(n.members, treeOf(e))
		}
		return n
	default:
		data, err := json.Marshal(v)
		if err != nil {
			panic(err) // it was decoded from JSON
		}
		return &node{raw: string(data)}
	}
}

func (n *node) write(b *bytes.Buffer) {
	if !n.object && !n.array {
		b.WriteString(n.raw)
		return
	}
	b.WriteByte(map[bool]byte{true: '{', false: '['}[n.object])
	for i, m := range n.members {
		if i > 0 {
			b.WriteByte(',')
		}
		if n.object {
			fmt.Fprintf(b, "%q:", n.keys[i])
		}
		m.write(b)
	}
	b.WriteByte(map[bool]byte{true: '}', false: ']'}[n.object])
}

// all are the nodes of a tree, itself included.
func (n *node) all() []*node {
	out := []*node{n}
	for _, m := range n.members {
		out = append(out, m.all()...)
	}
	return out
}

// oddity is a value of another type than was meant, or of a size that nobody
// expects.
func (s *spoiler) oddity() *node {
	return &node{raw: s.pick("null", "true", "false", "0", "-1", "1.5", "-0", "1e999", "-1e999", "1e-999", "9223372036854775808", "-9223372036854775809", strings.Repeat("7", 400),
		`""`, `"\u0000"`, `"\ud800"`, "\"\xff\xfe\"", `"`+strings.Repeat("a", 3000)+`"`, `"../../../etc/passwd"`, `"2026-07-28"`, `"1999-01-01"`, `"constructor"`, `"%s%n"`, `"{}"`,
		"{}", "[]", "[[]]", `[null]`, `{"":{}}`, `{"a":{"a":{"a":{}}}}`, strings.Repeat("[", 40)+strings.Repeat("]", 40), `{"__proto__":{"x":1}}`, "undefined", "'x'", "0x10", "01", "+1", ".5", "1.", "")}
}

func (s *spoiler) spoilTree(base []byte) []byte {
	var v any
	if err := json.Unmarshal(base, &v); err != nil {
		panic(err) // it is in the corpus
	}
	root := treeOf(v)
	for range 1 + s.IntN(3) {
		nodes := root.all()
		n := nodes[s.IntN(len(nodes))]
		if len(n.members) == 0 {
			*n = *s.oddity()
			continue
		}
		i := s.IntN(len(n.members))
		switch s.IntN(5) {
		case 0:
			n.members[i] = s.oddity()
		case 1: // twice, perhaps with another value
			other := s.oddity()
			if s.IntN(2) == 0 {
				other = n.members[i]
			}
			n.members = append(n.members, other)
			if n.object {
				n.keys = append(n.keys, n.keys[i])
			}
		case 2:
			n.members = slices.Delete(n.members, i, i+1)
			if n.object {
				n.keys = slices.Delete(n.keys, i, i+1)
			}
		case 3:
			if n.object {
				n.keys[i] = s.pick(strings.ToUpper(n.keys[i]), n.keys[i]+"\x00", "", "x"+n.keys[i], "__proto__", strings.Repeat(n.keys[i], 100))
			} else {
				n.members[i] = s.oddity()
			}
		default:
			*n = *s.oddity()
		}
	}
	var b bytes.Buffer
	root.write(&b)
	return b.Bytes()
}

// nested is deep, as a whole or in one of its places.
func (s *spoiler) nested() []byte {
	depth := []int{100, 1000, 10_001, 60_000}[s.IntN(4)]
	open, shut := "[", "]"
	if s.IntN(2) == 0 {
		open, shut = `{"a":`, "}"
	}
	deep := strings.Repeat(open, depth)
	if s.IntN(3) > 0 {
		deep += s.pick("", "1", "{}", `"x"`) + strings.Repeat(shut, depth)
	}
	return []byte(s.pick(deep, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`+deep+`}`,
		`{"jsonrpc":"2.0","id":`+deep+`,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ls","arguments":{"path":`+deep+`}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":`+deep+`}}`, `{"jsonrpc":"2.0","id":7,"result":`+deep+`}`))
}

func (s *spoiler) batch() []byte {
	n := []int{0, 1, 3, 20, 200}[s.IntN(5)]
	parts := make([][]byte, n)
	for i := range parts {
		parts[i] = s.corpus[s.IntN(len(s.corpus))]
		if s.IntN(2) == 0 {
			parts[i] = s.spoilTree(parts[i])
		}
	}
	return slices.Concat([]byte("["), bytes.Join(parts, []byte(",")), []byte(s.pick("]", "", ",]", "]]")))
}
