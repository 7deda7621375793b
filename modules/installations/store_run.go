package installations

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"vault/platform/jobs"
	"vault/platform/postgres"
)

// Work is what one run of an index job works on.
type Work struct {
	// Installation comes without its repositories.
	Installation Installation
	Repository   Repository
	// Gen is the generation that was wanted when the run began.
	Gen int64
}

// Completer ends the job of a run inside a transaction; *jobs.Run is one.
type Completer interface {
	CompleteTx(ctx context.Context, tx postgres.Tx) error
}

// Result is what a run brought about.
type Result struct {
	// Head is the commit the index stands at, VaultRev the revision of
	// `.vault/` in force there.
	Head, VaultRev string
	// Findings is encoded as JSON; nil is an empty list.
	Findings any
	// Complete says that nothing is left to do at Head.
	Complete bool
	// Done and Total count the notes of the build; a Total of 0 leaves the
	// progress as it is.
	Done, Total int
}

// Claim says what a run of an index job has to work on. It must come before
// the run reads the repository's head. ErrGone means that there is nothing to
// do.
func (s *Service) Claim(ctx context.Context, repository int64) (Work, error) {
	var w Work
	i, r := &w.Installation, &w.Repository
	err := s.db.QueryRow(ctx, `
SELECT i.id, i.account, i.state, i.name, i.epoch,
       r.id, r.node_id, r.name, r.full_name, r.default_branch,
       r.wanted_gen, r.done_gen, r.indexed_head, r.vault_rev, r.complete,
       r.progress_done, r.progress_total, r.findings, r.error
FROM repository AS r
JOIN installation AS i ON i.id = r.installation_id
WHERE r.id = $1 AND r.active AND i.state = 'enabled' AND NOT i.suspended`, repository).Scan(
		&i.ID, &i.Account, &i.State, &i.Name, &i.Epoch,
		&r.ID, &r.NodeID, &r.Name, &r.FullName, &r.DefaultBranch,
		&r.WantedGen, &r.DoneGen, &r.IndexedHead, &r.VaultRev, &r.Complete,
		&r.Done, &r.Total, &r.Findings, &r.Error)
	if errors.Is(err, postgres.ErrNoRows) {
		return Work{}, ErrGone
	}
	if err != nil {
		return Work{}, fmt.Errorf("claim repository %d: %w", repository, err)
	}
	r.Installation, r.Active, w.Gen = i.ID, true, r.WantedGen
	return w, nil
}

// Progress records how many notes of how many a build has done.
func (s *Service) Progress(ctx context.Context, w Work, done, total int) error {
	_, err := s.db.Exec(ctx, `
UPDATE repository
SET progress_done = $3, progress_total = $4, error = '', updated_at = now()
WHERE id = $1 AND installation_id = $2`, w.Repository.ID, w.Installation.ID, done, total)
	if err != nil {
		return fmt.Errorf("record the progress of repository %d: %w", w.Repository.ID, err)
	}
	return nil
}

// maxError bounds the text of a failure, in bytes.
const maxError = 2000

// Fail records why a run failed.
func (s *Service) Fail(ctx context.Context, w Work, text string) error {
	_, err := s.db.Exec(ctx, `
UPDATE repository
SET error = $3, updated_at = now()
WHERE id = $1 AND installation_id = $2`, w.Repository.ID, w.Installation.ID, storable(text))
	if err != nil {
		return fmt.Errorf("record the failure of repository %d: %w", w.Repository.ID, err)
	}
	return nil
}

// storable makes a text one that Postgres takes: bounded, valid, without NUL.
func storable(text string) string {
	text = text[:min(len(text), maxError)]
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// Complete records what a run brought about and ends its job, in one
// transaction. It leaves the job running, and again is true, if a newer
// generation is wanted by now: the handler then works once more.
func (s *Service) Complete(ctx context.Context, run Completer, w Work, result Result) (again bool, err error) {
	findings := []byte("[]")
	if result.Findings != nil {
		if findings, err = json.Marshal(result.Findings); err != nil {
			return false, fmt.Errorf("encode the findings of repository %d: %w", w.Repository.ID, err)
		}
	}
	err = s.db.InTx(ctx, func(ctx context.Context, tx postgres.Tx) error {
		now, err := lockStanding(ctx, tx, w)
		if err != nil {
			return err
		}
		if again = now.wanted > max(w.Gen, now.done); !again {
			// A job that was taken from this run meanwhile is another's to end.
			if err := run.CompleteTx(ctx, tx); err != nil && !errors.Is(err, jobs.ErrLost) {
				return fmt.Errorf("complete the run on repository %d: %w", w.Repository.ID, err)
			}
		}
		// Another run that began later has recorded something newer.
		if now.missing || now.elsewhere || now.done > w.Gen {
			return nil
		}
		if err := record(ctx, tx, w, result, findings); err != nil {
			return err
		}
		return s.tell(ctx, tx, w, now, result)
	})
	return again, err
}

// standing is how a repository stands when a run on it ends.
type standing struct {
	missing bool
	// elsewhere says that it has moved to another installation, whose index
	// the run did not work on.
	elsewhere    bool
	wanted, done int64
	vaultRev     string
	complete     bool
}

func lockStanding(ctx context.Context, tx postgres.Tx, w Work) (standing, error) {
	var now standing
	var installation int64
	err := tx.QueryRow(ctx, `
SELECT installation_id, wanted_gen, done_gen, vault_rev, complete
FROM repository
WHERE id = $1
FOR UPDATE`, w.Repository.ID).Scan(&installation, &now.wanted, &now.done, &now.vaultRev, &now.complete)
	if errors.Is(err, postgres.ErrNoRows) {
		return standing{missing: true}, nil
	}
	if err != nil {
		return standing{}, fmt.Errorf("lock repository %d: %w", w.Repository.ID, err)
	}
	now.elsewhere = installation != w.Installation.ID
	return now, nil
}

func record(ctx context.Context, tx postgres.Tx, w Work, result Result, findings []byte) error {
	_, err := tx.Exec(ctx, `
UPDATE repository
SET done_gen = $2,
    indexed_head = $3,
    vault_rev = $4,
    complete = $5,
    findings = $6,
    error = '',
    progress_done = CASE WHEN $8::bigint = 0 THEN progress_done ELSE $7 END,
    progress_total = CASE WHEN $8::bigint = 0 THEN progress_total ELSE $8 END,
    updated_at = now()
WHERE id = $1`,
		w.Repository.ID, w.Gen, result.Head, result.VaultRev, result.Complete, findings, result.Done, result.Total)
	if err != nil {
		return fmt.Errorf("record the result of repository %d: %w", w.Repository.ID, err)
	}
	return nil
}

// tell passes on what a run changed for callers: stored answers depend on
// vault_rev, and a front shows whether a repository is complete.
func (s *Service) tell(ctx context.Context, tx postgres.Tx, w Work, was standing, result Result) error {
	if was.vaultRev != result.VaultRev {
		if err := s.insertCatalogue(ctx, tx, w.Installation.ID); err != nil {
			return err
		}
		return notify(ctx, tx)
	}
	if was.complete != result.Complete {
		return notify(ctx, tx)
	}
	return nil
}
