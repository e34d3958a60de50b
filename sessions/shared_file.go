package sessions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"
)

// sharedDir is a directory: the file key, and a directory spent with an empty
// file for each nonce, whose modification time is when it expires.
type sharedDir struct {
	key   []byte
	spent string

	mu   sync.Mutex
	look time.Time
}

func openSharedDir(dir string) (*sharedDir, error) {
	fail := func(err error) (*sharedDir, error) {
		return nil, fmt.Errorf("replicas cannot share file:%s: %w", dir, err)
	}
	if !filepath.IsAbs(dir) {
		return fail(errors.New("the directory is not given as an absolute path"))
	}
	s := &sharedDir{spent: filepath.Join(dir, "spent")}
	if err := os.MkdirAll(s.spent, 0o700); err != nil {
		return fail(err)
	}
	var err error
	if s.key, err = keyIn(dir); err != nil {
		return fail(err)
	}
	return s, nil
}

// keyIn reads the key, and makes it where there is none.
func keyIn(dir string) ([]byte, error) {
	name := filepath.Join(dir, "key")
	key, err := readKey(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := makeKey(dir, name); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return readKey(name)
}

func readKey(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("others than its owner may use %s, who could then forge approvals; remove it, and a new one is made", name)
	}
	key, err := io.ReadAll(io.LimitReader(f, keySize+1))
	if err == nil && len(key) != keySize {
		err = fmt.Errorf("%s is not a key, which has %d bytes; remove it, and a new one is made", name, keySize)
	}
	return key, err
}

// makeKey makes the file whole or not at all, and fails with fs.ErrExist where
// somebody else was first.
func makeKey(dir, name string) (err error) {
	temp, err := os.CreateTemp(dir, ".key-") // with mode 0600
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(temp.Name())) }()
	_, err = temp.Write(newKey())
	if err := errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	if err := os.Link(temp.Name(), name); err != nil {
		return err
	}
	return syncDir(dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func (s *sharedDir) Key() []byte { return s.key }

// Use implements [Shared]. The name of a file is a digest, so a nonce may be of
// any length.
func (s *sharedDir) Use(ctx context.Context, nonce string, expires time.Time) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, context.Cause(ctx)
	}
	now := time.Now()
	if !now.Before(expires) {
		return false, nil
	}
	if err := s.sweep(now); err != nil {
		return false, err
	}
	sum := sha256.Sum256([]byte(nonce))
	name := filepath.Join(s.spent, hex.EncodeToString(sum[:]))
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	// Until then it is as one that expires now, which is kept for spentGrace.
	if err := errors.Join(f.Close(), os.Chtimes(name, expires, expires), syncDir(s.spent)); err != nil {
		return false, err
	}
	return true, nil
}

var spentName = regexp.MustCompile(`^[0-9a-f]{64}$`)

// sweep removes what has expired, every spentSweep.
func (s *sharedDir) sweep(now time.Time) error {
	s.mu.Lock()
	due := now.After(s.look)
	if due {
		s.look = now.Add(spentSweep)
	}
	s.mu.Unlock()
	if !due {
		return nil
	}
	entries, err := os.ReadDir(s.spent)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // another replica is at it
		}
		if err == nil && (!spentName.MatchString(e.Name()) || now.Sub(info.ModTime()) < spentGrace) {
			continue
		}
		if err == nil {
			err = os.Remove(filepath.Join(s.spent, e.Name()))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (s *sharedDir) Close() error { return nil }
