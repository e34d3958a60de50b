// Command pack builds the guest agent for every architecture and leaves it where
// a build of the main program with -tags guest_embedded takes it from. `make
// build` runs it in the module's root.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/mcp-workspace/mcp-workspace/backends/guest/program"
)

func main() {
	release := flag.String("release", "", "the version that the agent says it is")
	flag.Parse()
	if err := pack(*release); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func pack(release string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	return program.Pack(ctx, root, release, filepath.Join(root, "backends", "guest", "program", "packed"))
}
