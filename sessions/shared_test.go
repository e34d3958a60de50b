package sessions

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/internal/testpg"
)

func TestSharedStores(t *testing.T) {
	for name, spec := range map[string]func(*testing.T) string{
		"memory":   func(*testing.T) string { return "memory" },
		"file":     func(t *testing.T) string { return "file:" + filepath.Join(t.TempDir(), "new", "dir") },
		"postgres": testpgURL,
	} {
		t.Run(name, func(t *testing.T) {
			where := spec(t)
			replicas := make([]Shared, 6)
			var wg sync.WaitGroup
			for i := range replicas {
				wg.Go(func() {
					s, err := OpenShared(t.Context(), where)
					if err != nil {
						t.Error(err)
						return
					}
					replicas[i] = s
				})
			}
			wg.Wait()
			if t.Failed() {
				t.FailNow()
			}
			defer func() {
				for _, s := range replicas {
					if err := s.Close(); err != nil {
						t.Error(err)
					}
				}
			}()
			if len(replicas[0].Key()) != 32 {
				t.Errorf("the key has %d bytes", len(replicas[0].Key()))
			}
			if name == "memory" {
				replicas = replicas[:1]
			}
			for _, s := range replicas {
				if !bytes.Equal(s.Key(), replicas[0].Key()) {
					t.Error("replicas have different keys")
				}
			}
			nonce, expires := "\x00\xff16 bytes and/more", time.Now().Add(time.Minute)
			var fresh atomic.Int64
			for i := range 24 {
				wg.Go(func() {
					is, err := replicas[i%len(replicas)].Use(t.Context(), nonce, expires)
					if err != nil {
						t.Error(err)
					}
					if is {
						fresh.Add(1)
					}
				})
			}
			wg.Wait()
			if fresh.Load() != 1 {
				t.Errorf("a nonce was fresh %d times, want once", fresh.Load())
			}
			if is, err := replicas[0].Use(t.Context(), "other", expires); !is || err != nil {
				t.Errorf("another nonce: %v, %v", is, err)
			}
			if is, err := replicas[0].Use(t.Context(), "late", time.Now().Add(-time.Second)); is || err != nil {
				t.Errorf("one that has expired: %v, %v", is, err)
			}
		})
	}
}

func testpgURL(t *testing.T) string { return testpg.Start(t) }

func TestASharedDirectory(t *testing.T) {
	dir := t.TempDir()
	open := func() *sharedDir {
		t.Helper()
		s, err := openSharedDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	key := filepath.Join(dir, "key")
	if info, err := os.Stat(key); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key is %v, %v; want mode 0600", info, err)
	}
	// What has expired long ago is removed, and nothing else.
	for _, nonce := range []string{"old", "new"} {
		if fresh, err := s.Use(t.Context(), nonce, time.Now().Add(time.Minute)); !fresh || err != nil {
			t.Fatal(fresh, err)
		}
	}
	entries, err := os.ReadDir(s.spent)
	if err != nil || len(entries) != 2 {
		t.Fatal(entries, err)
	}
	stale := filepath.Join(s.spent, entries[0].Name())
	past := time.Now().Add(-2 * spentGrace)
	if err := os.Chtimes(stale, past, past); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(s.spent, "somebody's")
	if err := os.WriteFile(foreign, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(foreign, past, past); err != nil {
		t.Fatal(err)
	}
	if _, err := open().Use(t.Context(), "another", time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(stale); !os.IsNotExist(err) {
		t.Errorf("what has expired is still there (%v)", err)
	}
	for _, name := range []string{foreign, filepath.Join(s.spent, entries[1].Name())} {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
	// A key that others can read, or that is none, is not used.
	if err := os.Chmod(key, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := openSharedDir(dir); err == nil || !strings.Contains(err.Error(), "forge") {
		t.Errorf("with a key for all to read: %v", err)
	}
	if err := os.Chmod(key, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(key, 5); err != nil {
		t.Fatal(err)
	}
	if _, err := openSharedDir(dir); err == nil || !strings.Contains(err.Error(), "not a key") {
		t.Errorf("with half a key: %v", err)
	}
}

func TestSharedStoresThatCannotBe(t *testing.T) {
	for spec, want := range map[string]string{
		"file:":                    "absolute",
		"file:relative":            "absolute",
		"file:/dev/null/x":         "not a directory",
		"redis://u:pw@host":        `"redis"`,
		"postgres://u:pw%zz@host/": "does not parse",
		"postgres://u:secretpw@/x?host=/nowhere&connect_timeout=1": "/nowhere",
	} {
		_, err := OpenShared(t.Context(), spec)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "pw") {
			t.Errorf("%s: %v, want %q and no password", spec, err, want)
		}
	}
}
