package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"
	"github.com/docker/docker/pkg/stdcopy"
)

// engine is a container engine for the tests, from scripts/test-engines.sh.
type engine struct {
	name     string // docker or podman
	variable string // with its address, as programs that look for it read it
	image    string // of Debian
}

// engines starts the engines, or says why there are none.
func engines(ctx context.Context) ([]engine, error) {
	cmd := exec.CommandContext(ctx, "bash", "scripts/test-engines.sh", "start")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("scripts/test-engines.sh: %w", err)
	}
	found := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		found[name] = value
	}
	return []engine{
		{"docker", "DOCKER_HOST=" + found["docker"], found["debian"]},
		{"podman", "CONTAINER_HOST=" + found["podman"], found["debian"]},
	}, nil
}

// command is a program that finds this engine.
func (e engine) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), e.variable)
	return cmd
}

// cli is the engine's own command line.
func (e engine) cli(ctx context.Context, args ...string) *exec.Cmd {
	if e.name == "podman" {
		args = append([]string{"--remote"}, args...)
	}
	return e.command(ctx, e.name, args...)
}

// server is the command of the server with a workspace of this name in this
// engine.
func (e engine) server(b *bench, name string) []string {
	return []string{"env", e.variable, b.server, "--backend", e.name, "--image", e.image, "--network", "none", "--name", name}
}

// measureDocker measures work in containers beside the engines' own ways.
func measureDocker(ctx context.Context, b *bench) error {
	if os.Getuid() != 0 {
		fmt.Println("containers: left out, because only root can start the engines for it")
		return nil
	}
	found, err := engines(ctx)
	if err != nil {
		return err
	}
	for _, e := range found {
		if err := b.measureEngine(ctx, e); err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
	}
	return nil
}

func (b *bench) measureEngine(ctx context.Context, e engine) (err error) {
	var random [4]byte
	if _, err := rand.Read(random[:]); err != nil {
		return err
	}
	name := "bench-" + hex.EncodeToString(random[:])
	container := "mcpws-" + name
	c, _, err := open(ctx, e.server(b, name))
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, c.close())
		if out, removal := e.command(context.WithoutCancel(ctx), b.server, "workspaces", "destroy", e.name+":"+container).CombinedOutput(); removal != nil {
			err = errors.Join(err, fmt.Errorf("%w: %s", removal, out))
		}
	}()
	if _, err := c.call("write_file", map[string]any{"path": "file.txt", "content": tenKilobytes()}); err != nil {
		return err
	}
	for _, measure := range []func(context.Context, engine, *conn, string) error{b.measureContainerCalls, b.measureFirstCall, b.measureBigFile, b.measureContainerTree} {
		if err := measure(ctx, e, c, container); err != nil {
			return err
		}
	}
	return nil
}

// way is one way to do a thing in a container.
type way struct {
	name string
	run  func() error
	took durations
}

// race has the ways take turns, and leaves the first turn of each out.
func race(ways []*way, rounds int) error {
	for round := range rounds + 1 {
		for _, w := range ways {
			started := time.Now()
			if err := w.run(); err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			if round > 0 {
				w.took = append(w.took, time.Since(started))
			}
		}
	}
	return nil
}

// measureContainerCalls times single operations: through the server, through one
// exec of the engine's API each, and through one process of its command line.
func (b *bench) measureContainerCalls(ctx context.Context, e engine, c *conn, id string) error {
	_, host, _ := strings.Cut(e.variable, "=")
	api, err := client.NewClientWithOpts(client.WithHost(host), client.WithAPIVersionNegotiation())
	if err != nil {
		return err
	}
	defer api.Close()
	ask := func(line []byte) func() error {
		return func() error {
			answer, err := c.ask(line)
			if err == nil && bytes.Contains(answer, []byte(`"isError":true`)) {
				err = fmt.Errorf("answered %.300s", answer)
			}
			return err
		}
	}
	for _, work := range []struct {
		title string
		line  []byte
		argv  []string
	}{
		{"read_file of 10 KB (aim: p50 under 1 ms, 75 times faster than exec cat of the command line)",
			request("read_file", map[string]any{"path": "file.txt"}), []string{"cat", "/workspace/file.txt"}},
		{"execute true (aim: p50 under 4 ms, 20 times faster than exec true of the command line)",
			request("execute", map[string]any{"command": "true"}), []string{"true"}},
	} {
		ours := &way{name: "mcp-workspace, in turn with those below", run: ask(work.line)}
		ways := []*way{
			ours,
			{name: "Engine API, one exec", run: func() error { return apiExec(ctx, api, id, work.argv) }},
			{name: e.name + " exec", run: func() error {
				_, err := e.cli(ctx, append([]string{"exec", id}, work.argv...)...).Output()
				return err
			}},
		}
		if err := race(ways, b.rounds); err != nil {
			return err
		}
		// A call between two slow ones finds cold caches; a client's calls come one
		// after the other.
		row := &way{name: "mcp-workspace", run: ours.run}
		if err := race([]*way{row}, b.rounds*b.batch/4); err != nil {
			return err
		}
		t := newTable(e.name+": "+work.title, "way", "p50", "p99", "mcp-workspace = 1")
		for _, w := range append([]*way{row}, ways...) {
			t.row(w.name, ms(w.took.percentile(50)), ms(w.took.percentile(99)), times(w.took.percentile(50), row.took.percentile(50)))
		}
		if err := t.print(); err != nil {
			return err
		}
	}
	return b.printAgent(e, c)
}

// apiExec runs one command through the engine's API and reads its output.
func apiExec(ctx context.Context, api *client.Client, id string, argv []string) error {
	made, err := api.ContainerExecCreate(ctx, id, container.ExecOptions{Cmd: argv, AttachStdout: true, AttachStderr: true})
	if err != nil {
		return err
	}
	attached, err := api.ContainerExecAttach(ctx, made.ID, container.ExecAttachOptions{})
	if err != nil {
		return err
	}
	defer attached.Close()
	if _, err := stdcopy.StdCopy(io.Discard, io.Discard, attached.Reader); err != nil {
		return err
	}
	ended, err := api.ContainerExecInspect(ctx, made.ID)
	if err == nil && ended.ExitCode != 0 {
		err = fmt.Errorf("%v ended with %d", argv, ended.ExitCode)
	}
	return err
}

// printAgent prints the size and the memory of the agent: process 1, and the one
// that a command's parent is.
func (b *bench) printAgent(e engine, c *conn) error {
	text, err := c.call("execute", map[string]any{
		"command": "stat -c %s /.mcp-workspace/mcp-workspace-guest; awk '/VmRSS/ {print $2}' /proc/1/status /proc/$PPID/status"})
	if err != nil {
		return err
	}
	var numbers []int64
	for _, field := range strings.Fields(text) {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return fmt.Errorf("the agent's size is %q", text)
		}
		numbers = append(numbers, n)
	}
	if len(numbers) != 3 {
		return fmt.Errorf("the agent's size is %q", text)
	}
	resident, _ := c.memory()
	t := newTable(e.name+": size (aim: agent under 6 MB and 10 MB resident, server under 40 MB)", "what", "bytes")
	t.row("agent's file", mb(numbers[0]))
	t.row("agent as process 1, resident", mb(numbers[1]<<10))
	t.row("agent of a session, resident", mb(numbers[2]<<10))
	t.row("server, resident", resident)
	return t.print()
}

// measureFirstCall times a call that makes a container, and the engine's own run.
func (b *bench) measureFirstCall(ctx context.Context, e engine, _ *conn, _ string) error {
	ours := &way{name: "mcp-workspace call execute true", run: func() error {
		out, err := e.command(ctx, b.server, "call", "execute", "command=true", "--backend", e.name, "--image", e.image, "--network", "none",
			"--destroy-on-exit", "--log-level", "error").CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
		return err
	}}
	run := &way{name: e.name + " run --rm true", run: func() error {
		return e.cli(ctx, "run", "--rm", "--network", "none", e.image, "true").Run()
	}}
	if err := race([]*way{ours, run}, b.searches*2); err != nil {
		return err
	}
	t := newTable(e.name+": a fresh container for one command, made and removed (aim: at most 100 ms more than the engine's own)", "way", "median", "more")
	t.row(ours.name, ms(ours.took.percentile(50)), signed(ours.took.percentile(50)-run.took.percentile(50)))
	t.row(run.name, ms(run.took.percentile(50)), "")
	return t.print()
}

// measureBigFile moves 100 MB into the container and out again. The tools answer
// at most 1 MB, so what is measured is the workspace's own stream, through the
// test program below.
func (b *bench) measureBigFile(ctx context.Context, e engine, _ *conn, id string) error {
	size := b.fileBytes / 20
	file := filepath.Join(b.dir, "big")
	content := make([]byte, size)
	if _, err := rand.Read(content); err != nil {
		return err
	}
	if err := os.WriteFile(file, content, 0o600); err != nil {
		return err
	}
	defer os.Remove(file)
	streams := filepath.Join(b.dir, "streams")
	if _, err := os.Stat(streams); err != nil {
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", streams, "./test/bench/streams").CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
	}
	out, err := e.command(ctx, streams, "-backend", e.name, "-ref", e.name+":"+id, "-file", file, "-rounds", strconv.Itoa(b.searches)).Output()
	if err != nil {
		return err
	}
	var in, back float64
	var peak string
	if _, err := fmt.Sscanf(string(out), "in %f s, out %f s, peak %s", &in, &back, &peak); err != nil {
		return fmt.Errorf("streams printed %q: %w", out, err)
	}
	copies := []*way{
		{name: "in", run: func() error { return e.cli(ctx, "cp", file, id+":/tmp/copied").Run() }},
		{name: "out", run: func() error { return e.cli(ctx, "cp", id+":/tmp/copied", file+".out").Run() }},
	}
	defer os.Remove(file + ".out")
	if err := race(copies, b.searches); err != nil {
		return err
	}
	rate := func(seconds float64) string { return fmt.Sprintf("%.0f MB/s", float64(size)/(1<<20)/seconds) }
	t := newTable(fmt.Sprintf("%s: a file of %s (aim: half of cp's speed, memory flat)", e.name, mb(size)), "way", "write", "read", "peak memory")
	t.row("mcp-workspace", rate(in), rate(back), peak)
	t.row(e.name+" cp", rate(copies[0].took.percentile(50).Seconds()), rate(copies[1].took.percentile(50).Seconds()), "")
	return t.print()
}

// measureContainerTree searches a tree in the container.
func (b *bench) measureContainerTree(ctx context.Context, e engine, c *conn, id string) error {
	dir := filepath.Join(b.dir, "container-tree")
	defer os.RemoveAll(dir)
	files := int(b.treeBytes / treeFileBytes)
	if err := writeTree(dir, files); err != nil {
		return err
	}
	if out, err := e.cli(ctx, "cp", dir, id+":/tree").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	ripgrep := b.bringRipgrep(ctx, e, id)
	if ripgrep != nil {
		fmt.Printf("ripgrep cannot be run in the container (%v): left out\n", ripgrep)
	}
	for _, pattern := range []string{"needleInTheTree", `needle[A-Z]\w+Tree`} {
		searches := []*way{{name: "mcp-workspace grep", run: func() error {
			_, err := c.call("grep", map[string]any{"pattern": pattern, "path": "/tree"})
			return err
		}}}
		for _, command := range [][]string{{"/opt/rg", "-l"}, {"grep", "-rlE"}} {
			if command[0] == "/opt/rg" && ripgrep != nil {
				continue
			}
			// Timed inside, without what the engine's exec costs.
			script := fmt.Sprintf("%s %s '%s' /tree >/dev/null", command[0], command[1], pattern)
			searches = append(searches, &way{name: filepath.Base(command[0]) + " " + command[1], run: func() error {
				_, err := c.call("execute", map[string]any{"command": script})
				return err
			}})
		}
		if err := race(searches, b.searches); err != nil {
			return err
		}
		t := newTable(fmt.Sprintf("%s: search of %s in %d files for %s (aim: within 1.5 times rg)", e.name, mb(b.treeBytes), files, pattern),
			"program", "median", "mcp-workspace = 1")
		for _, s := range searches {
			t.row(s.name, ms(s.took.percentile(50)), times(s.took.percentile(50), searches[0].took.percentile(50)))
		}
		if err := t.print(); err != nil {
			return err
		}
	}
	return nil
}

// bringRipgrep copies this machine's ripgrep, with the libraries it needs, to
// /opt in the container.
func (b *bench) bringRipgrep(ctx context.Context, e engine, id string) error {
	program, err := exec.LookPath("rg")
	if err != nil {
		return err
	}
	listed, err := exec.CommandContext(ctx, "ldd", program).Output()
	if err != nil {
		return err
	}
	copies := map[string]string{program: "/opt/rg"}
	for line := range strings.Lines(string(listed)) {
		if _, at, ok := strings.Cut(line, "=> "); ok && strings.Contains(at, "pcre") {
			lib, _, _ := strings.Cut(at, " ")
			copies[lib] = "/usr/lib/" + filepath.Base(lib)
		}
	}
	for from, to := range copies {
		if out, err := e.cli(ctx, "cp", "-L", from, id+":"+to).CombinedOutput(); err != nil {
			if out2, err := e.cli(ctx, "cp", from, id+":"+to).CombinedOutput(); err != nil {
				return fmt.Errorf("%w: %s%s", err, out, out2)
			}
		}
	}
	if out, err := e.cli(ctx, "exec", id, "/opt/rg", "--version").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}
