// Command streams moves a file into a workspace and out again, several times,
// and prints the median of each and its own peak memory. It is measured by
// test/bench: through the tools a file goes in slices of at most 1 MB.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/docker"
	"github.com/mcp-workspace/mcp-workspace/backends/docker/address"
	"github.com/mcp-workspace/mcp-workspace/backends/podman"
)

func main() {
	backend := flag.String("backend", "docker", "docker or podman")
	ref := flag.String("ref", "", "the workspace")
	file := flag.String("file", "", "the file")
	rounds := flag.Int("rounds", 3, "how often")
	flag.Parse()
	if err := run(context.Background(), *backend, *ref, *file, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "streams:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, backend, text, file string, rounds int) (err error) {
	find, open := address.Docker, docker.New
	if backend == "podman" {
		find, open = address.Podman, podman.New
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return err
	}
	at, err := find(os.Environ(), home)
	if err != nil {
		return err
	}
	cli, err := at.Client(ctx)
	if err != nil {
		return err
	}
	b, err := open(ctx, docker.Config{Client: cli})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	ref, err := backends.ParseRef(text)
	if err != nil {
		return err
	}
	ws, err := b.Attach(ctx, ref)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ws.Close()) }()
	var in, out []float64
	for range rounds + 1 {
		took, err := timed(func() error { return write(ctx, ws, file) })
		if err != nil {
			return err
		}
		in = append(in, took)
		if took, err = timed(func() error { return read(ctx, ws) }); err != nil {
			return err
		}
		out = append(out, took)
	}
	peak, err := peakMemory()
	if err != nil {
		return err
	}
	fmt.Printf("in %f s, out %f s, peak %s\n", median(in[1:]), median(out[1:]), peak)
	return nil
}

func timed(f func() error) (seconds float64, err error) {
	started := time.Now()
	err = f()
	return time.Since(started).Seconds(), err
}

func median(s []float64) float64 { return slices.Sorted(slices.Values(s))[len(s)/2] }

func write(ctx context.Context, ws backends.Workspace, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = ws.Write(ctx, backends.WriteRequest{Path: "/tmp/streamed", Content: f})
	return err
}

func read(ctx context.Context, ws backends.Workspace) error {
	f, info, err := ws.Open(ctx, "/tmp/streamed")
	if err != nil {
		return err
	}
	n, err := io.Copy(io.Discard, f)
	if err == nil && n != info.Size {
		err = fmt.Errorf("%d bytes of %d came", n, info.Size)
	}
	return errors.Join(err, f.Close())
}

// peakMemory is the most memory that this process has held, in megabytes.
func peakMemory() (string, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(status)) {
		var kB int64
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kB); n == 1 {
			return fmt.Sprintf("%.1fMB", float64(kB)/1024), nil
		}
	}
	return "unknown", nil
}
