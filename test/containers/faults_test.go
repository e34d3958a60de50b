package containers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// possible are the faults of a day. Each leaves things as they can be gone on
// with: what is paused goes on.
func (d *day) possible(t *testing.T, e *engines.Engine) map[string]func() error {
	ctx := context.WithoutCancel(t.Context())
	c, id, second := e.Client(t), "mcpws-"+d.name, 1
	faults := map[string]func() error{
		"agent killed": func() error { return endAgents(ctx, e, id) },
		"container stopped": func() error {
			return unlessStopped(c.ContainerStop(ctx, id, container.StopOptions{Timeout: &second}))
		},
		"container restarted": func() error {
			return unlessStopped(c.ContainerRestart(ctx, id, container.StopOptions{Timeout: &second}))
		},
		"container killed": func() error {
			return unlessStopped(c.ContainerKill(ctx, id, "KILL"))
		},
		"container paused": func() error {
			if !d.works(ctx) {
				return errUnbroken
			}
			paused := c.ContainerPause(ctx, id)
			time.Sleep(time.Second) // how long it is paused
			info, err := c.ContainerInspect(ctx, id)
			if err == nil && info.State.Paused {
				err = c.ContainerUnpause(ctx, id)
			}
			if err != nil {
				return errors.Join(paused, err)
			}
			return unlessStopped(paused)
		},
		"connection cut": func() error {
			d.relay.cut()
			return nil
		},
		"server killed": func() error {
			old := d.current()
			old.killed = true
			d.begin(t)
			err := old.cmd.Process.Kill()
			_ = old.Close() // says that it was killed
			return err
		},
	}
	if e.Provider == "docker" {
		// Docker 20.10 hangs for good when a container is paused while a process
		// is being started in it, as after other faults. TestAWorkspaceThatIsPaused
		// pauses one at a time when that cannot be.
		delete(faults, "container paused")
	}
	return faults
}

// works waits until the server has a session in the container, 20 s at most.
func (d *day) works(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for ctx.Err() == nil {
		if got, err := d.current().try(ctx, "ls", nil); err == nil && !got.failed {
			return true
		}
		time.Sleep(50 * time.Millisecond) // as one who does not ask over and over
	}
	return false
}

// unlessStopped is err, or errUnbroken when it says that the container does not
// run, or that it is just being started by a server.
func unlessStopped(err error) error {
	if err == nil {
		return nil
	}
	if text := err.Error(); strings.Contains(text, "not running") || strings.Contains(text, "is not in a") || strings.Contains(text, "not be paused") || strings.Contains(text, "improper") {
		return errUnbroken
	}
	return err
}

// endAgents kills the agents of all sessions in a container.
func endAgents(ctx context.Context, e *engines.Engine, id string) error {
	out, err := e.Command(ctx, "exec", id, "pkill", "-9", "-f", "mcp-workspace-guest serve").CombinedOutput()
	if err == nil {
		return nil
	}
	if text := string(out); text == "" || strings.Contains(text, "not running") || strings.Contains(text, "stopped") || strings.Contains(text, "improper") {
		return errUnbroken // there are none, or no container that runs
	}
	return fmt.Errorf("%w: %s", err, out)
}

// usage is what a process holds.
type usage struct {
	files, threads int
	memory         int64 // resident, in bytes
}

func used(t *testing.T, pid int) usage {
	t.Helper()
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	u := usage{files: len(files)}
	for line := range strings.Lines(string(status)) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		n, err := strconv.Atoi(fields[1])
		switch {
		case err != nil:
		case fields[0] == "Threads:":
			u.threads = n
		case fields[0] == "VmRSS:":
			u.memory = int64(n) << 10
		}
	}
	return u
}

// idle is what a server holds once it has let go of what it can.
func idle(t *testing.T, s *server) usage {
	t.Helper()
	u := used(t, s.cmd.Process.Pid)
	for steady := 0; steady < 10; steady++ {
		time.Sleep(50 * time.Millisecond)
		if now := used(t, s.cmd.Process.Pid); now.files < u.files {
			steady = 0
			u = now
		}
	}
	return u
}
