package index

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"vault/modules/vaultdir"
	"vault/platform/fault"
	"vault/platform/postgres"
)

// Snapshot is one state of the index as one caller may see it: a read-only
// transaction together with the caller's scope. All its methods see the same
// heads, and none gives anything of a repository outside the scope, of a
// closed folder, or of a file that a caller cannot name.
//
// A Snapshot is used by one goroutine at a time and must be closed.
type Snapshot struct {
	index *Index
	tx    *postgres.ReadTx
	scope Scope
	repos []Repo
	// planned says that planFor was called.
	planned bool
}

const reposSQL = `
SELECT id, node_id, name, full_name, web_url, default_branch, branch,
       head, head_at, history_head, complete, done, total, started_at, format, vault_rev, settled
FROM repo
WHERE active AND id = ANY($1)
ORDER BY name COLLATE "C", id`

// Snapshot opens a snapshot for a caller.
func (x *Index) Snapshot(ctx context.Context, scope Scope) (*Snapshot, error) {
	tx, err := x.db.ReadSnapshot(ctx)
	if err != nil {
		return nil, err
	}
	s := &Snapshot{index: x, tx: tx, scope: scope}
	if err := s.readRepos(ctx); err != nil {
		tx.Close(ctx)
		return nil, fmt.Errorf("open a snapshot: %w", err)
	}
	return s, nil
}

// Close ends the snapshot. Closing twice is harmless.
func (s *Snapshot) Close() { s.tx.Close(context.Background()) }

func (s *Snapshot) readRepos(ctx context.Context) error {
	revs, err := s.collectRepos(ctx)
	if err != nil {
		return err
	}
	for i := range s.repos {
		if s.repos[i].Dir, err = s.dir(ctx, s.repos[i], revs[i]); err != nil {
			return err
		}
	}
	return nil
}

// planFor lets the plans of the queries that follow be made for the values at
// hand: one made for any value reads everything where a pattern or a folder
// narrows it down. Queries by a key are better off without.
func (s *Snapshot) planFor(ctx context.Context) error {
	if s.planned {
		return nil
	}
	if _, err := s.tx.Exec(ctx, `SET LOCAL plan_cache_mode = force_custom_plan`); err != nil {
		return fmt.Errorf("choose how queries are planned: %w", err)
	}
	s.planned = true
	return nil
}

func (s *Snapshot) collectRepos(ctx context.Context) (revs []vaultdir.Rev, err error) {
	rows, err := s.tx.Query(ctx, reposSQL, s.scope.IDs())
	if err != nil {
		return nil, err
	}
	s.repos, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (Repo, error) {
		var r Repo
		var head, history []byte
		var headAt, started *time.Time
		var rev vaultdir.Rev
		err := row.Scan(&r.ID, &r.NodeID, &r.Name, &r.FullName, &r.WebURL, &r.DefaultBranch, &r.Branch,
			&head, &headAt, &history, &r.Complete, &r.Done, &r.Total, &started, &r.format, &rev, &r.settled)
		r.Head, r.HistoryHead = oidOf(head), oidOf(history)
		r.HeadAt, r.Started = timeOf(headAt), timeOf(started)
		r.CanWrite = s.scope.CanWrite(r.ID)
		revs = append(revs, rev)
		return r, err
	})
	return revs, err
}

func timeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

// dir gives what a repository's .vault/ folder says at one revision.
func (s *Snapshot) dir(ctx context.Context, r Repo, rev vaultdir.Rev) (*vaultdir.Repo, error) {
	if rev == "" {
		return vaultdir.Plain(r.Name), nil
	}
	key := dirKey{repo: r.ID, name: r.Name, rev: rev}
	if dir, ok := s.index.dirs.GetIfPresent(key); ok {
		return dir, nil
	}
	files, err := readVault(ctx, s.tx, r.ID)
	if err != nil {
		return nil, err
	}
	dir, _ := dirOf(r.Name, files)
	s.index.dirs.Set(key, dir)
	return dir, nil
}

// Person gives who the snapshot was opened for.
func (s *Snapshot) Person() Person { return s.scope.Person() }

// Repos lists the readable repositories by name.
func (s *Snapshot) Repos() []Repo { return append([]Repo(nil), s.repos...) }

// Repo gives a readable repository by name.
func (s *Snapshot) Repo(name string) (Repo, bool) {
	for _, r := range s.repos {
		if r.Name == name {
			return r, true
		}
	}
	return Repo{}, false
}

// readable gives the repositories with these names, by name; all complete
// ones for no names.
func (s *Snapshot) readable(names []string) ([]Repo, error) {
	if len(names) == 0 {
		var all []Repo
		for _, r := range s.repos {
			if r.Complete {
				all = append(all, r)
			}
		}
		return all, nil
	}
	wanted := make(map[string]bool, len(names))
	for _, name := range names {
		if _, err := s.one(name); err != nil {
			return nil, err
		}
		wanted[name] = true
	}
	var out []Repo
	for _, r := range s.repos {
		if wanted[r.Name] {
			out = append(out, r)
		}
	}
	return out, nil
}

// one gives a readable repository, or an error that does not tell a
// repository that cannot be read from one that does not exist.
func (s *Snapshot) one(name string) (Repo, error) {
	r, ok := s.Repo(name)
	if !ok {
		return Repo{}, fault.NotFound("There is no repository %s that you can read", fault.Quote(name)).On("repo")
	}
	return r, nil
}
