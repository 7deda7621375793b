package installations

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"vault/platform/fault"
	"vault/platform/postgres"
)

// shownState is the SQL of an installation's state as callers see it.
const shownState = `CASE WHEN i.suspended AND i.state = 'enabled' THEN 'suspended' ELSE i.state END`

// Register notes an installation that GitHub told of: pending if it is new,
// else only its account's login is brought up to date.
func (s *Service) Register(ctx context.Context, id int64, account string) error {
	return register(ctx, s.db, id, account)
}

func register(ctx context.Context, q postgres.Querier, id int64, account string) error {
	_, err := q.Exec(ctx, `
INSERT INTO installation AS i (id, account)
VALUES ($1, $2)
ON CONFLICT (id) DO UPDATE
SET account = EXCLUDED.account, updated_at = now()
WHERE i.account <> EXCLUDED.account`, id, account)
	if err != nil {
		return fmt.Errorf("register installation %d: %w", id, err)
	}
	return nil
}

// Enable serves an installation, given by its id or its account's login, under
// a name; "" keeps the name that it has. It may be enabled already: then its
// name changes. What is wrong is a *fault.Error.
func (s *Service) Enable(ctx context.Context, idOrAccount, name string) (Installation, error) {
	var found Installation
	err := s.db.InTx(ctx, func(ctx context.Context, tx postgres.Tx) error {
		var err error
		if found, err = find(ctx, tx, idOrAccount); err != nil {
			return err
		}
		if name != "" {
			found.Name = name
		}
		if err := CheckName(found.Name); err != nil {
			return err
		}
		if found.State == StateDeleted {
			return fault.Conflict("installation %d was removed at GitHub", found.ID).
				Fix("Install the App again: that gives a new installation")
		}
		found.State = StateEnabled
		err = tx.QueryRow(ctx, `
UPDATE installation AS i
SET state = 'enabled', name = $2, epoch = epoch + 1, updated_at = now()
WHERE id = $1
RETURNING epoch, `+shownState, found.ID, found.Name).Scan(&found.Epoch, &found.State)
		if err != nil {
			return fmt.Errorf("enable installation %d: %w", found.ID, err)
		}
		if err := s.insertSync(ctx, tx, found.ID); err != nil {
			return err
		}
		return notify(ctx, tx)
	})
	if postgres.IsUnique(err) {
		return Installation{}, fault.Conflict("the name %s is in use by another installation", fault.Quote(found.Name)).
			On("name").Fix("Choose another name").Because(err)
	}
	if err != nil {
		return Installation{}, err
	}
	return found, nil
}

// Disable stops serving an installation at once. Its name stays its own.
func (s *Service) Disable(ctx context.Context, idOrAccount string) error {
	return s.db.InTx(ctx, func(ctx context.Context, tx postgres.Tx) error {
		found, err := find(ctx, tx, idOrAccount)
		if err != nil {
			return err
		}
		if found.State == StateDeleted || found.State == StateDisabled {
			return nil
		}
		_, err = tx.Exec(ctx, `
UPDATE installation
SET state = 'disabled', epoch = epoch + 1, updated_at = now()
WHERE id = $1`, found.ID)
		if err != nil {
			return fmt.Errorf("disable installation %d: %w", found.ID, err)
		}
		return notify(ctx, tx)
	})
}

// find gives the installation that an operator means and locks it. A login can
// consist of digits, so that an id is looked for first; of several
// installations of a login, those removed at GitHub do not count.
func find(ctx context.Context, tx postgres.Tx, idOrAccount string) (Installation, error) {
	id, err := strconv.ParseInt(idOrAccount, 10, 64)
	if err != nil {
		id = 0
	}
	var found Installation
	err = tx.QueryRow(ctx, `
SELECT i.id, i.account, `+shownState+`, coalesce(i.name, ''), i.epoch
FROM installation AS i
WHERE i.id = $1 OR lower(i.account) = lower($2)
ORDER BY i.id <> $1, i.state = 'deleted', i.id DESC
LIMIT 1
FOR UPDATE`, id, idOrAccount).Scan(&found.ID, &found.Account, &found.State, &found.Name, &found.Epoch)
	if errors.Is(err, postgres.ErrNoRows) {
		return Installation{}, fault.NotFound("there is no installation %s", fault.Quote(idOrAccount)).
			Fix("See what is there with `vault installations list`: an installation appears once GitHub has told of it")
	}
	if err != nil {
		return Installation{}, fmt.Errorf("find installation %s: %w", fault.Quote(idOrAccount), err)
	}
	return found, nil
}

// RequestSync asks for a comparison of an enabled installation with GitHub's
// list. For any other it does nothing.
func (s *Service) RequestSync(ctx context.Context, installation int64) error {
	return s.db.InTx(ctx, func(ctx context.Context, tx postgres.Tx) error {
		return s.requestSync(ctx, tx, installation)
	})
}

func (s *Service) requestSync(ctx context.Context, tx postgres.Tx, installation int64) error {
	on, err := served(ctx, tx, installation)
	if err != nil || !on {
		return err
	}
	return s.insertSync(ctx, tx, installation)
}

// served tells whether an installation is enabled and not suspended.
func served(ctx context.Context, tx postgres.Tx, installation int64) (bool, error) {
	var on bool
	err := tx.QueryRow(ctx, `
SELECT EXISTS (
    SELECT FROM installation
    WHERE id = $1 AND state = 'enabled' AND NOT suspended
)`, installation).Scan(&on)
	if err != nil {
		return false, fmt.Errorf("read the state of installation %d: %w", installation, err)
	}
	return on, nil
}
