package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/guest"
)

// setupLimit is how long a new agent may take to answer, a slow disk under a new
// working directory included.
const setupLimit = time.Minute

// connect starts a session of the agent in a container that runs.
func (b *Backend) connect(ctx context.Context, info container.InspectResponse) (backends.Workspace, error) {
	client, execID, err := b.dial(ctx, info)
	if err != nil {
		return nil, err
	}
	setup := b.setup(info)
	err = doWithin(ctx, setupLimit, func(ctx context.Context) error { return client.SetUp(ctx, setup) })
	if code := backends.CodeOf(err); ctx.Err() == nil && (code == backends.CodePermission || code == backends.CodeReadOnly) {
		if err = b.makeDir(ctx, info, setup.WorkingDir, err); err == nil {
			err = doWithin(ctx, setupLimit, func(ctx context.Context) error { return client.SetUp(ctx, setup) })
		}
	}
	if err != nil {
		closedExecs.add(execID, time.Now())
		return nil, errors.Join(setupError(ctx, info, setup.WorkingDir, err), client.Close())
	}
	return &workspace{Client: client, backend: b, container: info.ID, exec: execID, ref: b.ref(strings.TrimPrefix(info.Name, "/"))}, nil
}

// setupError says what a session could not be set up for.
func setupError(ctx context.Context, info container.InspectResponse, dir string, err error) error {
	var e *backends.Error
	switch {
	case ctx.Err() != nil:
		return &backends.Error{Code: backends.CodeCancelled, Op: "open", Err: context.Cause(ctx), Message: "given up while the guest agent was started"}
	case errors.Is(err, context.DeadlineExceeded), backends.CodeOf(err) == backends.CodeCancelled:
		return &backends.Error{Code: backends.CodeUnavailable, Op: "open", Err: err,
			Message: fmt.Sprintf("the guest agent in %s did not answer within %v; see whether the machine is overloaded", strings.TrimPrefix(info.Name, "/"), setupLimit)}
	case errors.As(err, &e) && e.Code == backends.CodeNotDirectory:
		return &backends.Error{Code: backends.CodeNotDirectory, Op: "open", Err: err,
			Message: fmt.Sprintf("the working directory %s is a file there; use another --working-dir", dir)}
	default:
		return err
	}
}

// setup is what a session in the container is like.
func (b *Backend) setup(info container.InspectResponse) guest.Setup {
	setup := guest.Setup{WorkingDir: b.startDir(info)}
	if rt := b.cfg.Runtime; rt != nil && !rt.IsBuilt() {
		for name, value := range rt.Env {
			setup.Env = append(setup.Env, name+"="+value)
		}
		slices.Sort(setup.Env)
	}
	setup.Env = append(setup.Env, b.cfg.Env...)
	images := slices.DeleteFunc(slices.Clone(info.Config.Env), func(kv string) bool { return slices.Contains(b.cfg.Differences.AddsEnv, kv) })
	setup.Env = append(defaultEnv(append(images, setup.Env...)), setup.Env...)
	return setup
}

// startDir is where commands start in the container.
func (b *Backend) startDir(info container.InspectResponse) string {
	if b.cfg.WorkingDir != "" {
		return b.cfg.WorkingDir
	}
	return workingDir(info.Config.WorkingDir)
}

// defaultEnv is the environment that makes commands behave without a terminal
// and a person, as far as have does not say otherwise.
func defaultEnv(have []string) []string {
	set := map[string]string{}
	for _, kv := range have {
		name, value, _ := strings.Cut(kv, "=")
		set[name] = value
	}
	var env []string
	add := func(name, value string) {
		if _, ok := set[name]; !ok {
			env = append(env, name+"="+value)
		}
	}
	add("TERM", "dumb")
	add("PYTHONUNBUFFERED", "1")
	add("NO_COLOR", "1")
	add("PAGER", "cat")
	if _, ok := set["LC_ALL"]; !ok {
		add("LANG", "C.UTF-8")
	}
	// git refuses to work in a repository of another user, which one that is
	// mounted usually is. It is one more entry after those that are there.
	count := 0
	if text, ok := set["GIT_CONFIG_COUNT"]; ok {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > 1000 {
			return env // git would not take it either
		}
		count = n
	}
	return append(env,
		fmt.Sprintf("GIT_CONFIG_KEY_%d=safe.directory", count),
		fmt.Sprintf("GIT_CONFIG_VALUE_%d=*", count),
		fmt.Sprintf("GIT_CONFIG_COUNT=%d", count+1))
}

// dial starts the agent in a container, by an exec of that id, and greets it.
func (b *Backend) dial(ctx context.Context, info container.InspectResponse) (agent *guest.Client, execID string, err error) {
	name := strings.TrimPrefix(info.Name, "/")
	for try := 0; ; try++ {
		execID, conn, err := b.exec(ctx, info.ID)
		if err != nil {
			if reason := b.whyNot(ctx, info.ID); reason != "" && ctx.Err() == nil {
				return nil, "", &backends.Error{Code: backends.CodeUnavailable, Op: "open", Err: err, Message: reason}
			}
			return nil, "", b.failed(ctx, "open", "start the guest agent in "+name, err)
		}
		limited, cancel := context.WithTimeout(ctx, setupLimit)
		client, err := guest.Dial(limited, conn, b.log)
		cancel()
		switch {
		case err == nil:
			return client, execID, nil
		case ctx.Err() != nil:
			return nil, "", setupError(ctx, info, "", err)
		case errors.Is(err, guest.ErrIncompatible):
			return nil, "", err
		}
		failure := b.notStarted(ctx, info, execID, conn, err)
		if try > 0 || ctx.Err() != nil || !b.refilled(ctx, info) {
			return nil, "", failure
		}
	}
}

// exec starts the agent in a container and connects to its input and output.
func (b *Backend) exec(ctx context.Context, id string) (execID string, conn *stream, err error) {
	created, err := within(ctx, quickLimit, func(ctx context.Context) (container.ExecCreateResponse, error) {
		return b.engine.ContainerExecCreate(ctx, id, container.ExecOptions{
			AttachStdin: true, AttachStdout: true, AttachStderr: true,
			WorkingDir: "/", // the image's own may have been removed
			Cmd:        []string{guestProgram, "serve"},
		})
	})
	if err != nil {
		return "", nil, err
	}
	hijacked, err := within(ctx, quickLimit, func(ctx context.Context) (types.HijackedResponse, error) {
		return b.hijack(ctx, created.ID)
	})
	if err != nil {
		return created.ID, nil, err
	}
	return created.ID, newStream(hijacked, b.log), nil
}

// hijack attaches to an exec. The client heeds ctx while it dials only; when an
// engine does not answer after that, the request is left behind and its
// connection closed should an answer come.
func (b *Backend) hijack(ctx context.Context, execID string) (types.HijackedResponse, error) {
	type result struct {
		response types.HijackedResponse
		err      error
	}
	done := make(chan result, 1)
	go func() {
		response, err := b.engine.ContainerExecAttach(ctx, execID, container.ExecAttachOptions{})
		done <- result{response, err}
	}()
	select {
	case r := <-done:
		return r.response, r.err
	case <-ctx.Done():
		go func() {
			if r := <-done; r.err == nil {
				r.response.Close()
			}
		}()
		return types.HijackedResponse{}, ctx.Err()
	}
}

// removedReason says of a workspace that it is gone for good.
const removedReason = "the workspace is gone: its container has been removed"

// whyNot says why the container cannot be worked in, or "" when it runs.
func (b *Backend) whyNot(ctx context.Context, id string) string {
	info, reason := b.look(ctx, id)
	if reason != "" {
		return reason
	}
	return b.stateOf(info, "try again") // one that was new does not stay
}

// look describes a container, or says why it cannot be described.
func (b *Backend) look(ctx context.Context, id string) (info container.InspectResponse, reason string) {
	info, err := b.inspect(ctx, "open", id)
	switch {
	case errors.Is(err, errGone):
		return info, removedReason
	case err != nil:
		return info, err.Error()
	default:
		return info, ""
	}
}

// refilled puts the agent into the container's volume should it have been
// emptied, and tells whether it did.
func (b *Backend) refilled(ctx context.Context, info container.InspectResponse) bool {
	agent, err := b.agent(ctx, "", nil)
	if err != nil || info.Config.Labels[LabelGuest] != short(agent) {
		return false
	}
	filled, err := b.fill(ctx, info.ID, info.Config.Image, agent)
	return filled && err == nil
}

// notStarted says why the agent did not greet, by what the engine knows of its
// process and by what came in its place.
func (b *Backend) notStarted(ctx context.Context, info container.InspectResponse, execID string, conn *stream, cause error) error {
	said := conn.saidInstead()
	exit := ""
	state, err := b.ended(ctx, execID)
	switch {
	case err != nil:
		b.log.Debug("the agent's process could not be inspected", "error", err)
	case !state.Running:
		exit = fmt.Sprintf(" (exit code %d)", state.ExitCode)
	}
	if reason := b.whyNot(ctx, info.ID); reason != "" {
		return &backends.Error{Code: backends.CodeUnavailable, Op: "open", Err: cause, Message: reason}
	}
	mend := mendStart(said, state.ExitCode)
	if said == "" {
		said = cause.Error()
	}
	said, _, _ = strings.Cut(said, "\n") // what follows is in the log
	return &backends.Error{Code: backends.CodeUnavailable, Op: "open", Err: cause, Message: fmt.Sprintf(
		"the guest agent could not be started in %s%s: %s%s", strings.TrimPrefix(info.Name, "/"), exit, strings.TrimSpace(said), mend)}
}

// ended waits a moment for the agent's process to end, since its output ends
// before the engine has noticed.
func (b *Backend) ended(ctx context.Context, execID string) (container.ExecInspect, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	for {
		state, err := b.engine.ContainerExecInspect(ctx, execID)
		if err != nil || !state.Running {
			return state, err
		}
		if pause(ctx, pollInterval) != nil {
			return state, nil // it still runs, which is an answer
		}
	}
}

// mendStart says what to do about an agent that did not start.
func mendStart(said string, exitCode int) string {
	switch text := strings.ToLower(said); {
	case strings.Contains(text, "exec format error"):
		return "; the agent is of another architecture than the engine's machine: give the right one with --guest"
	case strings.Contains(text, "resource temporarily unavailable"), strings.Contains(text, "cannot fork"), strings.Contains(text, "cannot allocate memory"),
		strings.Contains(text, "fork/exec"), strings.Contains(text, "pthread_create"), strings.Contains(text, "new os thread"), strings.Contains(text, "newosproc"), strings.Contains(text, "read init-p"):
		return "; the container has reached its limit of processes or memory: end some of them (the engine's restart command does), or make a workspace with a higher --pids-limit or --memory"
	case exitCode == 137:
		return "; it was killed, perhaps because the container is out of memory: see --memory"
	case strings.Contains(text, "permission denied"):
		return "; the container's user may not execute it: see --user, and whether volumes are mounted noexec there"
	default:
		return ""
	}
}

var _ io.ReadWriteCloser = (*stream)(nil)
