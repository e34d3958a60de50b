package auth

import (
	"crypto/sha256"
	"sync"
	"time"
)

const (
	// cachedFor is the longest that an access token counts without being
	// checked anew.
	cachedFor = time.Minute

	// maxCached bounds the access tokens that are remembered.
	maxCached = 4096
)

// cache remembers access tokens that were found valid, by their hashes. Those
// that were refused are not in it, so nobody can fill it from outside.
type cache struct {
	mu      sync.Mutex
	entries map[[sha256.Size]byte]cached
}

type cached struct {
	identity   Identity
	until      time.Time
	generation uint64 // of the keys it was checked with
}

// get finds a token that was valid under these keys.
func (c *cache) get(hash [sha256.Size]byte, generation uint64, now time.Time) (Identity, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	entry, ok := c.entries[hash]
	if !ok {
		return Identity{}, false
	}
	if entry.generation != generation || !now.Before(entry.until) {
		delete(c.entries, hash)
		return Identity{}, false
	}
	return entry.identity, true
}

func (c *cache) put(hash [sha256.Size]byte, entry cached, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil {
		c.entries = make(map[[sha256.Size]byte]cached)
	}
	if len(c.entries) >= maxCached {
		c.makeRoom(now)
	}
	c.entries[hash] = entry
}

// makeRoom drops what is over and, if that is little, any others: all have less
// than a minute left.
func (c *cache) makeRoom(now time.Time) {
	for hash, entry := range c.entries {
		if !now.Before(entry.until) {
			delete(c.entries, hash)
		}
	}
	for hash := range c.entries {
		if len(c.entries) <= maxCached*3/4 {
			return
		}
		delete(c.entries, hash)
	}
}
