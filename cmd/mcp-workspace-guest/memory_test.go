//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// maxResident is what each process of the program may hold, in KB.
const maxResident = 10 << 10

func TestMemory(t *testing.T) {
	c := startContainer(t)
	begun := time.Now()
	s := c.serve(t.TempDir())
	t.Logf("the agent answers %v after its start", time.Since(begun))
	check := func(when string) {
		t.Helper()
		first, agent := resident(t, c.init), resident(t, s.pid)
		t.Logf("%s: %d KB in init, %d KB in the agent", when, first, agent)
		if first > maxResident || agent > maxResident {
			t.Errorf("%s: %d KB resident in init and %d KB in the agent, want %d at most", when, first, agent, maxResident)
		}
	}
	check("after the start")

	text := strings.Repeat("a line of fifty characters, more or less of them.\n", 205)
	for i := range 50 {
		if _, err := s.Write(t.Context(), backends.WriteRequest{Path: fmt.Sprintf("d%d/f%d", i%5, i), Content: strings.NewReader(text)}); err != nil {
			t.Fatal(err)
		}
	}
	var edited atomic.Int64
	mixed := []func(path string) error{
		func(path string) error { _, err := s.Stat(t.Context(), path); return err },
		func(path string) error { _, err := s.Read(t.Context(), backends.ReadRequest{Path: path}); return err },
		func(string) error { _, err := s.List(t.Context(), backends.ListRequest{Path: "d1"}); return err },
		func(string) error { _, err := s.Glob(t.Context(), backends.GlobRequest{Pattern: "**/f*"}); return err },
		func(string) error {
			_, err := s.Grep(t.Context(), backends.GrepRequest{Pattern: "fifty", Mode: backends.GrepContent, Limit: 100})
			return err
		},
		func(path string) error {
			_, err := s.Write(t.Context(), backends.WriteRequest{Path: path, Content: strings.NewReader(text)})
			return err
		},
		func(path string) error {
			path += fmt.Sprintf(".%d", edited.Add(1))
			_, err := s.Write(t.Context(), backends.WriteRequest{Path: path, Content: strings.NewReader(text)})
			if err == nil {
				_, err = s.Edit(t.Context(), backends.EditRequest{Path: path, Old: "fifty", New: "60", ReplaceAll: true})
			}
			return err
		},
		func(path string) error {
			file, _, err := s.Open(t.Context(), path)
			if err != nil {
				return err
			}
			defer file.Close()
			_, err = io.Copy(io.Discard, file)
			return err
		},
		func(path string) error {
			_, err := s.Run(t.Context(), backends.Command{Argv: []string{"cat", path}, Output: func(backends.Stream, []byte) {}})
			return err
		},
		func(path string) error {
			_, err := s.Run(t.Context(), backends.Command{Script: "cat >/dev/null", Stdin: bytes.NewReader([]byte(path))})
			return err
		},
	}
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := range 250 {
				n := i*4 + worker
				if err := mixed[n%len(mixed)](fmt.Sprintf("d%d/f%d", n%5, n%50)); err != nil {
					t.Errorf("call %d: %v", n, err)
				}
			}
		})
	}
	wg.Wait()
	check("after 1,000 mixed calls")
}
