package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// principals of the measured server. Paced may make pacedRate requests a
// second; the others have no limits that matter here.
var principals = []string{"quiet", "flood", "paced", "slow"}

const pacedRate = 200

// httpServer is a running `mcp-workspace serve` over in-memory documents.
type httpServer struct {
	addr   string
	tokens map[string]string // by principal
	cmd    *exec.Cmd
	log    bytes.Buffer
	ended  chan error
}

// serve starts the server and returns once it is ready.
func (b *bench) serve(ctx context.Context) (*httpServer, error) {
	addr, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	s := &httpServer{addr: addr, tokens: map[string]string{}, ended: make(chan error, 1)}
	config := filepath.Join(b.dir, "serve.yaml")
	if err := os.WriteFile(config, s.config(), 0o600); err != nil {
		return nil, err
	}
	s.cmd = exec.CommandContext(ctx, b.server, "serve", "--config", config, "--listen", addr, "--log-level", "warn")
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { s.ended <- s.cmd.Wait() }()
	if err := s.ready(ctx); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

// config gives each principal a token, made as `mcp-workspace token` makes them.
func (s *httpServer) config() []byte {
	var c strings.Builder
	c.WriteString("backend: state\n" +
		"limits: {workspaces: 5000, sessions: 5000, calls: 1024}\n" +
		"per-principal: {workspaces: 5000, sessions: 5000, calls: 512}\n" +
		"principals:\n")
	for _, name := range principals {
		var random [32]byte
		rand.Read(random[:])
		token := "mcpws_" + base64.RawURLEncoding.EncodeToString(random[:])
		s.tokens[name] = token
		fmt.Fprintf(&c, "  %s:\n    tokens: [\"sha256:%x\"]\n", name, sha256.Sum256([]byte(token)))
		if name == "paced" {
			fmt.Fprintf(&c, "    limits: {calls-per-second: %d}\n", pacedRate)
		}
	}
	return []byte(c.String())
}

func freeAddress(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// ready waits until the server says that it is.
func (s *httpServer) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.addr+"/readyz", http.NoBody)
		if err != nil {
			return err
		}
		answer, err := http.DefaultClient.Do(request)
		if err == nil {
			if err := answer.Body.Close(); err != nil {
				return err
			}
			if answer.StatusCode == http.StatusOK {
				return nil
			}
			err = errors.New("/readyz says " + answer.Status)
		}
		select {
		case ended := <-s.ended:
			s.ended <- ended
			return fmt.Errorf("the server has ended: %w", ended)
		case <-ctx.Done():
			return fmt.Errorf("the server is not ready: %w", err)
		case <-again.C:
		}
	}
}

// stop ends the server and says what it logged when something was wrong.
func (s *httpServer) stop() error {
	err := s.cmd.Process.Signal(syscall.SIGTERM)
	if errors.Is(err, os.ErrProcessDone) {
		err = nil
	}
	select {
	case ended := <-s.ended:
		err = errors.Join(err, ended)
	case <-time.After(20 * time.Second):
		err = errors.Join(err, errors.New("the server did not end within 20 s of SIGTERM"), s.cmd.Process.Kill(), <-s.ended)
	}
	if err != nil {
		return fmt.Errorf("serve: %w\n%.4000s", err, s.log.Bytes())
	}
	return nil
}

// target is the server as a principal reaches it, without a session.
func (s *httpServer) target(principal string) target {
	return target{Addr: s.addr, Token: s.tokens[principal]}
}

// newConn is a connection that is closed when ctx ends.
func (s *httpServer) newConn(ctx context.Context) (*httpConn, error) {
	c, err := dialHTTP(ctx, s.addr)
	if err == nil {
		context.AfterFunc(ctx, func() { c.Close() })
	}
	return c, err
}
