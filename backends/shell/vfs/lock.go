package vfs

import (
	"context"
	"io/fs"
)

// lock is what holds the lock of a file: open files, one or, where it is shared,
// several.
type lock struct {
	holders map[*file]bool
	shared  bool
	freed   chan struct{} // closed when a holder lets go
}

// Lock implements [File].
func (h *file) Lock(ctx context.Context, shared bool) error {
	for {
		freed, err := h.tryLock(shared)
		if freed == nil || err != nil {
			return err
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// tryLock takes the lock, or returns what is closed when it may be free.
func (h *file) tryLock(shared bool) (<-chan struct{}, error) {
	f := h.fs
	f.mu.Lock()
	defer f.mu.Unlock()
	if h.closed {
		return nil, wrap("lock", h.name, fs.ErrClosed)
	}
	l := f.locks[h.node]
	if l == nil {
		l = &lock{holders: map[*file]bool{}, freed: make(chan struct{})}
		if f.locks == nil {
			f.locks = map[*inode]*lock{}
		}
		f.locks[h.node] = l
	}
	others := len(l.holders)
	if l.holders[h] {
		others--
	}
	if others > 0 && (!shared || !l.shared) {
		return l.freed, nil
	}
	l.holders[h], l.shared = true, shared
	return nil, nil
}

// Unlock implements [File].
func (h *file) Unlock() {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	h.unlock()
}

func (h *file) unlock() {
	l := h.fs.locks[h.node]
	if l == nil || !l.holders[h] {
		return
	}
	delete(l.holders, h)
	close(l.freed)
	l.freed = make(chan struct{})
	if len(l.holders) == 0 {
		delete(h.fs.locks, h.node)
	}
}
