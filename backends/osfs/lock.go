//go:build linux || darwin

package osfs

import (
	"context"
	"errors"
	"os"
	"path"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// lockPatience is how long a change waits for another program to let go of a
// directory.
const lockPatience = 30 * time.Second

// waitingForLocks bounds how many threads wait in the kernel for locks that
// other programs hold: the wait outlasts a caller who gives up.
var waitingForLocks = make(chan struct{}, 64)

// Lock keeps every other process that asks for a lock in the same directory
// from changing name until unlock is called, and so other callers in this
// process. What is locked is the directory that name is in, which must exist,
// with flock: no lock file is made, and nobody is kept out who does not ask.
// Where the directory cannot be read, or its file system has no locks, nothing
// is locked.
//
// It fails with CodeCancelled when ctx ends first, and with CodeUnavailable
// after 30 s.
func (o *FS) Lock(ctx context.Context, name string) (unlock func(), err error) {
	dirName := path.Dir(name)
	if name == o.path {
		dirName = name // it is no file, as who asked will find out
	}
	rel, err := o.at(dirName)
	if err != nil {
		return nil, err
	}
	dir, err := o.open(rel, dirName, os.O_RDONLY|unix.O_DIRECTORY)
	if errors.Is(err, unix.EACCES) {
		return func() {}, nil
	}
	if err != nil {
		return nil, o.fail(dirName, err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.lockPatience, backends.Errorf(backends.CodeUnavailable, "lock", dirName,
		"another program has had this directory locked for %s, so nothing was changed; end that program, or try again", o.lockPatience))
	defer cancel()
	if err := lockDir(ctx, dir); err != nil {
		if ctx.Err() != nil {
			return nil, gaveUp(ctx)
		}
		return func() {}, nil // no locks here
	}
	return func() {
		// Not only by closing: a command that is being started may still have a
		// copy of the descriptor. Failing means that there is nothing to unlock.
		_ = flock(dir, unix.LOCK_UN)
		dir.Close()
	}, nil
}

// gaveUp is the error of a lock whose ctx has ended.
func gaveUp(ctx context.Context) error {
	cause := context.Cause(ctx)
	if backends.CodeOf(cause) == backends.CodeUnavailable {
		return cause
	}
	return &backends.Error{Code: backends.CodeCancelled, Op: "lock", Err: cause, Message: "given up while waiting for another change in the same directory; nothing was changed"}
}

// lockDir locks dir, and closes it when it fails. The kernel's wait cannot be
// interrupted: when ctx ends first, dir is closed as soon as that is over.
func lockDir(ctx context.Context, dir *os.File) error {
	err := flock(dir, unix.LOCK_EX|unix.LOCK_NB)
	if !errors.Is(err, unix.EWOULDBLOCK) {
		if err != nil {
			dir.Close()
		}
		return err
	}
	select {
	case waitingForLocks <- struct{}{}:
	case <-ctx.Done():
		dir.Close()
		return context.Cause(ctx)
	}
	locked := make(chan struct{})
	go func() {
		defer func() { <-waitingForLocks }()
		err = flock(dir, unix.LOCK_EX)
		select {
		case locked <- struct{}{}:
		case <-ctx.Done():
			dir.Close()
		}
	}()
	select {
	case <-locked:
		if err != nil {
			dir.Close()
		}
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
