package containers

import (
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// TestAnEngineThatIsNotThere does not keep the server from starting, and is
// named by the calls that need it.
func TestAnEngineThatIsNotThere(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none.sock")
	silent := filepath.Join(t.TempDir(), "silent.sock")
	listener, err := net.Listen("unix", silent)
	if err != nil {
		t.Fatal(err)
	}
	listener.(*net.UnixListener).SetUnlinkOnClose(false) // its socket file stays
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, provider string
		env            []string
		says           []string
	}{
		{"the socket is missing", "docker", []string{"DOCKER_HOST=unix://" + missing}, []string{missing, "DOCKER_HOST", "Start it"}},
		{"the socket is missing", "podman", []string{"CONTAINER_HOST=unix://" + missing}, []string{missing, "CONTAINER_HOST", "podman.socket"}},
		{"nobody listens", "docker", []string{"DOCKER_HOST=unix://" + silent}, []string{silent}},
		{"nobody listens", "podman", []string{"CONTAINER_HOST=unix://" + silent}, []string{silent}},
		{"nobody listens on TCP", "docker", []string{"DOCKER_HOST=tcp://127.0.0.1:1"}, []string{"127.0.0.1:1"}},
		{"the address is none", "docker", []string{"DOCKER_HOST=nonsense"}, []string{"DOCKER_HOST", "nonsense"}},
	} {
		t.Run(c.provider+" "+c.name, func(t *testing.T) {
			e := &engines.Engine{Provider: c.provider, Host: "unix://" + missing, Debian: "image"}
			s := launch{engine: e, env: c.env}.start(t)
			list, err := s.ListTools(t.Context(), mcp.ListToolsRequest{})
			if err != nil || len(list.Tools) != 7 {
				t.Fatalf("the tools are %v, %v", list, err)
			}
			for range 2 {
				got := s.call(t, "ls", nil)
				if got.code != "unavailable" || !got.failed {
					t.Errorf("answered %+v", got)
				}
				for _, text := range c.says {
					if !strings.Contains(got.text, text) {
						t.Errorf("no %q in the answer: %s", text, got.text)
					}
				}
			}
		})
	}
}
