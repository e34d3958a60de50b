// Command bench measures the server beside a bare mcp-go server, other MCP
// servers and search programs, on the same work in one run, and prints tables.
//
//	go run ./test/bench [-quick] [-only start,calls,file,tree,shell,docker,http]
//
// Only ratios and differences within one run mean something: what is compared
// takes turns, so that noise of the machine hits all of it. The client only
// writes and reads lines, because a whole client's own work would hide the
// server's.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/test/testenv"
)

// sizes are how much work a run does.
type sizes struct {
	starts    int   // processes started for each server
	rounds    int   // turns that each server gets
	batch     int   // calls a turn
	fileBytes int64 // of the large file
	treeBytes int64 // of the searched tree
	searches  int   // of the tree, by each program
	http      httpSizes
}

var (
	full  = sizes{starts: 20, rounds: 100, batch: 50, fileBytes: 2 << 30, treeBytes: 500 << 20, searches: 5, http: fullHTTP}
	quick = sizes{starts: 3, rounds: 4, batch: 25, fileBytes: 16 << 20, treeBytes: 8 << 20, searches: 2, http: quickHTTP}
)

// bench is one run: its work, what it may compare with, and where it works.
type bench struct {
	sizes
	dir     string // removed at the end
	server  string // the program measured
	bare    string // test/bench/bareserver
	modules string // node_modules of the peers, "" when not installed
}

// parts are what can be asked for with -only, in the order they run.
var parts = []struct {
	name string
	run  func(context.Context, *bench) error
}{
	{"start", measureStart},
	{"calls", measureCalls},
	{"file", measureFile},
	{"tree", measureTree},
	{"shell", measureShell},
	{"docker", measureDocker},
	{"http", measureHTTP},
}

func main() {
	isQuick := flag.Bool("quick", false, "small sizes: shows that the benchmarks work, not what they measure")
	only := flag.String("only", "", "comma-separated parts: start, calls, file, tree, shell, docker, http")
	server := flag.String("server", "", "program to measure instead of building ./cmd/mcp-workspace")
	isFlood := flag.Bool("flood", false, "be the load of the part http, which starts this program so")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	b := &bench{sizes: full, server: *server}
	if *isQuick {
		b.sizes = quick
	}
	var err error
	if *isFlood {
		err = runFlood(ctx, os.Stdin, os.Stdout)
	} else {
		err = b.run(ctx, *only)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (b *bench) run(ctx context.Context, only string) (err error) {
	chosen, err := choose(only)
	if err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp("", "mcp-workspace-bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	if b.server == "" {
		if b.server, err = testenv.Build(ctx, b.dir, "./cmd/mcp-workspace"); err != nil {
			return err
		}
	}
	if b.server, err = filepath.Abs(b.server); err != nil {
		return err
	}
	if b.bare, err = testenv.Build(ctx, b.dir, "./test/bench/bareserver"); err != nil {
		return err
	}
	if b.modules, err = testenv.NodeModules("test/bench"); err != nil {
		return err
	}
	if b.modules == "" {
		fmt.Println("peers are not installed (scripts/test-deps.sh --bench): left out")
	}
	for _, part := range parts {
		if slices.Contains(chosen, part.name) {
			if err := part.run(ctx, b); err != nil {
				return fmt.Errorf("%s: %w", part.name, err)
			}
		}
	}
	return nil
}

func choose(only string) ([]string, error) {
	var all []string
	for _, part := range parts {
		all = append(all, part.name)
	}
	if only == "" {
		return all, nil
	}
	chosen := strings.Split(only, ",")
	for _, name := range chosen {
		if !slices.Contains(all, name) {
			return nil, fmt.Errorf("there is no part %q; there are %s", name, strings.Join(all, ", "))
		}
	}
	return chosen, nil
}

// state is the command of the server over an in-memory document.
func (b *bench) state() []string {
	return []string{b.server, "--backend", "state"}
}

// local is the command of the server over a directory.
func (b *bench) local(dir string) []string {
	return []string{b.server, "--backend", "local", "--root", dir, "--permissions", "permissive"}
}

// peer is the command of a server from npm, or nil when it is not installed.
func (b *bench) peer(name string, args ...string) []string {
	if b.modules == "" {
		return nil
	}
	node := testenv.Node(b.modules)
	if node == "" {
		return nil
	}
	return append([]string{node, filepath.Join(b.modules, ".bin", name)}, args...)
}
