//go:build linux

// Command mcp-workspace-guest is the guest agent: the part of mcp-workspace that
// runs inside a container. `init` is the container's first process; `serve`
// answers one connection on standard input and output.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"

	"github.com/mcp-workspace/mcp-workspace/backends/guest"
	"github.com/mcp-workspace/mcp-workspace/backends/guest/agent"
	"github.com/mcp-workspace/mcp-workspace/internal/version"
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	if len(args) != 1 {
		return usage()
	}
	switch args[0] {
	case "init":
		return agent.Init()
	case "serve":
		return serve()
	case "version":
		fmt.Printf("mcp-workspace-guest %s, protocol %d\n", version.String(), guest.ProtocolVersion)
		return 0
	default:
		return usage()
	}
}

func usage() int {
	fmt.Fprintln(os.Stderr, "usage: mcp-workspace-guest init | serve | version\nIt is started by mcp-workspace in a container; there is nothing to do with it by hand.")
	return 2
}

func serve() int {
	debug.SetGCPercent(50) // it shares the container's memory with those it works for
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	err := agent.Serve(context.Background(), agent.Stdio(), agent.Config{Release: version.String(), Log: log})
	if err != nil {
		log.Error("the session ended", "error", err)
		return 1
	}
	return 0
}
