package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

func TestFailuresHaveCodes(t *testing.T) {
	const name = "/srv/kept/.w.tmp"
	for _, c := range []struct {
		err  error
		want backends.Code
	}{
		{&fs.PathError{Op: "write", Path: name, Err: syscall.ENOSPC}, backends.CodeTooLarge},
		{&fs.PathError{Op: "write", Path: name, Err: syscall.EDQUOT}, backends.CodeTooLarge},
		{&fs.PathError{Op: "open", Path: name, Err: syscall.EROFS}, backends.CodeReadOnly},
		{&fs.PathError{Op: "open", Path: name, Err: syscall.EACCES}, backends.CodePermission},
		{&fs.PathError{Op: "open", Path: name, Err: syscall.ENOENT}, backends.CodeUnavailable},
		{&pgconn.PgError{Code: "53100"}, backends.CodeTooLarge},
		{&pgconn.PgError{Code: "25006"}, backends.CodeReadOnly},
		{errors.New("something else"), backends.CodeInternal},
	} {
		err := storeError("write", "w", fmt.Errorf("writing: %w", c.err))
		wantCode(t, c.err.Error(), err, c.want)
		if c.want != backends.CodeInternal && strings.Contains(err.Error(), name) {
			t.Errorf("%q tells where the store is", err)
		}
	}
}

func tryWrite(t *testing.T, ws backends.Workspace) error {
	t.Helper()
	_, err := ws.Write(t.Context(), backends.WriteRequest{Path: "f", Content: strings.NewReader("x")})
	return err
}

func TestSQLiteFailuresHaveCodes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "w.db")
	b := open(t, Config{Store: "sqlite:" + file})
	ws := create(t, b, backends.Spec{Name: "w"})
	db := b.store.(*sqliteStore).db
	db.SetMaxOpenConns(1) // so that what is set holds for all
	set := func(pragma string) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), "PRAGMA "+pragma); err != nil {
			t.Fatal(err)
		}
	}
	set("query_only = on")
	wantCode(t, "read-only", tryWrite(t, ws), backends.CodeReadOnly)
	set("query_only = off")

	set("max_page_count = 1") // no more than there are
	_, err := ws.Write(t.Context(), backends.WriteRequest{Path: "big", Content: strings.NewReader(strings.Repeat("x", 1<<20))})
	wantCode(t, "full", err, backends.CodeTooLarge)
	set("max_page_count = 1000000")

	set("busy_timeout = 1")
	theirs := open(t, Config{Store: "sqlite:" + file})
	tx, err := theirs.store.(*sqliteStore).db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	wantCode(t, "busy", tryWrite(t, ws), backends.CodeUnavailable)
	if err := errors.Join(tx.Rollback(), tryWrite(t, ws)); err != nil {
		t.Error(err)
	}
}

func TestSQLiteFileThatIsNotThereAnyMore(t *testing.T) {
	file := filepath.Join(t.TempDir(), "w.db")
	b := open(t, Config{Store: "sqlite:" + file})
	ws := create(t, b, backends.Spec{Name: "w"})
	check := func(what string) {
		t.Helper()
		wantCode(t, what+": a write", tryWrite(t, ws), backends.CodeUnavailable)
		_, err := ws.Stat(t.Context(), ".")
		wantCode(t, what+": a read", err, backends.CodeUnavailable)
		_, err = b.Create(t.Context(), backends.Spec{Name: "other"})
		wantCode(t, what+": a Create", err, backends.CodeUnavailable)
		_, err = b.List(t.Context())
		wantCode(t, what+": a List", err, backends.CodeUnavailable)
	}
	if err := os.Rename(file, file+".away"); err != nil {
		t.Fatal(err)
	}
	check("removed")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	check("replaced")
	if err := os.Rename(file+".away", file); err != nil {
		t.Fatal(err)
	}
	write(t, ws, "f", "put back")
}

func TestWhatIsNoDocumentIsUnavailable(t *testing.T) {
	b, _, file := fileAt(t)
	dir := filepath.Dir(file)
	for name, makeIt := range map[string]func(string) error{
		"directory": func(at string) error { return os.Mkdir(at, 0o700) },
		"link":      func(at string) error { return os.Symlink(file, at) },
		"dangling":  func(at string) error { return os.Symlink("nowhere", at) },
		"fifo":      makeFIFO,
		"huge": func(at string) error {
			return errors.Join(os.WriteFile(at, []byte("{"), 0o600), os.Truncate(at, 128<<30))
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := makeIt(filepath.Join(dir, name+".json")); err != nil {
				t.Skip(err)
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				_, err := b.Create(t.Context(), backends.Spec{Name: name})
				wantCode(t, "Create", err, backends.CodeUnavailable)
				_, err = b.Attach(t.Context(), backends.Ref{Provider: Provider, ID: name})
				wantCode(t, "Attach", err, backends.CodeUnavailable)
			}()
			select {
			case <-done:
			case <-time.After(20 * time.Second):
				t.Fatal("it waits")
			}
		})
	}
}

func TestLockThatNobodyFrees(t *testing.T) {
	b, ws, file := fileAt(t)
	s := b.store.(*fileStore)
	unlock, err := s.lock(t.Context(), "w")
	if err != nil {
		t.Fatal(err)
	}
	s.patience = 20 * time.Millisecond
	err = tryWrite(t, ws)
	wantCode(t, "a write", err, backends.CodeUnavailable)
	if !strings.Contains(err.Error(), filepath.Join(filepath.Dir(file), ".w.lock")) {
		t.Errorf("%q does not name the lock file", err)
	}
	// It can be opened and read all the same.
	again, err := b.Create(t.Context(), backends.Spec{Name: "w"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.List(t.Context(), backends.ListRequest{Path: "/"}); err != nil {
		t.Error(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
	unlock()
	for len(s.waiting) > 0 { // the one that came too late lets go by itself
		runtime.Gosched()
	}
}
