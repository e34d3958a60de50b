package commands

import (
	"errors"
	"sync/atomic"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/fair"
)

// ErrMemory is why a command or a script gives up that would hold more in
// memory than it may.
var ErrMemory = errors.New("memory exhausted")

// Memory counts what a script and all its commands hold at one time.
type Memory struct {
	limit   int64
	used    atomic.Int64
	account *fair.Account
}

// NewMemory allows limit bytes; 0 means 256 MiB. They are taken from account,
// which may be nil.
func NewMemory(limit int64, account *fair.Account) *Memory {
	if limit == 0 {
		limit = 256 << 20
	}
	return &Memory{limit: limit, account: account}
}

// Grow takes n more bytes, or fails with [ErrMemory] and takes none.
func (m *Memory) Grow(n int64) error {
	if n < 0 || n > m.limit || m.used.Add(n) > m.limit {
		if n >= 0 && n <= m.limit {
			m.used.Add(-n)
		}
		return ErrMemory
	}
	if m.account.Grow(n) != nil {
		m.used.Add(-n)
		return ErrMemory
	}
	return nil
}

// Free gives back n bytes.
func (m *Memory) Free(n int64) {
	m.used.Add(-n)
	m.account.Free(n)
}

// Used is how many bytes are taken.
func (m *Memory) Used() int64 { return m.used.Load() }

// All is how many bytes are taken by all scripts of the process.
func (m *Memory) All() int64 { return m.account.All() }

// Limit is how many bytes there are.
func (m *Memory) Limit() int64 { return m.limit }
