package installations

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"vault/platform/postgres"
)

// How long what serves callers is kept without being used.
const (
	readerSetsKept = 30 * 24 * time.Hour
	contractsKept  = 7 * 24 * time.Hour
	// seenEvery is how often a set that is seen all the time is written down.
	seenEvery = time.Hour
)

// ReaderSet is a set of repositories that a caller was lately found to read.
type ReaderSet struct {
	Hash []byte
	// Repositories are ids in ascending order.
	Repositories []int64
}

// SaveReaderSet notes that a caller reads exactly the repositories ids; hash
// identifies them.
func (s *Service) SaveReaderSet(ctx context.Context, installation int64, hash []byte, ids []int64) error {
	// Not nil even without members, which would be NULL.
	members := append(make([]int64, 0, len(ids)), ids...)
	slices.Sort(members)
	_, err := s.db.Exec(ctx, `
INSERT INTO reader_set AS s (installation_id, hash, repository_ids)
VALUES ($1, $2, $3)
ON CONFLICT (installation_id, hash) DO UPDATE
SET last_seen = now()
WHERE s.last_seen < now() - $4::interval`,
		installation, hash, members, seenEvery)
	if err != nil {
		return fmt.Errorf("save a reader set of installation %d: %w", installation, err)
	}
	return nil
}

// ReaderSets gives the sets seen in the last thirty days, the newest first.
func (s *Service) ReaderSets(ctx context.Context, installation int64) ([]ReaderSet, error) {
	rows, err := s.db.Query(ctx, `
SELECT hash, repository_ids
FROM reader_set
WHERE installation_id = $1 AND last_seen > now() - $2::interval
ORDER BY last_seen DESC, hash`, installation, readerSetsKept)
	if err != nil {
		return nil, fmt.Errorf("list the reader sets of installation %d: %w", installation, err)
	}
	sets, err := pgx.CollectRows(rows, pgx.RowToStructByPos[ReaderSet])
	if err != nil {
		return nil, fmt.Errorf("list the reader sets of installation %d: %w", installation, err)
	}
	return sets, nil
}

// View gives the stored view of a set for one version of the contract, if it
// was made from rev.
func (s *Service) View(
	ctx context.Context, installation int64, hash []byte, contract, rev string,
) (body []byte, ok bool, err error) {
	err = s.db.QueryRow(ctx, `
SELECT body
FROM view
WHERE installation_id = $1 AND set_hash = $2 AND contract = $3 AND rev = $4`,
		installation, hash, contract, rev).Scan(&body)
	if errors.Is(err, postgres.ErrNoRows) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read a view of installation %d: %w", installation, err)
	}
	return body, true, nil
}

// StoreView keeps the view of a saved set byte for byte, in place of the one
// that its version of the contract had. Views of other versions go after a
// week: until then a deployment may go back to them. A set that is gone by
// now has no use for a view.
func (s *Service) StoreView(ctx context.Context, installation int64, hash []byte, contract, rev string, body []byte) error {
	if body == nil {
		body = []byte{} // nil would be NULL
	}
	return s.db.InTx(ctx, func(ctx context.Context, tx postgres.Tx) error {
		_, err := tx.Exec(ctx, `
INSERT INTO view (installation_id, set_hash, contract, rev, body)
SELECT s.installation_id, s.hash, $3, $4, $5
FROM reader_set AS s
WHERE s.installation_id = $1 AND s.hash = $2
FOR KEY SHARE
ON CONFLICT (installation_id, set_hash, contract) DO UPDATE
SET rev = EXCLUDED.rev, body = EXCLUDED.body, built_at = now()`, installation, hash, contract, rev, body)
		if err != nil {
			return fmt.Errorf("store a view of installation %d: %w", installation, err)
		}
		_, err = tx.Exec(ctx, `
DELETE FROM view
WHERE installation_id = $1 AND set_hash = $2 AND contract <> $3 AND built_at < now() - $4::interval`,
			installation, hash, contract, contractsKept)
		if err != nil {
			return fmt.Errorf("drop old views of installation %d: %w", installation, err)
		}
		return nil
	})
}
