package tools

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// Connection is what the tools remember of one client: its workspace, which
// state of which file it has seen, and what its person has approved. It is
// safe for concurrent use.
type Connection struct {
	cfg ConnectionConfig

	mu       sync.Mutex
	seen     map[string]string    // resolved path -> version last read or written
	led      map[string]string    // path through symlinks -> what it led to then
	approved map[string]bool      // operations approved for this connection
	redeemed map[string]time.Time // approvals used once, until they expire
}

// ConnectionConfig says what a connection works in, and what its approvals are
// bound to.
type ConnectionConfig struct {
	// Lazy is the workspace.
	Lazy *backends.Lazy
	// Key seals approvals. Servers that one client may reach by turns share it.
	// Nil makes one for this connection.
	Key []byte
	// Binding names whose approvals hold here: those that were asked for on a
	// connection of another binding are refused.
	Binding string
	// Spent remembers approvals that have been used; nil remembers them in the
	// connection.
	Spent Spent
	// OneCall tells that the client has no connection that lasts, so a person
	// can approve one call and not more.
	OneCall bool
	// Describe, when set, knows more of the workspace than its Ref.
	Describe func(ctx context.Context) (backends.Info, error)
}

// Spent remembers which approvals have been used.
type Spent interface {
	// Use spends a nonce, which is random and 16 bytes long, and tells whether
	// it was fresh. It may be forgotten once it has expired.
	Use(ctx context.Context, nonce string, expires time.Time) (fresh bool, err error)
}

// maxSeen bounds how many files are remembered. Past it an arbitrary one is
// forgotten, which costs an edit of it no more than the staleness check.
const maxSeen = 10_000

// NewConnection returns a connection that works in the environment of lazy and
// is alone in its process.
func NewConnection(lazy *backends.Lazy) *Connection {
	return Connect(ConnectionConfig{Lazy: lazy})
}

// Connect returns a connection.
func Connect(cfg ConnectionConfig) *Connection {
	if cfg.Key == nil {
		cfg.Key = make([]byte, sha256.Size)
		rand.Read(cfg.Key) // never fails
	}
	return &Connection{cfg: cfg}
}

// Workspace opens the connection's environment if that has not happened yet.
func (c *Connection) Workspace(ctx context.Context) (backends.Workspace, error) {
	return c.cfg.Lazy.Workspace(ctx)
}

// Backend is the provider of the connection's environment.
func (c *Connection) Backend() string { return c.cfg.Lazy.Provider() }

// Ref is the environment's ref, or "" before there is one.
func (c *Connection) Ref() string {
	ref, _ := c.cfg.Lazy.Ref()
	return ref.String()
}

// saw notes the state in which a file was last read or written, and what the
// path led to that it was asked for by.
func (c *Connection) saw(res backends.Resolution, version string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	remember(&c.seen, res.Resolved, version)
	if res.Path != res.Resolved {
		remember(&c.led, res.Path, res.Resolved)
	}
}

// remember keeps m at maxSeen entries, and makes it when it is nil.
func remember(m *map[string]string, key, value string) {
	if *m == nil {
		*m = map[string]string{}
	}
	if _, known := (*m)[key]; !known && len(*m) >= maxSeen {
		for other := range *m {
			delete(*m, other)
			break
		}
	}
	(*m)[key] = value
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
