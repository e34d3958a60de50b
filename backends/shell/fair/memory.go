package fair

import (
	"errors"
	"fmt"
	"sync"
)

// ErrFull is why there is no more memory to be had.
var ErrFull = errors.New("the memory for commands and documents is in use")

// Memory is what all scripts of a process, and the documents that it keeps, may
// hold together. An owner gets no more than it leaves to the others: half of it
// when it is alone, a quarter when another has half. The owner "" is that of a
// process with one user, and may have it all. A nil *Memory has no limit.
type Memory struct {
	limit int64

	mu     sync.Mutex
	used   int64
	owners map[string]int64 // what each has
}

// NewMemory returns limit bytes to share; 0 is no limit.
func NewMemory(limit int64) *Memory {
	if limit <= 0 {
		return nil
	}
	return &Memory{limit: limit, owners: map[string]int64{}}
}

// Used is how many bytes are taken.
func (m *Memory) Used() int64 {
	if m == nil {
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used
}

// Take takes n bytes for an owner, or fails with [ErrFull] and takes none.
func (m *Memory) Take(owner string, n int64) error {
	if m == nil || m.take(owner, n, false) {
		return nil
	}
	return m.full()
}

func (m *Memory) full() error {
	return fmt.Errorf("%w: all callers together may have %d MiB of this server, and one no more than it leaves to the others; try again when other commands have ended, or remove files and workspaces", ErrFull, m.limit>>20)
}

// take reports whether there were n bytes. What is forced is taken in any case.
func (m *Memory) take(owner string, n int64, force bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	own, left := m.owners[owner]+n, m.limit-m.used-n
	fits := left >= 0 && (owner == "" || own <= left)
	if fits || force {
		m.used += n
		m.owners[owner] = own
	}
	return fits
}

// Give gives n bytes of an owner back.
func (m *Memory) Give(owner string, n int64) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used -= n
	if m.owners[owner] -= n; m.owners[owner] == 0 {
		delete(m.owners, owner)
	}
}

// Account is what one script, or one document, has of a [Memory]. All methods
// are safe for concurrent use; a nil *Account has no limit.
type Account struct {
	memory *Memory
	owner  string
	full   func(error)

	mu     sync.Mutex
	used   int64
	taken  int64 // of memory: what is used beyond first, and what is spare
	closed bool
}

const (
	// first is what an account has without asking: enough for a short script,
	// such as one that removes files where there is no memory left.
	first = 256 << 10
	// chunk is what it takes at once then: scripts take many small pieces, and
	// all would meet at one lock.
	chunk = 64 << 10
)

// Open opens an account of an owner; close it.
func (m *Memory) Open(owner string) *Account {
	if m == nil {
		return nil
	}
	return &Account{memory: m, owner: owner}
}

// OnFull has f called with the reason whenever there is no more to be had. It
// is called with whatever is locked where more was needed.
func (a *Account) OnFull(f func(error)) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.full = f
}

// Grow takes n more bytes, or fails with [ErrFull] and takes none.
func (a *Account) Grow(n int64) error { return a.grow(n, false) }

// Overdraw takes n bytes that are in use already.
func (a *Account) Overdraw(n int64) { _ = a.grow(n, true) } // full has heard of it

func (a *Account) grow(n int64, force bool) error {
	if a == nil {
		return nil
	}
	fits, full := a.take(n, force)
	if fits {
		return nil
	}
	err := a.memory.full()
	if full != nil {
		full(err)
	}
	return err
}

func (a *Account) take(n int64, force bool) (fits bool, full func(error)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return false, nil
	}
	fits = true
	if missing := a.used + n - first - a.taken; missing > 0 {
		more := (missing + chunk - 1) / chunk * chunk
		fits = a.memory.take(a.owner, more, force)
		if fits || force {
			a.taken += more
		}
	}
	if fits || force {
		a.used += n
	}
	return fits, a.full
}

// Free gives n bytes back.
func (a *Account) Free(n int64) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return
	}
	a.used = max(0, a.used-n)
	if spare := a.taken - max(0, a.used-first); spare >= 16*chunk {
		spare -= spare%chunk + chunk
		a.taken -= spare
		a.memory.Give(a.owner, spare)
	}
}

// Used is how many bytes are taken.
func (a *Account) Used() int64 {
	if a == nil {
		return 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.used
}

// All is how many bytes are taken of all that is shared.
func (a *Account) All() int64 {
	if a == nil {
		return 0
	}
	return a.memory.Used()
}

// Close gives everything back. There is nothing more to be had.
func (a *Account) Close() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		a.closed = true
		a.memory.Give(a.owner, a.taken)
	}
}
