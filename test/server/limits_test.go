package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// full is an answer that says that something is full, which of the limits it
// is, and when to try again.
func full(t *testing.T, got reply, texts ...string) {
	t.Helper()
	seconds, err := strconv.Atoi(got.header.Get("Retry-After"))
	if err != nil || seconds < 1 || seconds > 3600 {
		t.Errorf("Retry-After is %q in %d %s", got.header.Get("Retry-After"), got.status, got.body)
	}
	for _, text := range texts {
		if !strings.Contains(strings.ToLower(string(got.body)), text) {
			t.Errorf("there is no %q in %d %s", text, got.status, got.body)
		}
	}
}

// exhausted is an answer that says what is full which waiting does not free, and
// promises nothing of the kind.
func exhausted(t *testing.T, got reply, texts ...string) {
	t.Helper()
	if when := got.header.Get("Retry-After"); when != "" {
		t.Errorf("Retry-After is %q in %d %s", when, got.status, got.body)
	}
	for _, text := range append(texts, "waiting frees none", "ask whoever runs the server") {
		if !strings.Contains(string(got.body), text) {
			t.Errorf("there is no %q in %d %s", text, got.status, got.body)
		}
	}
}

// onFiles is a server whose workspaces are in files, with limits.
func onFiles(t *testing.T, entry string, more ...string) shared {
	t.Helper()
	s := shared{alice: newPerson("alice", entry), bob: newPerson("bob"), store: "file:" + t.TempDir()}
	s.config = configOf("backend: state\nstore: "+s.store+"\n"+strings.Join(more, "\n"), s.alice, s.bob)
	return s
}

func TestLimitOfWorkspaces(t *testing.T) {
	t.Parallel()
	t.Run("state", func(t *testing.T) {
		t.Parallel()
		s := onFiles(t, "limits: {workspaces: 2}")
		limitOfWorkspaces(t, s, "--backend=state", "--store="+s.store)
	})
	t.Run("docker", func(t *testing.T) {
		t.Parallel()
		e := engines.Docker(t)
		s := onEngine(t, e)
		s.alice = newPerson(uniquely("alice"), "limits: {workspaces: 2}")
		s.config = configOf(onContainers(t, e), s.alice, s.bob)
		limitOfWorkspaces(t, s, "--backend=docker")
	})
}

func limitOfWorkspaces(t *testing.T, s shared, backend ...string) {
	p := start(t, s.options)
	named := func(who person, name string) caller { return p.as(who).withHeader("Mcp-Workspace-Name", name) }
	first := named(s.alice, "one").write(t, "a.txt", "one\n").ref
	named(s.alice, "two").write(t, "a.txt", "two\n")
	got := named(s.alice, "three").call(t, "ls", nil)
	if !got.failed || got.code != "unavailable" {
		t.Errorf("the third is answered with %v", got)
	}
	exhausted(t, got.reply, "2", "workspace")
	session := p.as(s.alice).open(t)
	if got := session.call(t, "ls", nil); !got.failed {
		t.Errorf("a session's own is answered with %v", got)
	} else {
		exhausted(t, got.reply, "workspace")
	}
	if got := named(s.alice, "one").content(t, "a.txt"); got != "one" {
		t.Errorf("one that is there reads %q", got)
	}
	named(s.bob, "three").must(t, "ls", nil)

	if _, said, err := run(t, s.options, append([]string{"workspaces", "destroy", first}, backend...)...); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	eventually(t, "there is room again", func() bool { return !named(s.alice, "three").call(t, "ls", nil).failed })

	// Many that come at once do not get past it either.
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if got, err := named(s.alice, fmt.Sprintf("more%d", i)).try(t.Context(), "ls", nil); err != nil || !got.failed {
				t.Errorf("a fourth is answered with %v, %v", got, err)
			}
		})
	}
	all.Wait()
}

func TestLimitOfRunningContainers(t *testing.T) {
	t.Parallel()
	e := engines.Docker(t)
	s := onEngine(t, e)
	s.alice = newPerson(uniquely("alice"), "limits: {running: 2}")
	s.config = configOf(onContainers(t, e), s.alice, s.bob)
	p := start(t, s.options)
	named := func(name string) caller { return p.as(s.alice).withHeader("Mcp-Workspace-Name", name) }
	one, two := named("one").write(t, "a.txt", "one\n").ref, named("two").write(t, "a.txt", "two\n").ref
	named("one").must(t, "ls", nil) // two has been idle longest now
	three := named("three").write(t, "a.txt", "three\n").ref
	if running(t, e, two) || !running(t, e, one) || !running(t, e, three) {
		t.Errorf("running are one: %v, two: %v, three: %v", running(t, e, one), running(t, e, two), running(t, e, three))
	}
	if got := named("two").content(t, "a.txt"); got != "two" { // which stops one
		t.Errorf("its file has %q", got)
	}
	if running(t, e, one) || !running(t, e, two) || !running(t, e, three) {
		t.Errorf("then running are one: %v, two: %v, three: %v", running(t, e, one), running(t, e, two), running(t, e, three))
	}

	var busy sync.WaitGroup
	for _, name := range []string{"two", "three"} {
		busy.Go(func() {
			got, err := named(name).try(t.Context(), "execute", args{"command": "touch busy; while [ ! -e free ]; do sleep 0.1; done; echo undisturbed"})
			if err != nil || !strings.Contains(got.text, "undisturbed") {
				t.Errorf("%s: the command was answered with %v, %v", name, got, err)
			}
		})
		eventually(t, name+" is busy", func() bool { return !named(name).call(t, "read_file", args{"path": "busy"}).failed })
	}
	got := named("one").call(t, "ls", nil)
	if got.code != "unavailable" {
		t.Errorf("with both in use, a third is answered with %v", got)
	}
	full(t, got.reply, "2", "containers")
	p.as(s.bob).must(t, "ls", nil)
	for _, name := range []string{"two", "three"} {
		named(name).write(t, "free", "")
	}
	busy.Wait()
	within(t, time.Minute, "there is room again", func() bool { return !named("one").call(t, "ls", nil).failed })
	if got := named("one").content(t, "a.txt"); got != "one" {
		t.Errorf("its file has %q", got)
	}
}

func TestLimitOfSessions(t *testing.T) {
	t.Parallel()
	s := onFiles(t, "limits: {sessions: 2}")
	p := start(t, s.options)
	first, second := p.as(s.alice).open(t), p.as(s.alice).sse(t)
	_, got := p.as(s.alice).initialize(t)
	if got.status != http.StatusTooManyRequests || got.header.Get("Mcp-Session-Id") != "" {
		t.Errorf("a third session is answered with %d %s", got.status, got.body)
	}
	full(t, got, "2", "session")
	got = p.as(s.alice).glimpse(t, http.MethodGet, "/sse")
	if got.status != http.StatusTooManyRequests {
		t.Errorf("a third stream is answered with %d %s", got.status, got.body)
	}
	full(t, got, "2", "session")
	p.as(s.alice).must(t, "ls", nil) // has no session
	p.as(s.bob).open(t)
	first.close(t)
	first = p.as(s.alice).open(t)
	second.cancel()
	eventually(t, "a stream that broke counts no more", func() bool {
		opened, got := p.as(s.alice).initialize(t)
		return got.status == http.StatusOK && opened.session != ""
	})
	first.must(t, "ls", nil)
}

func TestLimitOfCalls(t *testing.T) {
	t.Parallel()
	s := onFiles(t, "limits: {calls: 1}")
	s.bob = newPerson("bob", "operator: true")
	s.config = configOf("backend: state", s.alice, s.bob)
	p := start(t, s.options)
	alice := p.as(s.alice)
	alice.http = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 10}, Timeout: callWithin}
	slow := make(chan answer, 1)
	session := alice.open(t)
	go func() {
		got, err := alice.try(t.Context(), "execute", args{"command": "touch began; sleep 6; echo finished"})
		if err != nil {
			t.Error(err)
		}
		slow <- got
	}()
	// With the only call that may run, others wait.
	eventually(t, "the call runs", func() bool { return metric(t, p.as(s.bob), "mcp_workspace_calls_in_flight") == 1 })
	for what, c := range map[string]caller{"in a session": session, "without": alice} {
		if got := c.send(t, "tools/list", nil); got.status != http.StatusOK {
			t.Errorf("what is no call, %s, is answered with %d %s", what, got.status, got.body)
		}
	}
	ctx, giveUp := context.WithCancel(t.Context())
	defer giveUp()
	var all sync.WaitGroup
	var mu sync.Mutex
	var refused []reply
	const waiting = 512
	for range waiting + 20 {
		all.Go(func() {
			got, err := alice.try(ctx, "ls", nil)
			switch {
			case err == nil && got.status == http.StatusTooManyRequests:
				mu.Lock()
				refused = append(refused, got.reply)
				mu.Unlock()
			case err != nil && !errors.Is(err, context.Canceled):
				t.Errorf("%v %v", got, err)
			}
		})
	}
	eventually(t, "what is over the limit is refused", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(refused) >= 10
	})
	mu.Lock()
	full(t, refused[0], "wait")
	mu.Unlock()
	if got := p.as(s.bob).must(t, "ls", nil); got.failed {
		t.Errorf("another principal is answered with %v", got)
	}
	giveUp()
	all.Wait()
	if got := <-slow; !strings.Contains(got.text, "finished") {
		t.Errorf("the call that ran is answered with %v", got)
	}
	begun := time.Now()
	alice.must(t, "ls", nil)
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("the next call waited %v", took)
	}
}

func TestLimitOfCallsPerSecond(t *testing.T) {
	t.Parallel()
	s := onFiles(t, "limits: {calls-per-second: 2}")
	p := start(t, s.options)
	alice := p.as(s.alice)
	ctx, giveUp := context.WithCancel(t.Context())
	defer giveUp()
	var all sync.WaitGroup
	var mu sync.Mutex
	var refused []reply
	began := time.Now()
	answered := 0
	for range 100 { // of which 60 could be in half a minute, the longest that a call waits
		all.Go(func() {
			got, err := alice.try(ctx, "ls", nil)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil && got.status == http.StatusTooManyRequests:
				refused = append(refused, got.reply)
			case err == nil && !got.failed:
				answered++
			case err != nil && !errors.Is(err, context.Canceled):
				t.Errorf("%v %v", got, err)
			}
		})
	}
	eventually(t, "what is over the limit is refused", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(refused) >= 20
	})
	mu.Lock()
	full(t, refused[0], "second")
	if most := int(time.Since(began).Seconds()*2) + 3; answered > most {
		t.Errorf("%d calls were answered in %v", answered, time.Since(began))
	}
	mu.Unlock()
	p.as(s.bob).must(t, "ls", nil)
	giveUp()
	all.Wait()
	within(t, 20*time.Second, "calls go on", func() bool {
		got, err := alice.try(t.Context(), "ls", nil)
		return err == nil && !got.failed
	})
}

func TestLimitOfOutputAndFileSize(t *testing.T) {
	t.Parallel()
	t.Run("state", func(t *testing.T) {
		t.Parallel()
		sizes(t, onFiles(t, "limits: {output: 20KB, file-size: 1KB}"))
	})
	t.Run("docker", func(t *testing.T) {
		t.Parallel()
		e := engines.Docker(t)
		s := onEngine(t, e)
		s.alice = newPerson(uniquely("alice"), "limits: {output: 20KB, file-size: 1KB}")
		s.config = configOf(onContainers(t, e), s.alice, s.bob)
		sizes(t, s)
	})
}

func sizes(t *testing.T, s shared) {
	p := start(t, s.options)
	alice := p.as(s.alice)
	line := strings.Repeat("x", 99) + "\n"
	t.Run("a file that is too large", func(t *testing.T) {
		got := alice.call(t, "write_file", args{"path": "a.txt", "content": strings.Repeat(line, 11)})
		if got.code != "too_large" || !strings.Contains(got.text, "1") {
			t.Errorf("it is answered with %v", got)
		}
		alice.write(t, "a.txt", strings.Repeat(line, 10))
		if got := alice.call(t, "edit_file", args{"path": "a.txt", "old_string": "x", "new_string": strings.Repeat("y", 40), "replace_all": true}); got.code != "too_large" {
			t.Errorf("an edit that makes it so is answered with %v", got)
		}
		if got := alice.must(t, "read_file", args{"path": "a.txt"}).text; strings.Contains(got, "y") || strings.Count(got, "xxx\n")+strings.Count(got, "xxx") < 10 {
			t.Errorf("the file has changed: %s", tail(got, 300))
		}
		alice.must(t, "edit_file", args{"path": "a.txt", "old_string": strings.Repeat("x", 99), "new_string": "y", "replace_all": true})
		alice.write(t, "a.txt", "small again\n")
		p.as(s.bob).write(t, "a.txt", strings.Repeat(line, 100))
	})
	t.Run("a command that prints too much", func(t *testing.T) {
		got := alice.call(t, "execute", args{"command": "i=0; while [ $i -lt 2000 ]; do echo '" + strings.TrimSpace(line) + "'; i=$((i+1)); done; echo the end"})
		if got.code != "too_large" && !strings.Contains(got.text, "20") {
			t.Errorf("it is answered with %v", got)
		}
		if strings.Count(got.text, "\n") > 1000 {
			t.Errorf("%d bytes came through", len(got.text))
		}
		if got := alice.must(t, "execute", args{"command": "echo small again"}).text; !strings.Contains(got, "small again") {
			t.Errorf("the next is answered with %s", got)
		}
	})
}
