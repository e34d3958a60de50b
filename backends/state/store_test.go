package state

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/internal/testpg"
)

func create(t testing.TB, b *Backend, spec backends.Spec) *Workspace {
	t.Helper()
	ws, err := b.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ws.Close(); err != nil {
			t.Error(err)
		}
	})
	return ws.(*Workspace)
}

func write(t testing.TB, ws backends.Workspace, name, content string) {
	t.Helper()
	if _, err := ws.Write(t.Context(), backends.WriteRequest{Path: name, Content: strings.NewReader(content)}); err != nil {
		t.Fatal(err)
	}
}

// read returns the lines of a file, joined by "|".
func read(t testing.TB, ws backends.Workspace, name string) string {
	t.Helper()
	res, err := ws.Read(t.Context(), backends.ReadRequest{Path: name})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, l := range res.Lines {
		lines = append(lines, l.Text)
	}
	return strings.Join(lines, "|")
}

func wantCode(t testing.TB, what string, err error, code backends.Code) {
	t.Helper()
	if backends.CodeOf(err) != code {
		t.Errorf("%s: got %v (%s), want %s", what, err, backends.CodeOf(err), code)
	}
}

func TestNameIsHeldByOneOwner(t *testing.T) {
	eachStore(t, func(t *testing.T, store string) {
		b := open(t, Config{Store: store})
		create(t, b, backends.Spec{Name: "shared", Owner: "alice"})
		create(t, b, backends.Spec{Name: "shared", Owner: "alice"})
		_, err := b.Create(t.Context(), backends.Spec{Name: "shared", Owner: "bob"})
		wantCode(t, "the name of someone else", err, backends.CodePermission)
		infos, err := b.List(t.Context())
		if err != nil || len(infos) != 1 {
			t.Fatalf("got %+v, %v", infos, err)
		}
		info := infos[0]
		if info.Ref.String() != "state:shared" || info.Name != "shared" || info.Owner != "alice" || info.Status != "ready" ||
			info.WorkingDir != DefaultWorkingDir || time.Since(info.Created) > time.Hour {
			t.Errorf("got %+v", info)
		}
		if len(b.docs) != 1 {
			t.Errorf("%d documents in use, want 1", len(b.docs))
		}
	})
}

func TestCreateByNameFromManySidesMakesOne(t *testing.T) {
	eachStore(t, func(t *testing.T, store string) {
		all := []*Backend{open(t, Config{Store: store})}
		if store != "memory" {
			all = append(all, open(t, Config{Store: store}), open(t, Config{Store: store}))
		}
		var wg sync.WaitGroup
		for i := range 12 {
			wg.Go(func() {
				ws, err := all[i%len(all)].Create(t.Context(), backends.Spec{Name: "one"})
				if err != nil {
					t.Error(err)
					return
				}
				_, err = ws.Write(t.Context(), backends.WriteRequest{Path: fmt.Sprint(i), Content: strings.NewReader("x")})
				if err := errors.Join(err, ws.Close()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		ws := create(t, all[0], backends.Spec{Name: "one"})
		list, err := ws.List(t.Context(), backends.ListRequest{Path: "."})
		if err != nil || list.Total != 12 {
			t.Errorf("%d files, %v", list.Total, err)
		}
	})
}

func TestWritesOfOthersAreSeenAtOnce(t *testing.T) {
	eachShared(t, func(t *testing.T, store string) {
		a := create(t, open(t, Config{Store: store}), backends.Spec{Name: "w"})
		b := create(t, open(t, Config{Store: store}), backends.Spec{Name: "w"})
		for i := range 50 {
			want := fmt.Sprint(10 + i) // all of one length
			write(t, a, "f", want)
			if got := read(t, b, "f"); got != want {
				t.Fatalf("got %s, want %s", got, want)
			}
			a, b = b, a
		}
	})
}

func TestWorkspaceDestroyedByOthersIsGoneForGood(t *testing.T) {
	eachShared(t, func(t *testing.T, store string) {
		mine, theirs := open(t, Config{Store: store}), open(t, Config{Store: store})
		ws := create(t, mine, backends.Spec{Name: "w"})
		write(t, ws, "f", "x")
		if err := theirs.Destroy(t.Context(), ws.Ref()); err != nil {
			t.Fatal(err)
		}
		fresh := create(t, theirs, backends.Spec{Name: "w"})
		_, err := ws.Stat(t.Context(), ".")
		wantCode(t, "reading after another took the name", err, backends.CodeUnavailable)
		_, err = ws.Write(t.Context(), backends.WriteRequest{Path: "f"})
		wantCode(t, "writing after another took the name", err, backends.CodeUnavailable)
		again := create(t, mine, backends.Spec{Name: "w"})
		write(t, fresh, "g", "new")
		if got := read(t, again, "g"); got != "new" {
			t.Errorf("got %q", got)
		}
	})
}

func TestWriteBeforeReadNoticesAnotherOfTheName(t *testing.T) {
	eachShared(t, func(t *testing.T, store string) {
		mine, theirs := open(t, Config{Store: store}), open(t, Config{Store: store})
		ws := create(t, mine, backends.Spec{Name: "w"})
		if err := theirs.Destroy(t.Context(), ws.Ref()); err != nil {
			t.Fatal(err)
		}
		create(t, theirs, backends.Spec{Name: "w"})
		_, err := ws.Write(t.Context(), backends.WriteRequest{Path: "f", Content: strings.NewReader("lost")})
		wantCode(t, "writing", err, backends.CodeUnavailable)
	})
}

func TestRefsThatCannotBe(t *testing.T) {
	eachStore(t, func(t *testing.T, store string) {
		b := open(t, Config{Store: store})
		for _, id := range []string{"../w", "a/b", ".hidden", "", "a\x00", strings.Repeat("x", 64)} {
			ref := backends.Ref{Provider: Provider, ID: id}
			_, err := b.Attach(t.Context(), ref)
			wantCode(t, fmt.Sprintf("attach %q", id), err, backends.CodeInvalidArgument)
			wantCode(t, fmt.Sprintf("destroy %q", id), b.Destroy(t.Context(), ref), backends.CodeInvalidArgument)
			wantCode(t, fmt.Sprintf("update %q", id), b.Update(t.Context(), ref, func(*Document) error { return nil }), backends.CodeInvalidArgument)
		}
	})
}

func TestWorkingDirIsMadeAndResolved(t *testing.T) {
	eachStore(t, func(t *testing.T, store string) {
		b := open(t, Config{Store: store})
		ref := create(t, b, backends.Spec{Name: "w"}).Ref()
		if err := b.Update(t.Context(), ref, func(d *Document) error {
			d.Files["/link"] = File{Link: "/real"}
			d.Files["/file"] = File{Content: []byte("x"), Mode: 0o644}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for configured, want := range map[string]string{"": "/workspace", "/": "/", "/made/here/": "/made/here", "/link/sub": "/real/sub"} {
			c := &Backend{store: b.store, workingDir: configured, maxBytes: DefaultMaxBytes, docs: map[string]*document{}}
			if configured != "" && configured != "/" {
				c.workingDir = strings.TrimSuffix(configured, "/")
			}
			ws := create(t, c, backends.Spec{Name: "w"})
			if ws.WorkingDir() != want {
				t.Errorf("%q: working directory %s, want %s", configured, ws.WorkingDir(), want)
			}
			if info, err := ws.Stat(t.Context(), "."); err != nil || info.Kind != backends.KindDirectory {
				t.Errorf("%q: %+v, %v", configured, info, err)
			}
		}
		c := &Backend{store: b.store, workingDir: "/file", maxBytes: DefaultMaxBytes, docs: map[string]*document{}}
		_, err := c.Attach(t.Context(), ref)
		wantCode(t, "a file as working directory", err, backends.CodeNotDirectory)
		if len(c.docs) != 0 {
			t.Error("a document is still in use after a failed attach")
		}
	})
}

func TestUpdateRefusesWhatIsNoTree(t *testing.T) {
	eachStore(t, func(t *testing.T, store string) {
		b := open(t, Config{Store: store, MaxBytes: 10})
		ws := create(t, b, backends.Spec{})
		wantCode(t, "a relative path", b.Update(t.Context(), ws.Ref(), func(d *Document) error {
			d.Files["x"] = File{}
			return nil
		}), backends.CodeInvalidArgument)
		wantCode(t, "too much", b.Update(t.Context(), ws.Ref(), func(d *Document) error {
			d.Files["/x"] = File{Content: make([]byte, 11)}
			return nil
		}), backends.CodeTooLarge)
		_, err := ws.Write(t.Context(), backends.WriteRequest{Path: "f", Content: strings.NewReader("eleven byte")})
		wantCode(t, "too much in a write", err, backends.CodeTooLarge)
		write(t, ws, "f", "ten  bytes")
		_, err = ws.Write(t.Context(), backends.WriteRequest{Path: "g", Content: strings.NewReader("x")})
		wantCode(t, "too much in all", err, backends.CodeTooLarge)
		doc, err := b.Document(t.Context(), ws.Ref())
		if err != nil || len(doc.Files) != 1 {
			t.Errorf("got %+v, %v", doc, err)
		}
		_, err = b.Document(t.Context(), backends.Ref{Provider: Provider, ID: "nobody"})
		wantCode(t, "the document of nobody", err, backends.CodeUnavailable)
	})
}

func TestClosedConnectionsSaySo(t *testing.T) {
	eachStore(t, func(t *testing.T, store string) {
		b := open(t, Config{Store: store})
		one, two := create(t, b, backends.Spec{Name: "w"}), create(t, b, backends.Spec{Name: "w"})
		if err := errors.Join(one.Close(), one.Close()); err != nil {
			t.Error(err)
		}
		_, err := one.Stat(t.Context(), ".")
		wantCode(t, "a closed workspace", err, backends.CodeUnavailable)
		write(t, two, "f", "x")
		if err := errors.Join(b.Close(), b.Close()); err != nil {
			t.Error(err)
		}
		_, err = two.Stat(t.Context(), ".")
		wantCode(t, "the workspace of a closed backend", err, backends.CodeUnavailable)
		_, err = b.Create(t.Context(), backends.Spec{Name: "w"})
		wantCode(t, "creating in a closed backend", err, backends.CodeUnavailable)
	})
}

func TestStoresThatCannotBe(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("this is no database, but long enough to look at"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ store, says string }{
		{"redis://:secret@host", "use memory, file:DIR, sqlite:FILE or postgres://"},
		{"file:", "path is missing"},
		{"sqlite:", "path is missing"},
		{"file:" + file, "name a directory"},
		{"file:" + file + "/below", "name a directory"},
		{"sqlite:" + file, "not a database"},
		{"sqlite:" + dir, "is a directory"},
		{"sqlite:" + file + "/below.db", "not a directory"},
		{"postgres://user:secret@host:port/db", "does not parse"},
		{"postgres://user:secret@host%zz/db", "does not parse"},
		{"postgres://user:se/cret@host/db", "does not parse"},
		{"postgres://user:secret@127.0.0.1:1/db?connect_timeout=5", "127.0.0.1:1/db"},
		{"postgres://user@" + "127.0.0.1:1/db?password=secret", "127.0.0.1:1/db"},
	} {
		b, err := New(t.Context(), Config{Store: c.store})
		if err == nil {
			t.Errorf("%s was accepted", c.store)
			if err := b.Close(); err != nil {
				t.Error(err)
			}
			continue
		}
		if !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %q does not say %q", c.store, err, c.says)
		}
		if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "cret@") {
			t.Errorf("%q shows the password", err)
		}
	}
	if _, err := New(t.Context(), Config{WorkingDir: "relative"}); err == nil {
		t.Error("a relative working directory was accepted")
	}
	if _, err := New(t.Context(), Config{MaxBytes: -1}); err == nil {
		t.Error("a negative limit was accepted")
	}
}

// fileAt returns a backend over a new directory, its workspace "w", and the
// file of its document.
func fileAt(t *testing.T) (*Backend, *Workspace, string) {
	dir := t.TempDir()
	b := open(t, Config{Store: "file:" + dir})
	return b, create(t, b, backends.Spec{Name: "w"}), filepath.Join(dir, "w.json")
}

func TestFileEditedByHandIsSeen(t *testing.T) {
	_, ws, file := fileAt(t)
	write(t, ws, "f", "before")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// In place and of the same length, as an editor may.
	if err := os.WriteFile(file, []byte(strings.Replace(string(data), "before", "by.you", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := read(t, ws, "f"); got != "by.you" {
		t.Errorf("got %q", got)
	}
	write(t, ws, "g", "more")
	if got := read(t, ws, "f"); got != "by.you" {
		t.Errorf("after another write: got %q", got)
	}
}

func TestDamagedFileIsNamedAndLeftAlone(t *testing.T) {
	b, ws, file := fileAt(t)
	damaged := []byte("{\n  \"version\": 1,\n  oops")
	if err := os.WriteFile(file, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := ws.Stat(t.Context(), ".")
	wantCode(t, "reading", err, backends.CodeUnavailable)
	if !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("%q does not name the file and the line", err)
	}
	_, err = ws.Write(t.Context(), backends.WriteRequest{Path: "f", Content: strings.NewReader("x")})
	wantCode(t, "writing", err, backends.CodeUnavailable)
	_, err = b.Create(t.Context(), backends.Spec{Name: "w"})
	wantCode(t, "creating", err, backends.CodeUnavailable)
	if got, err := os.ReadFile(file); err != nil || string(got) != string(damaged) {
		t.Errorf("the file has become %q, %v", got, err)
	}
	infos, err := b.List(t.Context())
	if err != nil || len(infos) != 1 || infos[0].Status != "damaged" {
		t.Errorf("got %+v, %v", infos, err)
	}
}

func TestFileStoreListsDocumentsOnly(t *testing.T) {
	b, ws, file := fileAt(t)
	dir := filepath.Dir(file)
	for _, name := range []string{"README.md", ".hidden.json", "not a name.json"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "dir.json"), 0o700), os.Symlink(file, filepath.Join(dir, "link.json"))); err != nil {
		t.Fatal(err)
	}
	infos, err := b.List(t.Context())
	if err != nil || len(infos) != 1 || infos[0].Ref != ws.Ref() {
		t.Errorf("got %+v, %v", infos, err)
	}
	_, err = b.Attach(t.Context(), backends.Ref{Provider: Provider, ID: "link"})
	wantCode(t, "a link", err, backends.CodeUnavailable)
}

func TestFileStoreIsPrivateAndLeavesNothing(t *testing.T) {
	b, ws, file := fileAt(t)
	write(t, ws, "f", "x")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	// What a writer that was killed has left, of a document that is there and
	// of one that is not.
	dir := filepath.Dir(file)
	for _, name := range []string{".w.tmp", ".x.tmp", ".x.lock"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	open(t, Config{Store: "file:" + dir})
	if got := names(t, dir); !slices.Equal(got, []string{".w.lock", "w.json"}) {
		t.Errorf("after a start: %q", got)
	}
	if err := os.WriteFile(filepath.Join(dir, ".w.tmp"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, ws, "f", "y")
	if err := b.Destroy(t.Context(), ws.Ref()); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("after destroy: %q", got)
	}
	_, err := ws.Write(t.Context(), backends.WriteRequest{Path: "f"})
	wantCode(t, "writing after destroy", err, backends.CodeUnavailable)
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("after a write that failed: %q", got)
	}
}

func names(t *testing.T, dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestWaitingForAFileLockEndsWithTheContext(t *testing.T) {
	b, ws, _ := fileAt(t)
	s := b.store.(*fileStore)
	unlock, err := s.lock(t.Context(), "w")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = ws.Write(ctx, backends.WriteRequest{Path: "f", Content: strings.NewReader("x")})
	wantCode(t, "a write that waits", err, backends.CodeCancelled)
	if len(s.waiting) != 1 {
		t.Errorf("%d wait in the kernel, want 1", len(s.waiting))
	}
	if _, err := ws.Stat(t.Context(), "."); err != nil {
		t.Errorf("a reader was held up: %v", err)
	}
	unlock()
	write(t, ws, "f", "y")
	for len(s.waiting) > 0 { // the one that came too late lets go by itself
		runtime.Gosched()
	}
}

func TestSQLiteWriterWaitsAsLongAsTheContext(t *testing.T) {
	file := filepath.Join(t.TempDir(), "w.db")
	mine, theirs := open(t, Config{Store: "sqlite:" + file}), open(t, Config{Store: "sqlite:" + file})
	ws := create(t, mine, backends.Spec{Name: "w"})
	tx, err := theirs.store.(*sqliteStore).db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = ws.Write(ctx, backends.WriteRequest{Path: "f", Content: strings.NewReader("x")})
	wantCode(t, "a write that waits", err, backends.CodeCancelled)
	if _, err := ws.Stat(t.Context(), "."); err != nil {
		t.Errorf("a reader was held up: %v", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	write(t, ws, "f", "y")
	for _, name := range []string{file, file + "-wal"} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

func TestSQLiteOfOthersIsRefusedAndLeftAlone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "w.db")
	s := open(t, Config{Store: "sqlite:" + file}).store.(*sqliteStore)
	for set, says := range map[string]string{
		"PRAGMA user_version = 2":                          "version 2",
		"PRAGMA application_id = 7":                        "another program",
		"PRAGMA application_id = 0":                        "another program",
		"PRAGMA application_id = 0; PRAGMA user_version=0": "another program",
	} {
		if _, err := s.db.ExecContext(t.Context(), set); err != nil {
			t.Fatal(err)
		}
		_, err := New(t.Context(), Config{Store: "sqlite:" + file})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: got %v, want an error that says %q", set, err, says)
		}
		if _, err := s.db.ExecContext(t.Context(), fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", sqliteApplication, sqliteSchema)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDatabaseOpenedByManyAtOnce(t *testing.T) {
	eachShared(t, func(t *testing.T, store string) {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				b, err := New(t.Context(), Config{Store: store})
				if err != nil {
					t.Error(err)
					return
				}
				if err := b.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	})
}

func TestDamagedRowIsNamed(t *testing.T) {
	b := open(t, Config{Store: "sqlite:" + filepath.Join(t.TempDir(), "w.db")})
	ws := create(t, b, backends.Spec{Name: "w"})
	if _, err := b.store.(*sqliteStore).db.ExecContext(t.Context(), `UPDATE documents SET document = '{', revision = revision + 1`); err != nil {
		t.Fatal(err)
	}
	_, err := ws.Stat(t.Context(), ".")
	wantCode(t, "reading", err, backends.CodeUnavailable)
	if !strings.Contains(err.Error(), `"w"`) {
		t.Errorf("%q does not name the row", err)
	}
	infos, err := b.List(t.Context())
	if err != nil || len(infos) != 1 || infos[0].Status != "damaged" {
		t.Errorf("got %+v, %v", infos, err)
	}
}

func TestPostgresRecoversFromLostConnections(t *testing.T) {
	dsn := testpg.Start(t)
	b := open(t, Config{Store: dsn})
	ws := create(t, b, backends.Spec{Name: "w"})
	write(t, ws, "f", "x")
	admin, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.WithoutCancel(t.Context()))
	cut := func() {
		t.Helper()
		tag, err := admin.Exec(t.Context(), "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'mcp-workspace'")
		if err != nil || tag.RowsAffected() == 0 {
			t.Fatalf("%v, %v", tag, err)
		}
	}
	cut()
	// The connection that was lost is noticed by the call that meets it, or
	// before when it has been idle.
	_, err = ws.Stat(t.Context(), ".")
	if err != nil {
		wantCode(t, "the call that meets the lost connection", err, backends.CodeInternal)
	}
	if got := read(t, ws, "f"); got != "x" {
		t.Errorf("got %q", got)
	}
	askBeforeUse(t, b)
	if got := read(t, ws, "f"); got != "x" {
		t.Errorf("got %q", got)
	}
	cut()
	write(t, ws, "f", "after a pause nothing is noticed")
}

// askBeforeUse has connections asked whether they work as they are after a
// pause, whenever they are used.
func askBeforeUse(t *testing.T, b *Backend) {
	t.Helper()
	s := b.store.(*postgresStore)
	cfg := s.pool.Config()
	cfg.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return true }
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	s.pool.Close()
	s.pool = pool
}

func TestPostgresCallInFlightSaysThatTheConnectionWasLost(t *testing.T) {
	dsn := testpg.Start(t)
	b := open(t, Config{Store: dsn})
	ws := create(t, b, backends.Spec{Name: "w"})
	admin, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.WithoutCancel(t.Context()))
	calls := 0
	err = b.Update(t.Context(), ws.Ref(), func(*Document) error {
		calls++
		_, err := admin.Exec(t.Context(), "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'mcp-workspace'")
		return err
	})
	wantCode(t, "the call in flight", err, backends.CodeInternal)
	if err == nil || !strings.Contains(err.Error(), "connection to PostgreSQL was lost") || calls != 1 {
		t.Errorf("got %v after %d calls, want one that says the connection was lost", err, calls)
	}
	write(t, ws, "f", "the next call connects again")
}

func TestPostgresPoolIsSmallAndWaitsNoLongerThanTheContext(t *testing.T) {
	b := open(t, Config{Store: testpg.Start(t) + "&pool_max_conns=100"})
	s := b.store.(*postgresStore)
	stat := s.pool.Stat()
	if stat.MaxConns() != maxPgConns || stat.TotalConns() != 1 {
		t.Errorf("%d of %d connections, want 1 of %d", stat.TotalConns(), stat.MaxConns(), maxPgConns)
	}
	ws := create(t, b, backends.Spec{Name: "w"})
	for range maxPgConns {
		c, err := s.pool.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Release()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := ws.Stat(ctx, ".")
	wantCode(t, "a call that finds all connections in use", err, backends.CodeCancelled)
}

func TestPostgresKeepsThePasswordToItself(t *testing.T) {
	dsn := testpg.Start(t)
	for _, wrong := range []string{
		strings.Replace(dsn, "tester:", "nobody:", 1),
		strings.Replace(dsn, "/postgres?", "/missing?", 1),
	} {
		_, err := New(t.Context(), Config{Store: wrong})
		if err == nil {
			t.Error("accepted")
		} else if strings.Contains(err.Error(), testpg.Password) || strings.Contains(err.Error(), "rd%25") {
			t.Errorf("%q shows the password", err)
		}
	}
}

func TestPostgresTableOfOthersIsRefused(t *testing.T) {
	dsn := testpg.Start(t)
	admin, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.WithoutCancel(t.Context()))
	if _, err := admin.Exec(t.Context(), "CREATE TABLE mcp_workspace_documents (id text)"); err != nil {
		t.Fatal(err)
	}
	if _, err = New(t.Context(), Config{Store: dsn}); err == nil || !strings.Contains(err.Error(), "another program made it") {
		t.Errorf("got %v", err)
	}
}

func TestPostgresTableThatAppearsIsNotHalfThere(t *testing.T) {
	dsn := testpg.Start(t)
	admin, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.WithoutCancel(t.Context()))
	// A process looks with the eyes of before, while another makes the table.
	early, err := admin.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := early.Exec(t.Context(), "SELECT 1"); err != nil {
		t.Fatal(err)
	}
	open(t, Config{Store: dsn})
	if there, err := checkPostgresTable(t.Context(), early); there || err != nil {
		t.Errorf("in the transaction that began before: %v, %v; want no table", there, err)
	}
	if err := early.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if there, err := checkPostgresTable(t.Context(), admin); !there || err != nil {
		t.Errorf("after: %v, %v", there, err)
	}
}

func TestPostgresHoldsTheDocumentAsJSON(t *testing.T) {
	dsn := testpg.Start(t)
	ws := create(t, open(t, Config{Store: dsn}), backends.Spec{Name: "w"})
	write(t, ws, "f", "found by SQL")
	write(t, ws, "nul", "a\x00b")
	admin, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.WithoutCancel(t.Context()))
	var text string
	err = admin.QueryRow(t.Context(), `SELECT document::jsonb -> 'files' -> '/workspace/f' ->> 'text' FROM mcp_workspace_documents WHERE id = 'w'`).Scan(&text)
	if err != nil || text != "found by SQL" {
		t.Errorf("got %q, %v", text, err)
	}
}

func TestFileOf64MBGoesThroughEveryStore(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 64 MB to every store")
	}
	content := make([]byte, 64<<20)
	for i := range content {
		content[i] = byte(i>>16 ^ i*7)
	}
	eachShared(t, func(t *testing.T, store string) {
		ws := create(t, open(t, Config{Store: store}), backends.Spec{Name: "w"})
		if _, err := ws.Write(t.Context(), backends.WriteRequest{Path: "big", Content: bytes.NewReader(content)}); err != nil {
			t.Fatal(err)
		}
		other := create(t, open(t, Config{Store: store}), backends.Spec{Name: "w"})
		f, info, err := other.Open(t.Context(), "big")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		got, err := io.ReadAll(f)
		if err != nil || info.Size != int64(len(content)) || !bytes.Equal(got, content) {
			t.Errorf("%d bytes have come back as %d others, %v", len(content), len(got), err)
		}
	})
}
