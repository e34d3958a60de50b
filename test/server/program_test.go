package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/test/engines"
	"github.com/mcp-workspace/mcp-workspace/test/testenv"
)

// atOnce is how many tests run at once unless -parallel says more: most of
// them wait most of the time, for a heartbeat or for something to be idle.
const atOnce = 8

func TestMain(m *testing.M) {
	flag.Parse()
	if p := flag.Lookup("test.parallel"); p.Value.String() == p.DefValue {
		if err := p.Value.Set(strconv.Itoa(atOnce)); err != nil {
			panic(err) // it is a number
		}
	}
	testenv.Main(m, "./cmd/mcp-workspace-guest")
}

// Limits of what a server takes that has a loaded machine to share.
const (
	startWithin = time.Minute
	endWithin   = time.Minute
	callWithin  = 2 * time.Minute
)

// options are how a server is started.
type options struct {
	config string   // of the file; without any the server lets everybody in
	flags  []string // beside --listen, --log-format and --config
	engine *engines.Engine
	env    []string
}

// program is a server that runs.
type program struct {
	root string // its URL, without a slash at the end
	cmd  *exec.Cmd
	log  *written
	over chan struct{} // closed when it has ended

	mu      sync.Mutex
	killed  bool // by the test
	told    bool // to stop; a second time would end it at once
	stopped bool
}

// written is what a program has written, safe to look at while it writes on.
type written struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *written) add(line []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.Write(line)
}

func (w *written) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// start starts a server on a free port. It is stopped with the test, and then
// has to end by itself and without an error.
func start(t *testing.T, o options) *program {
	t.Helper()
	return startAt(t, "127.0.0.1:0", o)
}

func startAt(t *testing.T, listen string, o options) *program {
	t.Helper()
	flags := []string{"serve", "--listen", listen, "--log-format", "json"}
	if o.config == "" {
		flags = append(flags, "--no-auth")
	} else {
		flags = append(flags, "--config", fileOf(t, "config.yaml", o.config))
	}
	p := &program{log: &written{}, over: make(chan struct{})}
	p.cmd = exec.Command(testenv.Server(t), slices.Concat(flags, o.flags)...)
	p.cmd.Dir, p.cmd.Env = "/", environment(t, o)
	logged, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	listening := make(chan string, 2) // MCP's port, and that of metrics
	go p.read(logged, listening)
	t.Cleanup(func() {
		p.stop(t)
		if t.Failed() {
			t.Logf("the log of %v:\n%s", p.cmd.Args, tail(p.log.String(), 20_000))
		}
	})
	select {
	case p.root = <-listening:
	case <-p.over:
		t.Fatalf("%v ended before it listened: %s", p.cmd.Args, p.log)
	case <-time.After(startWithin):
		t.Fatalf("%v does not listen after %v: %s", p.cmd.Args, startWithin, p.log)
	}
	return p
}

func environment(t *testing.T, o options) []string {
	t.Helper()
	env := os.Environ()
	if o.engine != nil {
		env = append(o.engine.Env(), "MCP_WORKSPACE_GUEST="+testenv.Program(t, "mcp-workspace-guest"))
	}
	return append(env, o.env...)
}

func (p *program) read(from io.Reader, listening chan<- string) {
	defer close(p.over)
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadBytes('\n')
		p.log.add(line)
		var record struct{ Msg, URL string }
		if json.Unmarshal(line, &record) == nil && record.Msg == "listening" && record.URL != "" {
			select {
			case listening <- record.URL:
			default:
			}
		}
		if err != nil {
			return
		}
	}
}

// stop tells the server to stop and waits until it has. Again it does nothing.
func (p *program) stop(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	again, killed := p.stopped, p.killed
	p.stopped = true
	p.mu.Unlock()
	if again {
		return
	}
	if !killed {
		p.terminate(t)
	}
	p.wait(t)
	if err := p.cmd.Wait(); err != nil && !killed {
		t.Errorf("the server ended with: %v", err)
	}
}

func (p *program) terminate(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	again := p.told
	p.told = true
	p.mu.Unlock()
	if again {
		return
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("stopping the server: %v", err)
	}
}

// wait waits until the program has closed its standard error.
func (p *program) wait(t *testing.T) {
	t.Helper()
	select {
	case <-p.over:
	case <-time.After(endWithin):
		t.Errorf("the server runs on %v after it was told to stop", endWithin)
		if err := p.cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
		<-p.over
	}
}

// kill ends the program as kill -9 does, and returns when it is gone.
func (p *program) kill(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	p.killed = true
	p.mu.Unlock()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	p.stop(t)
}

// run runs the program with other arguments to its end.
func run(t *testing.T, o options, arguments ...string) (stdout, stderr string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), callWithin) // also in cleanups
	defer cancel()
	cmd := exec.CommandContext(ctx, testenv.Server(t), arguments...)
	cmd.Dir, cmd.Env = "/", environment(t, o)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err = cmd.Run()
	return out.String(), said.String(), err
}

// fileOf makes a file that ends with the test.
func fileOf(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// eventually waits until what holds, which has no event of its own.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	within(t, 30*time.Second, what, holds)
}

func within(t *testing.T, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("still not after %v: %s", limit, what)
		}
	}
}

// tail is the end of a text that is too long.
func tail(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return fmt.Sprintf("… %d bytes before this …\n%s", len(text)-most, text[len(text)-most:])
}

func indent(text, by string) string {
	return by + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+by)
}
