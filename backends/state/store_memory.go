package state

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/fair"
)

// memoryStore keeps documents for as long as it lives itself.
type memoryStore struct {
	mu   sync.RWMutex
	docs map[string]*version
	last int64 // revision; never used twice

	memory *fair.Memory
}

func newMemoryStore(memory *fair.Memory) *memoryStore {
	return &memoryStore{docs: map[string]*version{}, memory: memory}
}

func (s *memoryStore) create(_ context.Context, id string, t *tree) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.docs[id] != nil {
		return false, nil
	}
	_, err := s.put(id, t)
	return err == nil, err
}

// put needs mu.
func (s *memoryStore) put(id string, t *tree) (*version, error) {
	more := t.memory()
	if old := s.docs[id]; old != nil {
		more -= old.tree.memory()
	}
	if err := charge(s.memory, t.owner, more); err != nil {
		return nil, err
	}
	s.last++
	v := &version{tree: t, stamp: stamp{revision: s.last}}
	s.docs[id] = v
	return v, nil
}

func (s *memoryStore) stamp(ctx context.Context, id string) (stamp, error) {
	v, err := s.load(ctx, id)
	if err != nil {
		return stamp{}, err
	}
	return v.stamp, nil
}

func (s *memoryStore) load(_ context.Context, id string) (*version, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if v := s.docs[id]; v != nil {
		return v, nil
	}
	return nil, errGone
}

func (s *memoryStore) update(ctx context.Context, id string, _ *version, change func(*tree) (*tree, error)) (*version, error) {
	for {
		v, err := s.load(ctx, id)
		if err != nil {
			return nil, err
		}
		t, err := change(v.tree)
		if err != nil || t == v.tree {
			return v, err
		}
		s.mu.Lock()
		if s.docs[id] == v {
			v, err = s.put(id, t)
			s.mu.Unlock()
			return v, err
		}
		s.mu.Unlock()
	}
}

func (s *memoryStore) destroy(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.docs[id]; old != nil {
		s.memory.Give(old.tree.owner, old.tree.memory())
		delete(s.docs, id)
	}
	return nil
}

func (s *memoryStore) describe(ctx context.Context, id string) (listed, error) {
	v, err := s.load(ctx, id)
	if err != nil {
		return listed{}, err
	}
	return listed{id: id, header: v.tree.header()}, nil
}

func (s *memoryStore) list(context.Context) ([]listed, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var out []listed
	for _, id := range slices.Sorted(maps.Keys(s.docs)) {
		out = append(out, listed{id: id, header: s.docs[id].tree.header()})
	}
	return out, nil
}

func (s *memoryStore) close() error { return nil }
