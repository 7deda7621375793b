package installations

import (
	"context"
	"errors"
	"fmt"

	"vault/platform/fault"
	"vault/platform/postgres"
)

// Delivery is a webhook event as far as this package cares.
type Delivery struct {
	// GUID is GitHub's id of the delivery; a repeated one keeps it.
	GUID          string
	Event, Action string
	// Installation and Repository are ids, 0 where the event names none.
	Installation, Repository int64
	// Branch is the branch that a push moved. One to another than the default
	// branch asks for nothing; "" counts as one to it.
	Branch string
	// Account is the login of the installation's owner where the event tells.
	Account string
	// Gone are the ids of repositories that the event says the installation no
	// longer has.
	Gone []int64
}

// The bounds of a delivery.
const (
	maxWord = 300
	maxGone = 100_000
)

func (d Delivery) check() error {
	if d.GUID == "" || d.Event == "" {
		return fault.Invalid("a delivery needs an id and an event")
	}
	for _, word := range []string{d.GUID, d.Event, d.Action, d.Account, d.Branch} {
		if len(word) > maxWord || storable(word) != word {
			return fault.Invalid("%s is not a word of a delivery", fault.Quote(word))
		}
	}
	if len(d.Gone) > maxGone {
		return fault.Invalid("a delivery names at most %d repositories", maxGone)
	}
	return nil
}

// RecordDelivery takes in a webhook event, in one transaction. fresh is false
// for a delivery that was taken in before; then nothing happens.
func (s *Service) RecordDelivery(ctx context.Context, d Delivery) (fresh bool, err error) {
	if err := d.check(); err != nil {
		return false, err
	}
	err = s.db.InTx(ctx, func(ctx context.Context, tx postgres.Tx) error {
		tag, err := tx.Exec(ctx, `
INSERT INTO delivery (guid, event, action, installation_id, repository_id)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (guid) DO NOTHING`, d.GUID, d.Event, d.Action, d.Installation, d.Repository)
		if err != nil {
			return fmt.Errorf("record delivery %s: %w", fault.Quote(d.GUID), err)
		}
		if fresh = tag.RowsAffected() == 1; !fresh {
			return nil
		}
		return s.act(ctx, tx, d)
	})
	return fresh && err == nil, err
}

// act does what an event asks for.
func (s *Service) act(ctx context.Context, tx postgres.Tx, d Delivery) error {
	switch d.Event {
	case "push":
		return s.push(ctx, tx, d)
	case "installation":
		if err := setInstallation(ctx, tx, d); err != nil {
			return err
		}
		return s.changed(ctx, tx, d)
	case "installation_target":
		if d.Account != "" && d.Installation != 0 {
			if err := register(ctx, tx, d.Installation, d.Account); err != nil {
				return err
			}
		}
		return s.changed(ctx, tx, d)
	case "repository":
		if d.Action == "deleted" && d.Repository != 0 {
			d.Gone = append(d.Gone[:len(d.Gone):len(d.Gone)], d.Repository)
		}
		return s.changed(ctx, tx, d)
	case "installation_repositories":
		return s.changed(ctx, tx, d)
	case "github_app_authorization", "member", "membership", "organization", "public", "team", "team_add":
		return raise(ctx, tx, d.Installation)
	}
	return nil
}

// setInstallation follows what GitHub says about an installation itself.
func setInstallation(ctx context.Context, tx postgres.Tx, d Delivery) error {
	if d.Installation == 0 {
		return nil
	}
	if d.Account != "" && d.Action != "deleted" {
		if err := register(ctx, tx, d.Installation, d.Account); err != nil {
			return err
		}
	}
	var err error
	switch d.Action {
	case "suspend", "unsuspend":
		_, err = tx.Exec(ctx, `
UPDATE installation
SET suspended = $2, updated_at = now()
WHERE id = $1`, d.Installation, d.Action == "suspend")
	case "deleted":
		// The name becomes free: the account gets a new id if it comes back.
		_, err = tx.Exec(ctx, `
UPDATE installation
SET state = 'deleted', name = NULL, updated_at = now()
WHERE id = $1`, d.Installation)
		if err == nil {
			err = leave(ctx, tx, d.Installation, nil)
		}
	}
	if err != nil {
		return fmt.Errorf("note that installation %d is %s: %w", d.Installation, fault.Quote(d.Action), err)
	}
	return nil
}

// changed raises the epoch of an installation whose repositories may have
// changed, takes away at once those that the event says are gone, and asks
// for the whole list.
func (s *Service) changed(ctx context.Context, tx postgres.Tx, d Delivery) error {
	if d.Installation == 0 {
		return nil
	}
	if err := raise(ctx, tx, d.Installation); err != nil {
		return err
	}
	if len(d.Gone) > 0 {
		if err := leave(ctx, tx, d.Installation, d.Gone); err != nil {
			return err
		}
	}
	return s.requestSync(ctx, tx, d.Installation)
}

// raise raises the epoch of an installation, or of all for 0: a person who
// takes back what the App may do for them has done so everywhere.
func raise(ctx context.Context, tx postgres.Tx, installation int64) error {
	// Locked in one order, so that two of these cannot wait for each other.
	_, err := tx.Exec(ctx, `
UPDATE installation
SET epoch = epoch + 1, updated_at = now()
WHERE id IN (
    SELECT id
    FROM installation
    WHERE $1::bigint = 0 OR id = $1
    ORDER BY id
    FOR UPDATE
)`, installation)
	if err != nil {
		return fmt.Errorf("raise the epoch of installation %d: %w", installation, err)
	}
	return notify(ctx, tx)
}

// leave marks repositories of an installation as gone, all for nil, and erases
// the stored answers that were made from them. The caller holds the
// installation's row.
func leave(ctx context.Context, tx postgres.Tx, installation int64, gone []int64) error {
	_, err := tx.Exec(ctx, `
UPDATE repository
SET active = false, inactive_since = now(), updated_at = now()
WHERE id IN (
    SELECT id
    FROM repository
    WHERE installation_id = $1 AND active AND ($2::bigint[] IS NULL OR id = ANY($2))
    ORDER BY id
    FOR UPDATE
)`, installation, gone)
	if err != nil {
		return fmt.Errorf("mark repositories of installation %d as gone: %w", installation, err)
	}
	_, err = tx.Exec(ctx, `
DELETE FROM reader_set
WHERE installation_id = $1 AND ($2::bigint[] IS NULL OR repository_ids && $2)`, installation, gone)
	if err != nil {
		return fmt.Errorf("erase stored answers of installation %d: %w", installation, err)
	}
	return nil
}

// Push notes that the branch of a repository moved.
func (s *Service) Push(ctx context.Context, installation, repository int64) error {
	return s.db.InTx(ctx, func(ctx context.Context, tx postgres.Tx) error {
		return s.push(ctx, tx, Delivery{Installation: installation, Repository: repository})
	})
}

// push raises the wanted generation before it inserts the job: a run that
// ends in between finds the new generation or has made room for the job. A
// repository that is not known asks for the list: an event was missed.
func (s *Service) push(ctx context.Context, tx postgres.Tx, d Delivery) error {
	var wanted bool
	err := tx.QueryRow(ctx, `
UPDATE repository
SET wanted_gen = wanted_gen + CASE WHEN $3 IN ('', default_branch) THEN 1 ELSE 0 END, updated_at = now()
WHERE id = $1 AND active AND ($2::bigint = 0 OR installation_id = $2)
RETURNING $3 IN ('', default_branch)`, d.Repository, d.Installation, d.Branch).Scan(&wanted)
	if errors.Is(err, postgres.ErrNoRows) {
		return s.requestSync(ctx, tx, d.Installation)
	}
	if err != nil {
		return fmt.Errorf("note a push to repository %d: %w", d.Repository, err)
	}
	if !wanted {
		return nil
	}
	// Asked only now that the row is locked: an installation that is enabled
	// after this gets its jobs from the sync that follows.
	var on bool
	err = tx.QueryRow(ctx, `
SELECT i.state = 'enabled' AND NOT i.suspended
FROM repository AS r
JOIN installation AS i ON i.id = r.installation_id
WHERE r.id = $1`, d.Repository).Scan(&on)
	if err != nil {
		return fmt.Errorf("note a push to repository %d: %w", d.Repository, err)
	}
	if !on {
		return nil
	}
	return s.insertIndex(ctx, tx, d.Repository)
}
