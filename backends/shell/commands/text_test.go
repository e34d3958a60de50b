package commands

import (
	"strings"
	"testing"
)

// textCase is a run of a command and what it must do.
type textCase struct {
	name, args string // split at blanks; $'…' is not known
	argv       []string
	stdin      string
	files      map[string]string
	out, err   string
	code       int
}

func runTextCases(t *testing.T, cases []textCase) {
	t.Helper()
	for _, c := range cases {
		argv := c.argv
		if argv == nil {
			argv = strings.Fields(c.args)
		}
		t.Run(c.name, func(t *testing.T) {
			r := runCommand(t, c.files, c.stdin, argv...)
			if r.out != c.out || r.err != c.err || r.code != c.code {
				t.Errorf("%q writes %q and %q and exits with %d;\nit should write %q and %q and exit with %d", argv, r.out, r.err, r.code, c.out, c.err, c.code)
			}
		})
	}
}

func TestTextCommands(t *testing.T) {
	three := map[string]string{"f": "1\n2\n3\n", "g": "x", "d/": ""}
	runTextCases(t, []textCase{
		{name: "cat says what it cannot read and goes on", args: "cat nope f d g", files: three, out: "1\n2\n3\nx",
			err: "cat: nope: No such file or directory\ncat: d: Is a directory\n", code: 1},
		{name: "cat numbers over files", args: "cat -n g f", files: three, out: "     1\tx1\n     2\t2\n     3\t3\n"},
		{name: "cat shows a carriage return before the end", args: "cat -E", stdin: "a\r\n\rb", out: "a^M$\n\rb"},
		{name: "tac reverses", args: "tac f", files: three, out: "3\n2\n1\n"},
		{name: "head quotes what it cannot open", args: "head nope", err: "head: cannot open 'nope' for reading: No such file or directory\n", code: 1},
		{name: "head refuses a count", args: "head -n x", err: "head: invalid number of lines: 'x'\n", code: 1},
		{name: "head of a directory", args: "head d", files: three, err: "head: error reading 'd': Is a directory\n", code: 1},
		{name: "tail refuses a count", args: "tail -c 1z", err: "tail: invalid number of bytes: '1z'\n", code: 1},
		{name: "tail does not follow", args: "tail -n1 -f f", files: three, out: "3\n",
			err: "tail: files are not followed in this workspace: nothing writes to them while this runs. Use tail without -f\n", code: 1},
		{name: "wc of several", args: "wc f g", files: three, out: "3 3 6 f\n0 1 1 g\n3 4 7 total\n"},
		{name: "nl refuses a style", args: "nl -b x", err: "nl: invalid body numbering style: 'x'\nTry 'nl --help' for more information.\n", code: 1},
		{name: "sort says where order ends", args: "sort -c", stdin: "b\na\n", err: "sort: -:2: disorder: a\n", code: 1},
		{name: "sort refuses two kinds", args: "sort -nd f", files: three, err: "sort: options '-dn' are incompatible\n", code: 2},
		{name: "sort cannot read", args: "sort nope", err: "sort: cannot read: nope: No such file or directory\n", code: 2},
		{name: "sort replaces its input", args: "sort -r -o f f", files: three},
		{name: "uniq counts", args: "uniq -c", stdin: "a\na\nb\n", out: "      2 a\n      1 b\n"},
		{name: "uniq has too many files", args: "uniq a b c", err: "uniq: extra operand 'c'\nTry 'uniq --help' for more information.\n", code: 1},
		{name: "cut wants a list", args: "cut", err: "cut: you must specify a list of bytes, characters, or fields\nTry 'cut --help' for more information.\n", code: 1},
		{name: "cut counts from 1", args: "cut -f0", err: "cut: fields are numbered from 1\nTry 'cut --help' for more information.\n", code: 1},
		{name: "cut refuses a range", args: "cut -b 3-1", err: "cut: invalid decreasing range\nTry 'cut --help' for more information.\n", code: 1},
		{name: "paste cannot open", args: "paste f nope", files: three, err: "paste: nope: No such file or directory\n", code: 1},
		{name: "join wants two files", args: "join f", err: "join: missing operand after 'f'\nTry 'join --help' for more information.\n", code: 1},
		{name: "comm says that a file is not sorted", args: "comm f g", files: map[string]string{"f": "b\na\n", "g": "a\nb\n"},
			out: "\ta\n\t\tb\na\n", err: "comm: file 1 is not in sorted order\ncomm: input is not in sorted order\n", code: 1},
		{name: "tr wants two sets", args: "tr a", err: "tr: missing operand after 'a'\nTwo strings must be given when translating.\nTry 'tr --help' for more information.\n", code: 1},
		{name: "tr refuses a range", args: "tr z-a x", err: "tr: range-endpoints of 'z-a' are in reverse collating sequence order\n", code: 1},
		{name: "tr refuses a class", args: "tr [:foo:] x", err: "tr: invalid character class 'foo'\n", code: 1},
		{name: "rev keeps characters", args: "rev", stdin: "aé😀\n", out: "😀éa\n"},
		{name: "fold refuses a width", args: "fold -w 0", err: "fold: invalid number of columns: '0'\n", code: 1},
		{name: "expand refuses a list", args: "expand -t 3,2", err: "expand: tab sizes must be ascending\n", code: 1},
		{name: "column sets columns apart", args: "column -t", stdin: "a bb\nccc d\n", out: "a    bb\nccc  d\n"},
		{name: "split refuses two ways", args: "split -l1 -b1", err: "split: cannot split in more than one way\nTry 'split --help' for more information.\n", code: 1},
		{name: "split runs out of suffixes", args: "split -l1 -a1 -d - f", stdin: strings.Repeat("x\n", 11), err: "split: output file suffixes exhausted\n", code: 1},
		{name: "csplit takes its files back", args: "csplit f /2/ /9/", files: three, out: "2\n4\n", err: "csplit: '/9/': match not found\n", code: 1},
		{name: "shuf refuses a range", args: "shuf -i 3-1", err: "shuf: invalid input range: '3-1'\n", code: 1},
		{name: "an option is not known", args: "rev --foo", err: "rev: unrecognized option '--foo'\nTry 'rev --help' for more information.\n", code: 1},
	})
}

func TestCsplitLeavesNoFilesBehind(t *testing.T) {
	r := runCommand(t, map[string]string{"f": "1\n2\n"}, "", "csplit", "f", "/2/", "/9/")
	if _, err := r.files.Stat("/work/xx00"); err == nil {
		t.Error("xx00 is still there")
	}
}

func TestSplitByAFilter(t *testing.T) {
	r := runCommand(t, map[string]string{"f": "1\n2\n"}, "", "split", "-l1", "--filter=cat", "f")
	if r.code == 0 || !strings.Contains(r.err, "with FILE=xaa, exit 127 from command: cat") {
		t.Errorf("without a shell it ends with %d and %q", r.code, r.err)
	}
}

func TestGrep(t *testing.T) {
	files := map[string]string{"f": "foo\nbar\n", "b": "a\x00foo\n", "d/x": "foo\n"}
	runTextCases(t, []textCase{
		{name: "binary files are said to match", args: "grep foo f b", files: files, out: "f:foo\n", err: "grep: b: binary file matches\n"},
		{name: "a pattern is wrong", args: "grep [a f", files: files, err: "grep: Unmatched [, [^, [:, [., or [=\n", code: 2},
		{name: "a file is missing", args: "grep foo nope f", files: files, out: "f:foo\n", err: "grep: nope: No such file or directory\n", code: 2},
		{name: "a match counts more than a failure when quiet", args: "grep -q foo nope f", files: files, err: "grep: nope: No such file or directory\n"},
		{name: "a directory", args: "grep foo d", files: files, err: "grep: d: Is a directory\n", code: 2},
		{name: "-P refuses a lookahead and says what to do", argv: []string{"grep", "-P", "foo(?!bar)", "f"}, files: files,
			err: "grep: -P: a lookahead (?!…) cannot be matched in this workspace. Write the pattern for -E, or filter in two steps (grep … | grep -v …)\n", code: 2},
		{name: "-P refuses back-references", argv: []string{"grep", "-P", `(o)\1`, "f"}, files: files,
			err: "grep: -P: back-references are for -E and -G in this workspace: write the pattern for -E\n", code: 2},
		{name: "-P keeps what follows K", argv: []string{"grep", "-oP", `f\Koo(?=$)`, "f"}, files: files, out: "oo\n"},
		{name: "-P looks behind", argv: []string{"grep", "-oP", `(?<=b)\w`, "f"}, files: files, out: "a\n"},
		{name: "no pattern", args: "grep", err: "Usage: grep [OPTION]... PATTERNS [FILE]...\nTry 'grep --help' for more information.\n", code: 2},
		{name: "a count is wrong", args: "grep -m x a", err: "grep: invalid max count\n", code: 2},
	})
}

func TestSed(t *testing.T) {
	runTextCases(t, []textCase{
		{name: "an unknown command", args: "sed k", err: "sed: -e expression #1, char 1: unknown command: `k'\n", code: 1},
		{name: "e is refused", args: "sed e", err: "sed: -e expression #1, char 1: the e command runs programs and is refused; use a pipe of the shell\n", code: 1},
		{name: "the flag e is refused", args: "sed s/a/b/e", err: "sed: -e expression #1, char 7: the e flag of s runs programs and is refused; use a pipe of the shell\n", code: 1},
		{name: "s without its end", args: "sed s/a/b", err: "sed: -e expression #1, char 5: unterminated `s' command\n", code: 1},
		{name: "a label is missing", args: "sed bx", err: "sed: can't find label for jump to `x'\n", code: 4},
		{name: "a group that is not there", argv: []string{"sed", `s/a/\1/`}, err: "sed: -e expression #1, char 7: invalid reference \\1 on `s' command's RHS\n", code: 1},
		{name: "a file is missing", args: "sed p nope", err: "sed: can't read nope: No such file or directory\n", code: 2},
		{name: "in place without files", args: "sed -i p", err: "sed: no input files\n", code: 1},
		{name: "the sandbox", args: "sed --sandbox wf", err: "sed: -e expression #1, char 2: e/r/w commands disabled in sandbox mode\n", code: 1},
		{name: "a script file says its line", args: "sed -f s", files: map[string]string{"s": "p\nk\n"}, err: "sed: file s line 2: unknown command: `k'\n", code: 1},
		{name: "no newline at the end", args: "sed s/b/x/", stdin: "a\nb", out: "a\nx"},
	})
}

func TestSedLeavesAFileAloneThatItCannotEditToTheEnd(t *testing.T) {
	r := runCommand(t, map[string]string{"f": "a\nb\n"}, "", "sed", "-i", `2{:a;G;h;ba}`, "f")
	if got := r.read(t, "f"); got != "a\nb\n" || r.code == 0 {
		t.Errorf("it ends with %d and the file has %d bytes", r.code, len(got))
	}
	entries, err := r.files.ReadDir("/work")
	if err != nil || len(entries) != 1 {
		t.Errorf("there are %v (%v)", entries, err)
	}
}

func TestAwk(t *testing.T) {
	runTextCases(t, []textCase{
		{name: "a syntax error", argv: []string{"awk", "{ print"}, err: "awk: cmd. line:1: syntax error: unexpected end of the program\n", code: 1},
		{name: "an unknown function", argv: []string{"awk", "BEGIN { f(1) }"}, err: "awk: cmd. line:1: function `f' is not defined\n", code: 1},
		{name: "division by zero", argv: []string{"awk", "BEGIN { x = 0\nprint 1/x }"}, err: "awk: cmd. line:2: fatal: division by zero attempted\n", code: 2},
		{name: "a missing file", argv: []string{"awk", "1", "nope"}, err: "awk: fatal: cannot open file `nope' for reading: No such file or directory\n", code: 2},
		{name: "a coprocess", argv: []string{"awk", `BEGIN { "x" |& getline }`}, err: "awk: cmd. line:1: coprocesses (|&) are not available in this workspace\n", code: 1},
		{name: "an include", argv: []string{"awk", `@include "x"`}, err: "awk: cmd. line:1: @include, @load and @namespace are not available in this workspace\n", code: 1},
		{name: "an array as a value", argv: []string{"awk", `BEGIN { a[1]; print a }`}, err: "awk: cmd. line:1: fatal: attempt to use array `a' in a scalar context\n", code: 2},
		{name: "a value as an array", argv: []string{"awk", `BEGIN { x = 1; x[1] }`}, err: "awk: fatal: attempt to use scalar `x' as an array\n", code: 2},
		{name: "a wrong regular expression", argv: []string{"awk", `BEGIN { print "a" ~ "(" }`}, err: "awk: cmd. line:1: fatal: Unmatched ( or \\(: /(/\n", code: 2},
		{name: "the environment is the workspace's", argv: []string{"awk", `BEGIN { for (k in ENVIRON) print k }`}, out: "PATH\nHOME\nTZ\n"},
		{name: "files are the workspace's", argv: []string{"awk", `BEGIN { print (getline x < "/etc/passwd"), (getline x < "/proc/self/environ") }`}, out: "-1 -1\n"},
		{name: "next in a function", argv: []string{"awk", `function f() { next } { f(); print "no" } END { print NR }`}, stdin: "a\nb\n", out: "2\n"},
		{name: "a function makes an array of what it is given", argv: []string{"awk", `function g(b) { b[1] = 2 } function f(a) { g(a) } BEGIN { f(x); print x[1] }`}, out: "2\n"},
		{name: "no program", args: "awk", err: "Usage: awk [OPTION]... 'PROGRAM' [FILE]...\n", code: 2},
	})
}

func TestJq(t *testing.T) {
	runTextCases(t, []textCase{
		{name: "keys stay in their order", args: "jq -c .", stdin: `{"b":1,"a":{"z":1,"y":2}}`, out: `{"b":1,"a":{"z":1,"y":2}}` + "\n"},
		{name: "two orders of the same keys", args: "jq -c .", stdin: `{"b":1,"a":2} {"a":1,"b":2}`, out: `{"b":1,"a":2}` + "\n" + `{"a":1,"b":2}` + "\n"},
		{name: "new keys come last", args: "jq -c .aa=1", stdin: `{"b":1,"a":2}`, out: `{"b":1,"a":2,"aa":1}` + "\n"},
		{name: "a query is wrong", args: "jq {", err: "jq: error: unexpected EOF\njq: 1 compile error\n", code: 3},
		{name: "input that is no JSON", args: "jq .", stdin: `{"a":`, err: "jq: error (at <stdin>): Unfinished JSON term\n", code: 2},
		{name: "a failure goes on with the next", args: "jq .a", stdin: `1 {"a":2}`, out: "2\n", err: "jq: error (at <stdin>): expected an object but got: number (1)\n", code: 5},
		{name: "modules", argv: []string{"jq", `import "a" as a; 1`}, err: "jq: error: modules (import, include) are not available in this workspace\njq: 1 compile error\n", code: 3},
		{name: "the environment is the workspace's", args: "jq -nc env", out: `{"HOME":"/work","PATH":"/usr/bin:/bin","TZ":"UTC"}` + "\n"},
		{name: "debug", args: "jq -c debug", stdin: "[1]", out: "[1]\n", err: "[\"DEBUG:\",[1]]\n"},
		{name: "an error that is no text", argv: []string{"jq", "-n", "error({a:1})"}, err: "jq: error (at <stdin>) (not a string): {\"a\":1}\n", code: 5},
	})
}

func TestYq(t *testing.T) {
	files := map[string]string{"f.yaml": "name: x\nitems:\n  - a: 1\n    b: yes\n  - a: 2\nempty: {}\nquoted: \"1\"\n", "m.yaml": "a: 1\n---\na: 2\n",
		"anchors.yaml": "base: &b\n  x: 1\nuse:\n  <<: *b\n  y: 2\n"}
	runTextCases(t, []textCase{
		{name: "a text comes bare", argv: []string{"yq", ".name", "f.yaml"}, files: files, out: "x\n"},
		{name: "YAML comes out", argv: []string{"yq", ".items", "f.yaml"}, files: files, out: "- a: 1\n  b: \"yes\"\n- a: 2\n"},
		{name: "JSON comes out", argv: []string{"yq", "-o=json", ".items[1]", "f.yaml"}, files: files, out: "{\n  \"a\": 2\n}\n"},
		{name: "order and kinds stay", argv: []string{"yq", "del(.items)", "f.yaml"}, files: files, out: "name: x\nempty: {}\nquoted: \"1\"\n"},
		{name: "a file alone", argv: []string{"yq", "m.yaml"}, files: files, out: "a: 1\n---\na: 2\n"},
		{name: "eval is taken", argv: []string{"yq", "eval", ".a", "m.yaml"}, files: files, out: "1\n2\n"},
		{name: "merges", argv: []string{"yq", "-c", ".use", "anchors.yaml"}, files: files, out: "{\"x\":1,\"y\":2}\n"},
		{name: "JSON goes in", argv: []string{"yq", "-p=json", ".a"}, stdin: `{"a":[1]}`, out: "- 1\n"},
		{name: "variables", argv: []string{"yq", "-n", "--arg", "v", "x", "{a: $v}"}, out: "a: x\n"},
		{name: "another format", argv: []string{"yq", "-o=xml", ".a"}, err: "yq: the format 'xml' is not available in this workspace: yaml and json are\n", code: 1},
	})
	r := runCommand(t, files, "", "yq", "-i", `.name = "y"`, "f.yaml")
	if got := r.read(t, "f.yaml"); !strings.HasPrefix(got, "name: \"y\"\nitems:\n") || r.code != 0 {
		t.Errorf("in place it makes %q (%d, %s)", got, r.code, r.err)
	}
	r = runCommand(t, files, "", "yq", "-i", `.name.x`, "f.yaml")
	if got := r.read(t, "f.yaml"); got != files["f.yaml"] || r.code == 0 {
		t.Errorf("a failure leaves %q (%d)", got, r.code)
	}
}
