package containers

import (
	"slices"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"

	"github.com/mcp-workspace/mcp-workspace/backends/docker"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

func TestAContainerIsWhatIsPromised(t *testing.T) {
	onBoth(t, func(t *testing.T, e *engines.Engine) {
		name := named(t, e)
		s := launch{engine: e, flags: []string{"--name=" + name}, env: []string{"TOKEN=secret-of-the-host"}}.start(t)
		s.must(t, "ls", nil)
		info, err := e.Client(t).ContainerInspect(t.Context(), "mcpws-"+name)
		if err != nil {
			t.Fatal(err)
		}
		t.Run("its labels", func(t *testing.T) {
			for label, want := range map[string]string{docker.LabelWorkspace: "true", docker.LabelName: name, docker.LabelWorkingDir: "/workspace"} {
				if got := info.Config.Labels[label]; got != want {
					t.Errorf("%s is %q", label, got)
				}
			}
		})
		t.Run("it publishes no ports", func(t *testing.T) {
			if host := info.HostConfig; len(host.PortBindings) > 0 || host.PublishAllPorts || host.Privileged {
				t.Errorf("it has %+v", host)
			}
		})
		t.Run("it keeps no logs", func(t *testing.T) {
			if got := info.HostConfig.LogConfig.Type; got != "none" {
				t.Errorf("they go to %q", got)
			}
		})
		t.Run("no new privileges", func(t *testing.T) {
			if !slices.ContainsFunc(info.HostConfig.SecurityOpt, func(o string) bool { return strings.HasPrefix(o, "no-new-privileges") }) {
				t.Errorf("the engine has %q", info.HostConfig.SecurityOpt)
			}
			if got := s.run(t, "grep NoNewPrivs /proc/self/status"); !strings.HasSuffix(got, "1") {
				t.Errorf("the kernel has %q", got)
			}
		})
		t.Run("nothing of the host's environment", func(t *testing.T) {
			got := s.run(t, "cat /proc/*/environ | tr '\\0' '\\n'; env")
			for _, not := range []string{"secret-of-the-host", "DOCKER_HOST", "CONTAINER_HOST", "MCP_WORKSPACE", "GOPATH", "SSH_"} {
				if strings.Contains(got, not) {
					t.Errorf("there is %q in\n%s", not, got)
				}
			}
		})
		t.Run("process 1 is the agent", func(t *testing.T) {
			if got := s.run(t, "tr '\\0' ' ' </proc/1/cmdline"); !strings.HasSuffix(strings.TrimSpace(got), "mcp-workspace-guest init") {
				t.Errorf("it is %q", got)
			}
		})
		t.Run("its orphans are reaped", func(t *testing.T) {
			s.run(t, "for i in 1 2 3; do (setsid sh -c 'sleep 0.1' &); done")
			eventually(t, "no zombie is left", func() bool { return s.run(t, "ps -eo stat= | grep -c Z || true") == "0" })
		})
		t.Run("root cannot change the agent", func(t *testing.T) {
			for _, command := range []string{
				"touch /.mcp-workspace/x", "rm -f /.mcp-workspace/mcp-workspace-guest", "echo x >> /.mcp-workspace/mcp-workspace-guest",
				"mount -o remount,rw /.mcp-workspace", "umount /.mcp-workspace", "mv /.mcp-workspace /other", "rmdir /.mcp-workspace",
			} {
				if got := s.call(t, "execute", args{"command": command}); got.exit == 0 {
					t.Errorf("%s succeeded: %+v", command, got)
				}
			}
			s.refused(t, "read_only", "write_file", args{"path": "/.mcp-workspace/mcp-workspace-guest", "content": "x"})
			start(t, e, "--name="+name).must(t, "ls", nil)
		})
	})
}

// TestTheImagesEntrypointNeverRuns, nor its command and health check, and its
// environment is heeded.
func TestTheImagesEntrypointNeverRuns(t *testing.T) {
	onBoth(t, func(t *testing.T, e *engines.Engine) {
		image := imageOf(t, e, &container.Config{
			Entrypoint: []string{"/bin/sh", "-c", "touch /entrypoint-ran; sleep 1000"},
			Cmd:        []string{"touch", "/command-ran"},
			Env:        []string{"PAGER=more", "LANG=de_DE.UTF-8", "NO_COLOR=", "OF_IMAGE=x", "PATH=/bin:/usr/bin"},
			WorkingDir: "/from/image", StopSignal: "SIGQUIT",
		})
		s := start(t, e, "--name="+named(t, e), "--network=none", "--image="+image, "--env=PYTHONUNBUFFERED=0")
		if got := s.run(t, "ls -d /*-ran || true; pwd"); !strings.HasSuffix(got, "/workspace") || strings.Contains(got, "ran\n") && !strings.Contains(got, "No such file") {
			t.Errorf("there is %q", got)
		}
		want := "more de_DE.UTF-8 || x 0"
		if got := s.run(t, `echo "$PAGER $LANG |$NO_COLOR| $OF_IMAGE $PYTHONUNBUFFERED"`); got != want {
			t.Errorf("the environment is %q, not %q", got, want)
		}
		plain := start(t, e, "--name="+named(t, e), "--network=none")
		want = "1 1 cat C.UTF-8"
		if got := plain.run(t, `echo "$PYTHONUNBUFFERED $NO_COLOR $PAGER $LANG"`); got != want {
			t.Errorf("the environment is %q, not %q", got, want)
		}
	})
}

// imageOf makes an image of the busybox one with another configuration.
func imageOf(t *testing.T, e *engines.Engine, config *container.Config) string {
	t.Helper()
	name := e.UniqueName(t, "story-image-")
	c := e.Client(t)
	config.Image = e.Busybox
	made, err := c.ContainerCreate(t.Context(), config, &container.HostConfig{NetworkMode: "none"}, nil, nil, name)
	if err != nil {
		t.Fatal(err)
	}
	image := "localhost/" + name + ":1"
	if _, err := c.ContainerCommit(t.Context(), made.ID, container.CommitOptions{Reference: image, Config: config}); err != nil {
		t.Fatal(err)
	}
	remove(t, e, made.ID)
	removedImage(t, e, image)
	return image
}
