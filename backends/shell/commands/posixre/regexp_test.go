package posixre

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

type testHost struct {
	ctx   context.Context
	limit int
	held  int
}

func (h *testHost) Context() context.Context { return h.ctx }

func (h *testHost) Hold(n int) error {
	if h.held+n > h.limit {
		return errors.New("memory exhausted")
	}
	h.held += n
	return nil
}

func (h *testHost) Release(n int) { h.held -= n }

func newHost(t testing.TB) *testHost { return &testHost{t.Context(), 64 << 20, 0} }

// render writes a match and its groups.
func render(text string, loc []int) string {
	if loc == nil {
		return "-"
	}
	var parts []string
	for i := 0; i < len(loc); i += 2 {
		if loc[i] < 0 {
			parts = append(parts, "?")
		} else {
			parts = append(parts, fmt.Sprintf("%d:%s", loc[i], text[loc[i]:loc[i+1]]))
		}
	}
	return strings.Join(parts, " ")
}

func TestFindIsLeftmostLongest(t *testing.T) {
	for _, c := range []struct {
		flags               Flags
		pattern, text, want string
	}{
		{0, `abc`, "xabcx", "1:abc"},
		{0, `a*`, "baa", "0:"},
		{0, `*a`, "x*a", "1:*a"},
		{0, `^*a`, "*a", "0:*a"},
		{0, `a\{2,3\}`, "aaaa", "0:aaa"},
		{0, `\(a\|ab\)\(c\|bcd\)`, "abcd", "0:abcd 0:a 1:bcd"},
		{0, `a+`, "a+", "0:a+"},
		{0, `a\+`, "aa", "0:aa"},
		{0, `a|b`, "a|b", "0:a|b"},
		{0, `a$b`, "a$b", "0:a$b"},
		{0, `a^b`, "a^b", "0:a^b"},
		{0, `\(^a\)`, "ba", "-"},
		{0, `x\(a$\)`, "xa", "0:xa 1:a"},
		{0, `[]a]*`, "]a]b", "0:]a]"},
		{0, `[^]a]`, "]ab", "2:b"},
		{0, `[a\]`, `\`, `0:\`},
		{0, `[[:digit:][:upper:]_]\{1,\}`, "ab3X_c", "2:3X_"},
		{0, `[[.-.]a]*`, "a-b", "0:a-"},
		{0, `\(.\)\1`, "abccd", "2:cc 2:c"},
		{Escapes, `^\(.*\)\n\1$`, "ab\nab", "0:ab\nab 0:ab"},
		{Extended, `(a*)+`, "baa", "0: 0:"},
		{Extended, `(|a)+`, "aaa", "0:aaa 2:a"},
		{Extended, `a|ab|abc`, "abcd", "0:abc"},
		{Extended, `(foo|foobar)(bar)?`, "foobar", "0:foobar 0:foo 3:bar"},
		{Extended, `a{,2}b`, "aaab", "1:aab"},
		{Extended, `a{x`, "a{x", "0:a{x"},
		{Extended, `{a`, "{a", "0:{a"},
		{Extended, `()`, "x", "0: 0:"},
		{Extended, `a||b`, "b", "0:b"},
		{Extended, `*a`, "*a", "1:a"},
		{Extended, `a**`, "aaa", "0:aaa"},
		{Extended, `\<foo\>`, "xfoo foo", "5:foo"},
		{Extended, `\<[a-z]+`, "9ab cd", "4:cd"},
		{Extended, `\b`, "  ab", "2:"},
		{Extended, `\Bb`, "b ab", "3:b"},
		{Extended, `\<.`, "  é", "2:é"},
		{Extended, `\w+`, "..caf\u00e9!", "2:caf\u00e9"},
		{Extended, `\bcafé\b`, "un café noir", "3:café"},
		{Extended, `é+`, "aéé", "1:éé"},
		{Extended, `.`, "\xffa", "1:a"},
		{Extended, "\xff", "a\xff", "1:\xff"},
		{Extended | IgnoreCase, `straSSE[a-c]`, "STRASSEB", "0:STRASSEB"},
		{Extended | IgnoreCase, `É`, "é", "0:é"},
		{Extended | IgnoreCase, `(a)\1`, "aA", "0:aA 0:a"},
		{Extended | Multiline, `^b$`, "a\nb\nc", "2:b"},
		{Extended | Multiline, "\\`b", "a\nb", "-"},
		{Extended, `^b$`, "a\nb\nc", "-"},
		{Escapes, `a\tb[\n]`, "a\tb\n", "0:a\tb\n"},
		{Escapes, `\x5eb`, "a^b", "1:^b"},
		{Extended | Awk, `[\/\]]+`, "a/]b", "1:/]"},
		{Extended | Awk, `\yb`, "ab b", "3:b"},
		{Extended | Awk, `a\.b`, "a.b", "0:a.b"},
		{Extended, `x{1001}`, strings.Repeat("x", 1001), "0:" + strings.Repeat("x", 1001)},
		{Fixed, `a.*`, "aa.*", "1:a.*"},
		{Fixed | IgnoreCase, `A.`, "xa.", "1:a."},
	} {
		re, err := Compile(newHost(t), c.pattern, c.flags)
		if err != nil {
			t.Errorf("%q: %v", c.pattern, err)
			continue
		}
		loc, err := re.Find(c.text, 0)
		if got := render(c.text, loc); got != c.want || err != nil {
			t.Errorf("%q in %q is %q (%v), should be %q", c.pattern, c.text, got, err, c.want)
		}
		if re.flags&Fixed != 0 {
			continue
		}
		loc, err = re.m.find(c.text, 0)
		if got := render(c.text, loc); got != c.want || err != nil {
			t.Errorf("by the matcher of this package, %q in %q is %q (%v), should be %q", c.pattern, c.text, got, err, c.want)
		}
	}
}

func TestFindFromFurtherOnKnowsWhatIsBefore(t *testing.T) {
	for _, c := range []struct{ pattern, text, want string }{
		{`^a`, "aa", "-"},
		{`^a|b`, "aab", "2:b"},
		{`\ba`, "aa a", "3:a"},
		{`a`, "aa", "1:a"},
	} {
		re, err := Compile(newHost(t), c.pattern, Extended)
		if err != nil {
			t.Fatal(err)
		}
		loc, err := re.Find(c.text, 1)
		if got := render(c.text, loc); got != c.want || err != nil {
			t.Errorf("%q in %q is %q (%v), should be %q", c.pattern, c.text, got, err, c.want)
		}
	}
}

func TestWhatCannotBeUnderstoodIsSaidAsRegcompDoes(t *testing.T) {
	for _, c := range []struct {
		flags         Flags
		pattern, want string
	}{
		{0, `[a`, "Unmatched [, [^, [:, [., or [="},
		{0, `\(a`, `Unmatched ( or \(`},
		{0, `a\)`, `Unmatched ) or \)`},
		{Extended, `a)`, `Unmatched ) or \)`},
		{Extended, `(a`, `Unmatched ( or \(`},
		{0, `a\{1`, `Unmatched \{`},
		{0, `a\{2,1\}`, `Invalid content of \{\}`},
		{0, `a\`, "Trailing backslash"},
		{0, `\1`, "Invalid back reference"},
		{0, `[[:foo:]]`, "Invalid character class name"},
		{0, `[b-a]`, "Invalid range end"},
		{0, `a\{99999\}`, "Regular expression too big"},
		{Extended, `((a{300}){300}){300}`, "Regular expression too big"},
		{Extended, strings.Repeat("(", 5000) + strings.Repeat(")", 5000), "Regular expression too big"},
	} {
		_, err := Compile(newHost(t), c.pattern, c.flags)
		if err == nil || err.Error() != c.want {
			t.Errorf("%.40q: %v, should be %q", c.pattern, err, c.want)
		}
	}
}

func TestSearchesThatWouldNotEndAreGivenUp(t *testing.T) {
	re, err := Compile(newHost(t), `^(a*)*(a*)*\1b$`, Extended)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := re.Find(strings.Repeat("a", 200)+"c b", 0); !errors.Is(err, ErrSteps) {
		t.Errorf("a pattern of death ends with %v", err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	host := &testHost{ctx, 256 << 20, 0}
	re, err = Compile(host, `(x+x+)+y`, Extended)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	done := make(chan error, 1)
	go func() {
		re.must = ""
		_, err := re.Find(strings.Repeat("x", 32<<20), 0)
		done <- err
	}()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("a search whose context has ended ends with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("a search goes on after its context has ended")
	}
}

func TestMatcherMemoryIsBounded(t *testing.T) {
	host := &testHost{t.Context(), 1 << 20, 0}
	re, err := Compile(host, `\(.*\)\1x`, 0)
	if err != nil {
		t.Fatal(err)
	}
	re.must = ""
	if _, err := re.Find(strings.Repeat("ab", 1<<20), 0); err == nil || host.held > host.limit {
		t.Errorf("it ends with %v and %d bytes held", err, host.held)
	}
}

func FuzzBothMatchersAgree(f *testing.F) {
	f.Add(`(a|ab)(c|bcd)(d*)`, "abcd")
	f.Add(`^a*|b$`, "aab")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern) > 40 || len(text) > 60 {
			return
		}
		re, err := Compile(newHost(t), pattern, Extended)
		if err != nil || re.whole == nil {
			return
		}
		a, err := re.Find(text, 0)
		if err != nil {
			t.Fatal(err)
		}
		a = append([]int(nil), a...)
		b, err := re.m.find(text, 0)
		if err != nil {
			return
		}
		if (a == nil) != (b == nil) || a != nil && (a[0] != b[0] || a[1] != b[1]) {
			t.Fatalf("%q in %q: %v and %v", pattern, text, a, b)
		}
	})
}
