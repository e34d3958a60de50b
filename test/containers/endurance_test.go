package containers

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends/docker"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// wanted is how many calls the long test makes on each engine:
//
//	go test ./test/containers -run TestADaysWork -calls 20000 -timeout 1h
var wanted = flag.Int("calls", 0, "calls of TestADaysWork on each engine; 0 means as many as fit a minute, with -short 10 s")

// workers call at the same time.
const workers = 6

// day is a workspace that is worked in while things go wrong.
type day struct {
	engine *engines.Engine // reached through the relay
	relay  *relay
	name   string

	mu     sync.Mutex
	server *server

	calls, failed, lost atomic.Int64
	codes               sync.Map // code → *atomic.Int64

	faults map[string]func() error // by name
	broke  map[string]int          // how often each took effect; under mu
}

// TestADaysWork is a day of use in a minute: calls of all kinds, while the
// agent, the container, the connection and the server are ended, paused and cut
// every second or so. Every call has an answer, every failure a code, what was
// confirmed is there, and nothing is left over.
func TestADaysWork(t *testing.T) {
	onBoth(t, func(t *testing.T, e *engines.Engine) {
		d := &day{name: named(t, e), relay: relayTo(t, e), broke: map[string]int{}}
		through := *e
		through.Host = d.relay.host
		d.engine = &through
		d.begin(t)
		d.server.must(t, "ls", nil) // makes the container
		d.faults = d.possible(t, e)
		done := make(chan struct{})
		var faults, work sync.WaitGroup
		faults.Go(func() { d.breakThings(t, done) })
		enough := d.enough(t)
		for i := range workers {
			work.Go(func() { newWorker(d, i).work(t, enough) })
		}
		work.Wait()
		close(done)
		faults.Wait()
		d.report(t)
		d.nothingIsLeft(t, e)
	})
}

// enough tells whether the calls have been made that were asked for, or the time
// is over and every fault has been met; a day without one of them fails.
func (d *day) enough(t *testing.T) func() bool {
	if n := *wanted; n > 0 {
		return func() bool { return d.calls.Load() >= int64(n) }
	}
	long := time.Minute
	if testing.Short() {
		long = 10 * time.Second
	}
	until := time.Now().Add(long)
	latest := until.Add(2 * time.Minute) // of a machine with much else to do
	return func() bool {
		now := time.Now()
		return now.After(latest) || t.Context().Err() != nil || now.After(until) && len(d.missed()) == 0
	}
}

// missed are the faults that have not taken effect yet.
func (d *day) missed() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(d.faults)), func(name string) bool { return d.broke[name] > 0 })
}

// begin starts a server in place of the one there is.
func (d *day) begin(t *testing.T) {
	t.Helper()
	s := start(t, d.engine, "--name="+d.name, "--network=none", "--log-level=error")
	d.mu.Lock()
	d.server = s
	d.mu.Unlock()
}

func (d *day) current() *server {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.server
}

// call makes a call as a client that wants an answer. A call whose server was
// killed by the test may have none, and then ok is false.
func (d *day) call(t *testing.T, tool string, a args) (got answer, ok bool) {
	s := d.current()
	begun := time.Now()
	got, err := s.try(context.WithoutCancel(t.Context()), tool, a)
	d.calls.Add(1)
	switch {
	case err != nil && d.current() != s:
		d.lost.Add(1)
		return got, false
	case err != nil:
		t.Errorf("%s %v had no answer: %v; the server said: %s", tool, a, err, s.said)
		return got, false
	case time.Since(begun) > 45*time.Second:
		t.Errorf("%s %v was answered after %v: %+v", tool, a, time.Since(begun), got)
	}
	if got.failed && got.code != "" {
		d.failed.Add(1)
		n, _ := d.codes.LoadOrStore(got.code, &atomic.Int64{})
		n.(*atomic.Int64).Add(1)
	}
	return got, true
}

// cancelled makes a call that is given up, which has no answer.
func (d *day) cancelled(t *testing.T, tool string, a args) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Duration(rand.IntN(20))*time.Millisecond)
	defer cancel()
	_, _ = d.current().try(ctx, tool, a) // an answer may have been faster
	d.calls.Add(1)
}

// errUnbroken tells that a fault met nothing that it could break.
var errUnbroken = errors.New("there was nothing to break")

// breakThings injects a fault every second or so until done.
func (d *day) breakThings(t *testing.T, done <-chan struct{}) {
	names := slices.Sorted(maps.Keys(d.faults))
	for i := 0; ; i++ {
		select {
		case <-done:
			return
		case <-time.After(time.Duration(500+rand.IntN(1000)) * time.Millisecond):
		}
		name := names[i%len(names)]
		switch err := d.faults[name](); {
		case err == nil:
			d.mu.Lock()
			d.broke[name]++
			d.mu.Unlock()
		case errors.Is(err, errUnbroken):
		default:
			t.Errorf("%s: %v", name, err)
		}
	}
}

// leastCalls of a day, on a machine with much else to do.
const leastCalls = 100

// report says what has happened, and that it was both work and faults.
func (d *day) report(t *testing.T) {
	codes := map[string]int64{}
	d.codes.Range(func(code, n any) bool {
		codes[code.(string)] = n.(*atomic.Int64).Load()
		return true
	})
	calls, failed, lost := d.calls.Load(), d.failed.Load(), d.lost.Load()
	t.Logf("%d calls, of which %d failed (%v), and %d were lost with their server; faults: %v", calls, failed, codes, lost, d.broke)
	if calls < leastCalls || failed+lost > calls/2 {
		t.Errorf("only %d of %d calls succeeded", calls-failed-lost, calls)
	}
	if missed := d.missed(); len(missed) > 0 {
		t.Errorf("nothing was ever broken by: %v", missed)
	}
}

// nothingIsLeft looks at what the day has left in the server, the container and
// the engine.
func (d *day) nothingIsLeft(t *testing.T, e *engines.Engine) {
	s := d.current()
	eventually(t, "the workspace works", func() bool { return s.call(t, "execute", args{"command": "echo works"}).text == "works" })
	before := idle(t, s)
	for range 300 {
		s.must(t, "ls", nil)
		s.run(t, "true")
	}
	after := idle(t, s)
	t.Logf("the server holds %+v, and after 600 more calls %+v", before, after)
	if after.files > before.files || after.threads > before.threads+8 || after.memory > before.memory+16<<20 || after.memory > 150<<20 {
		t.Error("that has grown")
	}
	var inside string
	defer func() {
		if t.Failed() {
			t.Logf("in the container run:\n%s", inside)
		}
	}()
	eventually(t, "only the agents of process 1 and of this session run in the container", func() bool {
		inside = s.run(t, "ps -eo pid,ppid,sid,etime,stat,args")
		// The heading, the two, the shell and ps.
		return strings.Count(inside, "\n") <= 4 && strings.Count(inside, "mcp-workspace-guest") == 2
	})
	files, err := strconv.Atoi(strings.TrimSpace(s.run(t, "ls /proc/$PPID/fd | wc -l")))
	if err != nil || files == 0 || files > 20 {
		t.Errorf("the agent holds %d descriptors (%v)", files, err)
	}
	d.noExecs(t, e)
	if found := made(t, e, docker.LabelName, d.name); len(found) != 1 {
		t.Errorf("there are %d containers", len(found))
	}
	if s.said.String() != "" {
		t.Errorf("the server complained: %s", s.said)
	}
}

// noExecs checks that the engine runs nothing in the container but the agent of
// the session.
func (d *day) noExecs(t *testing.T, e *engines.Engine) {
	c := e.Client(t)
	eventually(t, "the engine runs one exec", func() bool {
		info, err := c.ContainerInspect(t.Context(), "mcpws-"+d.name)
		if err != nil {
			t.Fatal(err)
		}
		running := 0
		for _, id := range info.ExecIDs {
			if exec, err := c.ContainerExecInspect(t.Context(), id); err == nil && exec.Running {
				running++
			}
		}
		return running == 1
	})
}

// worker makes calls of all kinds, and knows what its file must hold.
type worker struct {
	day  *day
	file string
	// texts are what the file may hold: one when the last change was confirmed,
	// more when an answer did not tell what became of a change. None means that
	// there may be no file.
	texts []string
	n     int
}

func newWorker(d *day, i int) *worker { return &worker{day: d, file: fmt.Sprintf("w%d/file.txt", i)} }

func (w *worker) work(t *testing.T, enough func() bool) {
	steps := []func(*testing.T){w.write, w.read, w.edit, w.search, w.execute, w.read, w.edit, w.list, w.giveUp}
	for !enough() && !t.Failed() {
		steps[rand.IntN(len(steps))](t)
	}
}

// expect checks a failure: the environment may be unavailable, and a command may
// have been ended with its container.
func (w *worker) expect(t *testing.T, tool string, got answer, codes ...string) {
	if got.failed && !slices.Contains(append(codes, "unavailable"), got.code) {
		t.Errorf("%s by %s failed with the code %q: %s", tool, w.file, got.code, got.text)
	}
	if got.failed {
		time.Sleep(50 * time.Millisecond) // as one who does not ask a paused container over and over
	}
}

// changed notes what became of a change to text.
func (w *worker) changed(t *testing.T, tool, text string, got answer, ok bool) {
	switch {
	case ok && !got.failed:
		w.texts = []string{text}
		return
	case ok:
		w.expect(t, tool, got)
	}
	if len(w.texts) > 0 {
		w.texts = append(w.texts, text)
	}
}

func (w *worker) write(t *testing.T) {
	w.n++
	text := fmt.Sprintf("write %d of %s\n", w.n, w.file)
	got, ok := w.day.call(t, "write_file", args{"path": w.file, "content": text})
	w.changed(t, "write_file", text, got, ok)
}

func (w *worker) edit(t *testing.T) {
	if len(w.texts) != 1 {
		return // what is there is not known
	}
	w.n++
	text := fmt.Sprintf("edit %d of %s\n", w.n, w.file)
	got, ok := w.day.call(t, "edit_file", args{"path": w.file, "old_string": strings.TrimSpace(w.texts[0]), "new_string": strings.TrimSpace(text)})
	w.changed(t, "edit_file", text, got, ok)
}

func (w *worker) read(t *testing.T) {
	got, ok := w.day.call(t, "read_file", args{"path": w.file})
	switch {
	case !ok:
	case got.failed && len(w.texts) == 0:
		w.expect(t, "read_file", got, "not_found")
	case got.failed:
		w.expect(t, "read_file", got)
	case len(w.texts) > 0:
		_, shown, _ := strings.Cut(got.text, "\t")
		if !slices.Contains(w.texts, shown) {
			t.Errorf("%s reads %q, and not one of %q", w.file, shown, w.texts)
		}
		w.texts = []string{shown}
	}
}

func (w *worker) search(t *testing.T) {
	got, ok := w.day.call(t, "grep", args{"pattern": "of " + w.file, "output_mode": "count"})
	if ok {
		w.expect(t, "grep", got)
	}
	if got, ok = w.day.call(t, "glob", args{"pattern": w.file}); ok {
		w.expect(t, "glob", got)
		if !got.failed && len(w.texts) > 0 && got.text != w.file {
			t.Errorf("glob does not find %s: %s", w.file, got.text)
		}
	}
}

func (w *worker) list(t *testing.T) {
	if got, ok := w.day.call(t, "ls", nil); ok {
		w.expect(t, "ls", got)
	}
}

func (w *worker) execute(t *testing.T) {
	w.n++
	want := fmt.Sprint(w.file, " ", w.n)
	got, ok := w.day.call(t, "execute", args{"command": "echo '" + want + "'; true | cat"})
	switch {
	case !ok:
	case got.failed && got.code == "" && (got.exit == 143 || got.exit == 137 || got.exit == 129 || got.exit == 130):
		// The container ended, and the command was told before its agent was.
	case got.failed:
		w.expect(t, "execute", got)
	case strings.TrimSpace(got.text) != want:
		t.Errorf("echo %q printed %q", want, got.text)
	}
}

// giveUp gives up a command and a search half way. Where the agent is killed in the
// moment in which it starts the command, nobody ends what that had started, which
// ends by itself here.
func (w *worker) giveUp(t *testing.T) {
	w.day.cancelled(t, "execute", args{"command": "sleep 10 | cat"})
	w.day.cancelled(t, "grep", args{"pattern": "nothing", "path": "/usr/lib"})
}
