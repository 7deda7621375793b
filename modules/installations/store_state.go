package installations

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"vault/platform/jobs"
)

// State gives every enabled installation with its active repositories, by name.
// Findings are left out: it is read often, and they can be long.
func (s *Service) State(ctx context.Context) ([]Installation, error) {
	rows, err := s.db.Query(ctx, `
SELECT i.id, i.account, i.state, i.name, i.epoch,
       r.id, r.node_id, r.name, r.full_name, r.default_branch,
       r.wanted_gen, r.done_gen, r.indexed_head, r.vault_rev, r.complete,
       r.progress_done, r.progress_total, r.error
FROM installation AS i
LEFT JOIN repository AS r ON r.installation_id = i.id AND r.active
WHERE i.state = 'enabled' AND NOT i.suspended
ORDER BY i.name, i.id, r.name, r.id`)
	if err != nil {
		return nil, fmt.Errorf("read the installations: %w", err)
	}
	defer rows.Close()
	var list []Installation
	for rows.Next() {
		i, r, err := scanState(rows)
		if err != nil {
			return nil, fmt.Errorf("read the installations: %w", err)
		}
		if len(list) == 0 || list[len(list)-1].ID != i.ID {
			list = append(list, i)
		}
		if r.ID != 0 {
			last := &list[len(list)-1]
			last.Repositories = append(last.Repositories, r)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read the installations: %w", err)
	}
	return list, nil
}

// scanState reads one row of State; the repository's id is 0 for an
// installation without any.
func scanState(rows pgx.Rows) (Installation, Repository, error) {
	var i Installation
	var id, wanted, done *int64
	var node, name, full, branch, head, rev, failure *string
	var complete *bool
	var progress, total *int
	err := rows.Scan(&i.ID, &i.Account, &i.State, &i.Name, &i.Epoch,
		&id, &node, &name, &full, &branch, &wanted, &done, &head, &rev, &complete, &progress, &total, &failure)
	if err != nil || id == nil {
		return i, Repository{}, err
	}
	return i, Repository{
		ID: *id, Installation: i.ID, NodeID: *node, Name: *name, FullName: *full, DefaultBranch: *branch, Active: true,
		WantedGen: *wanted, DoneGen: *done, IndexedHead: *head, VaultRev: *rev, Complete: *complete,
		Done: *progress, Total: *total, Error: *failure,
	}, nil
}

// Repositories gives every repository of an installation with its findings,
// those that left it included, by name.
func (s *Service) Repositories(ctx context.Context, installation int64) ([]Repository, error) {
	rows, err := s.db.Query(ctx, `
SELECT id, installation_id, node_id, name, full_name, default_branch, active,
       wanted_gen, done_gen, indexed_head, vault_rev, complete,
       progress_done, progress_total, findings, error
FROM repository
WHERE installation_id = $1
ORDER BY name, id`, installation)
	if err != nil {
		return nil, fmt.Errorf("read the repositories of installation %d: %w", installation, err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r Repository, err error) {
		err = row.Scan(&r.ID, &r.Installation, &r.NodeID, &r.Name, &r.FullName, &r.DefaultBranch, &r.Active,
			&r.WantedGen, &r.DoneGen, &r.IndexedHead, &r.VaultRev, &r.Complete,
			&r.Done, &r.Total, &r.Findings, &r.Error)
		return r, err
	})
	if err != nil {
		return nil, fmt.Errorf("read the repositories of installation %d: %w", installation, err)
	}
	return list, nil
}

// Summary is one installation in the operator's list.
type Summary struct {
	ID                   int64
	Account, State, Name string
	// Repositories counts the active ones, Complete those whose index stands
	// at its head, Failing those whose last run failed.
	Repositories, Complete, Failing int
	// Done and Total count the notes of the builds that go on or were last.
	Done, Total int
	// Dead are the jobs that were given up, the newest first.
	Dead []Dead
}

// Dead is a job that was given up after many failures.
type Dead struct {
	Kind string
	// Repository is the full name of the repository it was about, "" for a job
	// about the installation.
	Repository string
	// Error is the text of its last failure.
	Error string
	At    time.Time
}

// List gives every installation for an operator, by id.
func (s *Service) List(ctx context.Context) ([]Summary, error) {
	rows, err := s.db.Query(ctx, `
SELECT i.id, i.account, `+shownState+`, coalesce(i.name, ''),
       count(r.id),
       count(r.id) FILTER (WHERE r.complete AND r.done_gen = r.wanted_gen),
       count(r.id) FILTER (WHERE r.error <> ''),
       coalesce(sum(r.progress_done), 0)::bigint,
       coalesce(sum(r.progress_total), 0)::bigint
FROM installation AS i
LEFT JOIN repository AS r ON r.installation_id = i.id AND r.active
GROUP BY i.id
ORDER BY i.id`)
	if err != nil {
		return nil, fmt.Errorf("list the installations: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (m Summary, err error) {
		err = row.Scan(&m.ID, &m.Account, &m.State, &m.Name, &m.Repositories, &m.Complete, &m.Failing, &m.Done, &m.Total)
		return m, err
	})
	if err != nil {
		return nil, fmt.Errorf("list the installations: %w", err)
	}
	return list, s.addDead(ctx, list)
}

// addDead gives each installation of a list its dead jobs.
func (s *Service) addDead(ctx context.Context, list []Summary) error {
	dead, err := jobs.Dead(ctx, s.db)
	if err != nil || len(dead) == 0 {
		return err
	}
	abouts := make([]int64, len(dead))
	for n, d := range dead {
		// A key of another shape is about no installation.
		if about, err := strconv.ParseInt(d.Key, 10, 64); err == nil {
			abouts[n] = about
		}
	}
	names, err := s.names(ctx, abouts)
	if err != nil {
		return err
	}
	at := make(map[int64]int, len(list))
	for n := range list {
		at[list[n].ID] = n
	}
	for n, d := range dead {
		installation, repository := abouts[n], ""
		if d.Kind == KindIndex {
			r := names[abouts[n]]
			installation, repository = r.Installation, r.FullName
		}
		if k, ok := at[installation]; ok {
			list[k].Dead = append(list[k].Dead, Dead{Kind: d.Kind, Repository: repository, Error: d.Error, At: d.At})
		}
	}
	return nil
}

// names gives the full names and installations of repositories.
func (s *Service) names(ctx context.Context, ids []int64) (map[int64]Repository, error) {
	rows, err := s.db.Query(ctx, `
SELECT id, installation_id, full_name
FROM repository
WHERE id = ANY($1)`, ids)
	if err != nil {
		return nil, fmt.Errorf("read the names of repositories: %w", err)
	}
	names := make(map[int64]Repository, len(ids))
	var r Repository
	_, err = pgx.ForEachRow(rows, []any{&r.ID, &r.Installation, &r.FullName}, func() error {
		names[r.ID] = r
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the names of repositories: %w", err)
	}
	return names, nil
}
