package podman_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/client"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/docker"
	"github.com/mcp-workspace/mcp-workspace/backends/guest/program"
	"github.com/mcp-workspace/mcp-workspace/backends/podman"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// The contract and everything else that both engines do is tested in
// backends/docker. Here is what only Podman does.

// open returns a backend over the Podman at host.
func open(t *testing.T, host string, cfg docker.Config) *docker.Backend {
	t.Helper()
	c, err := client.NewClientWithOpts(client.WithHost(host), client.WithAPIVersionNegotiation())
	if err != nil {
		t.Fatal(err)
	}
	cfg.Client = c
	cfg.Options.Network = "none"
	b, err := podman.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// use makes a workspace, runs a script in it and removes it.
func use(t *testing.T, b *docker.Backend, script string) string {
	t.Helper()
	ws, err := b.Create(t.Context(), backends.Spec{})
	if err != nil {
		t.Fatalf("Create: %v", err)
	}
	defer func() {
		if err := ws.Close(); err != nil {
			t.Error(err)
		}
		if err := b.Destroy(t.Context(), ws.Ref()); err != nil {
			t.Error(err)
		}
	}()
	var out strings.Builder
	exit, err := ws.Run(t.Context(), backends.Command{Script: script, Merge: true, Output: func(_ backends.Stream, data []byte) { out.Write(data) }})
	if err != nil || exit.Code != 0 {
		t.Fatalf("%s: %+v, %v: %s", script, exit, err, out.String())
	}
	return strings.TrimSpace(out.String())
}

func TestLocalImagesAreFoundWithoutTheirRegistry(t *testing.T) {
	engine := engines.Podman(t)
	image, local := strings.CutPrefix(engine.Busybox, "localhost/")
	if !local {
		t.Fatalf("the image %s is not a local one", engine.Busybox)
	}
	if got := use(t, open(t, engine.Host, docker.Config{Image: image}), "echo works"); got != "works" {
		t.Errorf("a command says %q", got)
	}
}

func TestWhatPodmanWouldLeaveUnheededIsRefused(t *testing.T) {
	engine := engines.Podman(t)
	for flag, flags := range map[string]docker.Flags{"--oci-runtime": {OCIRuntime: "runsc"}, "--gpus": {GPUs: "all"}} {
		options, err := flags.Parse()
		if err != nil {
			t.Fatal(err)
		}
		_, err = podman.New(t.Context(), docker.Config{Client: engine.Client(t), Options: options})
		if backends.CodeOf(err) != backends.CodeInvalidArgument || !strings.Contains(err.Error(), flag) {
			t.Errorf("%s: %v", flag, err)
		}
	}
}

// The rootless test runs as the engine's user, told by the variables what to use.
const (
	rootlessHost  = "MCP_WORKSPACE_TEST_ROOTLESS_HOST"
	rootlessImage = "MCP_WORKSPACE_TEST_ROOTLESS_IMAGE"
	rootlessAgent = "MCP_WORKSPACE_TEST_ROOTLESS_AGENT"
	rootlessDir   = "MCP_WORKSPACE_TEST_ROOTLESS_DIR"
)

func TestRootlessAsItsUser(t *testing.T) {
	host := os.Getenv(rootlessHost)
	if host == "" {
		return // only for TestRootless
	}
	for _, c := range []struct {
		name  string
		flags docker.Flags
		want  string
	}{
		{"root", docker.Flags{}, "0"},
		{"another user", docker.Flags{User: "1234:1234"}, "1234"},
		{"host", docker.Flags{User: docker.UserHost, Mounts: []string{os.Getenv(rootlessDir) + ":/mnt"}}, "own"},
	} {
		t.Run(c.name, func(t *testing.T) {
			options, err := c.flags.Parse()
			if err != nil {
				t.Fatal(err)
			}
			b := open(t, host, docker.Config{Image: os.Getenv(rootlessImage), GuestPath: os.Getenv(rootlessAgent), Options: options, WorkingDir: "/workspace"})
			script := "touch f && id -u"
			if c.want == "own" {
				script = "touch f /mnt/by-host && stat -c %u /mnt/by-host"
			}
			got := use(t, b, script)
			if c.want != "own" {
				if got != c.want {
					t.Errorf("commands run as %s", got)
				}
				return
			}
			info, err := os.Stat(filepath.Join(os.Getenv(rootlessDir), "by-host"))
			if err != nil {
				t.Fatal(err)
			}
			if uidOf(info) != uint32(os.Getuid()) {
				t.Errorf("what was written belongs to %d on the machine, want %d", uidOf(info), os.Getuid())
			}
		})
	}
}

func TestRootless(t *testing.T) {
	engine := engines.RootlessPodman(t)
	socket, err := os.Stat(strings.TrimPrefix(engine.Host, "unix://"))
	if err != nil {
		t.Fatal(err)
	}
	agent, err := program.Load(t.Context(), program.Options{Arch: "amd64"})
	if err != nil {
		t.Fatal(err)
	}
	executable, err := agent.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("/var/tmp", "mcpws-rootless-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	mounted := filepath.Join(dir, "mounted")
	if err := os.Mkdir(mounted, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, mounted} {
		if err := os.Chown(d, int(uidOf(socket)), int(gidOf(socket))); err != nil {
			t.Fatal(err)
		}
	}
	agentFile, test := filepath.Join(dir, "agent"), filepath.Join(dir, "test")
	if err := os.WriteFile(agentFile, executable, 0o755); err != nil {
		t.Fatal(err)
	}
	copyExecutable(t, os.Args[0], test)
	cmd := exec.CommandContext(t.Context(), test, "-test.run=^TestRootlessAsItsUser$", "-test.v")
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + dir, "TMPDIR=" + dir, rootlessHost + "=" + engine.Host, rootlessImage + "=" + engine.Busybox, rootlessAgent + "=" + agentFile, rootlessDir + "=" + mounted}
	runAs(cmd, uidOf(socket), gidOf(socket))
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil || !strings.Contains(string(out), "--- PASS: TestRootlessAsItsUser/host") {
		t.Errorf("as the engine's user: %v", err)
	}
	list, err := engine.Client(t).ContainerList(t.Context(), container.ListOptions{All: true, Filters: filters.NewArgs(filters.Arg("label", docker.LabelWorkspace+"=true"))})
	if err != nil || len(list) != 0 {
		t.Errorf("left %+v, %v", list, err)
	}
}

func copyExecutable(t *testing.T, from, to string) {
	t.Helper()
	source, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(target, source); err != nil {
		t.Fatal(err)
	}
	if err := target.Close(); err != nil {
		t.Fatal(err)
	}
}
