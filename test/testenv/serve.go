package testenv

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The limits of a server's start and end. Both take well under a second on a
// machine that does nothing else.
const (
	serveStart = time.Minute
	serveEnd   = 30 * time.Second
)

// Serve starts `mcp-workspace serve` on a free port of the loopback interface
// with args, and returns the URL of its root, which ends in no slash. When the
// test ends the server is told to stop, and has to do so by itself and without
// an error. What it logged is shown when the test has failed.
func Serve(t *testing.T, args ...string) string {
	t.Helper()
	command := slices.Concat([]string{"serve", "--listen", "127.0.0.1:0", "--log-format", "json"}, args)
	cmd := exec.Command(Server(t), command...)
	logged, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	log := &serverLog{url: make(chan string, 1), over: make(chan struct{})}
	go log.read(logged)
	t.Cleanup(func() { stopServer(t, cmd, log) })
	ctx, cancel := context.WithTimeout(t.Context(), serveStart)
	defer cancel()
	select {
	case url := <-log.url:
		return url
	case <-log.over:
		t.Fatalf("%v ended before it listened", command)
	case <-ctx.Done():
		t.Fatalf("%v does not listen after %v", command, serveStart)
	}
	return ""
}

func stopServer(t *testing.T, cmd *exec.Cmd, log *serverLog) {
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Errorf("stopping the server: %v", err)
	}
	select {
	case <-log.over:
	case <-time.After(serveEnd):
		t.Errorf("the server runs on %v after it was told to stop", serveEnd)
		if err := cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
		<-log.over
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the server ended with: %v", err)
	}
	if t.Failed() {
		t.Logf("the server's log:\n%s", log.text())
	}
}

// serverLog is what a server has written on its standard error.
type serverLog struct {
	url  chan string   // what it listens on, once
	over chan struct{} // closed at the end

	mu   sync.Mutex
	seen bytes.Buffer
}

// read keeps the log, and takes the server's URL out of it.
func (l *serverLog) read(from io.Reader) {
	defer close(l.over)
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadBytes('\n')
		l.mu.Lock()
		l.seen.Write(line)
		l.mu.Unlock()
		var record struct{ Msg, URL string }
		if json.Unmarshal(line, &record) == nil && record.Msg == "listening" && record.URL != "" {
			select {
			case l.url <- record.URL:
			default: // it listens on more than one port; the first is that of MCP
			}
		}
		if err != nil {
			return
		}
	}
}

func (l *serverLog) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seen.String()
}
