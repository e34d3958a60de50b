package shell

import (
	"strconv"
	"strings"
	"testing"
)

// FuzzScript runs scripts that a grammar makes of the fuzzer's bytes, mixed with
// pieces of the corpus: nearly all of them parse, and so get further than those
// of FuzzRun.
func FuzzScript(f *testing.F) {
	var lines []string
	for _, s := range corpus(f) {
		for line := range strings.Lines(s.script) {
			if line = strings.TrimSpace(line); line != "" && len(line) < 200 {
				lines = append(lines, line)
			}
		}
	}
	for seed := range 64 {
		b := make([]byte, 48)
		for i := range b {
			b[i] = byte(seed*131 + i*i*7 + i*seed)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		if len(choices) > 400 {
			t.Skip("that many choices make no other scripts")
		}
		g := grammar{choices: choices, lines: lines}
		runFuzzed(t, g.script())
	})
}

// grammar makes a script: each byte is a choice, and without any left the
// shortest form is taken.
type grammar struct {
	choices []byte
	lines   []string
	depth   int
}

func (g *grammar) pick(n int) int {
	if len(g.choices) == 0 {
		return 0
	}
	c := int(g.choices[0])
	g.choices = g.choices[1:]
	return c % n
}

// any returns one of the forms, in which %w is a word, %c a command, %l a list,
// %n a number, %v a name, %e an arithmetic expression, %p a pattern, %f a file
// and %o a line of the corpus.
func (g *grammar) any(forms ...string) string {
	if g.depth++; g.depth > 12 {
		g.choices = nil
	}
	defer func() { g.depth-- }()
	form := forms[g.pick(len(forms))]
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(form, "%")
		b.WriteString(before)
		if !ok || after == "" {
			return b.String()
		}
		form = after[1:]
		switch after[0] {
		case 'w':
			b.WriteString(g.word())
		case 'c':
			b.WriteString(g.command())
		case 'l':
			b.WriteString(g.command() + g.any("; ", "\n", " && ", " || ", " & ") + g.command())
		case 'n':
			b.WriteString(g.number())
		case 'v':
			b.WriteString(g.any("x", "y", "a", "m", "i", "_", "IFS", "1", "@", "*", "#", "?", "r", "RANDOM", "PIPESTATUS", "OPTIND"))
		case 'e':
			b.WriteString(g.any("%n", "x", "%e+%e", "%e/%e", "%e%%%e", "%e**%e", "a[%e]", "m[%w]", "x=%e", "x++", "--i", "(%e)", "!%e", "~%e", "%e?%e:%e", "%e,%e", "%e<<%e", "$x", "$(%c)", "a[%e]+=%e"))
		case 'p':
			b.WriteString(g.any("*", "a*", "?", "[a-c]", "[!x]", "*%w*", "!(a|b)", "+(ab)", "@(x|y)*", "[[:alpha:]]", "[", "#%w", "%%%w", "\\*", "é"))
		case 'f':
			b.WriteString(g.any("f", "d/f", "/dev/null", "/tmp/t", "l", "nothing", ".", "/dev/fd/3", "\"$x\"", "/dev/stdin"))
		case 'o':
			if len(g.lines) > 0 {
				b.WriteString(g.lines[(g.pick(256)*256+g.pick(256))%len(g.lines)])
			}
		default:
			b.WriteByte(after[0])
		}
	}
}

func (g *grammar) number() string {
	edges := []string{"1", "0", "-1", "2", "10", "9223372036854775807", "-9223372036854775808", "9223372036854775806", "99999999999999999999", "4294967296", "2147483648", "1099511627776", "07", "0x7fffffffffffffff", "64#_", "1e9"}
	if n := g.pick(len(edges) + 4); n < len(edges) {
		return edges[n]
	}
	return strconv.Itoa(g.pick(256) - 128)
}

func (g *grammar) word() string {
	return g.any("x", "abc", "'q q'", "\"$%v\"", "$%v", "${%v}", "${%v:-%w}", "${%v:=%w}", "${%v:+%w}", "${%v:?%w}", "${#%v}", "${%v:%n}", "${%v:%n:%n}", "${%v: -1}",
		"${a[%e]}", "${a[@]}", "\"${a[*]}\"", "${#a[@]}", "${!a[@]}", "${a[@]:%n:%n}", "${m[%w]}", "${!m[@]}", "${m[@]@K}", "${%v@Q}", "${%v@A}", "${%v@E}", "${%v@a}", "${%v@u}", "${!%v}", "${!x*}",
		"${%v#%p}", "${%v##%p}", "${%v%%%p}", "${%v/%p/%w}", "${%v//%p/%w}", "${%v/#%p/%w}", "${%v^^}", "${%v,%p}", "\"${%v//%p}\"", "$(%c)", "`echo a`", "$((%e))", "{a,b}%w", "{1..%n}", "{%n..3..%n}", "~", "~+/x", "*", "%p", "<(%c)", ">(cat)", "$'\\x41\\u263a\\0'", "$\"t\"", "\\a", "é", "''", "%w%w", "-%w", "--%w=%n", "%n")
}

func (g *grammar) command() string {
	return g.any("echo %w", "x=%w", "x+=%w", "a=(%w %w)", "a+=(%w)", "a[%e]=%w", "a=([%e]=%w %w)", "declare -A m=([%w]=%w)", "m[%w]=%w", "declare -i x=%e", "declare -n r=%v", "local x=%w", "readonly y=%w", "export x=%w", "unset %v", "unset 'a[%n]'", "declare -p %v", "typeset -u x=%w", "declare -a",
		"printf '%%s\\n' %w %w", "printf %w %w", "printf '%%*d|%%.*s' %n %n %n %w", "printf -v x '%%d' %n", "((%e))", "let %w", "[[ %w == %p ]]", "[[ %w =~ %p ]]", "[[ -v %v ]]", "[[ %w -lt %w ]]", "[ %w = %w ]", "test %w", "shift %n", "set -- %w %w", "set -%w", "set -eu", "set +e", "shopt -s extglob nullglob globstar",
		"if %c; then %l; else %c; fi", "for i in %w %w; do %l; done", "for ((i=%e;i<3;i++)); do %c; done", "while %c; do %c; break; done", "until [ $i ]; do i=1; %c; done", "case %w in %p) %c;; *) %c;; esac", "f() { %l; }; f %w", "f() { local i=%w; return %n; }; f", "{ %l; }", "(%l)", "! %c", "%c | %c", "%c | %c | cat", "%c |& cat", "%c && %c", "%c & wait", "%c & kill $!; wait $!",
		"cat <<E\n%w $x\nE\n", "cat <<<%w", "%c >%f", "%c <%f", "%c >>%f 2>&1", "%c 2>&%n", "exec %n>%f", "exec {x}<>%f", "%c >&-", "read x <<<%w", "read -ra a <<<%w", "read -n %n x <<<%w", "mapfile -t a <<<%w", "IFS=%w read x i <%f", "trap '%c' EXIT", "trap 'echo t' ERR TERM", "kill -TERM $$", "kill -%n $$", "eval '%c'", "sh -c '%c' %w", ". ./%f", "cd %f", "pushd %f", "popd", "exit %n", "return %n", "break %n", "getopts %w x %w", "type %w", "wait", "jobs", "times", "command %c", "builtin echo %w", "alias x=%w", "time %c", "select i in %w; do break; done <<<1", "coproc %c", "exec %w", "hash", "ulimit %n", "umask %w", "caller %n", "compgen -v", "enable", "dirs %w",
		"seq %n | head -n %n", "head -c %n %f", "tail -n %n %f", "cut -c %n-%n <<<%w", "sort -k%n <<<%w", "tr %w %w <<<%w", "expr %w + %w", "bc <<<%e", "date -d %w", "date +%w", "find . -name %p", "ls -la %f", "mkdir -p %w", "ln -s %f l", "mv %f %f", "cp -r %f %f", "rm -rf %f", "touch %f", "xargs %w <<<%w", "tee %f <<<%w", "od -A %w <%f", "split -b %n %f", "csplit %f %n", "fold -w %n <<<%w", "numfmt --to=iec %n", "paste -d %w %f %f", "join %f %f", "comm %f %f", "uniq -%w %f", "nl -w %n <<<x", "tar cf t %f", "tar xf t", "gzip -c %f", "base64 -w %n <<<%w", "diff -u %f %f", "patch %f <%f", "stat -c %w %f", "dd bs=%n count=%n <%f", "truncate -s %n f", "shuf -i %n-%n -n %n", "factor %n", "xxd -c %n <<<%w", "column -c %n <<<%w", "timeout 0.01 %c", "sleep 0.001", "env x=%w %c", "yes %w | head -n 3", "expand -t %n <<<%w", "tac %f", "rev <<<%w", "mktemp %w", "chmod %w %f", "tree %f", "du %f", "cmp %f %f", "%o", "%o", "%o")
}

func (g *grammar) script() string {
	var b strings.Builder
	b.WriteString("a=(1 2 '3 4'); declare -A m=([k]=v); x='ab cd'; echo text >f; mkdir d\n")
	for range 1 + g.pick(6) {
		b.WriteString(g.command() + "\n")
	}
	return b.String()
}
