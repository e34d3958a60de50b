package sessions

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// sharedPostgres is a table in a PostgreSQL database: a row for the key, which
// never expires, and one for each nonce.
type sharedPostgres struct {
	pool     *pgxpool.Pool
	password string
	key      []byte

	mu   sync.Mutex
	look time.Time
}

const (
	sharedConns   = 4
	sharedConnect = 15 * time.Second
	sharedAnswer  = 15 * time.Second // for a statement
	sharedClose   = 5 * time.Second
)

const (
	makeShared = `CREATE TABLE IF NOT EXISTS mcp_workspace_shared (
		kind text NOT NULL, id bytea NOT NULL, value bytea, expires timestamptz, PRIMARY KEY (kind, id))`
	hasShared = `SELECT to_regclass('mcp_workspace_shared') IS NOT NULL`
	putKey    = `INSERT INTO mcp_workspace_shared (kind, id, value) VALUES ('key', '', $1) ON CONFLICT DO NOTHING`
	getKey    = `SELECT value FROM mcp_workspace_shared WHERE kind = 'key' AND id = ''`
	putSpent  = `INSERT INTO mcp_workspace_shared (kind, id, expires) VALUES ('spent', $1, $2) ON CONFLICT DO NOTHING`
	cutSpent  = `DELETE FROM mcp_workspace_shared WHERE kind = 'spent' AND expires < $1`
)

func openSharedPostgres(ctx context.Context, url string) (*sharedPostgres, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		// The error could show the password.
		return nil, errors.New("replicas cannot share postgres://…: the URL does not parse; it looks like postgres://user:password@host:5432/database?sslmode=require, with special characters in user and password percent-encoded")
	}
	cfg.MaxConns = min(cfg.MaxConns, sharedConns)
	if cfg.ConnConfig.ConnectTimeout == 0 {
		cfg.ConnConfig.ConnectTimeout = sharedConnect
	}
	if cfg.ConnConfig.RuntimeParams["application_name"] == "" {
		cfg.ConnConfig.RuntimeParams["application_name"] = "mcp-workspace"
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("replicas cannot share postgres://…: %w", err)
	}
	s := &sharedPostgres{pool: pool, password: cfg.ConnConfig.Password}
	if err := s.prepare(ctx); err != nil {
		where := fmt.Sprintf("%s:%d/%s", cfg.ConnConfig.Host, cfg.ConnConfig.Port, cfg.ConnConfig.Database)
		return nil, errors.Join(fmt.Errorf("replicas cannot share postgres://%s: %w", where, s.plain(err)), s.Close())
	}
	return s, nil
}

// prepare makes the table and the key where there are none.
func (s *sharedPostgres) prepare(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, sharedAnswer)
	defer cancel()
	var there bool
	if err := s.pool.QueryRow(ctx, hasShared).Scan(&there); err != nil {
		return err
	}
	if !there {
		_, made := s.pool.Exec(ctx, makeShared)
		// Of two who make it at once, one fails.
		if err := s.pool.QueryRow(ctx, hasShared).Scan(&there); err != nil || !there {
			return errors.Join(made, err)
		}
	}
	err := s.pool.QueryRow(ctx, getKey).Scan(&s.key)
	if errors.Is(err, pgx.ErrNoRows) {
		if _, err := s.pool.Exec(ctx, putKey, newKey()); err != nil {
			return err
		}
		err = s.pool.QueryRow(ctx, getKey).Scan(&s.key)
	}
	if err == nil && len(s.key) != keySize {
		err = fmt.Errorf("the key in the table mcp_workspace_shared has %d bytes and not %d; delete that row, and a new one is made", len(s.key), keySize)
	}
	return err
}

func (s *sharedPostgres) Key() []byte { return s.key }

// Use implements [Shared].
func (s *sharedPostgres) Use(ctx context.Context, nonce string, expires time.Time) (bool, error) {
	now := time.Now()
	if !now.Before(expires) {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, sharedAnswer)
	defer cancel()
	if s.due(now) {
		if _, err := s.pool.Exec(ctx, cutSpent, now.Add(-spentGrace)); err != nil {
			return false, s.plain(err)
		}
	}
	tag, err := s.pool.Exec(ctx, putSpent, []byte(nonce), expires)
	if err != nil {
		return false, s.plain(err)
	}
	return tag.RowsAffected() == 1, nil
}

func (s *sharedPostgres) due(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !now.After(s.look) {
		return false
	}
	s.look = now.Add(spentSweep)
	return true
}

// plain is err without the password, whoever put it there.
func (s *sharedPostgres) plain(err error) error {
	if text := err.Error(); s.password != "" && strings.Contains(text, s.password) {
		return errors.New(strings.ReplaceAll(text, s.password, "xxxxx"))
	}
	return err
}

// Close hangs up, without waiting long for calls in flight.
func (s *sharedPostgres) Close() error {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		s.pool.Close()
	}()
	select {
	case <-closed:
	case <-time.After(sharedClose):
	}
	return nil
}
