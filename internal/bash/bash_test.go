package bash

import (
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// What bash reads and the parser alone does not is read as if it was written as
// the parser has it.
func TestParseMends(t *testing.T) {
	for text, want := range map[string]string{
		`h[db.host]=x`:                 `h["db.host"]=x`,
		`h[a b]+=x`:                    `h["a b"]+=x`,
		`h=([c]=1 [a.b]=2)`:            `h=([c]=1 ["a.b"]=2)`,
		`declare -A h=([a b]=1)`:       `declare -A h=(["a b"]=1)`,
		`echo "${m[/etc/passwd]} x"`:   `echo "${m["/etc/passwd"]} x"`,
		`echo ${#m[a:b]} ${m[c.d]:-x}`: `echo ${#m["a:b"]} ${m["c.d"]:-x}`,
		`h[$a.$b]=1`:                   `h["$a.$b"]=1`,
		`h[$(echo a ]).b]=1`:           `h["$(echo a ]).b"]=1`,
		`h[a"b.c"d.e]=1`:               `h["a""b.c""d.e"]=1`,
		`h[a[0].b]=1`:                  `h["a[0].b"]=1`,
		`h[a;b]=1`:                     `h["a;b"]=1`,
		`(( h[a.b]++ ))`:               `(( h["a.b"]++ ))`,
		"cat <<E\n${h[a.b]}\nE":        "cat <<E\n${h[\"a.b\"]}\nE",
		"cat <<E\nhello":               "cat <<E\nhello\nE\n",
		"cat <<-'E F' | wc\n\thello\n": "cat <<-'E F' | wc\n\thello\nE F\n",
	} {
		got, err := Parse(text, nil)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if alone, err := Parse(want, nil); err != nil || alone.Mended {
			t.Fatalf("%s is to be read by the parser alone: %v", want, err)
		} else if shown, should := printed(got.Stmts), printed(alone.Stmts); shown != should || !got.Mended {
			t.Errorf("%s is read as %s, should be %s", text, shown, should)
		}
	}
}

func printed(stmts []*syntax.Stmt) string {
	var b strings.Builder
	for _, st := range stmts {
		if err := syntax.NewPrinter().Print(&b, st); err != nil {
			return err.Error()
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// A mistake stays one, with what is before it.
func TestParseTellsMistakes(t *testing.T) {
	for text, before := range map[string]int{
		"echo a\nif true; then": 1, "echo 'x": 0, "h[a.b=1": 0, "h[a.b]=(1)": 0, "a; b; c)": 2, "h[a\nb.c]=1": 0, "${x.y}": 0, "x=$(cat <<E\nfoo\n)": 0,
	} {
		got, err := Parse(text, nil)
		if err == nil || len(got.Stmts) != before {
			t.Errorf("%q: %d statements and %v, want %d and a mistake", text, len(got.Stmts), err, before)
		}
	}
}

func TestParseWarns(t *testing.T) {
	got, err := Parse("true\ncat <<A <<B\none\n", nil)
	want := []string{
		"line 3: warning: here-document at line 2 delimited by end-of-file (wanted `A')",
		"line 4: warning: here-document at line 2 delimited by end-of-file (wanted `B')",
	}
	if err != nil || strings.Join(got.Warnings, "\n") != strings.Join(want, "\n") {
		t.Errorf("%v\n%s", err, strings.Join(got.Warnings, "\n"))
	}
}

func TestArithmeticTellsWhatFollows(t *testing.T) {
	for text, want := range map[string]string{"1 + 2": "", "3 file": "file", "1.5": ".5", "h[a.b] + 1": "", "(1) )": ")"} {
		if x, rest, err := Arithmetic(text, nil); err != nil || x == nil || rest != want {
			t.Errorf("%s: %v, rest %q, want %q", text, err, rest, want)
		}
	}
	if _, _, err := Arithmetic("1 +", nil); err == nil {
		t.Error("an operator without an operand is no mistake")
	}
}

// Mending ends, and changes nothing that the parser reads.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"h[a b]=1", "h[a.b", "x=([a b]=1 [c d]=2)", "cat <<E\n", "${m[$(x ${y}).z]}", "h[\"a.b]=1", "[a.b]=", "h[`a.b]=1", "h[$'a.b]=\\"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 2000 || strings.Count(text, "(")+strings.Count(text, "{")+strings.Count(text, "[") > 200 {
			return
		}
		alone, wrong := parse(strings.NewReader(text))
		got, err := Parse(text, nil)
		if wrong == nil && (err != nil || got.Mended || len(got.Stmts) != len(alone)) {
			t.Errorf("%q is read otherwise: %v", text, err)
		}
		if wrong != nil && err == nil && !got.Mended {
			t.Errorf("%q is read though %v", text, wrong)
		}
	})
}
