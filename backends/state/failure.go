package state

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// damage is why a document cannot be read, though it is there. Its text names
// the document and says what to do.
type damage struct{ error }

func (d damage) Unwrap() error { return d.error }

func damaged(format string, args ...any) error { return damage{fmt.Errorf(format, args...)} }

// explain tells what a store's failure means to whoever asked: internal, and
// what the store said, when it is none of those that are known.
func explain(err error) (backends.Code, string) {
	const unchanged = "; nothing was changed"
	switch failureOf(err) {
	case full:
		return backends.CodeTooLarge, "no space is left where workspaces are kept" + unchanged + "; make room there, or delete files here"
	case readOnly:
		return backends.CodeReadOnly, "the place where workspaces are kept is read-only" + unchanged
	case forbidden:
		return backends.CodePermission, "this user may not read or write where workspaces are kept" + unchanged
	case busy:
		return backends.CodeUnavailable, "another program keeps the place where workspaces are kept locked" + unchanged + "; end that program, or try again"
	case missing:
		return backends.CodeUnavailable, "the place where workspaces are kept has been removed, or cannot be read" + unchanged
	}
	if d := (damage{}); errors.As(err, &d) {
		return backends.CodeUnavailable, err.Error()
	}
	return backends.CodeInternal, err.Error()
}

// failure is a kind of failure that every store has in words of its own.
type failure int

const (
	other failure = iota
	full
	readOnly
	forbidden
	busy
	missing
)

func failureOf(err error) failure {
	var lite *sqlite.Error
	if errors.As(err, &lite) {
		switch lite.Code() & 0xff { // without what SQLite adds to say more
		case sqlite3.SQLITE_FULL, sqlite3.SQLITE_TOOBIG:
			return full
		case sqlite3.SQLITE_READONLY:
			return readOnly
		case sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH:
			return forbidden
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
			return busy
		case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CANTOPEN:
			return missing
		}
		return other
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		switch pg.Code {
		case "53100": // disk_full
			return full
		case "25006": // read_only_sql_transaction
			return readOnly
		case "42501": // insufficient_privilege
			return forbidden
		}
		return other
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return full
	case errors.Is(err, syscall.EROFS):
		return readOnly
	case errors.Is(err, fs.ErrPermission):
		return forbidden
	case errors.Is(err, fs.ErrNotExist):
		return missing
	}
	return other
}
