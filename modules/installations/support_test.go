package installations_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"log/slog"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"vault/modules/installations"
	"vault/platform/jobs"
	"vault/platform/postgres"
	"vault/platform/postgres/pgtest"
	"vault/schema"
)

// world is a control database with the queue's tables and a service on it.
type world struct {
	*installations.Service
	db *postgres.DB
}

func newWorld(t *testing.T) world {
	t.Helper()
	db := openControl(t)
	return world{Service: newService(t, db), db: db}
}

// openControl makes a control database as a process finds it after its
// migrations.
func openControl(t *testing.T) *postgres.DB {
	t.Helper()
	dsn := pgtest.Prepared(t, "control "+controlHash(t), prepareControl)
	db, err := postgres.Open(postgres.Config{DSN: dsn, MaxConns: 12, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

func prepareControl(ctx context.Context, dsn string) error {
	log := slog.New(slog.DiscardHandler)
	if err := postgres.Migrate(ctx, dsn, schema.Control, log); err != nil {
		return err
	}
	db, err := postgres.Open(postgres.Config{DSN: dsn, Log: log})
	if err != nil {
		return err
	}
	defer db.Close()
	return jobs.Migrate(ctx, db, log)
}

func controlHash(t *testing.T) string {
	t.Helper()
	h := sha256.New()
	err := fs.WalkDir(schema.Control, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(schema.Control, path)
		fmt.Fprintf(h, "%s %d ", path, len(data))
		h.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

func newService(t *testing.T, db *postgres.DB) *installations.Service {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	queue, err := jobs.New(jobs.Config{DB: db, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	return installations.New(db, queue, log)
}

// work starts a queue that works on the kinds given and stops it when the test
// ends.
func (w world) work(t *testing.T, kinds map[string]jobs.Handler) *jobs.Queue {
	t.Helper()
	queue, err := jobs.New(jobs.Config{
		DB: w.db, Log: slog.New(slog.DiscardHandler), Kinds: kinds, Poll: 20 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := queue.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := queue.Stop(ctx); err != nil {
			t.Errorf("stop the queue: %v", err)
		}
	})
	return queue
}

// acme enables installation 7 with the repositories given and gives it.
func (w world) acme(t *testing.T, repos ...installations.Repository) installations.Installation {
	t.Helper()
	ctx := t.Context()
	must(t, w.Register(ctx, 7, "Acme"))
	i, err := w.Enable(ctx, "acme", "acme")
	must(t, err)
	must(t, w.Sync(ctx, 7, repos))
	return i
}

func repo(id int64, name string) installations.Repository {
	return installations.Repository{
		ID: id, NodeID: "R_" + strconv.FormatInt(id, 10), Name: name, FullName: "Acme/" + name, DefaultBranch: "main",
	}
}

// only gives the one enabled installation.
func (w world) only(t *testing.T) installations.Installation {
	t.Helper()
	list, err := w.State(t.Context())
	must(t, err)
	if len(list) != 1 {
		t.Fatalf("%d installations are enabled, want 1", len(list))
	}
	return list[0]
}

// stored gives a repository as it is stored.
func (w world) stored(t *testing.T, id int64) installations.Repository {
	t.Helper()
	list, err := w.Repositories(t.Context(), 7)
	must(t, err)
	for _, r := range list {
		if r.ID == id {
			return r
		}
	}
	t.Fatalf("repository %d is not stored", id)
	return installations.Repository{}
}

// waiting counts the jobs of a kind that wait or run. Handlers call it too.
func (w world) waiting(t *testing.T, kind string) int {
	t.Helper()
	var n int
	err := w.db.QueryRow(t.Context(), `
SELECT count(*)
FROM river.river_job
WHERE kind = $1 AND state IN ('available', 'pending', 'retryable', 'running', 'scheduled')`, kind).Scan(&n)
	if err != nil {
		t.Errorf("count the jobs: %v", err)
	}
	return n
}

// clearJobs removes all jobs, so that a test sees only those it causes.
func (w world) clearJobs(t *testing.T) {
	t.Helper()
	_, err := w.db.Exec(t.Context(), `DELETE FROM river.river_job`)
	must(t, err)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// await waits until a condition holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("never happened: %s", what)
		}
		select {
		case <-t.Context().Done():
			t.Fatalf("the test ended before: %s", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// arrive waits until a channel is closed.
func arrive(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatalf("never happened: %s", what)
	}
}

var deliveryNumber atomic.Int64

// deliver records a delivery with a fresh id. Handlers call it too, so that it
// does not end the test.
func (w world) deliver(t *testing.T, d installations.Delivery) {
	t.Helper()
	d.GUID = fmt.Sprintf("guid-%d", deliveryNumber.Add(1))
	fresh, err := w.RecordDelivery(t.Context(), d)
	if err != nil || !fresh {
		t.Errorf("delivery %+v: fresh %v, error %v", d, fresh, err)
	}
}
