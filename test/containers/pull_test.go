package containers

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workspace/mcp-workspace/backends/docker"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// slowRegistry is a registry on this machine that stops in the middle of a layer
// until it is told to go on.
type slowRegistry struct {
	image string
	begun chan struct{} // gets a value when a layer stops
	goOn  chan struct{} // closed to let layers pass
}

// layerSize is of the image's layer, in bytes: more than engines buffer.
const layerSize = 4 << 20

func startRegistry(t *testing.T) *slowRegistry {
	t.Helper()
	r := &slowRegistry{begun: make(chan struct{}, 10), goOn: make(chan struct{})}
	store := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	behind := httptest.NewServer(store)
	t.Cleanup(behind.Close)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodGet && strings.Contains(req.URL.Path, "/blobs/") {
			w = &stopping{w, r, req}
		}
		store.ServeHTTP(w, req)
	}))
	t.Cleanup(front.Close)
	image, err := random.Image(layerSize, 1)
	if err != nil {
		t.Fatal(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", runtime.GOARCH
	if image, err = mutate.ConfigFile(image, config); err != nil {
		t.Fatal(err)
	}
	ref, err := name.ParseReference(strings.TrimPrefix(behind.URL, "http://") + "/slow:1")
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(ref, image); err != nil {
		t.Fatal(err)
	}
	r.image = strings.TrimPrefix(front.URL, "http://") + "/slow:1"
	return r
}

// stopping writes the first part of a layer and stops.
type stopping struct {
	http.ResponseWriter
	registry *slowRegistry
	request  *http.Request
}

func (w *stopping) Write(data []byte) (int, error) {
	if len(data) < 10<<10 { // the configuration
		return w.ResponseWriter.Write(data)
	}
	half := len(data) / 2
	n, err := w.ResponseWriter.Write(data[:half])
	if err != nil {
		return n, err
	}
	if err := http.NewResponseController(w.ResponseWriter).Flush(); err != nil {
		return n, err
	}
	select {
	case w.registry.begun <- struct{}{}:
	default:
	}
	select {
	case <-w.registry.goOn:
	case <-w.request.Context().Done():
		return n, w.request.Context().Err()
	}
	more, err := w.ResponseWriter.Write(data[half:])
	return n + more, err
}

// TestAPullIsToldOfAndFinishedThoughItsCallIsGivenUp: the next call finds the
// workspace, and there is no second one.
func TestAPullIsToldOfAndFinishedThoughItsCallIsGivenUp(t *testing.T) {
	for provider, engine := range map[string]func(*testing.T) *engines.Engine{
		"docker": func(t *testing.T) *engines.Engine { return engines.Docker(t) },
		"podman": ownPodman, // which trusts a registry without TLS
	} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			e, r := engine(t), startRegistry(t)
			dir := unnamed(t, e)
			removedImage(t, e, r.image)
			s := start(t, e, "--image="+r.image, "--working-dir="+dir, "--network=none")

			var mu sync.Mutex
			var told []string
			heard := make(chan struct{}, 1000)
			s.OnNotification(func(n mcp.JSONRPCNotification) {
				mu.Lock()
				defer mu.Unlock()
				if message, ok := n.Params.AdditionalFields["message"].(string); ok && n.Method == "notifications/progress" && n.Params.AdditionalFields["progressToken"] == "mine" {
					told = append(told, message)
					heard <- struct{}{}
				}
			})
			ctx, giveUp := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				var req mcp.CallToolRequest
				req.Params.Name = "ls"
				req.Params.Meta = &mcp.Meta{ProgressToken: "mine"}
				_, err := s.CallTool(ctx, req)
				ended <- err
			}()
			<-r.begun
			for range 3 { // the last of which is told though nothing goes on
				<-heard
			}
			giveUp()
			if err := <-ended; err == nil {
				t.Error("the call was answered while the image was pulled")
			}
			close(r.goOn)
			got := s.call(t, "ls", nil)
			if got.failed {
				t.Fatalf("the next call was answered %+v", got)
			}
			t.Cleanup(func() { destroy(t, e, got.ref) })
			if found := made(t, e, docker.LabelWorkingDir, dir); len(found) != 1 {
				t.Errorf("there are %d containers", len(found))
			}
			mu.Lock()
			defer mu.Unlock()
			if !slices.ContainsFunc(told, func(m string) bool { return strings.Contains(m, "pulling") && strings.Contains(m, r.image) }) {
				t.Errorf("the client was told %q", told)
			}
			if len(r.begun) != 0 {
				t.Error("the layer was fetched more than once")
			}
		})
	}
}
