package engines

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/docker/docker/client"
)

// Client returns a client of the engine with its API version negotiated. It is
// closed when the test ends.
func (e *Engine) Client(t testing.TB) *client.Client {
	t.Helper()
	c, err := client.NewClientWithOpts(client.WithHost(e.Host), client.WithAPIVersionNegotiation())
	if err != nil {
		t.Fatalf("client of %s: %v", e.Host, err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("closing the client of %s: %v", e.Host, err)
		}
	})
	return c
}

// Env returns the variables with which the docker or podman command and
// programs that look for an engine as it does find this one: the environment of
// the test without other settings of that kind.
func (e *Engine) Env() []string {
	var env []string
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, "DOCKER_") && !strings.HasPrefix(name, "CONTAINER") {
			env = append(env, variable)
		}
	}
	if e.Provider == "podman" {
		return append(env, "CONTAINER_HOST="+e.Host)
	}
	return append(env, "DOCKER_HOST="+e.Host)
}

// Command returns the engine's own command line, docker or podman, with
// arguments, directed at this engine.
func (e *Engine) Command(ctx context.Context, arguments ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, e.Provider, arguments...)
	if e.Provider == "podman" {
		cmd.Args = append([]string{"podman", "--remote"}, arguments...)
	}
	cmd.Env = e.Env()
	return cmd
}

// CLI runs the engine's own command line and returns what it printed to
// standard output, without the last newline. The test fails when the command
// does.
func (e *Engine) CLI(t testing.TB, arguments ...string) string {
	t.Helper()
	cmd := e.Command(t.Context(), arguments...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s", e.Provider, strings.Join(arguments, " "), err, stderr.String())
	}
	return strings.TrimSuffix(stdout.String(), "\n")
}

// UniqueName returns a name that no other test uses, prefix and 12 hexadecimal
// digits, and has [Engine.LeavesNothing] check that nothing whose name begins
// with it is left.
func (e *Engine) UniqueName(t testing.TB, prefix string) string {
	t.Helper()
	name := prefix + randomHex()
	e.LeavesNothing(t, Made{NamePrefix: name})
	return name
}

func randomHex() string {
	random := make([]byte, 6)
	if _, err := rand.Read(random); err != nil {
		panic(err) // documented never to happen
	}
	return hex.EncodeToString(random)
}
