package state

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// fileStore keeps each document in a file ID.json of one directory. Beside
// it, and named so that no id can be meant, are .ID.lock, which a writer holds
// locked, and .ID.tmp, which becomes the next ID.json and belongs to whoever
// holds the lock.
type fileStore struct {
	dir      string
	waiting  chan struct{} // a place for each goroutine that waits for a lock
	patience time.Duration
}

// lockPatience is how long a lock that another process holds is waited for: one
// that has been stopped may hold it for good.
const lockPatience = 30 * time.Second

// maxFile is the largest document in its JSON form that is written or read.
const maxFile = 2 << 30

// maxWaiting bounds how many threads wait in the kernel for locks that other
// processes hold.
const maxWaiting = 64

func openFileStore(dir string) (*fileStore, error) {
	s := &fileStore{dir: dir, waiting: make(chan struct{}, maxWaiting), patience: lockPatience}
	if err := s.prepare(); err != nil {
		return nil, fmt.Errorf("the store file:%s cannot be used: %w; name a directory that can be written to", dir, err)
	}
	return s, nil
}

// prepare makes the directory, finds out whether it can be written, and
// removes what writers that were killed have left.
func (s *fileStore) prepare() error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	probe, err := os.CreateTemp(s.dir, ".probe-*")
	if err != nil {
		return err
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		return err
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name, hidden := strings.CutPrefix(e.Name(), ".")
		id, temp := strings.CutSuffix(name, ".tmp")
		id, lock := strings.CutSuffix(id, ".lock")
		if !hidden || temp == lock || backends.ValidName(id) != nil {
			continue
		}
		if err := s.sweep(id); err != nil && !errors.Is(err, errLocked) {
			return err
		}
	}
	return nil
}

// sweep removes what a writer of a document that was killed has left. A
// document in use is errLocked.
func (s *fileStore) sweep(id string) (err error) {
	lock, err := tryLockFile(s.lockFile(id))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := ignoreMissing(os.Remove(s.tempFile(id))); err != nil {
		return err
	}
	if _, err := os.Lstat(s.file(id)); errors.Is(err, fs.ErrNotExist) {
		return ignoreMissing(os.Remove(s.lockFile(id)))
	}
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (s *fileStore) file(id string) string     { return filepath.Join(s.dir, id+".json") }
func (s *fileStore) lockFile(id string) string { return filepath.Join(s.dir, "."+id+".lock") }
func (s *fileStore) tempFile(id string) string { return filepath.Join(s.dir, "."+id+".tmp") }

func (s *fileStore) stamp(_ context.Context, id string) (stamp, error) {
	info, err := os.Lstat(s.file(id))
	if err != nil {
		return stamp{}, gone(err)
	}
	return fileStamp(info), nil
}

func fileStamp(info fs.FileInfo) stamp {
	return stamp{modified: info.ModTime().UnixNano(), size: info.Size(), inode: inode(info)}
}

// gone turns a missing file into errGone.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errGone
	}
	return err
}

func (s *fileStore) load(_ context.Context, id string) (*version, error) {
	name := s.file(id)
	// A link or a FIFO in the directory is nobody's document.
	info, err := os.Lstat(name)
	if err != nil {
		return nil, gone(err)
	}
	if !info.Mode().IsRegular() {
		return nil, damaged("%s is not a regular file; move it away to give the workspace up", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, gone(err)
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, err
	}
	if info.Size() > maxFile {
		return nil, damaged("the document %s has %d bytes, more than any that was written here (%s at most); mend it, or move it away to give the workspace up", name, info.Size(), size(maxFile))
	}
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(f, data); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	t, err := parseTree(data)
	if err != nil {
		return nil, damaged("the document %s cannot be read: %w; mend it, or remove it to give the workspace up", name, err)
	}
	return &version{tree: t, stamp: fileStamp(info)}, nil
}

func (s *fileStore) create(ctx context.Context, id string, t *tree) (bool, error) {
	// Without this look a workspace that is there could not be opened while
	// another process has it locked.
	if _, err := s.stamp(ctx, id); !errors.Is(err, errGone) {
		return false, err
	}
	unlock, err := s.lock(ctx, id)
	if err != nil {
		return false, err
	}
	defer unlock()
	if _, err := s.stamp(ctx, id); !errors.Is(err, errGone) {
		return false, err
	}
	_, err = s.write(id, t, stamp{})
	return err == nil, err
}

func (s *fileStore) update(ctx context.Context, id string, have *version, change func(*tree) (*tree, error)) (*version, error) {
	// Without this look a lock file would be made for a document that is gone.
	if _, err := s.stamp(ctx, id); err != nil {
		return nil, err
	}
	unlock, err := s.lock(ctx, id)
	if err != nil {
		return nil, err
	}
	defer unlock()
	st, err := s.stamp(ctx, id)
	if err != nil {
		return nil, err
	}
	if have == nil || have.stamp != st {
		if have, err = s.load(ctx, id); err != nil {
			return nil, err
		}
	}
	t, err := change(have.tree)
	if err != nil || t == have.tree {
		return have, err
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	if st, err = s.write(id, t, have.stamp); err != nil {
		return nil, err
	}
	return &version{tree: t, stamp: st}, nil
}

// write replaces the document of id, whose lock the caller holds and whose
// version was old.
func (s *fileStore) write(id string, t *tree, old stamp) (stamp, error) {
	data := t.marshal()
	if len(data) > maxFile {
		return stamp{}, tooLargeError("", maxFile)
	}
	tmp := s.tempFile(id)
	if err := ignoreMissing(os.Remove(tmp)); err != nil {
		return stamp{}, err
	}
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return stamp{}, err
	}
	st, err := fill(f, data, old.modified)
	if err == nil {
		err = os.Rename(tmp, s.file(id))
	}
	if err != nil {
		return stamp{}, errors.Join(err, ignoreMissing(os.Remove(tmp)))
	}
	return st, syncDir(s.dir)
}

// fill writes data to f durably and closes it. The file gets a modification
// time later than after, in nanoseconds: the clock of a file system is so
// coarse that two writes could otherwise look the same to a reader.
func fill(f *os.File, data []byte, after int64) (st stamp, err error) {
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(data); err != nil {
		return stamp{}, err
	}
	at := time.Unix(0, max(time.Now().UnixNano(), after+1))
	for range 2 {
		if err := os.Chtimes(f.Name(), at, at); err != nil {
			return stamp{}, err
		}
		info, err := f.Stat()
		if err != nil {
			return stamp{}, err
		}
		if st = fileStamp(info); st.modified > after {
			break
		}
		at = time.Unix(0, after).Add(2 * time.Second) // the coarsest there is
	}
	return st, f.Sync()
}

func (s *fileStore) destroy(ctx context.Context, id string) error {
	if _, err := s.stamp(ctx, id); errors.Is(err, errGone) {
		return nil
	}
	unlock, err := s.lock(ctx, id)
	if err != nil {
		return err
	}
	defer unlock()
	err = errors.Join(
		ignoreMissing(os.Remove(s.file(id))),
		ignoreMissing(os.Remove(s.tempFile(id))),
		// Last: who waits for the lock finds out that it is no longer the one.
		ignoreMissing(os.Remove(s.lockFile(id))),
	)
	if err != nil {
		return err
	}
	return syncDir(s.dir)
}

// headerBytes is how much of a document is read to list it.
const headerBytes = 16 << 10

func (s *fileStore) list(ctx context.Context) ([]listed, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	var out []listed
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || backends.ValidName(id) != nil || !e.Type().IsRegular() {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		l := listed{id: id}
		if l.header, l.damage = s.readHeader(ctx, id); errors.Is(l.damage, errGone) {
			continue
		}
		out = append(out, l)
	}
	return out, nil
}

func (s *fileStore) describe(ctx context.Context, id string) (listed, error) {
	l := listed{id: id}
	l.header, l.damage = s.readHeader(ctx, id)
	return l, undamaged(l)
}

func (s *fileStore) readHeader(ctx context.Context, id string) (header, error) {
	f, err := os.Open(s.file(id))
	if err != nil {
		return header{}, gone(err)
	}
	defer f.Close()
	start, err := io.ReadAll(io.LimitReader(f, headerBytes))
	if err != nil {
		return header{}, err
	}
	if h, err := parseHeader(start); err == nil {
		return h, nil
	}
	v, err := s.load(ctx, id)
	if err != nil {
		return header{}, err
	}
	return v.tree.header(), nil
}

func (s *fileStore) close() error { return nil }

// errLocked says that another holds a lock.
var errLocked = errors.New("locked by another process")

// lock waits for the lock of a document, in this process and in others, and
// returns what frees it. It gives up, as unavailable, when that takes too long.
func (s *fileStore) lock(ctx context.Context, id string) (unlock func(), err error) {
	name := s.lockFile(id)
	f, err := tryLockFile(name)
	if errors.Is(err, errLocked) {
		wait, cancel := context.WithTimeoutCause(ctx, s.patience, backends.Errorf(backends.CodeUnavailable, "lock", "",
			"another process has had the workspace %s locked for %s, so nothing was changed; end the process that holds %s, or try again",
			backends.Ref{Provider: Provider, ID: id}, s.patience, name))
		defer cancel()
		f, err = s.waitLockFile(wait, name)
	}
	if err != nil {
		return nil, err
	}
	// Closing is what unlocks, and fails only for descriptors that are not
	// open.
	return func() { _ = f.Close() }, nil
}

// waitLockFile waits until the lock file is free. The kernel's wait cannot be
// interrupted, so it has a goroutine of its own, which lets go of the lock
// when it comes too late.
func (s *fileStore) waitLockFile(ctx context.Context, name string) (*os.File, error) {
	select {
	case s.waiting <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	type outcome struct {
		file *os.File
		err  error
	}
	locked := make(chan outcome)
	go func() {
		defer func() { <-s.waiting }()
		f, err := lockFile(name)
		select {
		case locked <- outcome{f, err}:
		case <-ctx.Done():
			if f != nil {
				_ = f.Close()
			}
		}
	}()
	select {
	case o := <-locked:
		return o.file, o.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
