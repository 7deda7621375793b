// Package jobs is the job queue in the control database, made on River.
//
// A job is of a kind and has a key: while a job of the same kind and key waits
// or runs, another one is not inserted. A job that was running then runs once
// more when its handler has returned nil. A handler that ends its job itself,
// in the transaction that records what it did, must find out there whether
// there is more to do; what it works on carries a generation for that.
//
// Every kind is a queue of its own, so that a process takes only jobs of the
// kinds it has handlers for.
package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"vault/platform/postgres"
)

const (
	// schemaName is where River keeps its tables, apart from ours.
	schemaName = "river"
	// Timeout is how long one run may take; its context ends then.
	Timeout = 60 * time.Second
	// rescueAfter is when a job that still counts as running is taken to be that
	// of a killed process. It is above Timeout, so no live run is taken.
	rescueAfter = 65 * time.Second
	// maxAttempts is how many runs may fail before a job is dead: with the pauses
	// of backoff, an outage of an hour and a half is survived.
	maxAttempts = 25
	// deadKept is how long a job that was given up is listed.
	deadKept = 7 * 24 * time.Hour
	// fetchCooldown is the least time between two fetches, which a notification
	// of a new job triggers.
	fetchCooldown = 10 * time.Millisecond
	// defaultPoll is how often jobs are looked for without a notification.
	defaultPoll    = 500 * time.Millisecond
	defaultWorkers = 4
)

// Job is work to be done.
type Job struct {
	// Kind says which handler does it: lower-case letters, digits, underscores.
	Kind string
	// Key tells jobs of one kind apart. It is not empty.
	Key string
	// Args is what the handler is given; nil is none.
	Args json.RawMessage
}

// Handler does a job. It returns nil when the job is done, Again to go on
// later, Cancel when trying again is pointless, and any other error to be
// tried again after a pause. Its context ends after Timeout and when the
// process stops; it may be run again although it has succeeded.
type Handler func(ctx context.Context, run *Run) error

// Config says what a queue works on.
type Config struct {
	// DB is the control database, with room for connections of the queue itself:
	// one that listens and a few short ones.
	DB  *postgres.DB
	Log *slog.Logger
	// Kinds are the handlers of the kinds this process works on. Without any, the
	// queue only inserts.
	Kinds map[string]Handler
	// Others are kinds that other processes work on. One process of all looks
	// after jobs of killed ones, and gives up those of kinds it does not know.
	Others []string
	// Workers is how many jobs of one kind run at once; 0 means 4.
	Workers int
	// Poll is how often jobs are looked for when no notification comes; 0 means
	// half a second.
	Poll time.Duration
}

// Queue inserts jobs and works on those of its kinds. It is safe for
// concurrent use.
type Queue struct {
	client   *river.Client[pgx.Tx]
	db       *postgres.DB
	works    bool
	stopping atomic.Bool
	log      *slog.Logger
}

// New makes a queue. It makes no connection.
func New(c Config) (*Queue, error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	q := &Queue{db: c.DB, works: len(c.Kinds) > 0, log: c.Log}
	config := &river.Config{
		Schema:                      schemaName,
		Logger:                      slog.New(quiet{c.Log.Handler()}),
		ErrorHandler:                &reporter{log: c.Log},
		FetchCooldown:               fetchCooldown,
		FetchPollInterval:           max(fetchCooldown, orDefault(c.Poll, defaultPoll)),
		JobTimeout:                  Timeout,
		RescueStuckJobsAfter:        rescueAfter,
		MaxAttempts:                 maxAttempts,
		CancelledJobRetentionPeriod: deadKept,
		DiscardedJobRetentionPeriod: deadKept,
		RetryPolicy:                 backoff{},
		SkipUnknownJobCheck:         true,
	}
	if q.works {
		config.Workers, config.Queues = q.workers(c)
	}
	client, err := river.NewClient(riverpgxv5.New(c.DB.Pool()), config)
	if err != nil {
		return nil, fmt.Errorf("make the job queue: %w", err)
	}
	q.client = client
	return q, nil
}

func orDefault[T int | time.Duration](v, fallback T) T {
	if v <= 0 {
		return fallback
	}
	return v
}

// workers registers all kinds and opens the queues of our own.
func (q *Queue) workers(c Config) (*river.Workers, map[string]river.QueueConfig) {
	workers := river.NewWorkers()
	queues := map[string]river.QueueConfig{}
	for kind, handle := range c.Kinds {
		river.AddWorkerArgs(workers, args{kind: kind}, &worker{queue: q, handle: handle})
		queues[kind] = river.QueueConfig{MaxWorkers: orDefault(c.Workers, defaultWorkers)}
	}
	others := slices.Clone(c.Others)
	slices.Sort(others)
	for _, kind := range slices.Compact(others) {
		if _, ok := c.Kinds[kind]; !ok {
			// Known, so that its stuck jobs are rescued; its queue is not fetched.
			river.AddWorkerArgs(workers, args{kind: kind}, &worker{queue: q, handle: notOurs})
		}
	}
	return workers, queues
}

func notOurs(context.Context, *Run) error {
	return errors.New("this process does not work on this kind")
}

// Start begins to work. ctx bounds the start alone; Stop ends the work. A queue
// that only inserts has nothing to start.
func (q *Queue) Start(ctx context.Context) error {
	if !q.works {
		return nil
	}
	if err := q.client.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("start the job queue: %w", err)
	}
	return nil
}

// Stop ends the contexts of running jobs and waits for them until ctx ends. A
// job that was cut short is taken up again by the next process, at once.
func (q *Queue) Stop(ctx context.Context) error {
	if !q.works {
		return nil
	}
	q.stopping.Store(true)
	if err := q.client.StopAndCancel(ctx); err != nil {
		return fmt.Errorf("stop the job queue: %w", err)
	}
	return nil
}

// InsertTx inserts a job when tx commits. Where one of the same kind and key
// waits or runs already, nothing is inserted and that one is to do the work: a
// running one by running again.
func (q *Queue) InsertTx(ctx context.Context, tx postgres.Tx, job Job) error {
	if job.Key == "" {
		return fmt.Errorf("insert a job of kind %s: it has no key", job.Kind)
	}
	a := args{kind: job.Kind, Key: job.Key, Args: job.Args}
	result, err := q.client.InsertTx(ctx, tx.Raw(), a, &river.InsertOpts{
		Queue:      job.Kind,
		UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: liveStates()},
	})
	if err == nil && result.UniqueSkippedAsDuplicate {
		err = askAgain(ctx, tx, result.Job)
	}
	if err != nil {
		return fmt.Errorf("insert job %s %s: %w", job.Kind, job.Key, err)
	}
	return nil
}

// liveStates are those of a job that will still do its work.
func liveStates() []rivertype.JobState {
	return []rivertype.JobState{
		rivertype.JobStateAvailable,
		rivertype.JobStatePending,
		rivertype.JobStateRetryable,
		rivertype.JobStateRunning,
		rivertype.JobStateScheduled,
	}
}

// args is a job as River stores it.
type args struct {
	kind string
	Key  string          `json:"key" river:"unique"`
	Args json.RawMessage `json:"args,omitempty"`
}

// Kind names the kind for River.
func (a args) Kind() string { return a.kind }
