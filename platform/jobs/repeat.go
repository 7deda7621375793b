package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river/rivertype"

	"vault/platform/postgres"
)

// settleTimeout bounds the end of a run that went well.
const settleTimeout = 5 * time.Second

// askAgain leaves word with a running job that it was asked for once more. tx
// holds the job's row since the insert that met it, so that the job cannot end
// before the word is there.
func askAgain(ctx context.Context, tx postgres.Tx, job *rivertype.JobRow) error {
	if job.State != rivertype.JobStateRunning {
		return nil
	}
	_, err := tx.Exec(ctx, `
		UPDATE river.river_job
		SET metadata = metadata || '{"asked_again": true}'
		WHERE id = $1`, job.ID)
	return err
}

// settle ends the job of a run whose handler returned nil, if that has not
// ended it itself. It gives Again(0) where the job was asked for again during
// the run: what the run saw may be from before that.
func (w *worker) settle(ctx context.Context, run *Run) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	again := false
	err := w.queue.db.InTx(ctx, func(ctx context.Context, tx postgres.Tx) error {
		again = false
		var running, ours, asked bool
		err := tx.QueryRow(ctx, `
			SELECT
				state = 'running',
				attempted_at = $2,
				metadata ? 'asked_again'
			FROM river.river_job
			WHERE id = $1
			FOR UPDATE`, run.ID, run.job.AttemptedAt).Scan(&running, &ours, &asked)
		if errors.Is(err, postgres.ErrNoRows) {
			return nil
		}
		if err != nil || !running {
			return err
		}
		// A job that another run has by now is not for this one to end.
		if again = asked || !ours; !again {
			return run.CompleteTx(ctx, tx)
		}
		_, err = tx.Exec(ctx, `
			UPDATE river.river_job
			SET metadata = metadata - 'asked_again'
			WHERE id = $1`, run.ID)
		return err
	})
	if err != nil {
		return fmt.Errorf("end job %d: %w", run.ID, err)
	}
	if again {
		return Again(0)
	}
	return nil
}
