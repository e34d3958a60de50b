// Package testpg gives tests a real PostgreSQL server. It starts one for each
// test binary that asks, out of the programs that are installed, and knows
// nothing of what is tested with it.
package testpg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Password is what the server asks of the user in the URLs that Start
// returns. It has characters that must be escaped in a URL.
const Password = "p@ss/w:rd%#1"

const (
	role = "tester"
	// startWithin bounds the start of the server, which takes a few seconds.
	startWithin = time.Minute
)

// Start returns the postgres:// URL of an empty schema of its own, on a server
// that all tests of this binary share and that ends with it. Where
// PostgreSQL is not installed the test is skipped, and fails where the
// environment has CI=true.
func Start(tb testing.TB) string {
	tb.Helper()
	s, err := shared()
	var missing *missingError
	switch {
	case errors.As(err, &missing) && os.Getenv("CI") != "true":
		tb.Skip(err)
	case err != nil:
		tb.Fatal(err)
	}
	name, err := s.schema(tb.Context())
	if err != nil {
		tb.Fatalf("no schema on the test's PostgreSQL server: %v", err)
	}
	return s.url(url.Values{"search_path": {name}})
}

var shared = sync.OnceValues(start)

// missingError says that PostgreSQL is not installed.
type missingError struct{ program string }

func (e *missingError) Error() string {
	return fmt.Sprintf("PostgreSQL's %s is not installed; on Debian: apt-get install postgresql", e.program)
}

// program finds one of PostgreSQL's programs: of the newest version that
// Debian's packages have put in a place of its own, else in PATH.
func program(name string) (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if err != nil {
		return "", err
	}
	if len(found) > 0 {
		return slices.MaxFunc(found, func(a, b string) int { return major(a) - major(b) }), nil
	}
	if found, err := exec.LookPath(name); err == nil {
		return found, nil
	}
	return "", &missingError{name}
}

// major is the version in the path of a program.
func major(path string) int {
	n, err := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
	if err != nil {
		return 0
	}
	return n
}

// server is a running server.
type server struct {
	socketDir string
	schemas   atomic.Int64
}

// url is that of the database on the server.
func (s *server) url(settings url.Values) string {
	query := url.Values{"host": {s.socketDir}, "port": {"5432"}}
	maps.Copy(query, settings)
	u := url.URL{Scheme: "postgres", User: url.UserPassword(role, Password), Path: "/postgres", RawQuery: query.Encode()}
	return u.String()
}

// schema makes an empty schema and returns its name. A database for each test
// would be as good, and takes a second to make.
func (s *server) schema(ctx context.Context) (string, error) {
	conn, err := pgx.Connect(ctx, s.url(nil))
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("test%d", s.schemas.Add(1))
	_, err = conn.Exec(ctx, "CREATE SCHEMA "+name)
	return name, errors.Join(err, conn.Close(ctx))
}

// supervise runs the server in "$@", and ends it and removes the directory $0
// when standard input ends, which it does with the test binary, however that
// ends.
const supervise = `"$@" </dev/null & server=$!; cat >/dev/null; kill -INT $server; wait $server; rm -rf "$0"`

// start makes a database cluster and starts a server on it, reached by a
// socket in a directory of its own, so that no port has to be free.
func start() (_ *server, err error) {
	initdb, err := program("initdb")
	if err != nil {
		return nil, err
	}
	postgres, err := program("postgres")
	if err != nil {
		return nil, err
	}
	account, err := serverAccount()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "testpg-")
	if err != nil {
		return nil, err
	}
	running := false
	defer func() {
		if err != nil && !running {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	passwords := filepath.Join(dir, "password")
	if err := os.WriteFile(passwords, []byte(Password), 0o600); err != nil {
		return nil, err
	}
	if account != nil {
		for _, name := range []string{dir, passwords} {
			if err := os.Chown(name, int(account.Uid), int(account.Gid)); err != nil {
				return nil, err
			}
		}
	}
	attr := &syscall.SysProcAttr{Setpgid: true} // an interrupt at the terminal is the test's to handle
	if account != nil {
		attr.Credential = account
	}
	data := filepath.Join(dir, "data")
	prepare := exec.Command(initdb, "-D", data, "-U", role, "-A", "scram-sha-256", "--pwfile", passwords,
		"-E", "UTF8", "--no-locale", "--no-sync", "--no-instructions")
	prepare.Dir, prepare.SysProcAttr = dir, attr
	if out, err := prepare.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}

	logFile, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer logFile.Close()
	cmd := exec.Command("/bin/sh", "-c", supervise, dir, postgres, "-D", data, "-c", "listen_addresses=", "-p", "5432", "-k", dir)
	cmd.Dir, cmd.SysProcAttr = dir, attr
	cmd.Stdout, cmd.Stderr = logFile, logFile // the test's own would keep go test waiting
	// The pipe is never closed on purpose: its end is that of this process.
	if _, err := cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	running = true
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	s := &server{socketDir: dir}
	if err := s.await(ended); err != nil {
		text, logErr := os.ReadFile(logFile.Name())
		return nil, errors.Join(fmt.Errorf("the test's PostgreSQL server does not start: %w\n%s", err, bytes.TrimSpace(text)), logErr)
	}
	return s, nil
}

// await waits until the server answers.
func (s *server) await(ended <-chan error) error {
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := pgx.Connect(ctx, s.url(nil))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case end := <-ended:
			return fmt.Errorf("it has ended (%w)", end)
		case <-ctx.Done():
			return err
		case <-tick.C: // nothing tells when a socket begins to answer
		}
	}
}

// serverAccount is whom the server runs as: it refuses to run as root. Nil
// means the user that runs the test.
func serverAccount() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	var tried []string
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			tried = append(tried, err.Error())
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			return nil, err
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			return nil, err
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, fmt.Errorf("PostgreSQL does not run as root, and there is nobody else to run it as: %s", strings.Join(tried, "; "))
}
