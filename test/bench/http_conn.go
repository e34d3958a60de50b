package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

const (
	sessionEra   = "2025-11-25"
	statelessEra = "2026-07-28"
)

// target is the server as one principal reaches it.
type target struct {
	Addr    string // host:port
	Token   string
	Session string // of the session era
	// ID is that of its requests. Two that are in flight in one session must
	// have different ones.
	ID int
}

// httpConn is a connection that is kept alive. It speaks only as much HTTP as
// the server's answers need: a whole client's own work would take processor time
// that the server under load should have.
type httpConn struct {
	net.Conn
	in   *bufio.Reader
	body []byte // of the last answer
}

// httpAnswer is valid until the connection's next one.
type httpAnswer struct {
	status  int
	session string // Mcp-Session-Id
	body    []byte
}

func dialHTTP(ctx context.Context, addr string) (*httpConn, error) {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &httpConn{Conn: c, in: bufio.NewReaderSize(c, 16<<10)}, nil
}

// post builds a request to /mcp. The era is that of the target: with a session,
// or without.
func (t target) post(method string, params map[string]any) []byte {
	message := map[string]any{"jsonrpc": "2.0", "method": method, "params": params}
	if !strings.HasPrefix(method, "notifications/") {
		message["id"] = t.ID
	}
	var headers strings.Builder
	switch {
	case t.Session != "":
		fmt.Fprintf(&headers, "Mcp-Session-Id: %s\r\nMcp-Protocol-Version: %s\r\n", t.Session, sessionEra)
	case method != "initialize":
		params["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion":    statelessEra,
			"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "bench", "version": "1"},
			"io.modelcontextprotocol/clientCapabilities": map[string]any{},
		}
		fmt.Fprintf(&headers, "Mcp-Protocol-Version: %s\r\nMcp-Method: %s\r\n", statelessEra, method)
		if name, ok := params["name"].(string); ok {
			fmt.Fprintf(&headers, "Mcp-Name: %s\r\n", name)
		}
	}
	body, err := json.Marshal(message)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	return fmt.Appendf(nil, "POST /mcp HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
		"Accept: application/json, text/event-stream\r\n%sContent-Length: %d\r\n\r\n%s", t.Addr, t.Token, headers.String(), len(body), body)
}

// tool builds a tools/call.
func (t target) tool(name string, arguments map[string]any) []byte {
	return t.post("tools/call", map[string]any{"name": name, "arguments": arguments})
}

// stream builds the GET of a session's event stream.
func (t target) stream() []byte {
	return fmt.Appendf(nil, "GET /mcp HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nAccept: text/event-stream\r\n"+
		"Mcp-Session-Id: %s\r\nMcp-Protocol-Version: %s\r\n\r\n", t.Addr, t.Token, t.Session, sessionEra)
}

// do writes a request and reads its answer.
func (c *httpConn) do(request []byte) (httpAnswer, error) {
	if _, err := c.Write(request); err != nil {
		return httpAnswer{}, err
	}
	a, length, err := c.head()
	if err != nil {
		return a, err
	}
	c.body = c.body[:0]
	if length >= 0 {
		err = c.read(length)
	} else {
		err = c.readChunks()
	}
	a.body = c.body
	return a, err
}

// head reads an answer up to its body, whose length is -1 when it comes in
// chunks.
func (c *httpConn) head() (a httpAnswer, length int, err error) {
	line, err := c.line()
	if err != nil {
		return a, 0, err
	}
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
		return a, 0, fmt.Errorf("the answer begins with %q", line)
	}
	if a.status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return a, 0, fmt.Errorf("the answer begins with %q", line)
	}
	for {
		if line, err = c.line(); err != nil || len(line) == 0 {
			return a, length, err
		}
		name, value, _ := bytes.Cut(line, []byte(": "))
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(value)); err != nil {
				return a, 0, err
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			length = -1
		case bytes.EqualFold(name, []byte("Mcp-Session-Id")):
			a.session = string(value)
		}
	}
}

// line without its end, valid until the next read.
func (c *httpConn) line() ([]byte, error) {
	line, err := c.in.ReadSlice('\n')
	if errors.Is(err, io.EOF) {
		err = errors.New("the server has closed the connection")
	}
	return bytes.TrimRight(line, "\r\n"), err
}

// read adds n bytes to the body.
func (c *httpConn) read(n int) error {
	at := len(c.body)
	c.body = append(c.body, make([]byte, n)...)
	_, err := io.ReadFull(c.in, c.body[at:])
	return err
}

func (c *httpConn) readChunks() error {
	for {
		line, err := c.line()
		if err != nil {
			return err
		}
		n, err := strconv.ParseInt(string(line), 16, 32)
		if err != nil {
			return fmt.Errorf("a chunk begins with %q", line)
		}
		if err := c.read(int(n)); err != nil {
			return err
		}
		if _, err := c.line(); err != nil || n == 0 {
			return err
		}
	}
}

// call is do for a request that must succeed.
func (c *httpConn) call(request []byte) (httpAnswer, error) {
	a, err := c.do(request)
	if err != nil {
		return a, err
	}
	if a.status/100 != 2 || bytes.Contains(a.body, []byte(`"isError":true`)) || bytes.Contains(a.body, []byte(`"error":{`)) {
		return a, fmt.Errorf("answered %d %.300s", a.status, a.body)
	}
	return a, nil
}

// openSession makes an MCP session and returns the target in it.
func (c *httpConn) openSession(t target) (target, error) {
	a, err := c.call(t.post("initialize", map[string]any{
		"protocolVersion": sessionEra, "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "bench", "version": "1"},
	}))
	if err != nil {
		return t, err
	}
	if t.Session = a.session; t.Session == "" {
		return t, errors.New("initialize was answered without an Mcp-Session-Id")
	}
	_, err = c.call(t.post("notifications/initialized", map[string]any{}))
	return t, err
}

// repeat sends the request again and again until stop, and times each.
func (c *httpConn) repeat(request []byte, stop <-chan struct{}) (durations, error) {
	var took durations
	size := -1
	for {
		select {
		case <-stop:
			return took, nil
		default:
		}
		started := time.Now()
		a, err := c.do(request)
		took = append(took, time.Since(started))
		if err != nil {
			return took, err
		}
		if size < 0 {
			size = len(a.body)
		}
		if a.status != 200 || len(a.body) != size {
			return took, fmt.Errorf("answered %d bytes, then %d %.300s", size, a.status, a.body)
		}
	}
}
