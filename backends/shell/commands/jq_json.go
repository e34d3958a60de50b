package commands

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/itchyny/gojq"
)

// jqReader counts the memory of what is read: a document takes several times
// its length.
type jqReader struct {
	p    *Proc
	r    io.Reader
	held int
	fail error
}

const jqCost = 8 // bytes of memory for a byte of JSON

func (r *jqReader) Read(b []byte) (int, error) {
	if r.fail != nil {
		return 0, r.fail
	}
	n, err := r.r.Read(b)
	if herr := r.p.Hold(jqCost * n); herr != nil {
		r.fail = herr
		return 0, herr
	}
	r.held += jqCost * n
	return n, err
}

// done gives back what the documents so far took.
func (r *jqReader) done() {
	r.p.Release(r.held)
	r.held = 0
}

// jqDecoder reads values and the order of their keys.
type jqDecoder struct {
	d     *json.Decoder
	r     *jqReader
	order *jqOrder
}

func newJqDecoder(p *Proc, r io.Reader, order *jqOrder) *jqDecoder {
	jr := &jqReader{p: p, r: r}
	d := json.NewDecoder(jr)
	d.UseNumber()
	return &jqDecoder{d, jr, order}
}

// next reads a value; io.EOF when there are no more.
func (d *jqDecoder) next() (any, error) {
	t, err := d.d.Token()
	if err != nil {
		if d.r.fail != nil {
			err = d.r.fail
		}
		return nil, err
	}
	v, err := d.value(t, 0)
	if d.r.fail != nil {
		err = d.r.fail
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("Unfinished JSON term") //nolint:staticcheck // jq's words
	}
	return v, err
}

func (d *jqDecoder) value(t json.Token, depth int) (any, error) {
	if depth > 10_000 {
		return nil, errors.New("Exceeds depth limit for parsing") //nolint:staticcheck // jq's words
	}
	switch t := t.(type) {
	case json.Number:
		return jqNumber(string(t)), nil
	case json.Delim:
		if t == '[' {
			return d.array(depth)
		}
		return d.object(depth)
	default:
		return t, nil
	}
}

func jqNumber(s string) any {
	if n, err := strconv.Atoi(s); err == nil && s != "-0" {
		return n
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil || !math.IsInf(f, 0) {
		return f
	} else if math.IsInf(f, 1) {
		return math.MaxFloat64
	}
	return -math.MaxFloat64
}

func (d *jqDecoder) array(depth int) (any, error) {
	out := []any{}
	for d.d.More() {
		t, err := d.d.Token()
		if err != nil {
			return nil, err
		}
		v, err := d.value(t, depth+1)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	_, err := d.d.Token()
	return out, err
}

func (d *jqDecoder) object(depth int) (any, error) {
	out := map[string]any{}
	var keys []string
	for d.d.More() {
		t, err := d.d.Token()
		if err != nil {
			return nil, err
		}
		key, ok := t.(string)
		if !ok {
			return nil, errors.New("Object keys must be strings") //nolint:staticcheck // jq's words
		}
		if t, err = d.d.Token(); err != nil {
			return nil, err
		}
		v, err := d.value(t, depth+1)
		if err != nil {
			return nil, err
		}
		if _, there := out[key]; !there {
			keys = append(keys, key)
			d.order.met(key)
		}
		out[key] = v
	}
	d.order.came(out, keys)
	_, err := d.d.Token()
	return out, err
}

// jqWriter writes values as jq does.
type jqWriter struct {
	p      *Proc
	w      *bufio.Writer
	order  *jqOrder
	sorted bool
	ascii  bool
	color  bool
	indent string // "": all on one line
	nodes  int
}

const (
	jqNull, jqFalse, jqTrue, jqNum, jqStr, jqArr, jqObj, jqKey = "1;30", "0;39", "0;39", "0;39", "0;32", "1;39", "1;39", "34;1"
)

func (w *jqWriter) colored(code, text string) {
	if !w.color {
		w.w.WriteString(text)
		return
	}
	w.w.WriteString("\x1b[" + code + "m" + text + "\x1b[0m")
}

var errJqStopped = errors.New("stopped")

// value writes v; depth is how deep it is.
func (w *jqWriter) value(v any, depth int) error {
	if w.nodes++; w.nodes%1024 == 0 && w.p.Stopped() {
		return errJqStopped
	}
	if depth > 10_000 {
		return errJqDeep
	}
	switch v := v.(type) {
	case nil:
		w.colored(jqNull, "null")
	case bool:
		if v {
			w.colored(jqTrue, "true")
		} else {
			w.colored(jqFalse, "false")
		}
	case int:
		w.colored(jqNum, strconv.Itoa(v))
	case float64:
		w.colored(jqNum, jqFloat(v))
	case *big.Int:
		w.colored(jqNum, v.String())
	case json.Number:
		w.colored(jqNum, v.String())
	case string:
		w.colored(jqStr, w.quoted(v))
	case []any:
		return w.array(v, depth)
	case map[string]any:
		return w.object(v, depth)
	default:
		return fmt.Errorf("a value of type %T cannot be written", v)
	}
	return nil
}

func (w *jqWriter) newline(depth int) {
	if w.indent == "" {
		return
	}
	w.w.WriteByte('\n')
	for range depth {
		w.w.WriteString(w.indent)
	}
}

func (w *jqWriter) array(list []any, depth int) error {
	if len(list) == 0 {
		w.colored(jqArr, "[]")
		return nil
	}
	w.w.WriteByte('[')
	for i, x := range list {
		if i > 0 {
			w.w.WriteByte(',')
		}
		w.newline(depth + 1)
		if err := w.value(x, depth+1); err != nil {
			return err
		}
	}
	w.newline(depth)
	w.w.WriteByte(']')
	return nil
}

func (w *jqWriter) object(m map[string]any, depth int) error {
	if len(m) == 0 {
		w.colored(jqObj, "{}")
		return nil
	}
	keys := w.order.keys(m)
	if w.sorted {
		keys = slices.Sorted(slices.Values(keys))
	}
	w.w.WriteByte('{')
	for i, k := range keys {
		if i > 0 {
			w.w.WriteByte(',')
		}
		w.newline(depth + 1)
		w.colored(jqKey, w.quoted(k))
		w.w.WriteByte(':')
		if w.indent != "" {
			w.w.WriteByte(' ')
		}
		if err := w.value(m[k], depth+1); err != nil {
			return err
		}
	}
	w.newline(depth)
	w.w.WriteByte('}')
	return nil
}

func jqFloat(f float64) string {
	if math.IsNaN(f) {
		return "null"
	}
	f = min(max(f, -math.MaxFloat64), math.MaxFloat64)
	b, err := gojq.Marshal(f)
	if err != nil {
		return "null"
	}
	return string(b)
}

func (w *jqWriter) quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			if j := strings.IndexRune("\b\f\n\r\t", r); j >= 0 {
				b.WriteString(`\` + `bfnrt`[j:j+1])
			} else {
				fmt.Fprintf(&b, `\u%04x`, r)
			}
		case w.ascii && r >= 0x10000:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
		case w.ascii && r >= 0x80:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
		i += size
	}
	b.WriteByte('"')
	return b.String()
}
