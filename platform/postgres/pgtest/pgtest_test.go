package pgtest_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"vault/platform/postgres"
	"vault/platform/postgres/pgtest"
)

func exec1(ctx context.Context, dsn, sql string) error {
	db, err := postgres.Open(postgres.Config{DSN: dsn})
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.Exec(ctx, sql)
	return err
}

func TestDatabasesAreApartAndGoAway(t *testing.T) {
	t.Parallel()
	migrations := fstest.MapFS{"0001_n.sql": {Data: []byte("-- +goose Up\nCREATE TABLE n (v int UNIQUE);\n")}}
	var first string
	t.Run("used", func(t *testing.T) {
		for range 2 {
			first = pgtest.Database(t, migrations)
			if err := exec1(t.Context(), first, `INSERT INTO n (v) VALUES (1)`); err != nil {
				t.Error(err) // also when the second is the first
			}
		}
		if err := exec1(t.Context(), pgtest.Database(t, nil), `SELECT FROM n`); !postgres.IsMissing(err) {
			t.Errorf("an empty database has tables: %v", err)
		}
	})
	if err := exec1(t.Context(), first, `SELECT 1`); !postgres.IsMissing(err) {
		t.Errorf("the database outlives its test: %v", err)
	}
}

func TestPreparedOncePerKey(t *testing.T) {
	t.Parallel()
	var runs atomic.Int32
	for _, key := range []string{"a", "a", "b"} {
		pgtest.Prepared(t, t.Name()+key, func(ctx context.Context, dsn string) error {
			runs.Add(1)
			return exec1(ctx, dsn, `CREATE TABLE n (v int)`)
		})
	}
	if n := runs.Load(); n != 2 {
		t.Errorf("prepared %d times for two keys", n)
	}
}

// victimVariable makes this test binary a process that uses a database until
// it is killed.
const victimVariable = "PGTEST_TEST_VICTIM"

func TestVictim(t *testing.T) {
	if os.Getenv(victimVariable) == "" {
		return
	}
	fmt.Println("address:", pgtest.Database(t, nil))
	select {}
}

func TestAKilledTestLeavesNothing(t *testing.T) {
	t.Parallel()
	if os.Getenv("VAULT_TEST_POSTGRES") != "" {
		t.Skip("a configured server stays")
	}
	pgtest.Database(t, nil) // skips where there is no Postgres
	victim := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestVictim$")
	victim.Env = append(os.Environ(), victimVariable+"=1")
	out, err := victim.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	dsn, ok := strings.CutPrefix(strings.TrimSpace(line), "address: ")
	if !ok {
		t.Fatalf("the victim says %s", line)
	}
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	sockets := u.Query().Get("host")
	if _, err := os.Stat(sockets); err != nil {
		t.Fatal(err)
	}
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = victim.Wait() // it was killed
	for end := time.Now().Add(30 * time.Second); ; {
		if _, err := os.Stat(sockets); errors.Is(err, fs.ErrNotExist) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s is left", sockets)
		}
		<-time.After(10 * time.Millisecond)
	}
}
