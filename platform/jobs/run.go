package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"vault/platform/postgres"
)

// ErrLost says that the job is no longer this run's: it took so long that the
// job was given to another run, or was cancelled.
var ErrLost = errors.New("the job was taken from this run")

// Run is one try at a job.
type Run struct {
	// ID is that of the job; all its runs share it.
	ID int64
	// Attempt counts from 1 and does not count runs that asked for Again.
	Attempt int
	// Key and Args are those it was inserted with.
	Key  string
	Args json.RawMessage

	job       *river.Job[args]
	completed bool // or taken away: the handler is not to be run again
}

// CompleteTx marks the job as done when tx commits; from then on an insert of
// the same key is a new job. The handler returns nil or Again afterwards, which
// changes nothing any more. It gives ErrLost if the job is not this run's any
// more.
func (r *Run) CompleteTx(ctx context.Context, tx postgres.Tx) error {
	r.completed = true
	done, err := river.JobCompleteTx[*riverpgxv5.Driver, pgx.Tx](ctx, tx.Raw(), r.job)
	if errors.Is(err, rivertype.ErrNotFound) {
		return ErrLost
	}
	if err != nil {
		return fmt.Errorf("complete job %d: %w", r.ID, err)
	}
	if done.State != rivertype.JobStateCompleted {
		return ErrLost
	}
	return r.bury(ctx, tx)
}

// bury removes earlier jobs of the key that were given up. Completed jobs are
// kept for a shorter time, so that they would come to light again.
func (r *Run) bury(ctx context.Context, tx postgres.Tx) error {
	_, err := tx.Exec(ctx, `
		DELETE FROM river.river_job
		WHERE state IN ('discarded', 'cancelled')
			AND finalized_at IS NOT NULL
			AND kind = $1
			AND args->>'key' = $2
			AND id < $3`, r.job.Kind, r.Key, r.ID)
	if err != nil {
		return fmt.Errorf("remove the dead jobs before %d: %w", r.ID, err)
	}
	return nil
}

// Again is returned by a handler that has more to do: the job is run again
// after d, without counting as a failure. With a d of 0, a run that has been
// short goes on at once; a longer one lets other jobs go first.
func Again(d time.Duration) error { return river.JobSnooze(max(d, 0)) }

// Cancel is returned by a handler for which trying again is pointless. The job
// counts as dead.
func Cancel(err error) error { return river.JobCancel(err) }

// worker makes a handler a River worker.
type worker struct {
	river.WorkerDefaults[args]
	queue  *Queue
	handle Handler
}

// goOn is how long a run may have been to go on at once when it asks for that:
// a handler's share of Timeout must fit in behind it.
const goOn = 10 * time.Second

// Work runs the handler. A run cut short by the stop of the process has not
// failed: it is done again by the next one.
func (w *worker) Work(ctx context.Context, job *river.Job[args]) error {
	run := &Run{ID: job.ID, Attempt: job.Attempt, Key: job.Args.Key, Args: job.Args.Args, job: job}
	start := time.Now()
	err := w.once(ctx, run)
	for wantsOn(err) && !run.completed && ctx.Err() == nil && time.Since(start) < goOn {
		err = w.once(ctx, run)
	}
	if err != nil && ctx.Err() != nil && w.queue.stopping.Load() {
		return Again(0)
	}
	return err
}

// once runs the handler once and ends the job if that went well.
func (w *worker) once(ctx context.Context, run *Run) error {
	if err := w.handle(ctx, run); err != nil {
		return err
	}
	return w.settle(ctx, run)
}

// wantsOn reports whether a handler wants to be run again without a pause.
func wantsOn(err error) bool {
	snooze, ok := errors.AsType[*river.JobSnoozeError](err)
	return ok && snooze.Duration == 0
}

const (
	firstPause = time.Second
	maxPause   = 5 * time.Minute
)

// backoff doubles the pause with each failure.
type backoff struct{}

// NextRetry gives the time of the next try.
func (backoff) NextRetry(job *rivertype.JobRow) time.Time {
	return time.Now().Add(pauseAfter(job.Attempt))
}

// pauseAfter is 1, 2, 4 … seconds after the first, second, third … failure, and
// at most five minutes.
func pauseAfter(failures int) time.Duration {
	const shifts = 9 // 2^9 seconds are over the most
	return min(firstPause<<min(max(failures-1, 0), shifts), maxPause)
}
