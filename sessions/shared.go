package sessions

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Shared is what the replicas of a server have in common. It is safe for
// concurrent use.
type Shared interface {
	// Key seals what clients carry from one request to the next: 32 bytes, the
	// same for all replicas.
	Key() []byte
	// Use spends a nonce and tells whether nobody had, on any replica. One that
	// has expired is not fresh. See [tools.Spent].
	Use(ctx context.Context, nonce string, expires time.Time) (fresh bool, err error)
	Close() error
}

// keySize is that of the sealing key, in bytes.
const keySize = sha256.Size

// OpenShared opens what spec names: "memory" (or nothing), for a server without
// replicas; "file:DIR", for replicas on one machine or with one file system, DIR
// absolute; or the URL "postgres://…". What is missing there is made, once,
// whoever comes first. The error does not show the URL's password.
func OpenShared(ctx context.Context, spec string) (Shared, error) {
	kind, rest, _ := strings.Cut(spec, ":")
	switch {
	case spec == "" || spec == "memory":
		return newSharedMemory(), nil
	case kind == "file":
		return openSharedDir(rest)
	case strings.HasPrefix(spec, "postgres://"), strings.HasPrefix(spec, "postgresql://"):
		return openSharedPostgres(ctx, spec)
	default:
		// Not quoted in full: whatever it is, it may have a password in it.
		return nil, fmt.Errorf("replicas cannot share %q; use memory, file:DIR or postgres://…", kind)
	}
}

// sharedMemory is shared with nobody.
type sharedMemory struct {
	key []byte

	mu    sync.Mutex
	spent map[string]time.Time // until when
	look  time.Time            // for what has expired
}

func newSharedMemory() *sharedMemory {
	return &sharedMemory{key: newKey(), spent: map[string]time.Time{}}
}

func newKey() []byte {
	key := make([]byte, keySize)
	_, _ = rand.Read(key) // never fails
	return key
}

func (s *sharedMemory) Key() []byte { return s.key }

func (s *sharedMemory) Use(_ context.Context, nonce string, expires time.Time) (bool, error) {
	now := time.Now()
	if !now.Before(expires) {
		return false, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.After(s.look) {
		for n, until := range s.spent {
			if now.After(until) {
				delete(s.spent, n)
			}
		}
		s.look = now.Add(spentSweep)
	}
	if _, used := s.spent[nonce]; used {
		return false, nil
	}
	s.spent[nonce] = expires
	return true, nil
}

func (s *sharedMemory) Close() error { return nil }

// What has been spent is forgotten some time after it has expired, since the
// clocks of replicas differ, and looked for so often.
const (
	spentGrace = time.Hour
	spentSweep = 10 * time.Minute
)
