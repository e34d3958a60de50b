package state

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// sharing sets how often a running script shares what it has written.
func sharing(t *testing.T, every time.Duration) {
	before := shareEvery
	shareEvery = every
	t.Cleanup(func() { shareEvery = before })
}

func newWorkspace(t *testing.T, cfg Config) *Workspace {
	t.Helper()
	ws, err := open(t, cfg).Create(t.Context(), backends.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return ws.(*Workspace)
}

func writeTo(t *testing.T, ws backends.Workspace, name, content string) {
	t.Helper()
	if _, err := ws.Write(t.Context(), backends.WriteRequest{Path: name, Content: strings.NewReader(content)}); err != nil {
		t.Fatal(err)
	}
}

// contentOf is that of a file, or why it cannot be read.
func contentOf(t *testing.T, ws backends.Workspace, name string) string {
	t.Helper()
	r, _, err := ws.Open(t.Context(), name)
	if err != nil {
		return string(backends.CodeOf(err))
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// running is a script that waits for a line on its input once it has printed
// something.
type running struct {
	input *io.PipeWriter
	said  <-chan string // its first output
	ended <-chan error
	out   *strings.Builder // once it has ended
}

func start(ctx context.Context, t *testing.T, ws backends.Workspace, cmd backends.Command) running {
	t.Helper()
	r, w := io.Pipe()
	said, ended := make(chan string, 1), make(chan error, 1)
	var out strings.Builder
	var once sync.Once
	cmd.Stdin = r
	cmd.Output = func(_ backends.Stream, b []byte) {
		out.Write(b)
		once.Do(func() { said <- string(b) })
	}
	go func() {
		_, err := ws.Run(ctx, cmd)
		ended <- err
	}()
	t.Cleanup(func() { w.Close() })
	return running{w, said, ended, &out}
}

// eventually waits until what is asked for is there.
func eventually(t *testing.T, what string, there func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !there(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not come", what)
		}
	}
}

func TestARunningScriptAndOthersSeeEachOther(t *testing.T) {
	eachStore(t, func(t *testing.T, store string) {
		sharing(t, 20*time.Millisecond)
		ws := newWorkspace(t, Config{Store: store})
		run := start(t.Context(), t, ws, backends.Command{Script: `echo mine >a; echo started; until [ -e b ]; do sleep 0.01; done; cat b; echo more >>a`})
		<-run.said
		eventually(t, "what the script wrote", func() bool { return contentOf(t, ws, "a") == "mine\n" })
		writeTo(t, ws, "b", "theirs\n")
		if err := <-run.ended; err != nil || run.out.String() != "started\ntheirs\n" {
			t.Errorf("%q, %v", run.out, err)
		}
		if got := contentOf(t, ws, "a"); got != "mine\nmore\n" {
			t.Errorf("a holds %q", got)
		}
	})
}

func TestAConflictIsStaleAndLosesNothing(t *testing.T) {
	sharing(t, time.Hour)
	ws := newWorkspace(t, Config{})
	writeTo(t, ws, "f", "old\n")
	run := start(t.Context(), t, ws, backends.Command{Script: `echo started; read x; echo mine >f; echo other >g; exit 3`})
	<-run.said
	writeTo(t, ws, "f", "theirs\n")
	if _, err := io.WriteString(run.input, "go\n"); err != nil {
		t.Fatal(err)
	}
	err := <-run.ended
	if backends.CodeOf(err) != backends.CodeStale || !strings.Contains(err.Error(), "/workspace/f.conflict-") || !strings.Contains(err.Error(), "exit code 3") {
		t.Fatalf("%v, want stale, where the script's version is, and how it ended", err)
	}
	if f, g := contentOf(t, ws, "f"), contentOf(t, ws, "g"); f != "theirs\n" || g != "other\n" {
		t.Errorf("f holds %q and g %q", f, g)
	}
	found, err := ws.Glob(t.Context(), backends.GlobRequest{Pattern: "f.conflict-*"})
	if err != nil || len(found.Paths) != 1 || contentOf(t, ws, found.Paths[0]) != "mine\n" {
		t.Errorf("the script's version is not there: %v, %v", found.Paths, err)
	}
}

func TestCallsThatAppendToOneFileAllKeepTheirLines(t *testing.T) {
	for name, each := range map[string]time.Duration{"at the end": time.Hour, "while they run": time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			sharing(t, each)
			ws := newWorkspace(t, Config{})
			var runs []running
			for i := range 20 {
				// The file is there for some of them, and not yet for others.
				runs = append(runs, start(t.Context(), t, ws, backends.Command{Script: fmt.Sprintf(
					`echo started; read x; for n in 1 2 3; do echo %d-$n >>log; sleep 0.01; done; echo %d | tee -a log`, i, i)}))
			}
			for _, run := range runs {
				<-run.said
			}
			for _, run := range runs {
				if _, err := io.WriteString(run.input, "go\n"); err != nil {
					t.Fatal(err)
				}
			}
			var want []string
			for i, run := range runs {
				if err := <-run.ended; err != nil {
					t.Error(err)
				}
				want = append(want, fmt.Sprintf("%d-1", i), fmt.Sprintf("%d-2", i), fmt.Sprintf("%d-3", i), fmt.Sprint(i))
			}
			got := strings.Fields(contentOf(t, ws, "log"))
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("log holds %q, want %q", got, want)
			}
			if found, err := ws.Glob(t.Context(), backends.GlobRequest{Pattern: "log.*"}); err != nil || len(found.Paths) != 0 {
				t.Errorf("there are %v, %v", found.Paths, err)
			}
		})
	}
}

func TestAConflictWhileItRunsStopsTheScript(t *testing.T) {
	sharing(t, 10*time.Millisecond)
	ws := newWorkspace(t, Config{})
	writeTo(t, ws, "f", "old\n")
	// The script writes without end, and so does another: one of them is first.
	run := start(t.Context(), t, ws, backends.Command{Script: `echo started; i=0; while :; do i=$((i+1)); echo $i >f; done`})
	<-run.said
	var err error
	for i := 0; err == nil; i++ {
		writeTo(t, ws, "f", strings.Repeat("theirs ", i%50))
		select {
		case err = <-run.ended:
		default:
		}
	}
	if backends.CodeOf(err) != backends.CodeStale {
		t.Errorf("%v, want stale", err)
	}
}

func TestWhatAStoppedScriptHasWrittenIsKept(t *testing.T) {
	sharing(t, time.Hour)
	ws := newWorkspace(t, Config{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	run := start(ctx, t, ws, backends.Command{Script: `echo one >a; echo started; sleep 1000`})
	<-run.said
	cancel()
	if err := <-run.ended; backends.CodeOf(err) != backends.CodeCancelled {
		t.Errorf("%v, want cancelled", err)
	}
	_, err := ws.Run(t.Context(), backends.Command{Script: `echo two >b; sleep 1000`, Timeout: 50 * time.Millisecond})
	if backends.CodeOf(err) != backends.CodeTimeout {
		t.Errorf("%v, want timeout", err)
	}
	if a, b := contentOf(t, ws, "a"), contentOf(t, ws, "b"); a != "one\n" || b != "two\n" {
		t.Errorf("a holds %q and b %q", a, b)
	}
}

func TestScriptsOfManyConnectionsAtOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, store string) {
		sharing(t, 5*time.Millisecond)
		ws := newWorkspace(t, Config{Store: store})
		var wg sync.WaitGroup
		for _, name := range []string{"a", "b", "c", "d"} {
			wg.Go(func() {
				_, err := ws.Run(t.Context(), backends.Command{Argv: []string{"sh", "-c", `mkdir $1; for i in 1 2 3 4 5 6 7 8 9 10; do echo $i >>$1/f; sleep 0.005; done`, "sh", name}})
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for _, name := range []string{"a", "b", "c", "d"} {
			if got := contentOf(t, ws, name+"/f"); got != "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n" {
				t.Errorf("%s/f holds %q", name, got)
			}
		}
	})
}

func TestAccessIsAskedForAndRefuses(t *testing.T) {
	ws := newWorkspace(t, Config{})
	writeTo(t, ws, "secret/key", "s3cret\n")
	writeTo(t, ws, "open", "fine\n")
	var mu sync.Mutex
	var asked []string
	var out strings.Builder
	exit, err := ws.Run(t.Context(), backends.Command{
		Script: `ln -s secret/key l; cat open l secret/../secret/key; cat <l; echo x >secret/new; cp open copy; rm secret/key; mv secret/key k; sort -o secret/s open; grep -r s3 . ; read x <secret/key; echo "<$x>"`,
		Output: func(_ backends.Stream, b []byte) { out.Write(b) },
		Access: func(op, path string) error {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, op+" "+path)
			if strings.HasPrefix(path, "/workspace/secret/") {
				return backends.Errorf(backends.CodePermission, op, path, "kept from agents")
			}
			return nil
		},
	})
	if err != nil || exit.Code != 0 {
		t.Fatalf("%+v, %v", exit, err)
	}
	if strings.Contains(out.String(), "s3cret") {
		t.Errorf("a script has read what it may not:\n%s", &out)
	}
	if !strings.Contains(out.String(), "fine\n") || !strings.Contains(out.String(), "kept from agents") {
		t.Errorf("it printed %q", &out)
	}
	for _, want := range []string{"read /workspace/open", "read /workspace/l", "read /workspace/secret/key", "write /workspace/secret/new", "write /workspace/copy", "write /workspace/secret/key"} {
		if !slices.Contains(asked, want) {
			t.Errorf("it was not asked for %q; it was for %q", want, asked)
		}
	}
	if got := contentOf(t, ws, "secret/key"); got != "s3cret\n" {
		t.Errorf("the file holds %q", got)
	}
}

func TestADocumentThatIsFullStaysWell(t *testing.T) {
	ws := newWorkspace(t, Config{MaxBytes: 10_000})
	var out strings.Builder
	exit, err := ws.Run(t.Context(), backends.Command{Script: `yes | head -c 20000 >f; echo "code $?"; wc -c <f; rm f; echo fine >g`, Output: func(_ backends.Stream, b []byte) { out.Write(b) }})
	if err != nil || exit.Code != 0 || !strings.Contains(out.String(), "No space left on device") || !strings.Contains(out.String(), "10000\n") {
		t.Errorf("%+v, %v: %s", exit, err, &out)
	}
	if got := contentOf(t, ws, "g"); got != "fine\n" {
		t.Errorf("g holds %q", got)
	}
}

func TestRunOfAClosedConnection(t *testing.T) {
	ws := newWorkspace(t, Config{})
	if err := ws.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := ws.Run(t.Context(), backends.Command{Script: "true"}); backends.CodeOf(err) != backends.CodeUnavailable {
		t.Errorf("%v, want unavailable", err)
	}
}

func TestInputThatFailsStopsTheScript(t *testing.T) {
	ws := newWorkspace(t, Config{})
	broken := errors.New("the line is dead")
	_, err := ws.Run(t.Context(), backends.Command{Script: "cat; echo not reached; sleep 1000", Stdin: io.MultiReader(strings.NewReader("a"), failing{broken})})
	if backends.CodeOf(err) != backends.CodeInternal || !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
