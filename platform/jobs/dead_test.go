package jobs_test

import (
	"context"
	"errors"
	"testing"

	"vault/platform/jobs"
)

// A dead job must not come to light again when the record of the one that did
// its work is removed, which is sooner.
func TestADeadJobIsGoneOnceItsWorkIsDone(t *testing.T) {
	t.Parallel()
	db := migrated(t)
	q := newQueue(t, jobs.Config{DB: db, Kinds: map[string]jobs.Handler{
		"work": func(_ context.Context, run *jobs.Run) error {
			if string(run.Args) == `{"fail": true}` {
				return jobs.Cancel(errors.New("it cannot be done"))
			}
			return nil
		},
	}})
	fail := []byte(`{"fail": true}`)
	insert(t, db, q, jobs.Job{Kind: "work", Key: "1", Args: fail})
	insert(t, db, q, jobs.Job{Kind: "work", Key: "2", Args: fail})
	until(t, "both are dead", func() bool { return states(t, db)["cancelled"] == 2 })
	insert(t, db, q, jobs.Job{Kind: "work", Key: "1"})
	until(t, "it is done", func() bool { return states(t, db)["completed"] == 1 })
	if _, err := db.Exec(t.Context(), `DELETE FROM river.river_job WHERE state = 'completed'`); err != nil {
		t.Fatal(err)
	}
	dead, err := jobs.Dead(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	if len(dead) != 1 || dead[0].Key != "2" || dead[0].Error == "" {
		t.Errorf("dead = %+v, want the one of key 2", dead)
	}
}
