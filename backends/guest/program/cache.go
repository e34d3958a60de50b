package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// cacheKeeps is how many executables are kept. Each source that the agent was
// ever built from leaves one, of about two megabytes.
const cacheKeeps = 16

// unfinishedSuffix ends the names of files that are still being written.
const unfinishedSuffix = ".new"

var errNoCache = errors.New("there is no cache directory: no home directory is known")

// cache is a directory of compressed executables; dir "" keeps nothing. Their
// names say all that determines their content.
type cache struct{ dir string }

// cacheDir is where this program keeps them for its user, "" for nowhere.
func cacheDir(home string) string {
	dir, err := os.UserCacheDir()
	if err != nil || !filepath.IsAbs(dir) {
		// As os.UserCacheDir, for a home directory that the environment does not name.
		switch {
		case home == "":
			return ""
		case runtime.GOOS == "darwin":
			dir = filepath.Join(home, "Library", "Caches")
		case runtime.GOOS == "windows":
			dir = filepath.Join(home, "AppData", "Local")
		default:
			dir = filepath.Join(home, ".cache")
		}
	}
	return filepath.Join(dir, "mcp-workspace", "guest")
}

func (c cache) path(name string) string { return filepath.Join(c.dir, name+".gz") }

// read fails when there is none of that name, or when it is broken.
func (c cache) read(name string) ([]byte, error) {
	if c.dir == "" {
		return nil, errNoCache
	}
	f, err := os.Open(c.path(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return unpack(f)
}

// write keeps an executable and removes the oldest of too many. The caller holds
// the lock where there is one.
func (c cache) write(name string, data []byte) error {
	if c.dir == "" {
		return errNoCache
	}
	packed, err := pack(data)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	if err := replaceFile(c.path(name), packed); err != nil {
		return err
	}
	if err := c.prune(name); err != nil {
		return fmt.Errorf("it was kept, but old ones could not be removed: %w", err)
	}
	return nil
}

// prune removes the oldest beyond cacheKeeps, but not the one named, and what
// processes left that were killed while they wrote.
func (c cache) prune(name string) error {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return err
	}
	var kept []os.FileInfo
	for _, e := range entries {
		unfinished := strings.HasSuffix(e.Name(), unfinishedSuffix)
		if !unfinished && !strings.HasSuffix(e.Name(), ".gz") || e.Name() == name+".gz" {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if !unfinished {
			kept = append(kept, info)
		} else if time.Since(info.ModTime()) > time.Hour {
			if err := remove(filepath.Join(c.dir, e.Name())); err != nil {
				return err
			}
		}
	}
	slices.SortFunc(kept, func(a, b os.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for len(kept) >= cacheKeeps {
		last := kept[len(kept)-1]
		if err := remove(filepath.Join(c.dir, last.Name())); err != nil {
			return err
		}
		kept = kept[:len(kept)-1]
	}
	return nil
}

// remove removes a file that another process may have removed just now.
func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// lock waits until no other process builds into the cache. waiting is called
// when it has to.
func (c cache) lock(ctx context.Context, waiting func()) (unlock func(), err error) {
	if c.dir == "" {
		return nil, errNoCache
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(c.dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	held, err := lockFile(f, false)
	if err == nil && !held {
		waiting()
		err = waitForLock(ctx, f)
	} else if err != nil {
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return nil, err
	}
	return func() {
		// Both free the lock, and there is nothing to do about a failure.
		_ = unlockFile(f)
		_ = f.Close()
	}, nil
}

// waitForLock locks f, or closes it and fails. It waits in a goroutine, because
// the kernel's wait cannot be given up: when ctx ends, f is closed once its turn
// has come.
func waitForLock(ctx context.Context, f *os.File) error {
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, err = lockFile(f, true)
	}()
	select {
	case <-done:
		if err != nil {
			return errors.Join(err, f.Close())
		}
		return nil
	case <-ctx.Done():
		go func() {
			<-done
			_ = f.Close() // frees the lock
		}()
		return context.Cause(ctx)
	}
}

// writable says whether files can be made in a directory, which is made when
// missing.
func writable(dir string) bool {
	if !filepath.IsAbs(dir) || os.MkdirAll(dir, 0o700) != nil {
		return false
	}
	f, err := os.CreateTemp(dir, ".mcp-workspace-*")
	if err != nil {
		return false
	}
	return errors.Join(f.Close(), os.Remove(f.Name())) == nil
}

// replaceFile writes a file that readers see whole or not at all.
func replaceFile(path string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"+unfinishedSuffix)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if _, err := f.Write(data); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
