package main

import (
	"context"
	"fmt"
)

// measureStart times a process from its start to the answered initialize.
func measureStart(ctx context.Context, b *bench) error {
	text, err := b.writeText("start.txt", "text\n")
	if err != nil {
		return err
	}
	servers := []struct {
		name    string
		command []string
		took    durations
	}{
		{name: "mcp-workspace, state", command: b.state()},
		{name: "mcp-workspace, local", command: b.local(b.dir)},
		{name: "bare mcp-go server", command: []string{b.bare, "-text", text}},
		{name: "server-filesystem", command: b.peer("mcp-server-filesystem", b.dir)},
		{name: "just-bash-mcp", command: b.peer("just-bash-mcp")},
	}
	for range b.starts {
		for i := range servers {
			s := &servers[i]
			if s.command == nil {
				continue
			}
			c, took, err := open(ctx, s.command)
			if err != nil {
				return err
			}
			if err := c.close(); err != nil {
				return err
			}
			s.took = append(s.took, took)
		}
	}
	t := newTable(fmt.Sprintf("process start to answered initialize (%d starts; aim: under 40 ms, a tenth of any peer)", b.starts),
		"server", "median", "slowest", "mcp-workspace = 1")
	ours := servers[0].took.percentile(50)
	for _, s := range servers {
		if s.took != nil {
			t.row(s.name, ms(s.took.percentile(50)), ms(s.took.percentile(100)), times(s.took.percentile(50), ours))
		}
	}
	return t.print()
}
