package pull_test

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

const (
	user     = "someone"
	password = "opensesame"
	token    = "an-identity-token"
)

// server is a real registry on a loopback port, with a guard in front of it,
// and a way to push past the guard.
type server struct {
	host, behind string
	// guard decides about a request; it answers it when it refuses.
	guard func(w http.ResponseWriter, r *http.Request) bool
	// slow makes each layer arrive in pieces with a pause between them, until
	// the request is given up.
	slow time.Duration
	// begun gets a value when a slow layer begins, ended when one is given up.
	begun, ended chan struct{}
}

// startRegistry starts a registry.
func startRegistry(t *testing.T, s *server) *server {
	t.Helper()
	s.begun, s.ended = make(chan struct{}, 100), make(chan struct{}, 100)
	store := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.guard != nil && !s.guard(w, r) {
			return
		}
		if s.slow > 0 && strings.Contains(r.URL.Path, "/blobs/") {
			w = &slowWriter{ResponseWriter: w, server: s, request: r}
		}
		store.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	behind := httptest.NewServer(store)
	t.Cleanup(behind.Close)
	s.host = strings.TrimPrefix(front.URL, "http://")
	s.behind = strings.TrimPrefix(behind.URL, "http://")
	return s
}

// slowWriter writes in pieces of 64 KiB with a pause after each.
type slowWriter struct {
	http.ResponseWriter
	server  *server
	request *http.Request
	begun   bool
}

func (w *slowWriter) Write(data []byte) (int, error) {
	var written int
	for len(data) > 0 {
		piece := data[:min(len(data), 64<<10)]
		n, err := w.ResponseWriter.Write(piece)
		written += n
		if err != nil {
			return written, err
		}
		if len(piece) > 10<<10 && !w.begun { // a layer, not the configuration
			w.begun = true
			w.server.begun <- struct{}{}
		}
		if err := http.NewResponseController(w.ResponseWriter).Flush(); err != nil {
			return written, err
		}
		select {
		case <-time.After(w.server.slow):
		case <-w.request.Context().Done():
			w.server.ended <- struct{}{}
			return written, w.request.Context().Err()
		}
		data = data[n:]
	}
	return written, nil
}

// basicAuth is a guard that asks for the user and the password.
func basicAuth(w http.ResponseWriter, r *http.Request) bool {
	u, p, _ := r.BasicAuth()
	if u == user && p == password {
		return true
	}
	w.Header().Set("WWW-Authenticate", `Basic realm="the registry"`)
	http.Error(w, `{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}`, http.StatusUnauthorized)
	return false
}

// tokenAuth is a guard that sends to a token service, which gives out a bearer
// for the identity token. The service counts what it gave.
func tokenAuth(t *testing.T) (guard func(http.ResponseWriter, *http.Request) bool, given *atomic.Int32) {
	t.Helper()
	given = &atomic.Int32{}
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.FormValue("grant_type") != "refresh_token" || r.FormValue("refresh_token") != token {
			http.Error(w, `{"details":"incorrect username or password"}`, http.StatusUnauthorized)
			return
		}
		given.Add(1)
		_, _ = io.WriteString(w, `{"access_token":"bearer-of-`+token+`","expires_in":300}`)
	}))
	t.Cleanup(service.Close)
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Authorization") == "Bearer bearer-of-"+token {
			return true
		}
		w.Header().Set("WWW-Authenticate", `Bearer realm="`+service.URL+`/token",service="test"`)
		http.Error(w, `{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}`, http.StatusUnauthorized)
		return false
	}, given
}

// push puts an image of random layers into the registry and returns its name.
func (s *server) push(t *testing.T, repository, architecture string, size int64, layers int64) string {
	t.Helper()
	image, err := random.Image(size, layers)
	if err != nil {
		t.Fatal(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", architecture
	if image, err = mutate.ConfigFile(image, config); err != nil {
		t.Fatal(err)
	}
	ref, err := name.ParseReference(s.behind + "/" + repository + ":1")
	if err != nil {
		t.Fatal(err)
	}
	index := mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{
		Platform: &v1.Platform{OS: "linux", Architecture: architecture},
	}})
	if err := remote.WriteIndex(ref, index, remote.WithAuth(authn.Anonymous)); err != nil {
		t.Fatal(err)
	}
	return s.host + "/" + repository + ":1"
}
