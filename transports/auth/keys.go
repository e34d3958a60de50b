package auth

import (
	"context"
	"crypto"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// How the keys of an issuer are kept. All of these bound two things at once:
// how long a key that was withdrawn still counts, and what the issuer has to
// put up with, whatever is sent to this server.
const (
	// freshFor is how long keys are used without asking for them again.
	freshFor = 5 * time.Minute
	// usableFor is how old keys may get while the issuer is away.
	usableFor = time.Hour
	// patience is the longest that requests wait for newer keys while there are
	// usable ones, from the start of the fetch.
	patience = time.Second
	// refetchAfter is the shortest time between two fetches because of tokens
	// that no key fits. Anybody can send such tokens.
	refetchAfter = 10 * time.Second
	// fetchTimeout is for a whole fetch, discovery included.
	fetchTimeout = 10 * time.Second
	// A failed fetch is repeated after firstPause at the earliest, and after
	// twice as long each time, up to lastPause.
	firstPause = time.Second
	lastPause  = 30 * time.Second
)

var errNoKeys = errors.New("the issuer's keys cannot be had")

// keySet is one state of an issuer's keys. It does not change.
type keySet struct {
	keys       []jose.JSONWebKey
	generation uint64 // counts the states that differ
}

// verify returns the payload if a key fits the signature.
func (s *keySet) verify(jws *jose.JSONWebSignature) ([]byte, bool) {
	header := jws.Signatures[0].Protected
	for i := range s.keys {
		key := &s.keys[i]
		if header.KeyID != "" && key.KeyID != "" && key.KeyID != header.KeyID ||
			key.Algorithm != "" && key.Algorithm != header.Algorithm {
			continue
		}
		if payload, err := jws.Verify(key.Key); err == nil {
			return payload, true
		}
	}
	return nil, false
}

// keyStore keeps an issuer's keys and decides when to ask for them. There is at
// most one fetch at a time, in a goroutine that ends with it.
type keyStore struct {
	fetch  func(context.Context) ([]jose.JSONWebKey, error)
	now    func() time.Time
	logger *slog.Logger

	mu        sync.Mutex
	current   *keySet   // nil before the first
	fetched   time.Time // when current was found to be what the issuer has
	flight    *flight   // nil when nothing is being fetched
	attempted time.Time // the start of the last fetch
	failures  int       // since the last fetch that did not fail
	pause     time.Time // no fetch before
}

type flight struct {
	started time.Time
	done    chan struct{}
}

func newKeyStore(fetch func(context.Context) ([]jose.JSONWebKey, error), now func() time.Time, logger *slog.Logger) *keyStore {
	return &keyStore{fetch: fetch, now: now, logger: logger}
}

// generation is that of the keys at hand, 0 when there are none.
func (k *keyStore) generation() uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.current == nil {
		return 0
	}
	return k.current.generation
}

// get returns the keys to judge a token with. It fails when there are none that
// are young enough, and then says when to try again.
func (k *keyStore) get(ctx context.Context) (*keySet, time.Duration, error) {
	k.mu.Lock()
	now := k.now()
	if k.usable(now, freshFor) {
		defer k.mu.Unlock()
		return k.current, 0, nil
	}
	flight := k.start(now)
	limit := fetchTimeout
	if k.usable(now, usableFor) {
		limit = patience
	}
	if flight != nil {
		limit -= now.Sub(flight.started)
	}
	k.mu.Unlock()
	wait(ctx, flight, limit)

	k.mu.Lock()
	defer k.mu.Unlock()
	now = k.now()
	if k.usable(now, usableFor) {
		return k.current, 0, nil
	}
	return nil, k.pause.Sub(now), errNoKeys
}

// newer returns keys other than seen, which did not fit a token, or nil when
// there are none. It fails when the issuer cannot be asked.
func (k *keyStore) newer(ctx context.Context, seen *keySet) (*keySet, time.Duration, error) {
	k.mu.Lock()
	now := k.now()
	if k.current != seen {
		defer k.mu.Unlock()
		return k.current, 0, nil
	}
	if k.flight == nil && k.failures == 0 && now.Sub(k.attempted) < refetchAfter {
		k.mu.Unlock()
		return nil, 0, nil // seen is what the issuer had a moment ago
	}
	flight := k.start(now)
	k.mu.Unlock()
	wait(ctx, flight, fetchTimeout)

	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.current != seen:
		return k.current, 0, nil
	case k.failures > 0 || k.flight != nil:
		return nil, k.pause.Sub(k.now()), errNoKeys
	}
	return nil, 0, nil
}

func (k *keyStore) usable(now time.Time, age time.Duration) bool {
	return k.current != nil && now.Sub(k.fetched) < age
}

// start returns the fetch under way, which it begins if it may: nil if not.
func (k *keyStore) start(now time.Time) *flight {
	if k.flight != nil || now.Before(k.pause) {
		return k.flight
	}
	k.flight = &flight{started: now, done: make(chan struct{})}
	k.attempted = now
	go k.run(k.flight)
	return k.flight
}

// run fetches on nobody's behalf: the request that began it may go away while
// others wait.
func (k *keyStore) run(f *flight) {
	ctx, cancel := context.WithTimeout(context.Background(), fetchTimeout)
	defer cancel()
	keys, err := k.fetch(ctx)

	k.mu.Lock()
	defer k.mu.Unlock()
	defer close(f.done)
	k.flight = nil
	now := k.now()
	if err != nil {
		k.pause = now.Add(min(lastPause, firstPause<<min(k.failures, 10)))
		k.failures++
		level := slog.LevelDebug
		if k.failures == 1 {
			level = slog.LevelWarn
		}
		k.logger.Log(context.Background(), level, "the OAuth issuer's keys cannot be had; its access tokens may be refused",
			"err", err, "failures", k.failures)
		return
	}
	if k.failures > 0 {
		k.logger.Info("the OAuth issuer's keys can be had again")
	}
	k.failures, k.pause, k.fetched = 0, time.Time{}, f.started
	if k.current == nil || !sameKeys(k.current.keys, keys) {
		next := &keySet{keys: keys, generation: 1}
		if k.current != nil {
			next.generation = k.current.generation + 1
		}
		k.current = next
	}
}

func wait(ctx context.Context, f *flight, limit time.Duration) {
	if f == nil || limit <= 0 {
		return
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-f.done:
	case <-timer.C:
	case <-ctx.Done():
	}
}

func sameKeys(a, b []jose.JSONWebKey) bool {
	return slices.EqualFunc(a, b, func(x, y jose.JSONWebKey) bool {
		public, ok := x.Key.(interface{ Equal(crypto.PublicKey) bool })
		return ok && public.Equal(y.Key) && x.KeyID == y.KeyID && x.Algorithm == y.Algorithm
	})
}
