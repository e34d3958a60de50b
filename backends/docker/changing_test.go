package docker_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/docker"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// slowStart is the way to an engine on which somebody else has just begun to
// start each container: until that has happened the engine refuses to.
type slowStart struct {
	http.RoundTripper
	engine *client.Client
	takes  time.Duration

	mu      sync.Mutex
	began   map[string]time.Time // by the request's path
	refused int
}

func (s *slowStart) RoundTrip(r *http.Request) (*http.Response, error) {
	path, isStart := strings.CutSuffix(r.URL.Path, "/start")
	if !isStart || r.Method != http.MethodPost {
		return s.RoundTripper.RoundTrip(r)
	}
	s.mu.Lock()
	began, ok := s.began[path]
	if !ok {
		began = time.Now()
		s.began[path] = began
	}
	over := time.Since(began) > s.takes
	if !over {
		s.refused++
	}
	s.mu.Unlock()
	if over {
		return s.RoundTripper.RoundTrip(r)
	}
	if !ok {
		time.AfterFunc(s.takes, func() {
			// Its outcome shows in the container.
			_ = s.engine.ContainerStart(context.Background(), path[strings.LastIndex(path, "/")+1:], container.StartOptions{})
		})
	}
	return &http.Response{
		StatusCode: http.StatusConflict, Request: r, ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}},
		Body:   io.NopCloser(bytes.NewReader([]byte(`{"message": "the container is being started"}`))),
	}, nil
}

// interfered is the way to an engine on which somebody is faster once.
type interfered struct {
	http.RoundTripper
	path   string // how that of the request ends
	before func()

	once sync.Once
}

func (i *interfered) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, i.path) {
		i.once.Do(i.before)
	}
	return i.RoundTripper.RoundTrip(r)
}

// through connects to an engine by way of what wrap makes of the way there.
func through(t *testing.T, engine *engines.Engine, wrap func(http.RoundTripper) http.RoundTripper) *client.Client {
	t.Helper()
	c, err := client.NewClientWithOpts(client.WithHost(engine.Host), client.WithAPIVersionNegotiation())
	if err != nil {
		t.Fatal(err)
	}
	if err := client.WithHTTPClient(&http.Client{Transport: wrap(c.HTTPClient().Transport)})(c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestContainerThatIsStoppedBeforeItsAgentStarts(t *testing.T) {
	onBoth(t, testContainerThatIsStoppedBeforeItsAgentStarts)
}

func testContainerThatIsStoppedBeforeItsAgentStarts(t *testing.T, engine *engines.Engine) {
	made := newBackend(t, engine, docker.Config{})
	ref := create(t, made, backends.Spec{}).Ref()
	stopped := false
	b := newBackend(t, engine, docker.Config{Client: through(t, engine, func(way http.RoundTripper) http.RoundTripper {
		return &interfered{RoundTripper: way, path: "/exec", before: func() {
			now := 0
			if err := engine.Client(t).ContainerStop(t.Context(), ref.ID, container.StopOptions{Timeout: &now}); err != nil {
				t.Error(err)
			}
			stopped = true
		}}
	})})
	ws, err := b.Attach(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := ws.Close(); err != nil {
			t.Error(err)
		}
	}()
	if got := run(t, ws, "echo works"); got != "works" || !stopped {
		t.Errorf("it says %q; it was stopped meanwhile: %v", got, stopped)
	}
}

func TestContainerThatSomebodyElseIsStarting(t *testing.T) {
	onBoth(t, testContainerThatSomebodyElseIsStarting)
}

func testContainerThatSomebodyElseIsStarting(t *testing.T, engine *engines.Engine) {
	slow := &slowStart{engine: engine.Client(t), takes: time.Second, began: map[string]time.Time{}}
	b := newBackend(t, engine, docker.Config{Client: through(t, engine, func(way http.RoundTripper) http.RoundTripper {
		slow.RoundTripper = way
		return slow
	})})
	ws := create(t, b, backends.Spec{})
	if got := run(t, ws, "echo works"); got != "works" {
		t.Errorf("it says %q", got)
	}
	if slow.refused < 3 {
		t.Errorf("the engine has refused to start it %d times; the test wants more", slow.refused)
	}
}
