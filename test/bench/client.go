package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// conn is a server process and the two pipes to it.
type conn struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr bytes.Buffer
}

// open starts a server and returns once it has answered initialize, with how
// long that took from before the process was started.
func open(ctx context.Context, command []string) (*conn, time.Duration, error) {
	c := &conn{cmd: exec.CommandContext(ctx, command[0], command[1:]...)}
	c.cmd.Stderr = &c.stderr
	var err error
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return nil, 0, err
	}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, 0, err
	}
	c.stdout = bufio.NewReaderSize(stdout, 1<<20)
	started := time.Now()
	if err := c.cmd.Start(); err != nil {
		return nil, 0, err
	}
	line, err := c.ask([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
		`"capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}` + "\n"))
	took := time.Since(started)
	if err == nil && !bytes.Contains(line, []byte(`"result"`)) {
		err = fmt.Errorf("initialize was answered %.300q", line)
	}
	if err == nil {
		_, err = c.stdin.Write([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"))
	}
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", strings.Join(command, " "), errors.Join(err, c.close()))
	}
	return c, took, nil
}

// ask writes one request and returns the line that answers it, valid until the
// next ask. Notifications in between are passed over.
func (c *conn) ask(request []byte) ([]byte, error) {
	if _, err := c.stdin.Write(request); err != nil {
		return nil, err
	}
	for {
		line, err := c.stdout.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return nil, errors.New("an answer is over 1 MB")
		}
		if err != nil {
			return nil, err
		}
		// Inside a text the quotes would be escaped.
		if !bytes.Contains(line, []byte(`"method":`)) {
			return line, nil
		}
	}
}

// call makes a tool call that must not fail and returns its text.
func (c *conn) call(tool string, arguments map[string]any) (string, error) {
	line, err := c.ask(request(tool, arguments))
	if err != nil {
		return "", err
	}
	var answer struct {
		Result struct {
			Content []struct{ Text string }
			IsError bool
		}
		Error any
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		return "", err
	}
	var text strings.Builder
	for _, part := range answer.Result.Content {
		text.WriteString(part.Text)
	}
	if answer.Error != nil || answer.Result.IsError {
		return "", fmt.Errorf("%s failed: %v%.500s", tool, answer.Error, text.String())
	}
	return text.String(), nil
}

// close ends the server by ending its input.
func (c *conn) close() error {
	err := errors.Join(c.stdin.Close(), c.cmd.Wait())
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", c.cmd.Path, err, c.stderr.Bytes())
	}
	return nil
}

// request is a tools/call as a line.
func request(tool string, arguments map[string]any) []byte {
	line, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 7, "method": "tools/call",
		"params": map[string]any{"name": tool, "arguments": arguments},
	})
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	return append(line, '\n')
}

// durations are what one thing took, again and again.
type durations []time.Duration

// percentile returns the p-th percentile, 0 to 100, of at least one duration.
func (d durations) percentile(p int) time.Duration {
	sorted := slices.Sorted(slices.Values(d))
	return sorted[min(len(sorted)-1, len(sorted)*p/100)]
}
