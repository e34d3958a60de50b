package shell

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/shell/fair"
	"github.com/mcp-workspace/mcp-workspace/backends/shell/vfs"
)

// chargedFiles are files that an account is charged for.
func chargedFiles(t *testing.T, memory *fair.Account) *vfs.FS {
	t.Helper()
	f := vfs.New(vfs.Options{Memory: memory, Limits: vfs.Limits{TotalBytes: 256 << 20, FileBytes: 128 << 20, Entries: 1 << 17, OpenFiles: 256}})
	mkdirAll(t, f, "/work")
	return f
}

func TestScriptsEndWithTheMemoryOfAll(t *testing.T) {
	for _, c := range []struct{ name, script string }{
		{"a variable", `x=x; while :; do x=$x$x; done`},
		{"an array", `i=0; while :; do a[i++]=$i; done`},
		{"functions", `while :; do eval "f$((i++))() { echo a b c; }"; done`},
		{"a substitution", `x=$(yes)`},
		{"a here-document", `x=$(head -c 4M </dev/zero | tr '\0' x); cat <<< "$x$x$x$x$x" | wc -c`},
		{"jobs", `for i in {1..250}; do sleep 30 & done; wait`},
		{"a command", `awk 'BEGIN { while (1) a[i++] = "some text" i }'`},
		{"a sort", `yes | sort`},
		{"a file", `yes > f`},
		{"a file that is grown", `truncate -s 100M f`},
		{"a file in its middle", `printf x > f; while :; do dd if=f of=f bs=1M seek=$((++i)) conv=notrunc count=1; done 2>/dev/null`},
		{"a file without a name", `exec 3> f; rm f; yes >&3`},
		{"many files", `mkdir d; cd d; for i in {1..100000}; do : > $i; done`},
		{"many directories", `for i in {1..100000}; do mkdir $i; done`},
	} {
		t.Run(c.name, func(t *testing.T) {
			memory := fair.NewMemory(16 << 20)
			account := memory.Open("")
			_, err := Run(t.Context(), backends.Command{Script: c.script, Timeout: time.Minute}, Options{Files: chargedFiles(t, account), Dir: "/work", Memory: account})
			if backends.CodeOf(err) != backends.CodeTooLarge || !strings.Contains(err.Error(), "try again when other commands have ended") {
				t.Errorf("it ended with %v", err)
			}
			account.Close()
			if memory.Used() != 0 {
				t.Errorf("%d bytes are left", memory.Used())
			}
		})
	}
}

func TestMemoryComesBackWithTheScriptsEnd(t *testing.T) {
	for _, c := range []struct{ name, script string }{
		{"a script", `x=$(seq 10000); f() { local y=$x; echo "$y" | sort | tail -n 1; }; f; cat <<< "$x" > /dev/null`},
		{"jobs and stages", `for i in {1..20}; do (seq 1000 | sort -r | head -n 1) & done; wait`},
		{"an exit in the middle", `x=$(seq 10000); yes | { read -r a; exit 3; }; exec 3<<< "$x"; exit 1`},
		{"a signal", `x=$(seq 10000); sleep 10 & kill -9 $$; sleep 10`},
		{"one that is cancelled", `x=$(seq 10000); cat <<< "$x" | tee >(sort) > /dev/null; yes | sort | awk '{ a[NR] = $0 }' & while :; do x=$x.; done`},
		{"a command that is cancelled", `yes | awk '{ a[NR] = $0 }' | sed 'H;$!d' | jq -R .`},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			account := fair.NewMemory(1 << 30).Open("a")
			defer account.Close()
			_, err := Run(ctx, backends.Command{Script: c.script}, Options{Files: newFiles(t, "/work"), Dir: "/work", Memory: account})
			if err != nil && backends.CodeOf(err) != backends.CodeCancelled {
				t.Error(err)
			}
			if account.Used() != 0 {
				t.Errorf("%d bytes are still taken", account.Used())
			}
		})
	}
}

func TestFilesGiveTheirMemoryBack(t *testing.T) {
	account := fair.NewMemory(1 << 30).Open("a")
	defer account.Close()
	files := chargedFiles(t, account)
	before := account.Used()
	_, err := Run(t.Context(), backends.Command{Script: `
		head -c 1M </dev/zero > a; cp a b; ln b c; mv a d; : > d; truncate -s 100 b; cat b b >> b2; mkdir -p e/f; printf x > e/f/g
		exec 3<> b; rm -r *; echo more >&3`}, Options{Files: files, Dir: "/work", Memory: account})
	if err != nil {
		t.Fatal(err)
	}
	if account.Used() != before {
		t.Errorf("%d bytes are taken, and there is no file; at first %d were", account.Used(), before)
	}
}

// busy are scripts that compute without end, each in a loop of another kind.
var busy = []struct{ name, script string }{
	{"the shell", `while :; do :; done`},
	{"arithmetic", `for ((;;)); do ((i++)); done`},
	{"substitutions", `while :; do x=$(echo a); done`},
	{"pipelines", `while :; do echo a | cat; done > /dev/null`},
	{"jobs", `while :; do { : & } ; wait; done`},
	{"awk", `awk 'BEGIN { while (1); }'`},
	{"jq", `jq -n '[range(1e9)] | length'`},
	{"jq without memory", `jq -n 'def f: f; f'`},
	{"sed", `echo a | sed ':a; s/a/b/; s/b/a/; ba'`},
	{"sort", `while :; do seq 20000 | sort -R; done > /dev/null`},
	{"grep", `yes aaaaaaaaaaaaaaaaaaaaaaaaab | grep -E '(a*)*c'`},
	{"a back-reference", `printf '%0999d\n' 0 | grep -E '(0+)(0+)(0+)\1\2\3x'`},
	{"bc", `echo 'while (1) { x = x + 1 }' | bc`},
	{"yes", `yes > /dev/null`},
	{"tr", `yes | tr y n > /dev/null`},
	{"sha256sum", `yes | sha256sum`},
}

func TestBusyScriptsTakeTurns(t *testing.T) {
	for _, c := range busy {
		t.Run(c.name, func(t *testing.T) {
			turns := fair.NewTurns(1)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			ended := make(chan error, 2)
			for range 2 {
				go func() {
					_, err := Run(ctx, backends.Command{Script: c.script}, Options{Files: newFiles(t, "/work"), Dir: "/work", Turns: turns, Owner: "a"})
					ended <- err
				}()
			}
			seen := 0
			for look := time.NewTicker(time.Millisecond); seen < 20; {
				select {
				case err := <-ended:
					t.Fatalf("it has not computed for long: %v", err)
				case <-look.C:
				}
				if computing, waiting := turns.Busy(); computing == 1 && waiting > 0 {
					seen++
				}
			}
			cancel()
			begun := time.Now()
			for range 2 {
				if err := <-ended; backends.CodeOf(err) != backends.CodeCancelled {
					t.Error(err)
				}
			}
			if took := time.Since(begun); took > stuck {
				t.Errorf("they ended after %v", took)
			}
			if computing, waiting := turns.Busy(); computing+waiting != 0 {
				t.Errorf("left: %d have a turn, %d wait", computing, waiting)
			}
		})
	}
}

func TestScriptsWhosePartsWaitForEachOtherGoOn(t *testing.T) {
	turns := fair.NewTurns(1)
	flooding, cancel := context.WithCancel(t.Context())
	var flood sync.WaitGroup
	defer flood.Wait()
	defer cancel()
	for _, c := range busy[:4] {
		flood.Go(func() {
			_, err := Run(flooding, backends.Command{Script: c.script}, Options{Files: newFiles(t, "/work"), Dir: "/work", Turns: turns, Owner: "flood"})
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
	var out strings.Builder
	_, err := Run(t.Context(), backends.Command{Timeout: time.Minute, Output: func(_ backends.Stream, b []byte) { out.Write(b) }, Script: `
		sleep 0.02
		seq 1 20000 | sort -n | tee f | awk '{ s += $1 } END { print s }'
		diff <(sort -n f) f && echo same
		for i in 1 2 3 4; do (seq 1 500 | while read -r n; do ((n == 500)) && echo $i; done) & done | sort; wait
		x=$(seq 1 300 | xargs -n 10 | while read -r line; do set -- $line; echo $(($1 + $#)); done | tail -n 1); echo $x
		yes | head -n 3 | wc -l
		timeout 0.2 awk 'BEGIN { while (1); }'; echo $?
		`}, Options{Files: newFiles(t, "/work"), Dir: "/work", Turns: turns, Owner: "quiet"})
	if err != nil {
		t.Fatal(err)
	}
	if want := "200010000\nsame\n1\n2\n3\n4\n301\n3\n124\n"; out.String() != want {
		t.Errorf("it printed %q, not %q", out.String(), want)
	}
}
