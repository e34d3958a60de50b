package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// caller is a server that is asked the same thing again and again.
type caller struct {
	name    string
	conn    *conn
	request []byte
	size    int // bytes of one answer
	took    durations
}

// measureCalls times a read of a 10 KB file, each server in turn.
func measureCalls(ctx context.Context, b *bench) (err error) {
	content := tenKilobytes()
	dir := filepath.Join(b.dir, "calls")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "file.txt"), []byte(content), 0o600); err != nil {
		return err
	}

	var callers []*caller
	defer func() {
		for _, c := range callers {
			err = errors.Join(err, c.conn.close())
		}
	}()
	add := func(name string, command []string, request []byte) (*caller, error) {
		c, _, err := open(ctx, command)
		if err != nil {
			return nil, err
		}
		callers = append(callers, &caller{name: name, conn: c, request: request})
		return callers[len(callers)-1], nil
	}

	read := request("read_file", map[string]any{"path": "file.txt"})
	state, err := add("mcp-workspace, state", b.state(), read)
	if err != nil {
		return err
	}
	if _, err := state.conn.call("write_file", map[string]any{"path": "file.txt", "content": content}); err != nil {
		return err
	}
	// The bare server answers the very text that the server answered.
	answer, err := state.conn.call("read_file", map[string]any{"path": "file.txt"})
	if err != nil {
		return err
	}
	text, err := b.writeText("answer.txt", answer)
	if err != nil {
		return err
	}
	bare, err := add("bare mcp-go server", []string{b.bare, "-text", text}, read)
	if err != nil {
		return err
	}
	if _, err := add("mcp-workspace, local", b.local(dir), read); err != nil {
		return err
	}
	if command := b.peer("mcp-server-filesystem", dir); command != nil {
		read := request("read_text_file", map[string]any{"path": filepath.Join(dir, "file.txt")})
		if _, err := add("server-filesystem", command, read); err != nil {
			return err
		}
	}
	if err := b.takeTurns(callers); err != nil {
		return err
	}

	t := newTable(fmt.Sprintf("read_file of 10 KB over stdio (%d calls each; aim: state within 0.05 ms of the bare server, a third of server-filesystem)", b.rounds*b.batch),
		"server", "p50", "p99", "p50 - bare p50", "state = 1", "answer", "resident", "peak")
	for _, c := range callers {
		resident, peak := c.conn.memory()
		t.row(c.name, ms(c.took.percentile(50)), ms(c.took.percentile(99)),
			signed(c.took.percentile(50)-bare.took.percentile(50)),
			times(c.took.percentile(50), state.took.percentile(50)),
			fmt.Sprintf("%d bytes", c.size), resident, peak)
	}
	return t.print()
}

// takeTurns gives each caller a batch of calls in every round. The first round
// warms up and is not counted.
func (b *bench) takeTurns(callers []*caller) error {
	for round := range b.rounds + 1 {
		for _, c := range callers {
			for range b.batch {
				started := time.Now()
				line, err := c.conn.ask(c.request)
				took := time.Since(started)
				if err != nil {
					return fmt.Errorf("%s: %w", c.name, err)
				}
				if bytes.Contains(line, []byte(`"isError":true`)) {
					return fmt.Errorf("%s: %.300s", c.name, line)
				}
				if round == 0 {
					c.size = len(line)
					continue
				}
				if len(line) != c.size {
					return fmt.Errorf("%s answered %d bytes, then %d: %.300s", c.name, c.size, len(line), line)
				}
				c.took = append(c.took, took)
			}
		}
	}
	return nil
}

// tenKilobytes is text like that of a source file, 10,240 bytes.
func tenKilobytes() string {
	const line = "\tif err := store.Save(ctx, name, value); err != nil { return err }"
	var b strings.Builder
	for b.Len() < 10<<10 {
		fmt.Fprintf(&b, "%s // %d\n", line, b.Len())
	}
	return b.String()[:10<<10-1] + "\n"
}

func (b *bench) writeText(name, text string) (string, error) {
	file := filepath.Join(b.dir, name)
	return file, os.WriteFile(file, []byte(text), 0o600)
}
