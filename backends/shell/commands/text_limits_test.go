package commands

import (
	"bytes"
	"context"
	"io"
	"path"
	"runtime/metrics"
	"strings"
	"testing"
	"time"
)

// endless is input that does not end.
type endless struct {
	ctx  context.Context
	text string
	at   int
}

func (e *endless) Read(b []byte) (int, error) {
	if e.ctx.Err() != nil {
		return 0, context.Cause(e.ctx)
	}
	for i := range b {
		b[i] = e.text[(e.at+i)%len(e.text)]
	}
	e.at = (e.at + len(b)) % len(e.text)
	return len(b), nil
}

// bounded runs a command with some memory and time, and returns what it did, how
// long it took and by how much the heap grew meanwhile.
func bounded(t *testing.T, limit time.Duration, stdin string, argv ...string) (r result, took time.Duration, grown int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	files := newFiles(t, map[string]string{"empty": ""})
	memory := NewMemory(16<<20, nil)
	var out, errs bytes.Buffer
	discard := &firstBytes{limit: 1 << 16, w: &out}
	var start func(ctx context.Context, c Call) int
	start = func(ctx context.Context, c Call) int {
		args := c.Args
		if args[0] == "sh" {
			args = strings.Fields(args[2])
		}
		cmd := Lookup(path.Base(args[0]))
		if cmd == nil {
			t.Errorf("there is no command %s", args[0])
			return 127
		}
		p := &Proc{Name: cmd.Name, Args: args[1:], Dir: c.Dir, Env: c.Env, Stdin: c.Stdin, Stdout: c.Stdout, Stderr: c.Stderr,
			Files: files, Memory: memory, System: DefaultSystem, Start: start}
		return p.Main(ctx, cmd)
	}
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	read := func() int64 { metrics.Read(sample); return int64(sample[0].Value.Uint64()) }
	begun, peak := read(), int64(0)
	done := make(chan struct{})
	sampled := make(chan struct{})
	go func() {
		defer close(sampled)
		ticks := time.NewTicker(5 * time.Millisecond)
		defer ticks.Stop()
		for {
			peak = max(peak, read())
			select {
			case <-done:
				return
			case <-ticks.C:
			}
		}
	}()
	from := time.Now()
	var in io.Reader = strings.NewReader("")
	if stdin != "" {
		in = &endless{ctx: ctx, text: stdin}
	}
	code := start(ctx, Call{Args: argv, Dir: "/work", Env: []string{"PATH=/bin"}, Stdin: in, Stdout: discard, Stderr: &errs})
	took = time.Since(from)
	close(done)
	<-sampled
	if used := memory.Used(); used != 0 {
		t.Errorf("%d bytes of memory stay taken", used)
	}
	if _, _, open := files.Used(); open != 0 {
		t.Errorf("%d files stay open", open)
	}
	return result{out.String(), errs.String(), code, files}, took, peak - begun
}

// firstBytes keeps the first bytes of a text only.
type firstBytes struct {
	limit int
	w     io.Writer
}

func (c *firstBytes) Write(b []byte) (int, error) {
	n := min(len(b), c.limit)
	c.limit -= n
	_, err := c.w.Write(b[:n])
	return len(b), err
}

const maxGrowth = 300 << 20 // of the heap, garbage included, by a command that may hold 16 MiB

func TestBombsEndWithAClearError(t *testing.T) {
	if underRace {
		t.Skip("what is measured is not what the race detector leaves of it")
	}
	tree := "reduce range(60) as $i (1; [.,.])"
	for _, c := range []struct {
		name, want, stdin string
		argv              []string
	}{
		{"awk doubles a text", "memory exhausted", "", []string{"awk", `BEGIN{x="a"; while(1) x=x x}`}},
		{"awk doubles a text in a field", "memory exhausted", "", []string{"awk", `BEGIN{$1="a"; while(1) $1=$1 $1}`}},
		{"awk doubles the record", "memory exhausted", "", []string{"awk", `BEGIN{$0="a"; while(1) $0=$0 $0}`}},
		{"awk fills an array", "memory exhausted", "", []string{"awk", `BEGIN{while(1) a[i++]=i}`}},
		{"awk pads", "too much for this workspace", "", []string{"awk", `BEGIN{printf "%1000000000d", 1}`}},
		{"awk pads by an argument", "too much for this workspace", "", []string{"awk", `BEGIN{printf "%*d", 1000000000, 1}`}},
		{"awk recurses", "memory exhausted", "", []string{"awk", `function f(n){return f(n+1)} BEGIN{f(1)}`}},
		{"awk nests", "deep", "", []string{"awk", "BEGIN{x=" + strings.Repeat("(", 100000) + "}"}},
		{"awk makes many fields", "memory exhausted", "", []string{"awk", `BEGIN{$1000000000=1}`}},
		{"awk sets NF", "memory exhausted", "", []string{"awk", `BEGIN{NF=1000000000}`}},
		{"awk splits", "memory exhausted", "", []string{"awk", `BEGIN{x="a b "; while(length(x)<20000000) x=x x; split(x,a)}`}},
		{"awk replaces", "memory exhausted", "", []string{"awk", `BEGIN{x=sprintf("%1000000s",""); y=x; gsub(/ /,x,y)}`}},
		{"awk writes to a command without end", "can hold", "", []string{"awk", `BEGIN{while(1) print "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" | "cat"}`}},
		{"awk reads a command without end", "getline can hold", "", []string{"awk", `BEGIN{while(("yes"|getline x)>0) n++; print n}`}},
		{"awk reads a line without end", "memory exhausted", "a", []string{"awk", `{print length($0)}`}},
		{"awk reads a record by a pattern", "memory exhausted", "ab", []string{"awk", "-v", "RS=x+y", `{print length($0)}`}},
		{"sed doubles the pattern space", "memory exhausted", "a\n", []string{"sed", ":a;s/.*/&&/;ta"}},
		{"sed doubles by the hold space", "memory exhausted", "a\n", []string{"sed", ":a;G;h;ba"}},
		{"sed gathers lines", "memory exhausted", "a\n", []string{"sed", ":a;N;ba"}},
		{"sed gathers in the hold space", "memory exhausted", "abc\n", []string{"sed", "-n", "H"}},
		{"sed reads a line without end", "memory exhausted", "a", []string{"sed", "s/a/b/"}},
		{"sed queues text", "memory exhausted", "a\n", []string{"sed", "a x\n:a\na y\nba"}},
		{"grep reads a line without end", "memory exhausted", "a", []string{"grep", "b"}},
		{"grep keeps context", "memory exhausted", "abc\n", []string{"grep", "-B", "1000000000", "x"}},
		{"grep has a pattern of death", "too many steps", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac b\n", []string{"grep", "-E", `^(a*)*(a*)*\1b$`}},
		{"grep has a huge pattern", "too big", "a\n", []string{"grep", "-E", "((a{300}){300}){300}"}},
		{"sort reads without end", "memory exhausted", "abc\n", []string{"sort"}},
		{"tac reads without end", "memory exhausted", "abc\n", []string{"tac"}},
		{"tail keeps all", "memory exhausted", "abc\n", []string{"tail", "-n", "1000000000"}},
		{"tail keeps all bytes", "memory exhausted", "abc\n", []string{"tail", "-c", "100G"}},
		{"head holds back", "memory exhausted", "abc\n", []string{"head", "-n", "-1000000000"}},
		{"shuf reads without end", "memory exhausted", "abc\n", []string{"shuf"}},
		{"column reads without end", "memory exhausted", "abc d\n", []string{"column", "-t"}},
		{"uniq compares lines without end", "memory exhausted", "a", []string{"uniq"}},
		{"cut reads a line without end", "memory exhausted", "a", []string{"cut", "-c1"}},
		{"rev reads a line without end", "memory exhausted", "a", []string{"rev"}},
		{"paste reads a line without end", "memory exhausted", "a", []string{"paste", "-"}},
		{"join reads a line without end", "memory exhausted", "a", []string{"join", "-", "empty"}},
		{"comm reads a line without end", "memory exhausted", "a", []string{"comm", "-", "empty"}},
		{"nl reads a line without end", "memory exhausted", "a", []string{"nl"}},
		{"csplit reads without end", "memory exhausted", "a\n", []string{"csplit", "-", "1"}},
		{"split makes files without end", "No space left", "a\n", []string{"split", "-b", "1", "-a", "9"}},
		{"jq makes an array", "memory exhausted", "", []string{"jq", "-n", "[range(1e15)]"}},
		{"jq makes an array by recursion", "memory exhausted", "", []string{"jq", "-n", "[0|recurse(.+1)]"}},
		{"jq repeats a text", "too large", "", []string{"jq", "-n", `"xxxxxxxxxx" * 1e12`}},
		{"jq doubles a text", "memory exhausted", "", []string{"jq", "-n", `reduce range(100) as $i ("x"; . + .)`}},
		{"jq doubles a text by an update", "memory exhausted", "", []string{"jq", "-n", `reduce range(100) as $i ("x"; . += .)`}},
		{"jq assigns far out", "too large", "", []string{"jq", "-n", ".[536870000] = 1"}},
		{"jq sets a path far out", "too large", "", []string{"jq", "-n", "setpath([536870000]; 1)"}},
		{"jq writes a tree without end", "too large", "", []string{"jq", "-n", tree + " | tojson"}},
		{"jq compares trees without end", "too large", "", []string{"jq", "-n", tree + " | . == ."}},
		{"jq sorts trees without end", "too large", "", []string{"jq", "-n", tree + " | [., .] | sort"}},
		{"jq groups trees without end", "too large", "", []string{"jq", "-n", tree + " as $t | [1,2] | group_by($t)"}},
		{"jq puts a tree into a text", "too large", "", []string{"jq", "-n", tree + ` | "a\(.)"`}},
		{"jq formats a tree", "too large", "", []string{"jq", "-n", tree + " | @html"}},
		{"jq flattens a tree", "too large", "", []string{"jq", "-n", tree + " | flatten"}},
		{"jq merges trees", "too large", "", []string{"jq", "-n", "reduce range(60) as $i ({}; {a:.,b:.}) | . * ."}},
		{"jq reads brackets without end", "depth limit", "[", []string{"jq", "."}},
		{"jq reads a text without end", "memory exhausted", "\"a", []string{"jq", "-R", "."}},
		{"jq gathers without end", "memory exhausted", "1 ", []string{"jq", "-s", "."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, took, grown := bounded(t, 20*time.Second, c.stdin, c.argv...)
			if r.code == 0 || !strings.Contains(r.err, c.want) {
				t.Errorf("it ends with %d and says %.300q, not %q", r.code, r.err, c.want)
			}
			if took > 15*time.Second {
				t.Errorf("it takes %v", took)
			}
			if grown > maxGrowth {
				t.Errorf("the heap grows by %d MiB", grown>>20)
			}
			t.Logf("%v, %d MiB: %.150s", took.Round(time.Millisecond), grown>>20, r.err)
		})
	}
}

func TestCommandsEndWithTheirContext(t *testing.T) {
	for _, c := range []struct {
		name, stdin string
		argv        []string
	}{
		{"awk loops", "", []string{"awk", "BEGIN{while(1);}"}},
		{"awk loops in a for", "", []string{"awk", "BEGIN{for(;;);}"}},
		{"awk loops in a do", "", []string{"awk", "BEGIN{do x++; while(1)}"}},
		{"awk reads without end", "a\n", []string{"awk", "{n++} END{print n}"}},
		{"awk deletes and makes", "", []string{"awk", `BEGIN{while(1){a[1];delete a}}`}},
		{"awk matches", "", []string{"awk", `BEGIN{x=sprintf("%1000000s","a"); while(1) match(x,/( *)*b/)}`}},
		{"sed loops", "a\n", []string{"sed", ":a;ba"}},
		{"sed loops by D", "a\n", []string{"sed", `s/^/a\n/;D`}},
		{"grep reads without end", "abc\n", []string{"grep", "x"}},
		{"tr reads without end", "abc", []string{"tr", "a", "b"}},
		{"wc reads without end", "abc", []string{"wc"}},
		{"cat reads without end", "abc", []string{"cat", "-A"}},
		{"fold reads without end", "abc\n", []string{"fold"}},
		{"expand pads without end", "\t\n", []string{"expand", "-t", "1000000000"}},
		{"shuf repeats", "", []string{"shuf", "-r", "-e", "a"}},
		{"shuf of a large range", "", []string{"shuf", "-r", "-i", "1-1000000000000"}},
		{"jq loops", "", []string{"jq", "-n", "def f: f; f"}},
		{"jq loops without output", "", []string{"jq", "-n", "last(range(1e18))"}},
		{"jq writes without end", "", []string{"jq", "-n", "repeat(1)"}},
		{"jq reads without end", "1\n", []string{"jq", "empty"}},
		{"jq writes a tree", "", []string{"jq", "-nc", "reduce range(60) as $i (1; [.,.])"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, took, grown := bounded(t, 300*time.Millisecond, c.stdin, c.argv...)
			if took > 3*time.Second || took < 250*time.Millisecond {
				t.Errorf("it takes %v", took)
			}
			if grown > maxGrowth {
				t.Errorf("the heap grows by %d MiB", grown>>20)
			}
		})
	}
}

func TestAwkKeepsNoMoreOfATextThanItsPiece(t *testing.T) {
	r, _, grown := bounded(t, 20*time.Second, "", "awk", `BEGIN{x=sprintf("%1000000s","a"); while(i<1000) a[i++]=substr(x i,1,5); print i}`)
	if r.out != "1000\n" || r.code != 0 || grown > 200<<20 {
		t.Errorf("it ends with %d, %q, %q, and the heap grows by %d MiB", r.code, r.out, r.err, grown>>20)
	}
}

func TestYamlAliasesAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("a0: &a0 [x,x]\n")
	for i := 1; i < 60; i++ {
		n := string(rune('0'+i/10)) + string(rune('0'+i%10))
		p := string(rune('0'+(i-1)/10)) + string(rune('0'+(i-1)%10))
		if i == 1 {
			p = "0"
		}
		b.WriteString("a" + n + ": &a" + n + " [*a" + p + ",*a" + p + "]\n")
	}
	r := runCommand(t, map[string]string{"f": b.String()}, "", "yq", ".", "f")
	if r.code == 0 || !strings.Contains(r.err, "too large") && !strings.Contains(r.err, "aliasing") {
		t.Errorf("it ends with %d and %.200q", r.code, r.err)
	}
}
