package postgres_test

import (
	"context"
	"errors"
	"testing"
	"testing/fstest"
	"time"

	"vault/platform/postgres"
	"vault/platform/postgres/pgtest"
)

func open(t *testing.T, c postgres.Config) *postgres.DB {
	t.Helper()
	if c.DSN == "" {
		c.DSN = pgtest.Database(t, nil)
	}
	db, err := postgres.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

func mustExec(t *testing.T, q postgres.Querier, sql string, args ...any) {
	t.Helper()
	if _, err := q.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func number(t *testing.T, q postgres.Querier, sql string, args ...any) int {
	t.Helper()
	var n int
	if err := q.QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return n
}

func TestInTxCommitsAndRollsBack(t *testing.T) {
	t.Parallel()
	db := open(t, postgres.Config{})
	mustExec(t, db, `CREATE TABLE n (v int)`)
	insert := func(ctx context.Context, tx postgres.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO n (v) VALUES (1)`)
		return err
	}
	if err := db.InTx(t.Context(), insert); err != nil {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	err := db.InTx(t.Context(), func(ctx context.Context, tx postgres.Tx) error {
		return errors.Join(insert(ctx, tx), boom)
	})
	if !errors.Is(err, boom) {
		t.Errorf("error of the function is lost: %v", err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is swallowed")
			}
		}()
		_ = db.InTx(t.Context(), func(ctx context.Context, tx postgres.Tx) error {
			_ = insert(ctx, tx)
			panic("boom")
		})
	}()
	if got := number(t, db, `SELECT count(*) FROM n`); got != 1 {
		t.Errorf("rows = %d, want only the committed one", got)
	}
	if n := db.Pool().Stat().AcquiredConns(); n != 0 {
		t.Errorf("%d connections were not given back", n)
	}
}

func TestInTxRunsAgainAfterADeadlock(t *testing.T) {
	t.Parallel()
	db := open(t, postgres.Config{Parameters: map[string]string{"deadlock_timeout": "10ms"}})
	mustExec(t, db, `CREATE TABLE n (id int PRIMARY KEY, v int)`)
	mustExec(t, db, `INSERT INTO n (id, v) VALUES (1, 0), (2, 0)`)

	both := make(chan struct{}, 2) // lets both hold one row before they want the other
	met := make(chan struct{})
	go func() { <-both; <-both; close(met) }()
	run := func(first, second int) error {
		attempt := 0
		return db.InTx(t.Context(), func(ctx context.Context, tx postgres.Tx) error {
			attempt++
			if _, err := tx.Exec(ctx, `UPDATE n SET v = v + 1 WHERE id = $1`, first); err != nil {
				return err
			}
			if attempt == 1 {
				both <- struct{}{}
				<-met
			}
			_, err := tx.Exec(ctx, `UPDATE n SET v = v + 1 WHERE id = $1`, second)
			return err
		})
	}
	errs := make(chan error, 2)
	go func() { errs <- run(1, 2) }()
	go func() { errs <- run(2, 1) }()
	if err := errors.Join(<-errs, <-errs); err != nil {
		t.Fatal(err)
	}
	if got := number(t, db, `SELECT sum(v) FROM n`); got != 4 {
		t.Errorf("sum = %d, want 4: each transaction once", got)
	}
}

func TestReadSnapshotSeesOneState(t *testing.T) {
	t.Parallel()
	db := open(t, postgres.Config{})
	mustExec(t, db, `CREATE TABLE n (v int)`)
	snapshot, err := db.ReadSnapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := number(t, snapshot, `SELECT count(*) FROM n`); got != 0 {
		t.Fatalf("rows = %d", got)
	}
	mustExec(t, db, `INSERT INTO n (v) VALUES (1)`)
	if got := number(t, snapshot, `SELECT count(*) FROM n`); got != 0 {
		t.Errorf("the snapshot moved: rows = %d", got)
	}
	if _, err := snapshot.Exec(t.Context(), `INSERT INTO n (v) VALUES (2)`); err == nil {
		t.Error("a snapshot may write")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	snapshot.Close(ended)
	snapshot.Close(ended)
	if n := db.Pool().Stat().AcquiredConns(); n != 0 {
		t.Errorf("%d connections were not given back", n)
	}
}

func TestPoolIsLazyAndSleeps(t *testing.T) {
	t.Parallel()
	if _, err := postgres.Open(postgres.Config{DSN: "postgres://nobody@127.0.0.1:1/none"}); err != nil {
		t.Errorf("opening needs a server: %v", err)
	}
	db := open(t, postgres.Config{IdleClose: 50 * time.Millisecond})
	if n := db.Pool().Stat().TotalConns(); n != 0 {
		t.Errorf("%d connections before the first use", n)
	}
	if err := db.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, "idle connections close", func() bool { return db.Pool().Stat().TotalConns() == 0 })
}

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
		<-time.After(2 * time.Millisecond)
	}
}

func TestParametersReachEveryConnection(t *testing.T) {
	t.Parallel()
	db := open(t, postgres.Config{Parameters: map[string]string{"jit": "off", "synchronous_commit": "off"}})
	for _, name := range []string{"jit", "synchronous_commit"} {
		var got string
		if err := db.QueryRow(t.Context(), `SELECT current_setting($1)`, name).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got != "off" {
			t.Errorf("%s = %s", name, got)
		}
	}
}

func TestListen(t *testing.T) {
	t.Parallel()
	db := open(t, postgres.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	ready, got, done := make(chan struct{}), make(chan string, 1), make(chan error, 1)
	go func() {
		done <- db.Listen(ctx, "news", func() { close(ready) }, func(p string) { got <- p })
	}()
	<-ready
	mustExec(t, db, `SELECT pg_notify('news', 'hello')`)
	if p := <-got; p != "hello" {
		t.Errorf("payload = %q", p)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("listening ended with %v", err)
	}
}

func migrations(more ...string) fstest.MapFS {
	files := fstest.MapFS{"0001_n.sql": {Data: []byte("-- +goose Up\nCREATE TABLE n (v int);\n")}}
	for _, text := range more {
		files["0002_more.sql"] = &fstest.MapFile{Data: []byte("-- +goose Up\n" + text)}
	}
	return files
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Database(t, nil)
	db := open(t, postgres.Config{DSN: dsn})

	const processes = 4
	errs := make(chan error, processes)
	for range processes {
		go func() { errs <- postgres.Migrate(t.Context(), dsn, migrations(), nil) }()
	}
	for range processes {
		if err := <-errs; err != nil {
			t.Errorf("together: %v", err)
		}
	}
	mustExec(t, db, `INSERT INTO n (v) VALUES (1)`)
	if err := postgres.Migrate(t.Context(), dsn, migrations("ALTER TABLE n ADD w int;"), nil); err != nil {
		t.Fatalf("forward: %v", err)
	}
	if err := postgres.Migrate(t.Context(), dsn, migrations(), nil); err != nil {
		t.Errorf("an older program on a newer database: %v", err)
	}
	if got := number(t, db, `SELECT count(w) + count(*) FROM n`); got != 1 {
		t.Errorf("the table was changed: %d", got)
	}
}

func TestMigrateLeavesNothingOfABrokenMigration(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Database(t, nil)
	broken := migrations("ALTER TABLE n ADD w int;\nALTER TABLE missing ADD w int;\n")
	if err := postgres.Migrate(t.Context(), dsn, broken, nil); err == nil {
		t.Fatal("a broken migration passes")
	}
	db := open(t, postgres.Config{DSN: dsn})
	got := number(t, db, `SELECT count(*) FROM information_schema.columns WHERE table_name = 'n'`)
	if got != 1 {
		t.Errorf("table n has %d columns, want 1", got)
	}
}

func TestErrorKinds(t *testing.T) {
	t.Parallel()
	db := open(t, postgres.Config{})
	mustExec(t, db, `CREATE TABLE n (v int CONSTRAINT only_one UNIQUE)`)
	mustExec(t, db, `INSERT INTO n (v) VALUES (1)`)
	_, err := db.Exec(t.Context(), `INSERT INTO n (v) VALUES (1)`)
	if !postgres.IsUnique(err) || postgres.Constraint(err) != "only_one" {
		t.Errorf("unique violation not recognised: %v", err)
	}
	_, err = db.Exec(t.Context(), `SELECT FROM missing`)
	if !postgres.IsMissing(err) || postgres.IsUnique(err) {
		t.Errorf("missing table not recognised: %v", err)
	}
}

func TestCreateDatabase(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Database(t, nil)
	for range 2 { // the second finds it
		if err := postgres.CreateDatabase(t.Context(), dsn, "made_by_test"); err != nil {
			t.Fatal(err)
		}
	}
	other, err := postgres.WithDatabase(dsn, "made_by_test")
	if err != nil {
		t.Fatal(err)
	}
	if err := open(t, postgres.Config{DSN: other}).Ping(t.Context()); err != nil {
		t.Error(err)
	}
	if err := postgres.CreateDatabase(t.Context(), dsn, `x"; DROP`); err == nil {
		t.Error("a bad name passes")
	}
	t.Cleanup(func() {
		db, err := postgres.Open(postgres.Config{DSN: dsn})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Exec(context.Background(), `DROP DATABASE made_by_test WITH (FORCE)`); err != nil {
			t.Error(err)
		}
	})
}
