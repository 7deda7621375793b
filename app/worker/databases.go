// Package worker does the jobs: it brings indexes up to date, reconciles the
// repositories of an installation, and rebuilds stored answers.
package worker

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"vault/modules/index"
	"vault/platform/postgres"
	"vault/schema"
)

// Databases opens the index databases of installations as they are needed.
type Databases struct {
	// DSN is the address of an installation's database; "{id}" in it is
	// replaced by the installation's id.
	DSN string
	Log *slog.Logger

	mu   sync.Mutex
	open map[int64]*opened
}

type opened struct {
	db    *postgres.DB
	index *index.Index
}

// idleClose is how long an unused connection stays: an installation's database
// must be able to sleep.
const idleClose = 20 * time.Second

// Parameters are set on every connection to an index database. What stands in
// one can be rebuilt from git, so a commit need not wait for the disk.
func Parameters() map[string]string {
	return map[string]string{
		"synchronous_commit": "off",
		"plan_cache_mode":    "force_custom_plan",
		"jit":                "off",
		"application_name":   "vault",
	}
}

// Index gives the index of an installation. The first use in this process
// brings its tables up to date.
func (d *Databases) Index(ctx context.Context, installation int64) (*index.Index, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if o, ok := d.open[installation]; ok {
		return o.index, nil
	}
	dsn := strings.ReplaceAll(d.DSN, "{id}", fmt.Sprint(installation))
	if err := postgres.Migrate(ctx, dsn, schema.Installation, d.Log); err != nil {
		return nil, fmt.Errorf("migrate the index of installation %d: %w", installation, err)
	}
	db, err := postgres.Open(postgres.Config{DSN: dsn, Parameters: Parameters(), IdleClose: idleClose, Log: d.Log})
	if err != nil {
		return nil, fmt.Errorf("open the index of installation %d: %w", installation, err)
	}
	o := &opened{db: db, index: index.New(db, d.Log)}
	if d.open == nil {
		d.open = map[int64]*opened{}
	}
	d.open[installation] = o
	return o.index, nil
}

// Close closes all of them.
func (d *Databases) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, o := range d.open {
		o.db.Close()
	}
	d.open = nil
}
