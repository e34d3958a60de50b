package main

import (
	"context"
	"errors"
	"fmt"
)

// pipeline is five programs over a thousand lines.
const pipeline = "seq 1 1000 | sort -r | uniq -c | grep 9 | wc -l"

// measureShell times commands on the state backend, whose shell is in the
// server's own process, beside another in-memory bash.
func measureShell(ctx context.Context, b *bench) error {
	for _, work := range []struct{ title, command string }{
		{"true (aim: p50 under 0.5 ms)", "true"},
		{"a pipeline of five (aim: p50 under 2 ms)", pipeline},
	} {
		if err := b.measureCommand(ctx, work.title, work.command); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) measureCommand(ctx context.Context, title, command string) (err error) {
	var callers []*caller
	defer func() {
		for _, c := range callers {
			err = errors.Join(err, c.conn.close())
		}
	}()
	for _, server := range []struct {
		name, tool string
		argument   string
		command    []string
	}{
		{"mcp-workspace, state", "execute", "command", b.state()},
		{"mcp-workspace, local", "execute", "command", b.local(b.dir)},
		{"just-bash-mcp", "bash_exec_persistent", "command", b.peer("just-bash-mcp")},
	} {
		if server.command == nil {
			continue
		}
		c, _, err := open(ctx, server.command)
		if err != nil {
			return err
		}
		callers = append(callers, &caller{name: server.name, conn: c, request: request(server.tool, map[string]any{server.argument: command})})
	}
	if err := b.takeTurns(callers); err != nil {
		return err
	}
	t := newTable(fmt.Sprintf("execute over stdio: %s (%d calls each)", title, b.rounds*b.batch), "server", "p50", "p99", "state = 1", "answer")
	for _, c := range callers {
		t.row(c.name, ms(c.took.percentile(50)), ms(c.took.percentile(99)), times(c.took.percentile(50), callers[0].took.percentile(50)),
			fmt.Sprintf("%d bytes", c.size))
	}
	return t.print()
}
