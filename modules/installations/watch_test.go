package installations_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"vault/modules/installations"
)

// watched counts the calls of a Watch that runs until the test ends.
func (w world) watched(t *testing.T) *atomic.Int64 {
	t.Helper()
	var calls atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- w.Watch(ctx, func(context.Context) { calls.Add(1) })
	}()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("watch: %v", err)
			}
		case <-time.After(10 * time.Second):
			t.Error("watch does not end with its context")
		}
	})
	await(t, "the first call", func() bool { return calls.Load() > 0 })
	return &calls
}

// soon is well below the poll, so that only a notification can be the cause.
const soon = 3 * time.Second

func TestWatchTellsOfEveryChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.acme(t, repo(1, "handbook"))
	calls := w.watched(t)
	for _, c := range []struct {
		name   string
		change func() error
	}{
		{"sync", func() error { return w.Sync(ctx, 7, []installations.Repository{repo(1, "handbook"), repo(2, "new")}) }},
		{"rights", func() error {
			_, err := w.RecordDelivery(ctx, installations.Delivery{GUID: "g", Event: "member", Installation: 7})
			return err
		}},
		{"complete", func() error {
			work, err := w.Claim(ctx, 1)
			if err != nil {
				return err
			}
			_, err = w.Complete(ctx, ended{}, work, installations.Result{Head: "h", VaultRev: "r", Complete: true})
			return err
		}},
		{"disable", func() error { return w.Disable(ctx, "7") }},
		{"enable", func() error { _, err := w.Enable(ctx, "7", "other"); return err }},
	} {
		before, start := calls.Load(), time.Now()
		must(t, c.change())
		await(t, c.name, func() bool { return calls.Load() > before })
		if waited := time.Since(start); waited > soon {
			t.Errorf("%s was told after %v", c.name, waited)
		}
	}
}

func TestWatchPolls(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	calls := w.watched(t)
	before, start := calls.Load(), time.Now()
	await(t, "a poll", func() bool { return calls.Load() > before })
	if waited := time.Since(start); waited > 8*time.Second {
		t.Errorf("the poll came after %v", waited)
	}
}

func TestWatchSurvivesItsConnection(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.acme(t)
	calls := w.watched(t)
	before := calls.Load()
	_, err := w.db.Exec(t.Context(), `
SELECT pg_terminate_backend(pid)
FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	must(t, err)
	// It calls when it listens again: what was missed meanwhile is in State.
	await(t, "it listens again", func() bool { return calls.Load() > before })
	before = calls.Load()
	start := time.Now()
	await(t, "a change is told", func() bool {
		_, err := w.Enable(t.Context(), "7", "acme")
		return err == nil && calls.Load() > before
	})
	if waited := time.Since(start); waited > soon {
		t.Errorf("a change was told after %v", waited)
	}
}
