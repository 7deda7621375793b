package jobs_test

import (
	"context"
	"sync/atomic"
	"testing"

	"vault/platform/jobs"
	"vault/platform/postgres"
)

// A job that is asked for while it runs runs once more when its handler has
// returned nil, however often it was asked for.
func TestAJobAskedForDuringItsRunRunsOnceMore(t *testing.T) {
	t.Parallel()
	db := migrated(t)
	started, finish := make(chan struct{}, 10), make(chan struct{}, 10)
	q := newQueue(t, jobs.Config{DB: db, Kinds: map[string]jobs.Handler{
		"work": func(context.Context, *jobs.Run) error { started <- struct{}{}; <-finish; return nil },
	}})
	job := jobs.Job{Kind: "work", Key: "1"}
	insert(t, db, q, job)
	receive(t, "the run", started)
	insert(t, db, q, job)
	insert(t, db, q, job)
	finish <- struct{}{}
	receive(t, "the run that was asked for", started)
	finish <- struct{}{}
	until(t, "completed", func() bool { return states(t, db)["completed"] == 1 })
	if len(started) != 0 {
		t.Error("it ran a third time")
	}
}

// A request that was rolled back asks for nothing.
func TestARequestRolledBackDuringARunIsForgotten(t *testing.T) {
	t.Parallel()
	db := migrated(t)
	started, finish := make(chan struct{}, 10), make(chan struct{}, 10)
	q := newQueue(t, jobs.Config{DB: db, Kinds: map[string]jobs.Handler{
		"work": func(context.Context, *jobs.Run) error { started <- struct{}{}; <-finish; return nil },
	}})
	job := jobs.Job{Kind: "work", Key: "1"}
	insert(t, db, q, job)
	receive(t, "the run", started)
	err := db.InTx(t.Context(), func(ctx context.Context, tx postgres.Tx) error {
		if err := q.InsertTx(ctx, tx, job); err != nil {
			t.Errorf("insert: %v", err)
		}
		return context.Canceled
	})
	if err == nil {
		t.Fatal("the transaction was committed")
	}
	finish <- struct{}{}
	until(t, "completed", func() bool { return states(t, db)["completed"] == 1 })
	if len(started) != 0 {
		t.Error("it ran again")
	}
}

// Requests that fall anywhere around the ends of runs are all followed by a
// run that began after them.
func TestNoRequestIsLost(t *testing.T) {
	t.Parallel()
	db := migrated(t)
	var wanted, seen atomic.Int64
	q := newQueue(t, jobs.Config{DB: db, Kinds: map[string]jobs.Handler{
		"work": func(context.Context, *jobs.Run) error { seen.Store(wanted.Load()); return nil },
	}})
	const requests = 200
	for n := range int64(requests) {
		wanted.Store(n + 1)
		insert(t, db, q, jobs.Job{Kind: "work", Key: "1"})
	}
	until(t, "the last request is seen", func() bool { return seen.Load() == requests })
}

// A run whose job was given to another does not end it.
func TestARunDoesNotEndTheJobOfAnother(t *testing.T) {
	t.Parallel()
	db := migrated(t)
	var runs atomic.Int64
	first, second := make(chan struct{}), make(chan struct{})
	firstStarted, secondStarted := make(chan struct{}, 10), make(chan struct{}, 10)
	q := newQueue(t, jobs.Config{DB: db, Kinds: map[string]jobs.Handler{
		"work": func(context.Context, *jobs.Run) error {
			switch runs.Add(1) {
			case 1:
				firstStarted <- struct{}{}
				<-first
			case 2:
				secondStarted <- struct{}{}
				<-second
			}
			return nil
		},
	}})
	insert(t, db, q, jobs.Job{Kind: "work", Key: "1"})
	receive(t, "the run", firstStarted)
	if err := jobs.FreeLeftovers(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	receive(t, "the second run", secondStarted)
	close(first)
	// It is not over while the second run works: the first asks for another.
	until(t, "the third run", func() bool { return runs.Load() >= 3 })
	close(second)
	until(t, "completed", func() bool { return states(t, db)["completed"] == 1 })
}
