package tools

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// Connection is what the tools remember of one client: its workspace, which
// state of which file it has seen, and what its person has approved. It is
// safe for concurrent use.
type Connection struct {
	lazy *backends.Lazy
	key  [32]byte // seals approvals; see approval.go

	mu       sync.Mutex
	seen     map[string]string    // resolved path -> version last read or written
	led      map[string]string    // path through symlinks -> what it led to then
	approved map[string]bool      // operations approved for this connection
	redeemed map[string]time.Time // approvals used once, until they expire
}

// maxSeen bounds how many files are remembered. Past it an arbitrary one is
// forgotten, which costs an edit of it no more than the staleness check.
const maxSeen = 10_000

// NewConnection returns a connection that works in the environment of lazy.
func NewConnection(lazy *backends.Lazy) *Connection {
	c := &Connection{
		lazy:     lazy,
		seen:     map[string]string{},
		led:      map[string]string{},
		approved: map[string]bool{},
		redeemed: map[string]time.Time{},
	}
	rand.Read(c.key[:]) // never fails
	return c
}

// Workspace opens the connection's environment if that has not happened yet.
func (c *Connection) Workspace(ctx context.Context) (backends.Workspace, error) {
	return c.lazy.Workspace(ctx)
}

// Backend is the provider of the connection's environment.
func (c *Connection) Backend() string { return c.lazy.Provider() }

// Ref is the environment's ref, or "" before there is one.
func (c *Connection) Ref() string {
	ref, _ := c.lazy.Ref()
	return ref.String()
}

// saw notes the state in which a file was last read or written, and what the
// path led to that it was asked for by.
func (c *Connection) saw(res backends.Resolution, version string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	remember(c.seen, res.Resolved, version)
	if res.Path != res.Resolved {
		remember(c.led, res.Path, res.Resolved)
	}
}

// remember keeps m at maxSeen entries.
func remember(m map[string]string, key, value string) {
	if _, known := m[key]; !known && len(m) >= maxSeen {
		for other := range m {
			delete(m, other)
			break
		}
	}
	m[key] = value
}

// lastSeen is the version noted for a file, or "".
func (c *Connection) lastSeen(resolved string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen[resolved]
}

// ledElsewhere tells whether a path led to another file when it was last read:
// what is there now has not been seen by that name.
func (c *Connection) ledElsewhere(res backends.Resolution) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	led, known := c.led[res.Path]
	return known && led != res.Resolved
}
