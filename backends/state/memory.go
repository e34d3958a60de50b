package state

import (
	"sync"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/shell/fair"
)

// entryCost is about how many bytes of memory a file, a symlink or a directory
// takes in a tree beside its content.
const entryCost = 300

// memory is about how many bytes a tree takes.
func (t *tree) memory() int64 { return t.bytes + entryCost*int64(t.count) }

// charge takes n more bytes for documents of an owner, or gives -n back.
func charge(memory *fair.Memory, owner string, n int64) error {
	if n <= 0 {
		memory.Give(owner, -n)
		return nil
	}
	if err := memory.Take(owner, n); err != nil {
		return &backends.Error{Code: backends.CodeTooLarge, Op: "write", Err: err, Message: err.Error()}
	}
	return nil
}

// held is what a document that is in use takes of the memory for all.
type held struct {
	memory *fair.Memory // nil: another is charged

	mu      sync.Mutex
	owner   string
	bytes   int64
	dropped bool
}

// set makes it what t takes.
func (h *held) set(t *tree) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.dropped {
		return nil // of an operation that outlives the connection
	}
	if err := charge(h.memory, t.owner, t.memory()-h.bytes); err != nil {
		return err
	}
	h.owner, h.bytes = t.owner, t.memory()
	return nil
}

// drop gives it back.
func (h *held) drop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.memory.Give(h.owner, h.bytes)
	h.bytes, h.dropped = 0, true
}
