package jobs_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"

	"vault/platform/jobs"
	"vault/platform/postgres"
	"vault/platform/postgres/pgtest"
)

// migrated gives a database with the queue's tables.
func migrated(t *testing.T) *postgres.DB {
	t.Helper()
	dsn := pgtest.Prepared(t, "jobs", func(ctx context.Context, dsn string) error {
		db, err := postgres.Open(postgres.Config{DSN: dsn})
		if err != nil {
			return err
		}
		defer db.Close()
		return jobs.Migrate(ctx, db, nil)
	})
	return connect(t, dsn)
}

func connect(t *testing.T, dsn string) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(postgres.Config{DSN: dsn})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

// newQueue makes a queue and starts it if it works on something.
func newQueue(t *testing.T, c jobs.Config) *jobs.Queue {
	t.Helper()
	q, err := jobs.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := q.Stop(ctx); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return q
}

func insert(t *testing.T, db *postgres.DB, q *jobs.Queue, job jobs.Job) {
	t.Helper()
	err := db.InTx(t.Context(), func(ctx context.Context, tx postgres.Tx) error { return q.InsertTx(ctx, tx, job) })
	if err != nil {
		t.Fatal(err)
	}
}

// states counts the jobs by state.
func states(t *testing.T, db *postgres.DB) map[string]int {
	t.Helper()
	rows, err := db.Query(t.Context(), `SELECT state::text, count(*) FROM river.river_job GROUP BY state`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	got := map[string]int{}
	for rows.Next() {
		var state string
		var n int
		if err := rows.Scan(&state, &n); err != nil {
			t.Fatal(err)
		}
		got[state] = n
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	return got
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
		<-time.After(5 * time.Millisecond)
	}
}

// receive gives the next value, or fails when none comes.
func receive[T any](t *testing.T, what string, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(30 * time.Second):
		t.Fatalf("never: %s", what)
		panic("unreachable")
	}
}

func TestJobIsWorkedOnce(t *testing.T) {
	t.Parallel()
	db := migrated(t)
	runs := make(chan jobs.Run, 10)
	q := newQueue(t, jobs.Config{DB: db, Kinds: map[string]jobs.Handler{
		"count": func(_ context.Context, run *jobs.Run) error { runs <- *run; return nil },
	}})
	insert(t, db, q, jobs.Job{Kind: "count", Key: "7", Args: json.RawMessage(`{"n":7}`)})
	run := receive(t, "the run", runs)
	if run.Key != "7" || string(run.Args) != `{"n": 7}` || run.Attempt != 1 || run.ID == 0 {
		t.Errorf("run = %+v", run)
	}
	until(t, "completed", func() bool { return states(t, db)["completed"] == 1 })
}

func TestRollbackInsertsNothing(t *testing.T) {
	t.Parallel()
	db := migrated(t)
	q := newQueue(t, jobs.Config{DB: db})
	boom := errors.New("boom")
	err := db.InTx(t.Context(), func(ctx context.Context, tx postgres.Tx) error {
		return errors.Join(q.InsertTx(ctx, tx, jobs.Job{Kind: "work", Key: "1"}), boom)
	})
	if !errors.Is(err, boom) || len(states(t, db)) != 0 {
		t.Errorf("error %v, jobs %v", err, states(t, db))
	}
	if err := db.InTx(t.Context(), func(ctx context.Context, tx postgres.Tx) error {
		return q.InsertTx(ctx, tx, jobs.Job{Kind: "work"})
	}); err == nil {
		t.Error("a job without a key is inserted")
	}
}

// An insert during a run is dropped: whoever relies on the queue alone loses
// work, which is why repositories carry generations.
func TestInsertDuringARunIsDropped(t *testing.T) {
	t.Parallel()
	db := migrated(t)
	started, finish := make(chan struct{}, 10), make(chan struct{})
	q := newQueue(t, jobs.Config{DB: db, Kinds: map[string]jobs.Handler{
		"work": func(context.Context, *jobs.Run) error { started <- struct{}{}; <-finish; return nil },
	}})
	job := jobs.Job{Kind: "work", Key: "1"}
	insert(t, db, q, job)
	receive(t, "the run", started)
	insert(t, db, q, job)
	insert(t, db, q, job)
	if got := states(t, db); got["running"] != 1 || len(got) != 1 {
		t.Errorf("jobs = %v, want the running one alone", got)
	}
	insert(t, db, q, jobs.Job{Kind: "work", Key: "2"})
	receive(t, "the run of another key", started)
	close(finish)
	until(t, "completed", func() bool { return states(t, db)["completed"] == 2 })
	insert(t, db, q, job)
	receive(t, "a run after the end of the first", started)
}

func TestAgainIsNoFailure(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		pause time.Duration
		runs  int
	}{
		"at once": {0, 40}, // more than the failures a job may have
		"later":   {time.Millisecond, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := migrated(t)
			runs := make(chan int, 100)
			n := 0
			q := newQueue(t, jobs.Config{DB: db, Kinds: map[string]jobs.Handler{
				"slices": func(_ context.Context, run *jobs.Run) error {
					runs <- run.Attempt
					if n++; n < tc.runs {
						return jobs.Again(tc.pause)
					}
					return nil
				},
			}})
			insert(t, db, q, jobs.Job{Kind: "slices", Key: "1"})
			for range tc.runs {
				if attempt := receive(t, "a slice", runs); attempt != 1 {
					t.Fatalf("attempt = %d", attempt)
				}
			}
			until(t, "completed", func() bool { return states(t, db)["completed"] == 1 })
			if len(runs) != 0 {
				t.Error("it ran again after its end")
			}
		})
	}
}

func TestFailureIsTriedAgain(t *testing.T) {
	t.Parallel()
	db := migrated(t)
	runs := make(chan int, 10)
	q := newQueue(t, jobs.Config{DB: db, Kinds: map[string]jobs.Handler{
		"flaky": func(_ context.Context, run *jobs.Run) error {
			runs <- run.Attempt
			switch run.Attempt {
			case 1:
				return errors.New("the first try fails")
			case 2:
				panic("the second one panics")
			}
			return nil
		},
	}})
	insert(t, db, q, jobs.Job{Kind: "flaky", Key: "1"})
	for want := 1; want <= 3; want++ {
		if got := receive(t, "a try", runs); got != want {
			t.Fatalf("attempt = %d, want %d", got, want)
		}
	}
	until(t, "completed", func() bool { return states(t, db)["completed"] == 1 })
}

func TestDeadJobs(t *testing.T) {
	t.Parallel()
	db := migrated(t)
	done := make(chan struct{}, 10)
	fail := true
	q := newQueue(t, jobs.Config{DB: db, Kinds: map[string]jobs.Handler{
		"work": func(context.Context, *jobs.Run) error {
			defer func() { done <- struct{}{} }()
			if fail {
				return jobs.Cancel(errors.New("no use"))
			}
			return nil
		},
	}})
	insert(t, db, q, jobs.Job{Kind: "work", Key: "1"})
	receive(t, "the run", done)
	until(t, "cancelled", func() bool { return states(t, db)["cancelled"] == 1 })
	dead, err := jobs.Dead(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	if len(dead) != 1 || dead[0].Kind != "work" || dead[0].Key != "1" || dead[0].Error != "JobCancelError: no use" || dead[0].At.IsZero() {
		t.Errorf("dead = %+v", dead)
	}
	fail = false
	insert(t, db, q, jobs.Job{Kind: "work", Key: "1"})
	receive(t, "a later run", done)
	until(t, "completed", func() bool { return states(t, db)["completed"] == 1 })
	if dead, err := jobs.Dead(t.Context(), db); err != nil || len(dead) != 0 {
		t.Errorf("a job done later still counts as dead: %+v, %v", dead, err)
	}
}

func TestCompleteTx(t *testing.T) {
	t.Parallel()
	db := migrated(t)
	result := make(chan error, 10)
	complete := func(ctx context.Context, run *jobs.Run, then error) error {
		return db.InTx(ctx, func(ctx context.Context, tx postgres.Tx) error {
			return errors.Join(run.CompleteTx(ctx, tx), then)
		})
	}
	boom := errors.New("boom")
	q := newQueue(t, jobs.Config{DB: db, Kinds: map[string]jobs.Handler{
		"work": func(ctx context.Context, run *jobs.Run) error {
			if err := complete(ctx, run, boom); !errors.Is(err, boom) || errors.Is(err, jobs.ErrLost) {
				result <- err
			}
			result <- complete(ctx, run, nil)
			return jobs.Again(0) // after the completion this says nothing
		},
		"lost": func(ctx context.Context, run *jobs.Run) error {
			_, err := db.Exec(ctx, `UPDATE river.river_job SET state = 'available', scheduled_at = now() + '1 hour' WHERE id = $1`, run.ID)
			result <- errors.Join(err, complete(ctx, run, nil))
			return nil
		},
	}})
	insert(t, db, q, jobs.Job{Kind: "work", Key: "1"})
	if err := receive(t, "the completion", result); err != nil {
		t.Fatal(err)
	}
	until(t, "completed", func() bool { return states(t, db)["completed"] == 1 })
	insert(t, db, q, jobs.Job{Kind: "lost", Key: "1"})
	if err := receive(t, "the lost run", result); !errors.Is(err, jobs.ErrLost) {
		t.Errorf("completing a lost job gives %v", err)
	}
	if got := states(t, db); got["available"] != 1 || got["completed"] != 1 {
		t.Errorf("jobs = %v", got)
	}
}

func TestQueueTakesOnlyItsKinds(t *testing.T) {
	t.Parallel()
	db := migrated(t)
	ran := make(chan string, 10)
	note := func(name string) jobs.Handler {
		return func(context.Context, *jobs.Run) error { ran <- name; return nil }
	}
	a := newQueue(t, jobs.Config{DB: db, Kinds: map[string]jobs.Handler{"aa": note("aa")}, Others: []string{"bb", "aa", "bb"}})
	insert(t, db, a, jobs.Job{Kind: "bb", Key: "1"})
	insert(t, db, a, jobs.Job{Kind: "aa", Key: "1"})
	if got := receive(t, "a run", ran); got != "aa" {
		t.Errorf("%s ran", got)
	}
	until(t, "a is done", func() bool { return states(t, db)["completed"] == 1 })
	if got := states(t, db); got["available"] != 1 {
		t.Errorf("the job of another kind was touched: %v", got)
	}
	newQueue(t, jobs.Config{DB: db, Kinds: map[string]jobs.Handler{"bb": note("bb")}, Others: []string{"aa"}})
	if got := receive(t, "the other run", ran); got != "bb" {
		t.Errorf("%s ran", got)
	}
}

func TestStopHandsJobsOn(t *testing.T) {
	t.Parallel()
	db := migrated(t)
	started := make(chan int, 10)
	handler := func(ctx context.Context, run *jobs.Run) error {
		started <- run.Attempt
		<-ctx.Done()
		return ctx.Err()
	}
	first, err := jobs.New(jobs.Config{DB: db, Kinds: map[string]jobs.Handler{"work": handler}})
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	insert(t, db, first, jobs.Job{Kind: "work", Key: "1"})
	receive(t, "the run", started)
	if err := first.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := states(t, db); got["available"] != 1 {
		t.Fatalf("jobs = %v, want one available", got)
	}
	newQueue(t, jobs.Config{DB: db, Kinds: map[string]jobs.Handler{"work": handler}})
	if attempt := receive(t, "the next run", started); attempt != 1 {
		t.Errorf("attempt = %d: the stop counts as a failure", attempt)
	}
}

// victimVariable makes this test binary a process that takes a job and hangs.
const victimVariable = "JOBS_TEST_VICTIM"

func TestKilledWorkersJobComesBack(t *testing.T) {
	t.Parallel()
	if dsn := os.Getenv(victimVariable); dsn != "" {
		hang(t, dsn)
	}
	db := migrated(t)
	dsn := db.Pool().Config().ConnString()
	victim := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledWorkersJobComesBack$")
	victim.Env = append(os.Environ(), victimVariable+"="+dsn)
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	inserter := newQueue(t, jobs.Config{DB: db})
	insert(t, db, inserter, jobs.Job{Kind: "work", Key: "1"})
	until(t, "the victim runs the job", func() bool { return states(t, db)["running"] == 1 })
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = victim.Wait() // it was killed

	if err := jobs.FreeLeftovers(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	ran := make(chan struct{}, 1)
	newQueue(t, jobs.Config{DB: db, Kinds: map[string]jobs.Handler{
		"work": func(context.Context, *jobs.Run) error { ran <- struct{}{}; return nil },
	}})
	receive(t, "the job comes back", ran)
}

func hang(t *testing.T, dsn string) {
	db := connect(t, dsn)
	newQueue(t, jobs.Config{DB: db, Kinds: map[string]jobs.Handler{
		"work": func(context.Context, *jobs.Run) error { select {} },
	}})
	select {}
}

// A job that has counted as running for too long is rescued, also one of a kind
// that only another process works on.
func TestStuckJobIsRescued(t *testing.T) {
	t.Parallel()
	db := migrated(t)
	inserter := newQueue(t, jobs.Config{DB: db})
	for _, kind := range []string{"ours", "theirs"} {
		insert(t, db, inserter, jobs.Job{Kind: kind, Key: "1"})
	}
	if _, err := db.Exec(t.Context(), `
		UPDATE river.river_job
		SET state = 'running', attempt = 1, attempted_at = now() - '66 seconds'::interval, attempted_by = ARRAY['a killed one']
	`); err != nil {
		t.Fatal(err)
	}
	ran := make(chan struct{}, 1)
	newQueue(t, jobs.Config{
		DB:     db,
		Kinds:  map[string]jobs.Handler{"ours": func(context.Context, *jobs.Run) error { ran <- struct{}{}; return nil }},
		Others: []string{"theirs"},
	})
	receive(t, "the rescued run", ran)
	until(t, "the other job is handed on", func() bool {
		got := states(t, db)
		return got["available"]+got["retryable"] == 1 && got["completed"] == 1
	})
}

func TestMigrateTogether(t *testing.T) {
	t.Parallel()
	db := connect(t, pgtest.Database(t, nil))
	errs := make(chan error, 3)
	for range cap(errs) {
		go func() { errs <- jobs.Migrate(t.Context(), db, nil) }()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if _, err := jobs.Dead(t.Context(), db); err != nil {
		t.Error(err)
	}
}
