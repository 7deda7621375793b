// Package acme holds Acme, the sample organisation of `vault dev`: an invented
// chain of household shops with two repositories of notes and their history
// over one year.
//
// The repositories are made from embedded files, commit by commit, and come
// out with the same commit ids on every machine. A folder of data/<repository>/
// is one commit; history.go says how it is written.
package acme

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"vault/platform/git"
)

//go:embed all:data
var data embed.FS

// branch is the ref that Fill moves.
const branch = "refs/heads/main"

// Repository is one sample repository: its name and the commits that make it.
type Repository struct {
	// Name is the repository's name on the hub.
	Name string

	commits []commit
}

// Repositories gives the sample repositories: handbook, then projects. An
// error means that the embedded files are damaged.
func Repositories() ([]Repository, error) {
	var list []Repository
	for _, name := range []string{"handbook", "projects"} {
		files, err := fs.Sub(data, "data/"+name)
		if err != nil {
			return nil, fmt.Errorf("open the sample %s: %w", name, err)
		}
		commits, err := readHistory(files)
		if err != nil {
			return nil, fmt.Errorf("read the sample %s: %w", name, err)
		}
		list = append(list, Repository{Name: name, commits: commits})
	}
	return list, nil
}

// Fill writes the history into a bare repository and lets the branch main end
// with it. Where main exists already nothing happens, since people may have
// pushed to it; the same goes for a second Fill that runs at the same time.
func (r Repository) Fill(ctx context.Context, repo *git.Repo) error {
	if _, err := repo.Ref(ctx, branch); !errors.Is(err, git.ErrNotFound) {
		return err
	}
	head := git.Zero
	for _, c := range r.commits {
		oid, err := write(ctx, repo, head, c)
		if err != nil {
			return fmt.Errorf("write commit %s: %w", c.folder, err)
		}
		head = oid
	}
	err := repo.UpdateRef(ctx, branch, head, git.Zero)
	if errors.Is(err, git.ErrRefMoved) {
		return nil
	}
	return err
}

// write stores one commit on top of parent, which is Zero for the first.
func write(ctx context.Context, repo *git.Repo, parent git.OID, c commit) (git.OID, error) {
	tree, err := repo.WriteFiles(ctx, parent, c.changes)
	if err != nil {
		return "", err
	}
	spec := git.CommitSpec{Tree: tree, Author: c.author, Committer: c.author, Message: c.message}
	if !parent.IsZero() {
		spec.Parents = []git.OID{parent}
	}
	return repo.WriteCommit(ctx, spec)
}
