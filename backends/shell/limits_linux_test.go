package shell

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/shell/vfs"
)

// verdict is what a child process tells of a script that it ran.
type verdict struct {
	Code      backends.Code // of the error, "" for none
	Message   string
	Exit      int
	Out       string
	Took      time.Duration
	Tasks     int           // goroutines that are left
	CPU       time.Duration // used in the 300 ms after the script's end
	OpenFiles int
}

// limitedEnv makes a test binary a child that runs the script in that file.
const limitedEnv = "MCP_WORKSPACE_TEST_SCRIPT"

// testLimits are small, so that a script that gets past them shows.
var testLimits = Limits{Memory: 64 << 20, Steps: 3_000_000, Tasks: 64, Depth: 200}

func init() {
	children[limitedEnv] = func(file string) {
		script, err := os.ReadFile(file)
		if err == nil {
			err = json.NewEncoder(os.Stdout).Encode(runLimited(string(script)))
		}
		if err != nil {
			panic(err)
		}
	}
}

func runLimited(script string) (v verdict) {
	files := vfs.New(vfs.Options{Limits: vfs.Limits{TotalBytes: 64 << 20, FileBytes: 32 << 20, Entries: 10_000, OpenFiles: 64}})
	if err := files.Mkdir("/work", 0o755); err != nil {
		return verdict{Message: err.Error()}
	}
	before := runtime.NumGoroutine()
	begun := time.Now()
	exit, err := Run(context.Background(), backends.Command{Script: script, Timeout: 15 * time.Second, MaxOutput: 1 << 20,
		Output: func(_ backends.Stream, b []byte) {
			if len(v.Out) < 10_000 {
				v.Out += string(b)
			}
		}}, Options{Files: files, Dir: "/work", Limits: testLimits})
	v.Took = time.Since(begun)
	v.Code, v.Exit = backends.CodeOf(err), exit.Code
	if err != nil {
		v.Message = err.Error()
	}
	cpu := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			return 0
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	runtime.GC()
	was := cpu()
	time.Sleep(300 * time.Millisecond) // what is measured: nothing may happen now
	v.CPU = cpu() - was
	v.Tasks = runtime.NumGoroutine() - before
	_, _, v.OpenFiles = files.Used()
	return v
}

// TestLimits runs scripts that want too much, each in a process of its own
// whose memory is measured.
func TestLimits(t *testing.T) {
	if underRace {
		t.Skip("what is measured is not what the race detector leaves of it")
	}
	deep := func(open, middle, end string, n int) string {
		return strings.Repeat(open, n) + middle + strings.Repeat(end, n)
	}
	const any = "any"
	for _, c := range []struct {
		name, script string
		code         backends.Code // any: however it ends
		says         string
	}{
		{"a variable that doubles", `x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done`, backends.CodeTooLarge, "memory"},
		{"a variable that doubles in a list without commands", `x=aaaaaaaaaaaaaaaa; for i in 1 2 3 4 5 6 7 8 9 10 1 2 3 4 5 6 7 8 9 10 1 2 3 4 5 6 7 8 9 10; do x=$x$x; done`, backends.CodeTooLarge, "memory"},
		{"many large variables in one word", `x=aaaaaaaaaaaaaaaa; for i in 1 2 3 4 5 6 7 8 9 10 1 2 3 4 5 6; do x=$x$x; done; y="` + strings.Repeat("$x", 5000) + `"`, backends.CodeTooLarge, "memory"},
		{"many large variables as arguments", `x=aaaaaaaaaaaaaaaa; for i in 1 2 3 4 5 6 7 8 9 10 1 2 3 4 5 6; do x=$x$x; done; : ` + strings.Repeat(`"$x" `, 5000), backends.CodeTooLarge, "memory"},
		{"a replacement that grows", `x=aaaaaaaaaaaaaaaa; while :; do x=${x//a/aaaaaaaa}; done`, backends.CodeTooLarge, "memory"},
		{"a replacement by pattern that grows", `x=aaaaaaaaaaaaaaaa; while :; do x=${x//[a]/aaaaaaaa}; done`, backends.CodeTooLarge, "memory"},
		{"a sequence of braces", `echo {1..100000000}`, backends.CodeTooLarge, ""},
		{"a product of braces", `echo ` + strings.Repeat("{a,b}", 40), backends.CodeTooLarge, ""},
		{"a wide printf", `printf '%1000000000d' 1`, any, ""},
		{"a precise printf", `printf '%.1000000000f' 1; printf '%*d' 2000000000 1`, any, ""},
		{"printf into a variable", `while :; do printf -v x '%s%s' "$x" "aaaaaaaaaaaaaaaa$x"; done`, backends.CodeTooLarge, "memory"},
		{"a substitution without end", `x=$(yes)`, backends.CodeTooLarge, "memory"},
		{"an array without end", `a=(); while :; do a+=("${a[@]}" x x x x); done`, backends.CodeTooLarge, ""},
		{"an array with a high index", `a[99999999999]=1; a[1000000000000000000]=2; echo ${#a[@]}`, any, ""},
		{"an associative array without end", `declare -A m; i=0; while :; do m[$i]=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; i=$((i+1)); done`, backends.CodeTooLarge, ""},
		{"a function that calls itself", `f() { f; }; f`, backends.CodeTooLarge, "deep"},
		{"a function that calls itself twice", `f() { f | f; }; f`, backends.CodeTooLarge, ""},
		{"a fork bomb", `:(){ :|:& };:`, any, ""},
		{"a fork bomb of jobs", `f() { f & f & sleep 1; }; f; wait`, backends.CodeTooLarge, ""},
		{"jobs without end", `while :; do sleep 100 & done`, backends.CodeTooLarge, "jobs"},
		{"a loop without end", `while :; do :; done`, backends.CodeTooLarge, "commands"},
		{"a loop without end in a job", `while :; do :; done & wait`, backends.CodeTooLarge, "commands"},
		{"eval that calls itself", `x='eval "$x"'; eval "$x"`, backends.CodeTooLarge, "deep"},
		{"a file that sources itself", `echo '. ./s' >s; . ./s`, backends.CodeTooLarge, "deep"},
		{"a script that runs itself", `printf '#!/bin/sh\n./s\n' >s; chmod +x s; ./s`, backends.CodeTooLarge, "deep"},
		{"a shell that runs itself", `sh -c 'sh -c "$0" "$0"' 'sh -c "$0" "$0"'`, backends.CodeTooLarge, "deep"},
		{"substitutions in each other", deep("$(", "echo x", ")", 900), any, ""},
		{"brackets in each other", "echo $((" + deep("(", "1", ")", 300_000) + "))", any, "deep"},
		{"subshells in each other", deep("(", "echo x", ")", 300_000), any, "deep"},
		{"conditions in each other", strings.Repeat("if ", 300_000), any, "deep"},
		{"negations in each other", "echo $((" + strings.Repeat("!", 900_000) + "1))", any, ""},
		{"tildes in each other", "echo $((" + strings.Repeat("~", 40_000) + "1))", any, ""},
		{"arithmetic that refers to itself", `a=b; b=a; echo $((a))`, backends.CodeTooLarge, "deep"},
		{"arithmetic that is a long sum", "echo $((" + strings.Repeat("1+", 200_000) + "1))", any, ""},
		{"a long list of commands", strings.Repeat("true&&", 200_000) + "true", any, ""},
		{"a long pipeline", strings.Repeat("cat|", 5_000) + "cat", backends.CodeTooLarge, ""},
		{"a script that is too long", "# " + strings.Repeat("x", 3<<20), any, "bytes"},
		{"a reference to itself", `declare -n r=r; r=1; echo $r`, any, ""},
		{"output without end", `yes`, backends.CodeTooLarge, "printed"},
		{"output without end in the background", `yes & wait`, backends.CodeTooLarge, "printed"},
		{"yes to a reader that ends", `yes | head -n 2`, "", ""},
		{"a file without end", `yes >f; echo "code $?"`, "", "code 1"},
		{"a file that is appended to itself", `echo x >f; while cat f f f f >g && mv g f; do :; done; echo "code $?"`, "", "code 0"},
		{"files without end", `i=0; while : >f$i; do i=$((i+1)); done; echo "made $i"`, "", "made"},
		{"directories without end", `while mkdir d && cd d; do :; done; echo end`, "", "end"},
		{"open files without end", `i=10; while eval "exec $i>f$i"; do i=$((i+1)); done`, "", "Too many open files"},
		{"links that multiply", `ln -s . l; p=.; for i in 1 2 3 4 5 6 7 8 9 10; do p=$p/$p/l; done; ls $p; echo "code $?"`, any, ""},
		{"globs that multiply", `mkdir a b c d e f g h; p='*'; for i in 1 2 3 4 5 6 7 8; do p="$p/../*"; done; echo $p | wc -c`, backends.CodeTooLarge, ""},
		{"a here-document that grows", `x=aaaaaaaaaaaaaaaa; while :; do x=$(cat <<<"$x$x"); done`, backends.CodeTooLarge, "memory"},
		{"a line without end", `yes | tr -d '\n' | while read -r x; do :; done`, any, ""},
		{"read -a of much", `yes | head -c 60000000 | tr '\n' ' ' | { read -a x; echo ${#x[@]}; }`, any, ""},
		{"mapfile without end", `yes | mapfile x`, backends.CodeTooLarge, ""},
		{"positional parameters without end", `set -- x; while :; do set -- "$@" "$@"; done`, backends.CodeTooLarge, ""},
		{"aliases and functions without end", `i=0; while :; do eval "f$i() { echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; }; alias a$i=yyyyyyyyyyyyyyyyyyyyyyy"; i=$((i+1)); done`, backends.CodeTooLarge, ""},
		{"a trap that sets itself off", `trap 'trap "false" ERR; false' ERR; false; trap 'kill -USR1 $$' USR1; kill -USR1 $$; echo fine`, "", "fine"},
		{"sleep beyond the limit", `timeout 1 sleep 1000; echo "code $?"`, "", "code 124"},
		{"process substitutions without end", `while :; do cat <(yes) >/dev/null & done`, backends.CodeTooLarge, ""},
		{"a pattern of death", `x=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; [[ $x == *a*a*a*a*a*a*a*a*a*a*a*a*a*b ]]; [[ $x =~ ^(a+)+(a+)+b$ ]]; shopt -s extglob; [[ $x == +(+(+(a)))b ]]; echo fine`, "", "fine"},
		{"negated patterns in each other", `x=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; [[ $x == !(!(!(a)b)b)!(a)!(b)!(c)!(d)!(e)b ]]; echo fine`, any, ""},
		{"xargs that runs itself", `echo x | xargs sh -c 'echo x | xargs sh -c "$0" "$0"' 'echo x | xargs sh -c "$0" "$0"'`, any, ""},
		{"find that runs find", `touch f; find f -exec sh -c 'find f -exec sh -c "$0" "$0" \;' 'find f -exec sh -c "$0" "$0" \;' \;`, any, ""},
		{"sort of much", `yes | head -c 50000000 | sort | tail -1`, any, ""},
		{"tac of input without end", `yes | tac | head -1`, any, ""},
		{"seq without end", `seq 1 inf >/dev/null`, any, ""},
		{"truncate to much", `truncate -s 100T f; echo "code $?"; dd if=/dev/null of=f bs=1 seek=100T; echo "code $?"`, "", "code 1"},
		{"subshells in each other that comments hide", strings.Repeat("(#)\n", 100_000), any, "deep"},
		{"functions in each other", strings.Repeat("f()", 100_000) + "true", any, "deep"},
		{"assignments in each other", "echo $((" + strings.Repeat("a=\n", 150_000) + "1))", any, "deep"},
		{"a condition of many lines", "[[ " + strings.Repeat("a &&\n", 80_000) + "a ]]", any, "deep"},
		{"a sum of many lines", "echo $((" + strings.Repeat("1+\n", 150_000) + "1))", any, "operators"},
		{"references in a circle", `declare -n a=b b=c c=a; echo "<$a>"; a=1; unset a; echo "<${b[1]}>"`, any, ""},
		{"here-documents that stay open", `x=aaaaaaaaaaaaaaaa; for i in 1 2 3 4 5 6 7 8 9 10 1 2 3 4 5 6; do x=$x$x; done; while exec {fd}<<<"$x"; do :; done`, backends.CodeTooLarge, "memory"},
		{"descriptors without end", `while exec {fd}<<<x; do :; done; echo $fd`, "", "Too many open files"},
		{"jobs with long texts", "for i in {1..900}; do { : '" + strings.Repeat("x", 1_900_000) + "'; } & ((i % 20)) || sleep 0.02; done; wait; echo fine", "", "fine"},
		{"jobs of subshells", `for i in {1..20000}; do (: & wait); done; echo fine`, "", "fine"},
		{"a function that is defined again and again", `for i in {1..50000}; do f() { echo fine; }; done; f`, "", "fine"},
		{"files that are sourced in each other, each with a large tree", `yes 'a b' | head -c 1900000 | tr '\n' ' ' >body; { printf 'if false; then '; cat body; echo '; fi; . ./s'; } >s; . ./s`, backends.CodeTooLarge, "memory"},
		{"jobs that each have a large tree", `yes 'a b' | head -c 1900000 | tr '\n' ' ' >body; { printf 'if false; then '; cat body; echo '; fi; sleep 1'; } >s; for i in {1..40}; do . ./s & done; wait`, backends.CodeTooLarge, "memory"},
		{"a long IFS", `x=$(yes a | head -c 4000000 | tr -d '\n'); IFS=$(yes b | head -c 4000000 | tr -d '\n'); for i in $x; do :; done; echo fine`, "", "fine"},
		{"regular expressions that are large", `x=$(yes '(.{1000})' | head -n 300 | tr -d '\n'); for i in {1..30}; do [[ abc =~ $i$x ]] & done; wait; echo fine`, any, ""},
		{"a large regular expression in a large text", `x=$(yes '(a?){100}' | head -n 50 | tr -d '\n'); y=$(yes a | tr -d '\n' | head -c 4000000); timeout 1 bash -c '[[ $1 =~ ^$2$3b$ ]]' - "$y" "$x" "$x"; echo "code $?"`, any, ""},
		{"a negated pattern in a large text", `x=$(yes ab | head -c 60000 | tr -d '\n'); [[ $x == *a!(b*)c ]]; echo fine`, any, ""},
		{"a pattern for each of many characters", `y=$(yes a | tr -d '\n' | head -c 9000000); timeout 1 bash -c 'z=${1^^[a]}' - "$y"; echo fine`, any, ""},
		{"expressions of find that are large", `x=$(yes '(.{1000})' | head -n 30 | tr -d '\n'); for i in {1..20}; do find . -regextype posix-extended -regex "$x" & done; wait; echo fine`, any, ""},
		{"texts of symlinks without end", `t=$(printf '%04000d' 0); i=0; while ln -s $t l$i 2>/dev/null; do i=$((i+1)); done; echo "made $((i > 8000))"`, "", "made 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v, peak := runChild(t, c.script)
			if c.code != any && v.Code != c.code {
				t.Errorf("it ended with %q (%s), want %q; exit code %d, output %.300q", v.Code, v.Message, c.code, v.Exit, v.Out)
			}
			if v.Code == backends.CodeInternal {
				t.Errorf("a defect: %s", v.Message)
			}
			if c.says != "" && !strings.Contains(v.Message+v.Out, c.says) {
				t.Errorf("it says %q and %.300q, want %q", v.Message, v.Out, c.says)
			}
			if peak > 420<<20 {
				t.Errorf("its process took %d MiB", peak>>20)
			}
			if v.Took > 17*time.Second {
				t.Errorf("it took %s", v.Took)
			}
			if v.Tasks > 0 || v.CPU > 100*time.Millisecond || v.OpenFiles > 0 {
				t.Errorf("after its end %d goroutines, %d open files and %s of CPU are left", v.Tasks, v.OpenFiles, v.CPU)
			}
		})
	}
}

// runChild runs a script in a process of its own, and returns the most memory
// that it took.
func runChild(t *testing.T, script string) (v verdict, peak int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	// An argument or variable has 128 KiB at most: long scripts come by a file.
	file := t.TempDir() + "/script"
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd.Env = []string{limitedEnv + "=" + file, "GOMAXPROCS=2"}
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the process ended: %v\n%.3000s", err, errs.String())
	}
	if err := json.Unmarshal(out, &v); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return v, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
}
