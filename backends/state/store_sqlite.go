package state

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// What marks a SQLite database as one of ours, and how its tables look.
const (
	sqliteApplication = 0x6d637077 // "mcpw"
	sqliteSchema      = 1

	sqlitePatience = 30 * time.Second // for others who write
	sqlitePause    = 5 * time.Millisecond
)

// maxStored is the largest document in its JSON form that a database takes:
// both SQLite and PostgreSQL end shortly above it.
const maxStored = 900 << 20

// sqliteStore keeps documents as rows of a SQLite database. The write-ahead
// log with synchronous=FULL makes a commit durable before it is acknowledged,
// and lets readers and a writer go on side by side.
type sqliteStore struct {
	db   *sql.DB
	file string
	info fs.FileInfo // of file, when it was opened
	// writing keeps the writers of this process in a queue; those of other
	// processes are waited for by SQLite, which has to poll.
	writing mutex
}

func openSQLiteStore(ctx context.Context, file string) (_ *sqliteStore, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("the store sqlite:%s cannot be used: %w", file, err)
		}
	}()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, err
	}
	// SQLite would make the file readable for others; the log beside it gets
	// the mode of the file.
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	dsn := url.URL{Scheme: "file", Path: filepath.ToSlash(file), RawQuery: url.Values{
		"_txlock": {"immediate"},
		"_pragma": {fmt.Sprintf("busy_timeout(%d)", sqlitePatience.Milliseconds()), "synchronous(FULL)", "fullfsync(1)"},
	}.Encode()}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(8)
	db.SetMaxIdleConns(8)
	s := &sqliteStore{db: db, file: file, info: info, writing: newMutex()}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// prepare makes the table in a new database, and refuses one that is not ours.
func (s *sqliteStore) prepare(ctx context.Context) error {
	err := s.transaction(ctx, func(tx *sql.Tx) error {
		var application, schema, tables int
		if err := tx.QueryRowContext(ctx, "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)").
			Scan(&application, &schema, &tables); err != nil {
			return err
		}
		switch {
		case application == 0 && schema == 0 && tables == 0:
			_, err := tx.ExecContext(ctx, fmt.Sprintf(`
				CREATE TABLE documents (id TEXT PRIMARY KEY, revision INTEGER NOT NULL, document TEXT NOT NULL) STRICT;
				PRAGMA application_id = %d;
				PRAGMA user_version = %d;`, sqliteApplication, sqliteSchema))
			return err
		case application != sqliteApplication:
			return errors.New("it is the database of another program; name a file of its own")
		case schema != sqliteSchema:
			return fmt.Errorf("its tables are of version %d, and this program knows only version %d; use the program that made it, or a newer one", schema, sqliteSchema)
		default:
			return nil
		}
	})
	if err != nil {
		return err
	}
	mode, err := s.useLog(ctx)
	if err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("its file system does not allow a write-ahead log (the journal mode stays %q); put it on a local disk", mode)
	}
	return nil
}

// useLog switches to the write-ahead log. SQLite does not wait for others who
// open or close the database in the same moment, as it does elsewhere.
func (s *sqliteStore) useLog(ctx context.Context) (mode string, err error) {
	deadline := time.Now().Add(sqlitePatience)
	for {
		err = s.db.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode)
		var busy *sqlite.Error
		if !errors.As(err, &busy) || busy.Code()&0xff != sqlite3.SQLITE_BUSY || time.Now().After(deadline) {
			return mode, err
		}
		select {
		case <-time.After(sqlitePause):
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// transaction runs do in a transaction that has the database for itself from
// its start.
func (s *sqliteStore) transaction(ctx context.Context, do func(*sql.Tx) error) error {
	if err := s.writing.lock(ctx); err != nil {
		return err
	}
	defer s.writing.unlock()
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	err = do(tx)
	if err == nil {
		err = s.inPlace()
	}
	if err != nil {
		if back := tx.Rollback(); back != nil && !errors.Is(back, sql.ErrTxDone) {
			err = errors.Join(err, back)
		}
		return err
	}
	return tx.Commit()
}

// inPlace fails when the database is not the one that was opened: SQLite would
// go on with a file that nobody can find any more.
func (s *sqliteStore) inPlace() error {
	if info, err := os.Stat(s.file); err != nil || !os.SameFile(info, s.info) {
		return backends.Errorf(backends.CodeUnavailable, "open", "",
			"the database %s has been removed since the server was started, or another is in its place, so nothing was read or changed; put it back, or restart the server", s.file)
	}
	return nil
}

// firstRevision is where the revisions of a new document start: anywhere, so
// that no revision of a destroyed document is met again under its name.
func firstRevision() int64 { return 1 + rand.Int64N(1<<62) }

// marshalStored returns the JSON form of t, when a database can take it.
func marshalStored(t *tree) ([]byte, error) {
	data := t.marshal()
	if len(data) > maxStored {
		return nil, tooLargeError("", maxStored)
	}
	return data, nil
}

// parseStored reads a document out of a database.
func parseStored(id string, data []byte, revision int64) (*version, error) {
	t, err := parseTree(data)
	if err != nil {
		return nil, damaged("the document in the row of id %q cannot be read: %w; mend it, or delete the row to give the workspace up", id, err)
	}
	return &version{tree: t, stamp: stamp{revision: revision}}, nil
}

func (s *sqliteStore) create(ctx context.Context, id string, t *tree) (created bool, err error) {
	data, err := marshalStored(t)
	if err != nil {
		return false, err
	}
	err = s.transaction(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, "INSERT INTO documents (id, revision, document) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", id, firstRevision(), string(data))
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		created = n == 1
		return err
	})
	return created && err == nil, err
}

func (s *sqliteStore) stamp(ctx context.Context, id string) (stamp, error) {
	var st stamp
	if err := s.inPlace(); err != nil {
		return st, err
	}
	err := s.db.QueryRowContext(ctx, "SELECT revision FROM documents WHERE id = ?", id).Scan(&st.revision)
	if errors.Is(err, sql.ErrNoRows) {
		err = errGone
	}
	return st, err
}

// querier is a database or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func (s *sqliteStore) load(ctx context.Context, id string) (*version, error) {
	return loadSQLite(ctx, s.db, id)
}

func loadSQLite(ctx context.Context, q querier, id string) (*version, error) {
	var revision int64
	var data []byte
	err := q.QueryRowContext(ctx, "SELECT revision, document FROM documents WHERE id = ?", id).Scan(&revision, &data)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, errGone
	case err != nil:
		return nil, err
	}
	return parseStored(id, data, revision)
}

func (s *sqliteStore) update(ctx context.Context, id string, have *version, change func(*tree) (*tree, error)) (*version, error) {
	err := s.transaction(ctx, func(tx *sql.Tx) error {
		var revision int64
		err := tx.QueryRowContext(ctx, "SELECT revision FROM documents WHERE id = ?", id).Scan(&revision)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return errGone
		case err != nil:
			return err
		}
		if have == nil || have.stamp.revision != revision {
			if have, err = loadSQLite(ctx, tx, id); err != nil {
				return err
			}
		}
		t, err := change(have.tree)
		if err != nil || t == have.tree {
			return err
		}
		data, err := marshalStored(t)
		if err != nil {
			return err
		}
		have = &version{tree: t, stamp: stamp{revision: revision + 1}}
		_, err = tx.ExecContext(ctx, "UPDATE documents SET revision = ?, document = ? WHERE id = ?", have.stamp.revision, string(data), id)
		return err
	})
	if err != nil {
		return nil, err
	}
	return have, nil
}

func (s *sqliteStore) destroy(ctx context.Context, id string) error {
	return s.transaction(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM documents WHERE id = ?", id)
		return err
	})
}

func (s *sqliteStore) describe(ctx context.Context, id string) (listed, error) {
	if err := s.inPlace(); err != nil {
		return listed{}, err
	}
	var start []byte
	err := s.db.QueryRowContext(ctx, "SELECT substr(document, 1, ?) FROM documents WHERE id = ?", headerBytes, id).Scan(&start)
	if errors.Is(err, sql.ErrNoRows) {
		return listed{}, errGone
	}
	if err != nil {
		return listed{}, err
	}
	l, _ := list(ctx, s, id, start)
	return l, undamaged(l)
}

func (s *sqliteStore) list(ctx context.Context) (_ []listed, err error) {
	if err := s.inPlace(); err != nil {
		return nil, err
	}
	rows, err := s.db.QueryContext(ctx, "SELECT id, substr(document, 1, ?) FROM documents ORDER BY id", headerBytes)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var out []listed
	for rows.Next() {
		var id string
		var start []byte
		if err := rows.Scan(&id, &start); err != nil {
			return nil, err
		}
		if l, ok := list(ctx, s, id, start); ok {
			out = append(out, l)
		}
	}
	return out, rows.Err()
}

// list describes a document of which the start is at hand; false when it has
// been destroyed meanwhile.
func list(ctx context.Context, s store, id string, start []byte) (listed, bool) {
	l := listed{id: id}
	var err error
	if l.header, err = parseHeader(start); err == nil {
		return l, true
	}
	v, err := s.load(ctx, id)
	if err != nil {
		l.damage = err
		return l, !errors.Is(err, errGone)
	}
	l.header = v.tree.header()
	return l, true
}

func (s *sqliteStore) close() error {
	err := s.db.Close()
	if errors.Is(err, fs.ErrClosed) {
		return nil
	}
	return err
}
