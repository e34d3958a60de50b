//go:build linux

package guest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/guest"
)

func TestOpenClosedEarly(t *testing.T) {
	dir := t.TempDir()
	c, p := connect(t, guest.Setup{WorkingDir: dir})
	if err := os.WriteFile(filepath.Join(dir, "big"), make([]byte, 4<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	open := func(n int) {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for i := range n / 4 {
					file, info, err := c.Open(t.Context(), "big")
					if err != nil || info.Size != 4<<20 {
						t.Errorf("%v, %+v", err, info)
						return
					}
					if i%2 == 0 {
						if _, err := file.Read(make([]byte, 10)); err != nil {
							t.Error(err)
						}
					}
					if err := file.Close(); err != nil {
						t.Error(err)
					}
					if _, err := file.Read(make([]byte, 1)); !errors.Is(err, io.ErrClosedPipe) {
						t.Errorf("a read after the close: %v", err)
					}
				}
			})
		}
		wg.Wait()
		// Long before an agent gives up sending to a host that does not read.
		eventually(t, "the streams to be closed", func() bool { return c.Streams() == 0 })
	}
	open(40)
	fds := func() int {
		list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	before := fds()
	begun := time.Now()
	open(2000)
	eventually(t, "the files to be closed", func() bool { return fds() <= before })
	t.Logf("2,000 opens in %s", time.Since(begun))
}

func TestManyCallsWithCancellation(t *testing.T) {
	dir := t.TempDir()
	c, p := connect(t, guest.Setup{WorkingDir: dir})
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte(strings.Repeat("a line\n", 50_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	var wg sync.WaitGroup
	for i := range 1000 {
		wg.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if i%3 != 0 {
				defer time.AfterFunc(time.Duration(rand.IntN(300))*time.Millisecond, cancel).Stop()
			}
			var err error
			switch i % 7 {
			case 0:
				_, err = c.Read(ctx, backends.ReadRequest{Path: "f", Limit: 50_000})
			case 1:
				_, err = c.Grep(ctx, backends.GrepRequest{Pattern: "line", Mode: backends.GrepContent, Limit: 1000})
			case 2:
				_, err = c.Run(ctx, backends.Command{Script: "sleep 0.1; cat f", Output: func(backends.Stream, []byte) {}})
			case 3:
				_, err = c.Write(ctx, backends.WriteRequest{Path: fmt.Sprintf("g%d", i), Content: strings.NewReader(strings.Repeat("x", 300_000))})
			case 4:
				var file io.ReadCloser
				if file, _, err = c.Open(ctx, "f"); err == nil {
					_, err = io.Copy(io.Discard, file)
					err = errors.Join(err, file.Close())
				}
			case 5:
				_, err = c.Run(ctx, backends.Command{Argv: []string{"cat"}, Stdin: strings.NewReader(strings.Repeat("x", 300_000))})
			case 6:
				_, err = c.Edit(ctx, backends.EditRequest{Path: "f", Old: "no such text", New: "x"})
				if backends.CodeOf(err) == backends.CodeNoMatch {
					err = nil
				}
			}
			if err != nil && (backends.CodeOf(err) != backends.CodeCancelled || ctx.Err() == nil) {
				t.Errorf("call %d: %v (%v)", i, err, errors.Unwrap(err))
			}
		})
	}
	wg.Wait()
	eventually(t, "all streams to be closed", func() bool { return c.Streams() == 0 })
	eventually(t, "all commands to be gone", func() bool { return children(t, p.cmd.Process.Pid) == 0 })
	eventually(t, "all goroutines to end", func() bool { return runtime.NumGoroutine() <= before })
	if res, err := c.Read(t.Context(), backends.ReadRequest{Path: "f"}); err != nil || res.TotalLines != 50_000 {
		t.Errorf("afterwards: %d lines, %v", res.TotalLines, err)
	}
}
