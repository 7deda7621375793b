package installations_test

import (
	"log/slog"
	"testing"

	"vault/platform/jobs"
	"vault/platform/postgres"
	"vault/platform/postgres/pgtest"
	"vault/schema"
)

// TestMigrationsShareOneDatabase has the tables of this module and of the
// queue made in either order, and again by the next start.
func TestMigrationsShareOneDatabase(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	for _, queueFirst := range []bool{false, true} {
		dsn := pgtest.Database(t, nil)
		db, err := postgres.Open(postgres.Config{DSN: dsn, Log: log})
		must(t, err)
		defer db.Close()
		ours := func() error { return postgres.Migrate(t.Context(), dsn, schema.Control, log) }
		queue := func() error { return jobs.Migrate(t.Context(), db, log) }
		order := []func() error{ours, queue, ours, queue}
		if queueFirst {
			order = []func() error{queue, ours, queue, ours}
		}
		for _, migrate := range order {
			must(t, migrate())
		}
		w := world{Service: newService(t, db), db: db}
		w.acme(t, repo(1, "handbook"))
		if got := w.only(t); len(got.Repositories) != 1 {
			t.Errorf("queue first %v: %+v", queueFirst, got)
		}
	}
}
