package backends

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestParseRef(t *testing.T) {
	for text, want := range map[string]Ref{
		"state:demo":       {"state", "demo"},
		"local:/home/u":    {"local", "/home/u"},
		"docker:reg:5000/": {"docker", "reg:5000/"},
	} {
		got, err := ParseRef(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "state", "state:", ":demo", ":"} {
		if _, err := ParseRef(text); CodeOf(err) != CodeInvalidArgument {
			t.Errorf("%q: %v", text, err)
		}
	}
	if s := (Ref{}).String(); s != "" {
		t.Errorf("the zero ref is %q", s)
	}
}

func TestValidName(t *testing.T) {
	for _, name := range []string{"a", "A-1_2.b", "9", strings.Repeat("x", 63)} {
		if err := ValidName(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"", "-a", ".a", "_a", "a/b", "a b", "ä", "a\x00", "..", strings.Repeat("x", 64)} {
		if err := ValidName(name); CodeOf(err) != CodeInvalidArgument {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestCleanPath(t *testing.T) {
	for in, want := range map[string]string{
		".": "/w", "a": "/w/a", "a/../b": "/w/b", "../x": "/x", "../../../x": "/x", "/": "/", "//a//b/": "/a/b", "-x": "/w/-x", " ": "/w/ ",
	} {
		if got, err := CleanPath("/w", in); got != want || err != nil {
			t.Errorf("%q: %q, %v; want %q", in, got, err, want)
		}
	}
	if got, err := CleanPath("/", "a"); got != "/a" || err != nil {
		t.Errorf("at the top: %q, %v", got, err)
	}
	for _, in := range []string{"", "a\x00b", "\x00"} {
		if _, err := CleanPath("/w", in); CodeOf(err) != CodeInvalidArgument {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func TestCodeOf(t *testing.T) {
	cause := errors.New("cause")
	e := &Error{Code: CodeStale, Op: "edit", Path: "/a", Message: "has changed", Err: cause}
	for _, c := range []struct {
		err  error
		want Code
	}{
		{nil, ""},
		{e, CodeStale},
		{fmt.Errorf("outer: %w", e), CodeStale},
		{context.Canceled, CodeCancelled},
		{fmt.Errorf("outer: %w", context.DeadlineExceeded), CodeCancelled},
		{cause, CodeInternal},
	} {
		if got := CodeOf(c.err); got != c.want {
			t.Errorf("%v: %s, want %s", c.err, got, c.want)
		}
	}
	if !errors.Is(e, cause) {
		t.Error("the cause is not in the chain")
	}
}

func TestErrorText(t *testing.T) {
	cause := errors.New("cause")
	for want, e := range map[string]*Error{
		"/a: has changed":     {Code: CodeStale, Op: "edit", Path: "/a", Message: "has changed"},
		"no path in this one": Errorf(CodeInternal, "edit", "", "no path in %s one", "this"),
		"edit /a: cause":      {Code: CodeInternal, Op: "edit", Path: "/a", Err: cause},
		"edit: cause":         {Code: CodeInternal, Op: "edit", Err: cause},
		"edit /a: stale":      {Code: CodeStale, Op: "edit", Path: "/a"},
	} {
		if got := e.Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestLineHash(t *testing.T) {
	for line, want := range map[string]string{"": "00", "a": LineHash([]byte("a")), "one": LineHash([]byte("one"))} {
		if got := LineHash([]byte(line)); got != want || len(got) != 2 {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
	same := 0
	for i := range 10_000 {
		if LineHash(fmt.Appendf(nil, "line %d", i)) == LineHash(fmt.Appendf(nil, "line %d", i+1)) {
			same++
		}
	}
	if same > 100 { // 1 in 256 would be 39
		t.Errorf("%d of 10,000 neighbours share a hash", same)
	}
}

func FuzzCleanPath(f *testing.F) {
	for _, p := range []string{".", "a/../b", "/..//x", "../../..", "a\x00", "-", "\n"} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p string) {
		got, err := CleanPath("/srv/space", p)
		if err != nil {
			if CodeOf(err) != CodeInvalidArgument {
				t.Fatal(err)
			}
			return
		}
		if got == "" || got[0] != '/' || strings.Contains(got+"/", "/../") || strings.Contains(got+"/", "/./") || strings.Contains(got, "//") {
			t.Fatalf("%q became %q", p, got)
		}
		if again, err := CleanPath("/elsewhere", got); again != got || err != nil {
			t.Fatalf("%q became %q, and then %q", p, got, again)
		}
	})
}
