package fsops

import (
	"context"
	"sync"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// keyLocks is a mutex per key. The zero value is ready to use, and holds
// memory only for keys that are locked.
type keyLocks struct {
	mu   sync.Mutex
	held map[string]*keyLock
}

type keyLock struct {
	free  chan struct{} // holds one value while nobody has the lock
	users int
}

// lock waits for key and returns what frees it, or fails when ctx ends first.
func (k *keyLocks) lock(ctx context.Context, key string) (unlock func(), err error) {
	k.mu.Lock()
	l := k.held[key]
	if l == nil {
		if k.held == nil {
			k.held = map[string]*keyLock{}
		}
		l = &keyLock{free: make(chan struct{}, 1)}
		l.free <- struct{}{}
		k.held[key] = l
	}
	l.users++
	k.mu.Unlock()
	leave := func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if l.users--; l.users == 0 {
			delete(k.held, key)
		}
	}
	select {
	case <-l.free:
		return func() {
			l.free <- struct{}{}
			leave()
		}, nil
	case <-ctx.Done():
		leave()
		return nil, context.Cause(ctx)
	}
}

// lockTarget resolves p, keeps other writers of this Tree away from where it
// leads, and lets ready look at that. When want is set and the path leads
// elsewhere, it is stale.
func (t *Tree) lockTarget(ctx context.Context, op, p, want string, ready func(backends.Resolution) error) (backends.Resolution, func(), error) {
	res, err := t.resolve(op, p)
	if err != nil {
		return res, nil, err
	}
	unlock, err := t.locks.lock(ctx, res.Resolved)
	if err != nil {
		return res, nil, waited(ctx, op, res.Path, err)
	}
	// Another writer may have made or replaced it while this one waited.
	again, err := t.stillLeads(op, res)
	if err == nil && want != "" && again.Resolved != want {
		err = movedError(op, again)
	}
	if err == nil {
		err = ready(again)
	}
	if err != nil {
		unlock()
		return res, nil, err
	}
	return again, unlock, nil
}

// lockOut keeps other processes of this program away from res.Resolved, where
// the FS is a [Locker]. A write must be in such a lock when it replaces the
// file, an edit from when it reads. Others wait for the lock meanwhile, of this
// process too, and perhaps for other files.
func (t *Tree) lockOut(ctx context.Context, op string, res backends.Resolution) (unlock func(), err error) {
	locker, ok := t.fs.(Locker)
	if !ok {
		return func() {}, nil
	}
	unlock, err = locker.Lock(ctx, res.Resolved)
	if err != nil {
		return nil, waited(ctx, op, res.Path, err)
	}
	if _, err := t.stillLeads(op, res); err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

// stillLeads resolves res.Path again, and fails as stale when it does not lead
// to res.Resolved any more.
func (t *Tree) stillLeads(op string, res backends.Resolution) (backends.Resolution, error) {
	again, err := t.resolve(op, res.Path)
	if err == nil && again.Resolved != res.Resolved {
		err = movedError(op, again)
	}
	return again, err
}

func movedError(op string, res backends.Resolution) error {
	return backends.Errorf(backends.CodeStale, op, res.Path, "a symlink on this path has changed and leads to %s now; try again", res.Resolved)
}

// waited is the error of waiting for a lock.
func waited(ctx context.Context, op, p string, err error) error {
	if ctx.Err() != nil {
		return backends.Errorf(backends.CodeCancelled, op, p, "given up while another change of this file was under way; nothing was changed")
	}
	return fail(op, p, err)
}
