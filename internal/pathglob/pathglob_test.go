package pathglob

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gobwas/glob"
)

func TestMatch(t *testing.T) {
	for _, test := range []struct {
		pattern, path string
		want          bool
	}{
		{"**/.env", "/.env", true},
		{"**/.env", "/a/b/.env", true},
		{"**/.env", "/a/b/x.env", false},
		{"/w/*", "/w/a", true},
		{"/w/*", "/w/a/b", false},
		{"/w/**", "/w/a/b", true},
		{"/w/**", "/w", false},
		{"/w/?", "/w/é", true},
		{"/w/?", "/w//", false},
		{"/w/[a-c]", "/w/b", true},
		{"/w/[!a-c]", "/w/b", false},
		{"/w/[!a-c]", "/w/d", true},
		{"/w/{a,b{c,d}}*", "/w/bdx", true},
		{"/w/{a,b{c,d}}*", "/w/bx", false},
		{`/w/\*`, "/w/*", true},
		{`/w/\*`, "/w/a", false},
		{"/w/*", "/w/\xff", true},
		{"/w/\ufffd", "/w/\xff", false}, // not the same name
		{"", "", true},
		{"", "a", false},
		{"**", "", true},
		{strings.Repeat("[ab]", 100), strings.Repeat("ab", 50), true}, // over 64 states
		{strings.Repeat("[ab]", 100), strings.Repeat("ab", 49) + "ac", false},
	} {
		p, err := Compile(test.pattern)
		if err != nil {
			t.Errorf("%q: %v", test.pattern, err)
			continue
		}
		if got := p.Match(test.path); got != test.want {
			t.Errorf("%q against %q: %v", test.pattern, test.path, got)
		}
	}
}

func TestMatchCommand(t *testing.T) {
	for _, test := range []struct {
		pattern, command string
		want             bool
	}{
		{"git *", "git log a/b", true},
		{"rm -rf /*", "rm -rf /etc", true},
		{"rm -rf /*", "rm -rf /*", true},
		{"rm -rf /*", "rm -rf /etc/x", false},
		{"rm -rf /* x", "rm -rf /etc x", true},
		{"cat /tmp/*", "cat /tmp/a/b", true}, // "/*" is not a word
		{"/*", "/a/b", false},
	} {
		p, err := CompileCommand(test.pattern)
		if err != nil {
			t.Errorf("%q: %v", test.pattern, err)
			continue
		}
		if got := p.Match(test.command); got != test.want {
			t.Errorf("%q against %q: %v", test.pattern, test.command, got)
		}
	}
}

func TestPatternsThatAreRefused(t *testing.T) {
	for _, pattern := range []string{"[a", "{a", "[]", "\xff", strings.Repeat("a", MaxPattern+1)} {
		if _, err := Compile(pattern); err == nil {
			t.Errorf("%q is accepted", pattern)
		}
	}
}

// A backtracking matcher takes longer than anyone waits for these.
func TestManyStarsTakeNoTime(t *testing.T) {
	text := "/" + strings.Repeat("a", 4000)
	start := time.Now()
	for _, pattern := range []string{"/" + strings.Repeat("*a", 60) + "b*", strings.Repeat("**a", 60) + "[b]", strings.Repeat("{a,*}", 30) + "[b]"} {
		p, err := Compile(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if p.Match(text) {
			t.Errorf("%q matches a text without a b", pattern)
		}
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
}

// FuzzPattern looks for a text that gobwas, which defines the syntax, judges
// otherwise, or that the open automaton does.
func FuzzPattern(f *testing.F) {
	for _, p := range []string{"**/.env", "/etc/**", "*a*b*", "{a,b{c,d}}*", "[a-c]?", "[!ab]*x", `\*\{`, "rm -rf /*", "**/*.{pem,key}"} {
		f.Add(p, "/workspace/.env")
		f.Add(p, "rm -rf /etc")
	}
	f.Fuzz(func(t *testing.T, source, s string) {
		if len(source) > 60 || len(s) > 60 || !utf8.ValidString(source) || !utf8.ValidString(s) {
			return
		}
		if strings.Count(source, "*")+strings.Count(source, "{") > 6 {
			return // the reference may take exponential time
		}
		p, err := Compile(source)
		ref, refErr := glob.Compile(source, '/')
		if (err == nil) != (refErr == nil) {
			t.Fatalf("%q: %v, and the reference says %v", source, err, refErr)
		}
		if err != nil {
			return
		}
		got := p.Match(s)
		if want := ref.Match(s); got != want {
			t.Fatalf("%q against %q: %v, and the reference says %v", source, s, got, want)
		}
		cur := p.Start()
		for rest := s; rest != ""; {
			r, n := Decode(rest)
			rest = rest[n:]
			next := p.None()
			p.Step(cur, next, r)
			cur = next
		}
		if p.Accepts(cur) != got {
			t.Fatalf("%q against %q: %v, and step by step %v", source, s, got, !got)
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	for _, pattern := range []string{"**/.env", "**/*secret*", "/etc/**", "**/{node_modules,vendor}/**"} {
		b.Run(pattern, func(b *testing.B) {
			p, err := Compile(pattern)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				p.Match("/workspace/internal/server/handlers/user/profile_test.go")
			}
		})
	}
}
