// Package pgtest gives tests fresh databases on a real Postgres.
//
// The server is that of VAULT_TEST_POSTGRES (a postgres:// URL of a role that
// may create databases) if set, else a private one for each test process from
// installed programs. Where there is neither, tests are skipped, or fail if
// VAULT_TEST_MUST=1.
package pgtest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"vault/platform/postgres"
)

const (
	addressVariable = "VAULT_TEST_POSTGRES"
	mustVariable    = "VAULT_TEST_MUST"
	// setUpTimeout bounds what happens before a test gets its database.
	setUpTimeout = 2 * time.Minute
)

// shared is the process's one server, started by the first test that needs it.
var shared = &server{templates: map[string]error{}}

type server struct {
	start sync.Once
	dsn   string
	err   error
	guard io.Closer // cleans up once it is closed or lost, so it is kept here

	mu        sync.Mutex
	templates map[string]error // by name: those made or failed in this process
}

// Database makes a fresh database with the migrations applied and gives its
// address. It is dropped when the test ends. nil migrations give an empty one.
func Database(t testing.TB, migrations fs.FS) (dsn string) {
	t.Helper()
	if migrations == nil {
		return Prepared(t, "empty", nil)
	}
	key, err := fingerprint(migrations)
	if err != nil {
		t.Fatalf("read the migrations: %v", err)
	}
	return Prepared(t, key, func(ctx context.Context, dsn string) error {
		return postgres.Migrate(ctx, dsn, migrations, nil)
	})
}

// Prepared makes a fresh database as prepare leaves one, and gives its address.
// prepare runs once for each key; later databases are copies, which is far
// cheaper. The key must change when what prepare does changes. The database is
// dropped when the test ends.
func Prepared(t testing.TB, key string, prepare func(ctx context.Context, dsn string) error) (dsn string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), setUpTimeout)
	defer cancel()
	admin := shared.address(t)
	sum := sha256.Sum256([]byte(key))
	template := "vault_template_" + hex.EncodeToString(sum[:8])
	if err := shared.template(ctx, template, prepare); err != nil {
		t.Fatalf("prepare a database: %v", err)
	}
	name := "vault_test_" + randomName()
	if err := copyDatabase(ctx, admin, template, name); err != nil {
		t.Fatalf("make a database: %v", err)
	}
	t.Cleanup(func() { drop(t, admin, name) })
	return mustAddress(t, admin, name)
}

// address starts the server if need be, or skips the test.
func (s *server) address(t testing.TB) string {
	t.Helper()
	s.start.Do(func() { s.err = s.run() })
	switch {
	case s.err == nil:
		return s.dsn
	case errors.Is(s.err, postgres.ErrNoBinaries) && os.Getenv(mustVariable) != "1":
		t.Skipf("this test needs Postgres: install it, or set %s: %v", addressVariable, s.err)
	default:
		t.Fatalf("start Postgres for the tests: %v", s.err)
	}
	return ""
}

// run takes the configured server or starts a private one, which ends with this
// process, also by a kill; a guard then removes its files.
func (s *server) run() (err error) {
	if s.dsn = os.Getenv(addressVariable); s.dsn != "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), setUpTimeout)
	defer cancel()
	data, err := os.MkdirTemp("", "vault-pgtest-")
	if err != nil {
		return fmt.Errorf("make a folder for the test server: %w", err)
	}
	private, err := postgres.StartServer(ctx, postgres.ServerConfig{Data: data, Volatile: true})
	if err != nil {
		return errors.Join(err, os.RemoveAll(data))
	}
	s.guard, err = guard(private.Pid(), append(private.Folders(), data))
	if err != nil {
		return errors.Join(err, private.Stop(ctx), os.RemoveAll(data))
	}
	s.dsn = private.DSN("postgres")
	return nil
}

// template makes the template database, once in this process and, by a lock on
// the server, once among all that share it.
func (s *server) template(ctx context.Context, name string, prepare func(context.Context, string) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err, done := s.templates[name]
	if !done {
		err = makeTemplate(ctx, s.dsn, name, prepare)
		s.templates[name] = err
	}
	return err
}

func makeTemplate(
	ctx context.Context, admin, name string, prepare func(context.Context, string) error,
) (err error) {
	conn, err := pgx.Connect(ctx, admin)
	if err != nil {
		return fmt.Errorf("reach the test server: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }() // also releases the lock
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock(hashtextextended($1, 0))`, name); err != nil {
		return fmt.Errorf("lock the template: %w", err)
	}
	var exists bool
	err = conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, name).Scan(&exists)
	if err != nil || exists {
		return err
	}
	// A template gets its name when it is whole.
	raw := "vault_raw_" + randomName()
	if err := postgres.CreateDatabase(ctx, admin, raw); err != nil {
		return err
	}
	dsn, err := postgres.WithDatabase(admin, raw)
	if err == nil && prepare != nil {
		err = prepare(ctx, dsn)
	}
	if err == nil {
		err = retryBusy(ctx, conn, "ALTER DATABASE "+raw+" RENAME TO "+name)
	}
	return err
}

func copyDatabase(ctx context.Context, admin, template, name string) (err error) {
	conn, err := pgx.Connect(ctx, admin)
	if err != nil {
		return fmt.Errorf("reach the test server: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	return retryBusy(ctx, conn, "CREATE DATABASE "+name+" TEMPLATE "+template)
}

// retryBusy runs a statement that needs a database without sessions: one that
// was just closed ends a moment later.
func retryBusy(ctx context.Context, conn *pgx.Conn, sql string) error {
	for {
		_, err := conn.Exec(ctx, sql)
		if err == nil || !postgres.IsBusy(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func drop(t testing.TB, admin, name string) {
	ctx, cancel := context.WithTimeout(context.Background(), setUpTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, admin)
	if err != nil {
		t.Errorf("drop %s: %v", name, err)
		return
	}
	_, err = conn.Exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
	if err := errors.Join(err, conn.Close(ctx)); err != nil {
		t.Errorf("drop %s: %v", name, err)
	}
}

func mustAddress(t testing.TB, admin, name string) string {
	t.Helper()
	dsn, err := postgres.WithDatabase(admin, name)
	if err != nil {
		t.Fatalf("%s: %v", addressVariable, err)
	}
	return dsn
}

func randomName() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the process instead
	return hex.EncodeToString(b[:])
}

// fingerprint tells migrations apart by their names and texts.
func fingerprint(migrations fs.FS) (string, error) {
	names, err := fs.Glob(migrations, "*.sql")
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, name := range names {
		text, err := fs.ReadFile(migrations, name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\n%s", name, len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
