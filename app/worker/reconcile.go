package worker

import (
	"context"
	"log/slog"
	"time"

	"vault/modules/installations"
)

// Reconciler asks GitHub again, at the start and once a day, which
// repositories an installation has: deliveries can be lost, and for some
// changes GitHub sends none.
type Reconciler struct {
	Control *installations.Service
	Log     *slog.Logger
}

// reconcileEvery is how often all installations are looked at.
const reconcileEvery = 24 * time.Hour

// Run asks until ctx ends.
func (r *Reconciler) Run(ctx context.Context) error {
	tick := time.NewTicker(reconcileEvery)
	defer tick.Stop()
	for {
		r.request(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// request puts a sync job for each enabled installation into the queue.
func (r *Reconciler) request(ctx context.Context) {
	state, err := r.Control.State(ctx)
	if err != nil {
		r.Log.Warn("the installations could not be listed for reconciliation", "error", err)
		return
	}
	for _, i := range state {
		if err := r.Control.RequestSync(ctx, i.ID); err != nil {
			r.Log.Warn("an installation could not be reconciled", "installation", i.ID, "error", err)
		}
	}
}
