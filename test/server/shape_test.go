package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// shape is all of an answer, but for what differs between any two of them (the
// time and the request's id) and for mine, the texts that the request itself
// brought, which are written as *.
func shape(r reply, mine ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d\n", r.status)
	var lines []string
	for name, values := range r.header {
		if name != "Date" && name != "X-Request-Id" {
			for _, v := range values {
				lines = append(lines, name+": "+v)
			}
		}
	}
	slices.Sort(lines)
	b.WriteString(strings.Join(lines, "\n") + "\n\n" + string(r.body))
	out := b.String()
	for _, text := range mine {
		if text != "" {
			out = strings.ReplaceAll(out, text, "*")
		}
	}
	return out
}

// same fails the test when the answers about what exists and about what never
// did can be told apart.
func same(t *testing.T, real, ghost string) {
	t.Helper()
	if real != ghost {
		t.Errorf("what exists is answered with\n%s\nand what never did with\n%s", indent(tail(real, 2000), "    "), indent(tail(ghost, 2000), "    "))
	}
}

// ghost is text of the same form as what exists, that nothing has: each digit
// and lower-case letter of its longest run that can be hexadecimal is another.
func ghost(text string) string {
	const hexadecimal = "0123456789abcdef"
	from, most := 0, 0
	for i := 0; i < len(text); {
		n := 0
		for i+n < len(text) && strings.IndexByte(hexadecimal, text[i+n]) >= 0 {
			n++
		}
		if n > most {
			from, most = i, n
		}
		i += n + 1
	}
	return text[:from] + randomOf(hexadecimal, most) + text[from+most:]
}

func randomOf(alphabet string, n int) string {
	out := make([]byte, n)
	for i := range out {
		k, err := rand.Int(rand.Reader, big.NewInt(int64(len(alphabet))))
		if err != nil {
			panic(err) // documented never to happen
		}
		out[i] = alphabet[k.Int64()]
	}
	return string(out)
}

const base64url = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// glimpse makes a request whose answer may be a stream without end, and returns
// what has come of it by its end or within two seconds.
func (c caller) glimpse(t *testing.T, method, path string) reply {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, c.root+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	c.dress(r)
	res, err := c.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	return reply{res.StatusCode, res.Header, body}
}
