package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// freeAddress is one of the loopback interface that nothing listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	var c net.ListenConfig
	l, err := c.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// withOperator is a server on memory with an operator, who is bob.
func withOperator(more ...string) shared {
	s := shared{alice: newPerson("alice"), bob: newPerson("bob", "operator: true")}
	s.config = configOf("backend: state\n"+strings.Join(more, "\n"), s.alice, s.bob)
	return s
}

// TestAStoppingServerFinishesWhatRuns, says that it is not ready, and takes
// nothing new.
func TestAStoppingServerFinishesWhatRuns(t *testing.T) {
	t.Parallel()
	onBackends(t, func(t *testing.T, s shared) {
		metrics := freeAddress(t)
		s.flags = []string{"--metrics-listen", metrics}
		p := start(t, s.options)
		alice, bob := p.as(s.alice), p.as(s.bob)
		session := alice.open(t)
		stream := session.listen(t, "/mcp")
		events := alice.sse(t)
		bob.must(t, "ls", nil)
		if got := p.as(person{}).plain(t, http.MethodGet, "/readyz", ""); got.status != http.StatusOK {
			t.Errorf("/readyz before is answered with %d %s", got.status, got.body)
		}
		slow := map[string]caller{"stateless": alice, "session": session}
		answers := make(chan error, len(slow))
		for era, c := range slow {
			go func() {
				got, err := c.try(t.Context(), "execute", args{"command": "touch began-" + era + "; sleep 4; echo finished"})
				if err == nil && (got.failed || !strings.Contains(got.text, "finished")) {
					err = fmt.Errorf("it was answered with %v", got)
				}
				answers <- err
			}()
			eventually(t, "the command runs", func() bool { return !c.another(2).call(t, "read_file", args{"path": "began-" + era}).failed })
		}
		p.terminate(t)
		eventually(t, "it is not ready", func() bool {
			return p.as(person{}).plain(t, http.MethodGet, "/readyz", "").status == http.StatusServiceUnavailable
		})
		if got := p.as(person{}).plain(t, http.MethodGet, "/healthz", ""); got.status != http.StatusOK {
			t.Errorf("/healthz is answered with %d", got.status)
		}
		if got := callerOf("http://"+metrics, person{}).plain(t, http.MethodGet, "/readyz", ""); got.status != http.StatusServiceUnavailable {
			t.Errorf("/readyz of the other port is answered with %d", got.status)
		}
		for what, c := range map[string]caller{"stateless": bob, "in a session": session.another(3)} {
			got := c.send(t, "tools/call", toolParams("write_file", args{"path": "late.txt", "content": "x"}))
			if got.status != http.StatusServiceUnavailable {
				t.Errorf("a new call, %s, is answered with %d %s", what, got.status, got.body)
			}
			full(t, got)
		}
		_, got := bob.initialize(t)
		if got.status != http.StatusServiceUnavailable {
			t.Errorf("a new session is answered with %d %s", got.status, got.body)
		}
		for range slow {
			if err := <-answers; err != nil {
				t.Errorf("the call that ran: %v", err)
			}
		}
		p.stop(t)
		stopped(t, p, len(slow), 0)
		ended := func(what string, lines <-chan string) {
			for {
				select {
				case _, open := <-lines:
					if !open {
						return
					}
				case <-time.After(10 * time.Second):
					t.Errorf("%s is open still", what)
					return
				}
			}
		}
		ended("the session's stream", stream.lines)
		ended("the SSE stream", events.lines)
	})
}

// TestAServerThatIsToldToStopStops when a call takes longer than it may.
func TestAServerThatIsToldToStopStops(t *testing.T) {
	t.Parallel()
	s := withOperator()
	s.flags = []string{"--shutdown-timeout=1s"}
	p := start(t, s.options)
	alice := p.as(s.alice)
	answered := make(chan answer, 1)
	go func() {
		got, _ := alice.try(t.Context(), "execute", args{"command": "touch began; sleep 1000; echo finished"}) // may have no answer
		answered <- got
	}()
	eventually(t, "the command runs", func() bool { return !alice.call(t, "read_file", args{"path": "began"}).failed })
	begun := time.Now()
	p.terminate(t)
	p.stop(t)
	if took := time.Since(begun); took > 15*time.Second {
		t.Errorf("it took %v", took)
	}
	if got := <-answered; strings.Contains(got.text, "finished") {
		t.Errorf("the call is answered with %v", got)
	}
	stopped(t, p, 0, 1)
}

// stopped holds the last line of a server's log against what became of its calls.
func stopped(t *testing.T, p *program, finished, cut int) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(p.log.String()), "\n")
	var last struct {
		Msg      string `json:"msg"`
		Reason   string `json:"reason"`
		Finished int    `json:"calls_finished"`
		Cut      int    `json:"calls_cut"`
	}
	err := json.Unmarshal([]byte(lines[len(lines)-1]), &last)
	if err != nil || last.Msg != "stopped" || !strings.Contains(last.Reason, "terminated") || last.Finished != finished || last.Cut != cut {
		t.Errorf("the last line is %s, %v", lines[len(lines)-1], err)
	}
}

// TestWhereTheServerListens is logged as it is, and as it can be called.
func TestWhereTheServerListens(t *testing.T) {
	t.Parallel()
	for listen, want := range map[string]struct{ address, url string }{
		"127.0.0.1:0": {`127\.0\.0\.1:\d+`, `http://127\.0\.0\.1:\d+`},
		"[::1]:0":     {`\[::1\]:\d+`, `http://\[::1\]:\d+`},
		"localhost:0": {`(127\.0\.0\.1|\[::1\]):\d+`, `http://(127\.0\.0\.1|\[::1\]):\d+`},
		"0.0.0.0:0":   {`(0\.0\.0\.0|\[::\]):\d+`, `http://localhost:\d+`},
		"[::]:0":      {`\[::\]:\d+`, `http://localhost:\d+`},
		":0":          {`(0\.0\.0\.0|\[::\]):\d+`, `http://localhost:\d+`},
	} {
		t.Run(listen, func(t *testing.T) {
			t.Parallel()
			var c net.ListenConfig
			if l, err := c.Listen(t.Context(), "tcp", listen); err != nil {
				t.Skipf("this machine has no IPv6: %v", err)
			} else if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			s := withOperator()
			s.flags = []string{"--metrics-listen", listen}
			p := startAt(t, listen, s.options)
			p.as(s.alice).must(t, "ls", nil)
			for message, path := range map[string]string{"listening": "/healthz", "metrics": ""} {
				var line struct{ Msg, URL, Address string }
				for text := range strings.Lines(p.log.String()) {
					if json.Unmarshal([]byte(text), &line) == nil && line.Msg == message {
						break
					}
				}
				if !regexp.MustCompile("^"+want.address+"$").MatchString(line.Address) || !regexp.MustCompile("^"+want.url+"(/metrics)?$").MatchString(line.URL) {
					t.Errorf("%s: %+v", message, line)
				}
				if got := callerOf(line.URL, person{}).plain(t, http.MethodGet, path, ""); got.status != http.StatusOK {
					t.Errorf("%s is answered with %d %s", line.URL, got.status, got.body)
				}
			}
		})
	}
}

func TestMetricsAreForOperators(t *testing.T) {
	t.Parallel()
	s := withOperator()
	extra := freeAddress(t)
	s.flags = []string{"--metrics-listen", extra}
	p := start(t, s.options)
	alice := p.as(s.alice)
	ref := alice.write(t, "a.txt", "x").ref
	alice.call(t, "read_file", args{"path": "no-such-file"})
	session := alice.open(t)
	session.must(t, "execute", args{"command": "echo spoken"})

	for who, want := range map[string]struct {
		caller
		status int
	}{
		"alice":      {alice, http.StatusForbidden},
		"nobody":     {p.as(person{}), http.StatusUnauthorized},
		"a stranger": {p.as(newPerson("x")), http.StatusUnauthorized},
	} {
		if got := want.plain(t, http.MethodGet, "/metrics", ""); got.status != want.status || strings.Contains(string(got.body), "mcp_workspace_") {
			t.Errorf("%s: /metrics is answered with %d %s", who, got.status, tail(string(got.body), 300))
		}
	}
	own := callerOf("http://"+extra, person{})
	for what, c := range map[string]caller{"operator": p.as(s.bob), "port of its own": own} {
		got := c.plain(t, http.MethodGet, "/metrics", "")
		if got.status != http.StatusOK || !strings.HasPrefix(got.header.Get("Content-Type"), "text/plain; version=0.0.4") {
			t.Errorf("%s: %d %s", what, got.status, got.header.Get("Content-Type"))
		}
		text := string(got.body)
		for _, want := range []string{
			`mcp_workspace_calls_total{outcome="ok",tool="write_file"} 1`, `mcp_workspace_calls_total{outcome="not_found",tool="read_file"} 1`,
			`mcp_workspace_call_duration_seconds_bucket{tool="execute",le="`, `mcp_workspace_call_duration_seconds_count{tool="execute"} 1`,
			`mcp_workspace_workspaces{backend="state",state="ready"} 2`, "mcp_workspace_engine_errors_total{", "mcp_workspace_sessions_open 1", "process_resident_memory_bytes ", "go_goroutines ",
			`mcp_workspace_http_requests_total{code="200",method="POST",route="/mcp"}`,
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: there is no %s in\n%s", what, want, tail(text, 6000))
			}
		}
		for _, not := range []string{"alice", "bob", s.alice.token, session.session, ref, "no-such-file", "spoken"} {
			if strings.Contains(text, not) {
				t.Errorf("%s: there is %q", what, not)
			}
		}
		wellFormed(t, text)
	}
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/mcp": 404, "/sse": 404, "/": 404} {
		if got := own.plain(t, http.MethodGet, path, ""); got.status != want {
			t.Errorf("%s of the port for metrics is answered with %d", path, got.status)
		}
	}
}

// wellFormed holds the lines of metrics against the text format.
func wellFormed(t *testing.T, text string) {
	t.Helper()
	types := map[string]bool{}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(rest, " ")
			if types[name] || !slices.Contains([]string{"counter", "gauge", "histogram", "summary", "untyped"}, kind) {
				t.Errorf("the line is %q", line)
			}
			types[name] = true
			continue
		}
		if strings.HasPrefix(line, "# HELP ") {
			continue
		}
		name, _, _ := strings.Cut(line, "{")
		name, _, _ = strings.Cut(name, " ")
		for _, suffix := range []string{"", "_bucket", "_sum", "_count"} {
			if base, ok := strings.CutSuffix(name, suffix); ok && types[base] {
				name = ""
			}
		}
		if name != "" {
			t.Errorf("there is no type of %q", line)
		}
	}
}

// TestAServerWhoseAuditLogCannotBeWritten is not ready, and with
// --audit-required answers nothing.
func TestAServerWhoseAuditLogCannotBeWritten(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		flags []string
		works bool
	}{"required": {[]string{"--audit-required"}, false}, "not required": {nil, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "audit.log")
			if err := os.Symlink("/dev/full", path); err != nil {
				t.Fatal(err)
			}
			s := withOperator()
			s.flags = append([]string{"--audit-log", path}, c.flags...)
			p := start(t, s.options)
			p.as(s.alice).call(t, "ls", nil)
			if got := p.as(s.alice).call(t, "write_file", args{"path": "a.txt", "content": "x"}); got.failed == c.works || strings.Contains(got.text, path) {
				t.Errorf("a call is answered with %v", got)
			}
			if got := p.as(person{}).plain(t, http.MethodGet, "/readyz", ""); got.status != http.StatusServiceUnavailable || strings.Contains(string(got.body), path) {
				t.Errorf("/readyz is answered with %d %s", got.status, got.body)
			}
			if got := p.as(person{}).plain(t, http.MethodGet, "/healthz", ""); got.status != http.StatusOK {
				t.Errorf("/healthz is answered with %d", got.status)
			}
			// It is written again once it can be.
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			eventually(t, "it is ready", func() bool {
				return p.as(person{}).plain(t, http.MethodGet, "/readyz", "").status == http.StatusOK
			})
			p.as(s.alice).write(t, "a.txt", "x")
		})
	}
}

// TestHeartbeats keep streams open on which nothing happens.
func TestHeartbeats(t *testing.T) {
	t.Parallel()
	s := withOperator()
	p := start(t, s.options)
	alice := p.as(s.alice)
	const beat = 15 * time.Second
	idle := map[string]*stream{"a session's stream": alice.open(t).listen(t, "/mcp"), "SSE": alice.sse(t).stream}
	call, err := alice.request(t.Context(), "tools/call", toolParams("execute", args{"command": "sleep 17; echo finished"}))
	if err != nil {
		t.Fatal(err)
	}
	slow := make(chan error, 1)
	go func() {
		got, err := alice.do(call)
		if err == nil && (!strings.Contains(string(got.body), "finished") || !strings.Contains(got.header.Get("Content-Type"), "text/event-stream") || !strings.HasPrefix(string(got.body), ":") && !strings.Contains(string(got.body), "\n:")) {
			err = fmt.Errorf("a slow call without progress is answered with %d %v %s", got.status, got.header, got.body)
		}
		slow <- err
	}()
	for what, s := range idle {
		began := time.Now()
		for line := ""; !strings.HasPrefix(line, ":"); {
			line = s.next(t, beat+10*time.Second)
		}
		t.Logf("%s: a comment after %v", what, time.Since(began))
	}
	if err := <-slow; err != nil {
		t.Error(err)
	}
}

// canceled is how a client's call ends that the client has given up.
func canceled(ctx context.Context, err error) bool { return err != nil && ctx.Err() != nil }
