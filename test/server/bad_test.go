package server

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

const (
	malformed = 10_000
	// wellFormedEvery is how many malformed messages there are to a good one.
	wellFormedEvery = 5
	// growth is what the server's memory may differ by, in MiB, between the
	// first quarter of the messages, when its buffers have been made, and the
	// end. A leak of 5 KB a message would be above it.
	growth = 40
)

// seeds are those in testdata/seeds.txt.
func seeds(t *testing.T) []uint64 {
	t.Helper()
	data, err := os.ReadFile("testdata/seeds.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []uint64
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		seed, err := strconv.ParseUint(line, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, seed)
	}
	return all
}

// TestMalformedMessages leave the server answering, its memory level, and what
// is well-formed served.
func TestMalformedMessages(t *testing.T) {
	t.Parallel()
	mallory := newPerson("mallory", "limits: {sessions: 20, workspaces: 5}")
	s := onFiles(t, "operator: true")
	s.config = configOf(fmt.Sprintf("backend: state\nmax-body: %d\n", maxBody), s.alice, mallory)
	p := start(t, s.options)
	alice := p.as(s.alice)
	alice.write(t, "a.txt", "well-formed\n")
	session := alice.open(t)
	session.write(t, "a.txt", "well-formed\n")
	attacked := p.as(mallory).open(t)
	events := alice.sse(t)
	silent := slowConnections(t, p)

	run := &attack{t: t, p: p, alice: alice, session: session}
	var level []int // MiB after each quarter
	all := seeds(t)
	each := malformed / len(all)
	messages := corpus(t)
	for _, seed := range all {
		t.Logf("seed %d", seed)
		const workers = 4
		var group sync.WaitGroup
		for w := range workers {
			spoil := &spoiler{Rand: rand.New(rand.NewPCG(seed, uint64(w))), corpus: messages, token: mallory.token, session: attacked.session}
			group.Go(func() { run.messages(spoil, seed, w, each/workers) })
		}
		group.Wait()
		if t.Failed() {
			break
		}
		if got := session.content(t, "a.txt"); got != "well-formed" {
			t.Errorf("in the session there is %q", got)
		}
		level = append(level, settled(t, p))
	}
	t.Logf("%d malformed and %d well-formed messages; answers: %s; memory in MiB: %v", run.sent.Load(), run.served.Load(), run.statuses(), level)
	if len(level) == len(all) && level[len(level)-1] > level[0]+growth {
		t.Errorf("the server's memory grew: %v MiB", level)
	}
	events.post(t, `{"jsonrpc":"2.0","id":5,"method":"ping"}`)
	if got := events.data(t); !strings.Contains(got, `"id":5`) {
		t.Errorf("over SSE there came %s", got)
	}
	for _, c := range silent {
		_ = c.Close() // some the server has closed
	}
	if n := metric(t, alice, "mcp_workspace_calls_in_flight"); n > 1 {
		t.Errorf("%v calls go on", n)
	}
	eventually(t, "the connections are closed", func() bool { return descriptors(t, p) < 60 })
	if log := p.log.String(); strings.Contains(log, "panic") || strings.Contains(log, "goroutine ") {
		t.Errorf("something panicked:\n%s", tail(log[max(0, strings.Index(log, "panic")-500):], 5000))
	}
}

// attack is malformed messages on their way.
type attack struct {
	t              *testing.T
	p              *program
	alice, session caller
	sent, served   atomic.Int64

	mu    sync.Mutex
	codes map[string]int
}

func (a *attack) statuses() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return fmt.Sprint(a.codes)
}

func (a *attack) messages(s *spoiler, seed uint64, worker, n int) {
	for i := range n {
		if a.t.Failed() {
			return
		}
		raw := s.request()
		status, err := exchange(a.t.Context(), a.p.root, raw, s.IntN(50) == 0)
		a.sent.Add(1)
		if err != nil || status >= 500 && status != http.StatusNotImplemented && status != http.StatusHTTPVersionNotSupported {
			a.t.Errorf("seed %d, worker %d, message %d was answered with %d %v:\n%s", seed, worker, i, status, err, tail(strconv.Quote(string(raw)), 3000))
			return
		}
		a.mu.Lock()
		if a.codes == nil {
			a.codes = map[string]int{}
		}
		a.codes[strconv.Itoa(status)]++
		a.mu.Unlock()
		if i%wellFormedEvery == 0 {
			got, err := a.alice.try(a.t.Context(), "read_file", args{"path": "a.txt"})
			if err != nil || got.failed || !strings.Contains(got.text, "well-formed") {
				a.t.Errorf("seed %d, worker %d: a well-formed message after message %d was answered with %v %v; that one was\n%s", seed, worker, i, got, err, tail(strconv.Quote(string(raw)), 3000))
				return
			}
			a.served.Add(1)
		}
	}
}

// answerWithin is the longest that a connection may stay open after a request
// that will get no more bytes.
const answerWithin = 20 * time.Second

// exchange writes raw to a connection of its own and reads until the server
// closes it. It returns the status of the first answer, 0 when there was none.
func exchange(ctx context.Context, root string, raw []byte, slowly bool) (status int, err error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", strings.TrimPrefix(root, "http://"))
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(answerWithin)); err != nil {
		return 0, err
	}
	written := make(chan struct{})
	go func() { // the server may answer, and close, before it has read all
		defer close(written)
		parts := [][]byte{raw}
		if slowly && len(raw) > 2 {
			parts = [][]byte{raw[:len(raw)/3], raw[len(raw)/3 : len(raw)/2], raw[len(raw)/2:]}
		}
		for i, part := range parts {
			if i > 0 {
				time.Sleep(20 * time.Millisecond) // what is slow about it
			}
			if _, err := conn.Write(part); err != nil {
				return
			}
		}
		_ = conn.(*net.TCPConn).CloseWrite() // fails when the server was quicker
	}()
	got, err := io.ReadAll(io.LimitReader(conn, 4<<20))
	_ = conn.Close()
	<-written
	if errors.Is(err, syscall.ECONNRESET) {
		err = nil // it was closed with something unread
	}
	if err != nil {
		return 0, fmt.Errorf("after %d bytes of an answer: %w", len(got), err)
	}
	if len(got) == 0 {
		return 0, nil
	}
	res, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(got)), nil)
	if err != nil {
		if bytes.HasPrefix(got, []byte("HTTP/1.")) || bytes.HasPrefix(got, []byte("\x00\x00")) {
			return 0, nil // cut short, or HTTP/2
		}
		return 0, fmt.Errorf("%w: %s", err, tail(strconv.Quote(string(got)), 500))
	}
	_ = res.Body.Close() // fails for a stream, which ended when the request was at its end
	return res.StatusCode, nil
}

// slowConnections send a header or a body and never its end.
func slowConnections(t *testing.T, p *program) (open []net.Conn) {
	t.Helper()
	var d net.Dialer
	for i := range 30 {
		conn, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(p.root, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() }) // again
		begun := []string{"", "POST /mcp HTTP/1.1\r\nHost: loc", "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{\"jsonrpc\""}[i%3]
		if _, err := io.WriteString(conn, begun); err != nil {
			t.Fatal(err)
		}
		open = append(open, conn)
	}
	return open
}

// settled is the program's resident memory in MiB when it has stopped to
// shrink, or after a few seconds.
func settled(t *testing.T, p *program) int {
	t.Helper()
	least := status(t, p, "VmRSS") >> 10
	for range 10 {
		time.Sleep(100 * time.Millisecond) // there is no event for what the collector gives back
		least = min(least, status(t, p, "VmRSS")>>10)
	}
	return least
}

// status is a number of /proc/PID/status.
func status(t *testing.T, p *program, name string) int {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			n, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("no %s", name)
	return 0
}

func descriptors(t *testing.T, p *program) int {
	t.Helper()
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(open)
}
