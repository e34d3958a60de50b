package containers

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/image"

	"github.com/mcp-workspace/mcp-workspace/test/engines"
	"github.com/mcp-workspace/mcp-workspace/test/testenv"
)

// ownPodman starts a Podman for this test alone, with the busybox image, that
// takes images from registries on this machine without TLS.
func ownPodman(t *testing.T) *engines.Engine {
	t.Helper()
	e := *engines.Podman(t)                               // which installs it, or says why it cannot
	dir, err := os.MkdirTemp("/var/tmp", "mcpws-podman-") // a socket's path may have 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	registries := filepath.Join(dir, "registries.conf")
	writeFile(t, registries, "[[registry]]\nlocation = \"127.0.0.1\"\ninsecure = true\n")
	env := append(os.Environ(), "TEST_ENGINES_DIR="+filepath.Join(dir, "e"), "TEST_ENGINES=podman", "TEST_ENGINES_IMAGES=busybox", "CONTAINERS_REGISTRIES_CONF="+registries)
	t.Cleanup(func() {
		script(t, env, "clean")
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	for line := range strings.Lines(script(t, env, "start")) {
		if host, ok := strings.CutPrefix(strings.TrimSpace(line), "podman="); ok {
			e.Host = host
			return &e
		}
	}
	t.Fatal("the script did not tell where Podman is")
	return nil
}

func script(t *testing.T, env []string, verb string) string {
	t.Helper()
	root, err := testenv.Root()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.Background(), filepath.Join(root, "scripts", "test-engines.sh"), verb) // also in cleanups
	cmd.Dir, cmd.Env = root, env
	var said said
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("scripts/test-engines.sh %s: %v\n%s", verb, err, &said)
	}
	return string(out)
}

// removedImage has an image removed when the test ends.
func removedImage(t *testing.T, e *engines.Engine, name string) {
	t.Helper()
	c := e.Client(t)
	t.Cleanup(func() {
		_, err := c.ImageRemove(context.Background(), name, image.RemoveOptions{Force: true, PruneChildren: true})
		if err != nil && !cerrdefs.IsNotFound(err) {
			t.Errorf("removing the image %s: %v", name, err)
		}
	})
}
