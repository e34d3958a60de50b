package commands

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"
)

// fuzzRun runs a command on a little input with a little memory and time: it
// must end, and have no defect (which makes tests panic).
func fuzzRun(t *testing.T, stdin string, argv ...string) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	var out, errs bytes.Buffer
	files := newFiles(t, nil)
	memory := NewMemory(8<<20, nil)
	cmd := Lookup(argv[0])
	p := &Proc{Name: argv[0], Args: argv[1:], Dir: "/work", Stdin: strings.NewReader(stdin), Stdout: &firstBytes{limit: 1 << 16, w: &out},
		Stderr: &firstBytes{limit: 1 << 16, w: &errs}, Files: files, Memory: memory, System: DefaultSystem}
	begun := time.Now()
	p.Main(ctx, cmd)
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("%q takes %v", argv, took)
	}
	if used := memory.Used(); used != 0 {
		t.Errorf("%q keeps %d bytes", argv, used)
	}
}

func FuzzAwk(f *testing.F) {
	for _, s := range []string{`{ print $2 }`, `BEGIN { while (i++ < 3) a[i] = i; for (k in a) print k, a[k] }`, `function f(x) { return x ? f(x-1) : 0 } { print f($1) }`,
		`/a/,/b/ { gsub(/x/, "[&]"); printf "%5s|%d\n", $1, NF }`, `BEGIN { "x" | getline y; print y > "f"; print -1 " " -1 }`, `BEGIN{switch(1){case 1: break; default: print}}`} {
		f.Add(s, "a b c\nd e f\n")
	}
	f.Fuzz(func(t *testing.T, program, input string) { fuzzRun(t, input, "awk", program) })
}

func FuzzSed(f *testing.F) {
	for _, s := range []string{`s/a\(b\)/\1\U&/2g`, `/x/,+2{N;P;D}`, `:a;s/a/b/;ta`, `1~2!d;$a\` + "\n x", `y/abc/xyz/;l 5;=`, `0,/a/c\text`, `2q5`} {
		f.Add(s, "abc\nx\nab")
	}
	f.Fuzz(func(t *testing.T, script, input string) { fuzzRun(t, input, "sed", script) })
}

func FuzzJq(f *testing.F) {
	for _, s := range []string{`.a[0] | {b: ., "c": "x\(.)"}`, `map(select(. > 1)) | add`, `reduce .[] as $x (0; . + $x)`, `.a += 1 | to_entries`, `@csv "\([1])"`, `.[]? // "d"`} {
		f.Add(s, `{"a":[1,2]}`)
	}
	f.Fuzz(func(t *testing.T, query, input string) { fuzzRun(t, input, "jq", query) })
}

func FuzzYq(f *testing.F) {
	f.Add("a: &x [1, 2]\nb: *x\n<<: {c: d}\n")
	f.Fuzz(func(t *testing.T, input string) { fuzzRun(t, input, "yq", ".") })
}

func FuzzGrep(f *testing.F) {
	f.Add(`\(a*\)b\1`, "aabaa\n", "-o")
	f.Add(`(a|b)+$`, "ab\n", "-Ewn")
	f.Fuzz(func(t *testing.T, pattern, input, option string) { fuzzRun(t, input, "grep", option, "-e", pattern) })
}
