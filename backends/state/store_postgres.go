package state

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// postgresSchema is the comment on the table, which says how it looks.
const postgresSchema = "mcp-workspace documents, schema 1"

// postgresStore keeps documents as rows of a table in a PostgreSQL database.
// The column is of type json, not jsonb: it keeps the document byte for byte,
// and can be queried all the same.
type postgresStore struct {
	pool *pgxpool.Pool
}

const (
	// maxPgConns is how many connections there are at most; the URL can ask for
	// fewer.
	maxPgConns = 8
	// pgConnect bounds the making of a connection where the URL does not.
	pgConnect = 15 * time.Second
	// pgPatience bounds the wait for a server that should answer at once: to a
	// ping of a connection that was idle, and to a goodbye.
	pgPatience = 5 * time.Second
)

func openPostgresStore(ctx context.Context, dsn string) (*postgresStore, error) {
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		// The error could show the password: what does not parse cannot be
		// taken apart safely either.
		return nil, errors.New("the store postgres://… cannot be used: the URL does not parse; it looks like postgres://user:password@host:5432/database?sslmode=require, with special characters in user and password percent-encoded")
	}
	cfg.MaxConns = min(cfg.MaxConns, maxPgConns)
	if cfg.PingTimeout == 0 {
		cfg.PingTimeout = pgPatience
	}
	if cfg.ConnConfig.ConnectTimeout == 0 {
		cfg.ConnConfig.ConnectTimeout = pgConnect
	}
	if cfg.ConnConfig.RuntimeParams["application_name"] == "" {
		cfg.ConnConfig.RuntimeParams["application_name"] = "mcp-workspace"
	}
	cfg.AfterConnect = makeCommitsDurable
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("the store postgres://… cannot be used: %w", err)
	}
	s := &postgresStore{pool}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("the store postgres://%s cannot be used: %w", s.where(), err), s.close())
	}
	return s, nil
}

// makeCommitsDurable readies a new connection: a commit must be on disk when it
// returns, also where the server's default is to be quicker than that.
func makeCommitsDurable(ctx context.Context, conn *pgx.Conn) error {
	// The pool goes on connecting when the caller has given up.
	ctx, cancel := context.WithTimeout(ctx, pgConnect)
	defer cancel()
	_, err := conn.Exec(ctx, "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'")
	return err
}

// prepare makes the table where there is none.
func (s *postgresStore) prepare(ctx context.Context) error {
	return s.with(ctx, func(conn *pgx.Conn) error {
		var encoding string
		if err := conn.QueryRow(ctx, "SELECT current_setting('server_encoding')").Scan(&encoding); err != nil {
			return err
		}
		if encoding != "UTF8" {
			return fmt.Errorf("the database has the encoding %s, which cannot hold every text; make one with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0", encoding)
		}
		there, err := checkPostgresTable(ctx, conn)
		if err != nil || there {
			return err
		}
		made := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, "CREATE TABLE mcp_workspace_documents (id text PRIMARY KEY, revision bigint NOT NULL, document json NOT NULL)")
			if err != nil {
				return err
			}
			_, err = tx.Exec(ctx, "COMMENT ON TABLE mcp_workspace_documents IS '"+postgresSchema+"'")
			return err
		})
		if made == nil {
			return nil
		}
		// Where another process was quicker all is well. (Within one
		// transaction a lock would not do: the server goes on believing what
		// it found before it waited.)
		if there, err := checkPostgresTable(ctx, conn); err == nil && there {
			return nil
		}
		return made
	})
}

// pgQuerier is a connection or a transaction.
type pgQuerier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// checkPostgresTable tells whether the table is there and ours. It asks the
// catalogue's tables for both: to_regclass would also see what another process
// commits after the statement began, and the comment not yet.
func checkPostgresTable(ctx context.Context, q pgQuerier) (bool, error) {
	var comment string
	err := q.QueryRow(ctx, `
		SELECT coalesce(obj_description(oid, 'pg_class'), '') FROM pg_class
		WHERE relname = 'mcp_workspace_documents' AND pg_table_is_visible(oid)`).Scan(&comment)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err == nil && comment != postgresSchema {
		err = fmt.Errorf("it has a table mcp_workspace_documents that is marked %q and not %q, so another version or another program made it", comment, postgresSchema)
	}
	return err == nil, err
}

func (s *postgresStore) create(ctx context.Context, id string, t *tree) (created bool, err error) {
	data, err := marshalStored(t)
	if err != nil {
		return false, err
	}
	err = s.with(ctx, func(conn *pgx.Conn) error {
		tag, err := conn.Exec(ctx, "INSERT INTO mcp_workspace_documents (id, revision, document) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", id, firstRevision(), data)
		created = tag.RowsAffected() == 1
		return err
	})
	return created && err == nil, err
}

func (s *postgresStore) stamp(ctx context.Context, id string) (st stamp, err error) {
	err = s.with(ctx, func(conn *pgx.Conn) error {
		err := conn.QueryRow(ctx, "SELECT revision FROM mcp_workspace_documents WHERE id = $1", id).Scan(&st.revision)
		return noRowIsGone(err)
	})
	return st, err
}

func noRowIsGone(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return errGone
	}
	return err
}

func (s *postgresStore) load(ctx context.Context, id string) (v *version, err error) {
	err = s.with(ctx, func(conn *pgx.Conn) error {
		v, err = loadPostgres(ctx, conn, id)
		return err
	})
	return v, err
}

func loadPostgres(ctx context.Context, q pgQuerier, id string) (*version, error) {
	var revision int64
	var data []byte
	err := q.QueryRow(ctx, "SELECT revision, document FROM mcp_workspace_documents WHERE id = $1", id).Scan(&revision, &data)
	if err != nil {
		return nil, noRowIsGone(err)
	}
	return parseStored(id, data, revision)
}

func (s *postgresStore) update(ctx context.Context, id string, have *version, change func(*tree) (*tree, error)) (*version, error) {
	err := s.with(ctx, func(conn *pgx.Conn) error {
		// The row lock does what is needed at this level; a stricter one set
		// as the server's default would fail instead of waiting.
		return pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite}, func(tx pgx.Tx) error {
			var revision int64
			err := tx.QueryRow(ctx, "SELECT revision FROM mcp_workspace_documents WHERE id = $1 FOR UPDATE", id).Scan(&revision)
			if err != nil {
				return noRowIsGone(err)
			}
			if have == nil || have.stamp.revision != revision {
				if have, err = loadPostgres(ctx, tx, id); err != nil {
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
			_, err = tx.Exec(ctx, "UPDATE mcp_workspace_documents SET revision = $1, document = $2 WHERE id = $3", have.stamp.revision, data, id)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return have, nil
}

func (s *postgresStore) destroy(ctx context.Context, id string) error {
	return s.with(ctx, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "DELETE FROM mcp_workspace_documents WHERE id = $1", id)
		return err
	})
}

func (s *postgresStore) describe(ctx context.Context, id string) (listed, error) {
	var start string
	err := s.with(ctx, func(conn *pgx.Conn) error {
		err := conn.QueryRow(ctx, "SELECT left(document::text, $1) FROM mcp_workspace_documents WHERE id = $2", headerBytes, id).Scan(&start)
		return noRowIsGone(err)
	})
	if err != nil {
		return listed{}, err
	}
	l, _ := list(ctx, s, id, []byte(start))
	return l, undamaged(l)
}

func (s *postgresStore) list(ctx context.Context) (out []listed, err error) {
	type start struct {
		id   string
		text []byte
	}
	var starts []start
	err = s.with(ctx, func(conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, "SELECT id, left(document::text, $1) FROM mcp_workspace_documents ORDER BY id COLLATE \"C\"", headerBytes)
		if err != nil {
			return err
		}
		starts, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (st start, err error) {
			var text string
			err = row.Scan(&st.id, &text)
			st.text = []byte(text)
			return st, err
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, st := range starts {
		if l, ok := list(ctx, s, st.id, st.text); ok {
			out = append(out, l)
		}
	}
	return out, nil
}

// with calls do with a connection that nobody else uses meanwhile. A connection
// that was lost fails this call alone: the pool makes another for the next.
func (s *postgresStore) with(ctx context.Context, do func(*pgx.Conn) error) error {
	err := s.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
		err := do(c.Conn())
		if err != nil && c.Conn().IsClosed() {
			err = fmt.Errorf("the connection to PostgreSQL was lost, and a write under way may have been kept or not; look, and try again: %w", err)
		}
		return err
	})
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return s.withoutPassword(err)
}

// where names the server and database for messages.
func (s *postgresStore) where() string {
	cfg := s.pool.Config().ConnConfig
	return fmt.Sprintf("%s:%d/%s", cfg.Host, cfg.Port, cfg.Database)
}

// withoutPassword makes sure that no message of the driver or the server shows
// the password.
func (s *postgresStore) withoutPassword(err error) error {
	if err == nil {
		return nil
	}
	password := s.pool.Config().ConnConfig.Password
	if text := err.Error(); password != "" && strings.Contains(text, password) {
		return errors.New(strings.ReplaceAll(text, password, "xxxxx"))
	}
	return err
}

// close hangs up. Calls in flight are not waited for beyond pgPatience: they
// end with their own contexts.
func (s *postgresStore) close() error {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		s.pool.Close()
	}()
	select {
	case <-closed:
	case <-time.After(pgPatience):
	}
	return nil
}
