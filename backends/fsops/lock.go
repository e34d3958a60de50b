package fsops

import "sync"

// keyLocks is a mutex per key. The zero value is ready to use, and holds
// memory only for keys that are locked.
type keyLocks struct {
	mu   sync.Mutex
	held map[string]*keyLock
}

type keyLock struct {
	sync.Mutex
	users int
}

// lock waits for key and returns what frees it.
func (k *keyLocks) lock(key string) (unlock func()) {
	k.mu.Lock()
	l := k.held[key]
	if l == nil {
		if k.held == nil {
			k.held = map[string]*keyLock{}
		}
		l = &keyLock{}
		k.held[key] = l
	}
	l.users++
	k.mu.Unlock()
	l.Lock()
	return func() {
		l.Unlock()
		k.mu.Lock()
		if l.users--; l.users == 0 {
			delete(k.held, key)
		}
		k.mu.Unlock()
	}
}
