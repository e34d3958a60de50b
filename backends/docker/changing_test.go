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

func TestContainerThatSomebodyElseIsStarting(t *testing.T) {
	onBoth(t, testContainerThatSomebodyElseIsStarting)
}

func testContainerThatSomebodyElseIsStarting(t *testing.T, engine *engines.Engine) {
	slow := &slowStart{engine: engine.Client(t), takes: time.Second, began: map[string]time.Time{}}
	c, err := client.NewClientWithOpts(client.WithHost(engine.Host), client.WithAPIVersionNegotiation())
	if err != nil {
		t.Fatal(err)
	}
	slow.RoundTripper = c.HTTPClient().Transport
	if err := client.WithHTTPClient(&http.Client{Transport: slow})(c); err != nil {
		t.Fatal(err)
	}
	b := newBackend(t, engine, docker.Config{Client: c})
	ws := create(t, b, backends.Spec{})
	if got := run(t, ws, "echo works"); got != "works" {
		t.Errorf("it says %q", got)
	}
	if slow.refused < 3 {
		t.Errorf("the engine has refused to start it %d times; the test wants more", slow.refused)
	}
}
