package docker_test

import (
	"context"
	"io"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/docker"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// inFlight starts a command that goes on until it is stopped, and answers once it
// runs with a channel for its end.
func inFlight(t *testing.T, ws backends.Workspace) <-chan error {
	t.Helper()
	started, ended := make(chan struct{}), make(chan error, 1)
	var once sync.Once
	go func() {
		_, err := ws.Run(t.Context(), backends.Command{Script: "echo started; exec sleep 300",
			Output: func(backends.Stream, []byte) { once.Do(func() { close(started) }) }})
		ended <- err
	}()
	select {
	case <-started:
	case err := <-ended:
		t.Fatalf("the command ended at once: %v", err)
	case <-time.After(20 * time.Second):
		t.Fatal("the command does not start")
	}
	return ended
}

// outcome waits for what a call in flight ends with.
func outcome(t *testing.T, ended <-chan error) error {
	t.Helper()
	select {
	case err := <-ended:
		return err
	case <-time.After(45 * time.Second):
		t.Fatal("the call in flight does not end")
		return nil
	}
}

func TestCallsInFlightEndWithWhatBecameOfTheContainer(t *testing.T) {
	onBoth(t, testCallsInFlightEndWithWhatBecameOfTheContainer)
}

func testCallsInFlightEndWithWhatBecameOfTheContainer(t *testing.T, engine *engines.Engine) {
	b := newBackend(t, engine, docker.Config{})
	for _, c := range []struct {
		name    string
		harm    func(ctx context.Context, id string) error
		words   []string
		recover func(t *testing.T, id string)
		gone    bool
	}{
		{
			name: "stopped",
			harm: func(ctx context.Context, id string) error {
				return b.Engine().ContainerStop(ctx, id, container.StopOptions{})
			},
			words: []string{"stopped", "next call starts it again"},
		},
		{
			name:  "killed",
			harm:  func(ctx context.Context, id string) error { return b.Engine().ContainerKill(ctx, id, "KILL") },
			words: []string{"stopped", "137"},
		},
		{
			name: "restarted",
			harm: func(ctx context.Context, id string) error {
				return b.Engine().ContainerRestart(ctx, id, container.StopOptions{})
			},
			words: nil, // by the time the reason is asked for it may run again
		},
		{
			name:  "paused",
			harm:  func(ctx context.Context, id string) error { return b.Engine().ContainerPause(ctx, id) },
			words: []string{engine.Provider + " unpause"},
			recover: func(t *testing.T, id string) {
				if err := b.Engine().ContainerUnpause(t.Context(), id); err != nil {
					t.Error(err)
				}
			},
		},
		{
			name: "removed",
			harm: func(ctx context.Context, id string) error {
				return b.Engine().ContainerRemove(ctx, id, container.RemoveOptions{Force: true})
			},
			words: []string{"removed"},
			gone:  true,
		},
		{
			name: "agent killed",
			harm: func(ctx context.Context, id string) error {
				return signalAgent(ctx, b, id, "KILL")
			},
			words: []string{"connection"},
		},
		{
			name: "agent stopped",
			harm: func(ctx context.Context, id string) error {
				return signalAgent(ctx, b, id, "STOP")
			},
			words: []string{"stopped answering", "starts another agent"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			ws := create(t, b, backends.Spec{})
			id := ws.Ref().ID
			run(t, ws, "echo kept >kept")
			ended := inFlight(t, ws)
			if err := c.harm(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			wantCode(t, "the call in flight", outcome(t, ended), backends.CodeUnavailable, c.words...)
			_, err := ws.Stat(t.Context(), "kept")
			wantCode(t, "a later call", err, backends.CodeUnavailable, c.words...)

			if c.recover != nil {
				_, err := b.Attach(t.Context(), ws.Ref())
				wantCode(t, "Attach", err, backends.CodeUnavailable, c.words...)
				c.recover(t, id)
			}
			again, err := b.Attach(t.Context(), ws.Ref())
			if c.gone {
				wantCode(t, "Attach", err, backends.CodeUnavailable, "removed")
				return
			}
			if err != nil {
				t.Fatalf("Attach: %v", err)
			}
			if got := run(t, again, "cat kept"); got != "kept" {
				t.Errorf("the file holds %q", got)
			}
			if err := again.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// signalAgent sends a signal to the agent's session in a container, and not to
// process 1.
func signalAgent(ctx context.Context, b *docker.Backend, id, signal string) error {
	exec, err := b.Engine().ContainerExecCreate(ctx, id, container.ExecOptions{
		AttachStdout: true,
		Cmd:          []string{"sh", "-c", `for p in /proc/[0-9]*; do case "$(tr '\0' ' ' <$p/cmdline 2>/dev/null)" in *guest" "serve*) kill -$0 "${p#/proc/}";; esac; done`, signal},
	})
	if err != nil {
		return err
	}
	attached, err := b.Engine().ContainerExecAttach(ctx, exec.ID, container.ExecAttachOptions{})
	if err != nil {
		return err
	}
	defer attached.Close()
	_, err = io.Copy(io.Discard, attached.Reader)
	return err
}

func TestKilledAgentLeavesNoCommands(t *testing.T) { onBoth(t, testKilledAgentLeavesNoCommands) }

func testKilledAgentLeavesNoCommands(t *testing.T, engine *engines.Engine) {
	for name, flags := range map[string]docker.Flags{
		"root":                        {},
		"a user":                      {User: "1234:1234", Tmpfs: []string{"/workspace:mode=777"}},
		"nothing writable":            {ReadOnly: true, Tmpfs: []string{"/workspace"}},
		"no capabilities":             {CapDrop: []string{"ALL"}},
		"a user without capabilities": {User: "1234", CapDrop: []string{"ALL"}, Tmpfs: []string{"/workspace:mode=777"}},
	} {
		t.Run(name, func(t *testing.T) {
			options, err := flags.Parse()
			if err != nil {
				t.Fatal(err)
			}
			b := newBackend(t, engine, docker.Config{Options: options})
			ws := create(t, b, backends.Spec{})
			started, ended := make(chan struct{}), make(chan error, 1)
			var once sync.Once
			go func() {
				_, err := ws.Run(t.Context(), backends.Command{
					Script: `sh -c 'trap "" TERM HUP; sleep 301' & setsid sleep 302 & (sleep 303 | cat) & echo started; sleep 304; sleep 305`,
					Output: func(backends.Stream, []byte) { once.Do(func() { close(started) }) }})
				ended <- err
			}()
			<-started
			if err := signalAgent(t.Context(), b, ws.Ref().ID, "KILL"); err != nil {
				t.Fatal(err)
			}
			wantCode(t, "the call in flight", outcome(t, ended), backends.CodeUnavailable)
			again, err := b.Attach(t.Context(), ws.Ref())
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := again.Close(); err != nil {
					t.Error(err)
				}
			}()
			sleeping := func() string {
				return run(t, again, `for p in /proc/[0-9]*; do set -- $(tr '\0' ' ' <$p/cmdline 2>/dev/null); case "$1" in sleep) echo $2;; esac; done`)
			}
			for until := time.Now().Add(20 * time.Second); sleeping() != "302"; time.Sleep(20 * time.Millisecond) {
				if time.Now().After(until) {
					t.Fatalf("what sleeps yet is %q, and only what made a session of its own should", sleeping())
				}
			}
		})
	}
}

func TestAttachStartsWhatDoesNotRun(t *testing.T) { onBoth(t, testAttachStartsWhatDoesNotRun) }

func testAttachStartsWhatDoesNotRun(t *testing.T, engine *engines.Engine) {
	b := newBackend(t, engine, docker.Config{})
	ws := create(t, b, backends.Spec{})
	put := func() { run(t, ws, "echo kept >kept") }
	put()
	if err := b.Engine().ContainerStop(t.Context(), ws.Ref().ID, container.StopOptions{}); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 { // at once, too
		wg.Go(func() {
			again, err := b.Attach(t.Context(), ws.Ref())
			if err != nil {
				t.Errorf("Attach: %v", err)
				return
			}
			if got := run(t, again, "cat kept"); got != "kept" {
				t.Errorf("the file holds %q", got)
			}
			if err := again.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestOneThatWasCreatedAndNeverStartedIsFinished(t *testing.T) {
	onBoth(t, testOneThatWasCreatedAndNeverStartedIsFinished)
}

func testOneThatWasCreatedAndNeverStartedIsFinished(t *testing.T, engine *engines.Engine) {
	b := newBackend(t, engine, docker.Config{})
	spec := backends.Spec{Name: "half-" + b.Scope()}
	if err := b.CreateOnly(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	ws := create(t, b, spec)
	if got := run(t, ws, "echo works"); got != "works" {
		t.Errorf("a command says %q", got)
	}
}

func TestClosingEndsTheAgentsProcess(t *testing.T) { onBoth(t, testClosingEndsTheAgentsProcess) }

func testClosingEndsTheAgentsProcess(t *testing.T, engine *engines.Engine) {
	b := newBackend(t, engine, docker.Config{})
	watcher := create(t, b, backends.Spec{})
	count := func() string {
		return run(t, watcher, `n=0; for p in /proc/[0-9]*; do case "$(tr '\0' ' ' <$p/cmdline 2>/dev/null)" in *guest" "serve*) n=$((n+1));; esac; done; echo $n`)
	}
	if got := count(); got != "1" {
		t.Fatalf("there are %s sessions, want 1", got)
	}
	var open []backends.Workspace
	for range 3 {
		ws, err := b.Attach(t.Context(), watcher.Ref())
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, ws)
	}
	if got := count(); got != "4" {
		t.Fatalf("there are %s sessions, want 4", got)
	}
	for _, ws := range open {
		for range 2 {
			if err := ws.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		}
	}
	deadline := time.Now().Add(10 * time.Second)
	for count() != "1" {
		if time.Now().After(deadline) {
			t.Fatalf("there are %s sessions after closing, want 1", count())
		}
	}
	_, err := open[0].Stat(t.Context(), ".")
	wantCode(t, "a call after Close", err, backends.CodeUnavailable)
}

func TestAgentThatCannotStartIsExplained(t *testing.T) {
	onBoth(t, testAgentThatCannotStartIsExplained)
}

func testAgentThatCannotStartIsExplained(t *testing.T, engine *engines.Engine) {
	options, err := docker.Flags{PidsLimit: "60"}.Parse()
	if err != nil {
		t.Fatal(err)
	}
	b := newBackend(t, engine, docker.Config{Options: options})
	ws := create(t, b, backends.Spec{})
	// Fill up what is left of the limit.
	fill := "i=0; while [ $i -lt 80 ]; do setsid sleep 300 & i=$((i+1)); done 2>/dev/null"
	if _, err := ws.Run(t.Context(), backends.Command{Script: fill}); err != nil {
		t.Logf("filling up: %v", err)
	}
	again, err := b.Attach(t.Context(), ws.Ref())
	if err == nil {
		t.Cleanup(func() { _ = again.Close() })
		t.Fatal("there was room for one more session")
	}
	wantCode(t, "Attach", err, backends.CodeUnavailable, "--pids-limit")
	t.Log(err)
}

func TestLowestLimitOfProcesses(t *testing.T) { onBoth(t, testLowestLimitOfProcesses) }

func testLowestLimitOfProcesses(t *testing.T, engine *engines.Engine) {
	options, err := docker.Flags{PidsLimit: strconv.Itoa(docker.MinPids)}.Parse()
	if err != nil {
		t.Fatal(err)
	}
	b := newBackend(t, engine, docker.Config{Options: options})
	ws := create(t, b, backends.Spec{})
	for range 20 {
		if got := run(t, ws, "seq 100 | sort -n | tail -1"); got != "100" {
			t.Fatalf("a command of three processes says %q", got)
		}
	}
}

func TestEmptiedVolumeIsFilledAgain(t *testing.T) { onBoth(t, testEmptiedVolumeIsFilledAgain) }

func testEmptiedVolumeIsFilledAgain(t *testing.T, engine *engines.Engine) {
	b, digest := withOwnAgent(t, engine, engine.Busybox) // so that no other test's volume is harmed
	ws := create(t, b, backends.Spec{})
	made, err := b.Engine().ContainerCreate(t.Context(), &container.Config{Image: engine.Busybox, Cmd: []string{"/bin/sh", "-c", "rm -f /.mcp-workspace/*"}, Labels: map[string]string{docker.LabelScope: b.Scope()}},
		&container.HostConfig{NetworkMode: "none", Binds: []string{docker.VolumePrefix + digest + ":" + docker.GuestDir}}, nil, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	wait, failed := b.Engine().ContainerWait(t.Context(), made.ID, container.WaitConditionNextExit)
	if err := b.Engine().ContainerStart(t.Context(), made.ID, container.StartOptions{}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-wait:
	case err := <-failed:
		t.Fatal(err)
	}
	if err := b.Engine().ContainerRemove(t.Context(), made.ID, container.RemoveOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
	again, err := b.Attach(t.Context(), ws.Ref())
	if err != nil {
		t.Fatalf("Attach: %v", err)
	}
	if got := run(t, again, "echo works"); got != "works" {
		t.Errorf("a command says %q", got)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

func TestCommandEndedByTheStopOfItsContainerIsNotAnExit(t *testing.T) {
	onBoth(t, testCommandEndedByTheStopOfItsContainerIsNotAnExit)
}

func testCommandEndedByTheStopOfItsContainerIsNotAnExit(t *testing.T, engine *engines.Engine) {
	b := newBackend(t, engine, docker.Config{})
	ws := create(t, b, backends.Spec{})
	exit, err := ws.Run(t.Context(), backends.Command{Script: "kill -TERM $$"})
	if err != nil || exit.Signal != "SIGTERM" {
		t.Errorf("a command that ends itself by SIGTERM: %+v, %v", exit, err)
	}
	for range 5 {
		ended := inFlight(t, ws)
		if err := b.Engine().ContainerStop(t.Context(), ws.Ref().ID, container.StopOptions{}); err != nil {
			t.Fatal(err)
		}
		wantCode(t, "the call in flight", outcome(t, ended), backends.CodeUnavailable, "stopped")
		if ws, err = b.Attach(t.Context(), ws.Ref()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := ws.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
