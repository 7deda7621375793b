package index

import (
	"context"
	"fmt"
	"testing"
	"time"

	"vault/platform/git"
	"vault/platform/postgres"
	"vault/platform/postgres/pgtest"
	"vault/schema"
)

// world is an index with repositories on real git and real Postgres.
type world struct {
	t      testing.TB
	db     *postgres.DB
	index  *Index
	runner *git.Runner
	repos  map[string]*origin
}

// origin is a git repository that notes come from.
type origin struct {
	w    *world
	info RepoInfo
	git  *git.Repo
	tip  git.OID
	at   time.Time
}

func newWorld(t testing.TB, names ...string) *world {
	t.Helper()
	ctx := t.Context()
	db, err := postgres.Open(postgres.Config{
		DSN:        pgtest.Database(t, schema.Installation),
		Parameters: map[string]string{"synchronous_commit": "off"},
	})
	must(t, err)
	t.Cleanup(db.Close)
	runner, err := git.New(ctx, git.Options{})
	must(t, err)
	t.Cleanup(func() { must(t, runner.Close()) })
	w := &world{t: t, db: db, index: New(db, nil), runner: runner, repos: map[string]*origin{}}
	var infos []RepoInfo
	for i, name := range names {
		repo, err := runner.InitBare(ctx, t.TempDir(), "main")
		must(t, err)
		t.Cleanup(func() { _ = repo.Close() })
		o := &origin{w: w, git: repo, tip: git.Zero, at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600))}
		o.info = RepoInfo{
			ID: int64(101 + i), NodeID: fmt.Sprintf("R_%d", i), Name: name, FullName: "acme/" + name,
			WebURL: "https://github.test/acme/" + name, DefaultBranch: "main",
		}
		w.repos[name] = o
		infos = append(infos, o.info)
	}
	must(t, w.index.SetRepositories(ctx, infos))
	return w
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// files is a change: contents by path; "\x00removed" takes a file away.
type files map[string]string

const removed = "\x00removed"

// commit adds a commit on top of the branch.
func (o *origin) commit(change files) git.OID {
	o.w.t.Helper()
	o.tip = o.commitOn(o.tip, change)
	o.set(o.tip)
	return o.tip
}

// commitOn makes a commit on a parent and leaves the branch alone.
func (o *origin) commitOn(parent git.OID, change files) git.OID {
	o.w.t.Helper()
	ctx := o.w.t.Context()
	var changes []git.FileChange
	for path, text := range change {
		changes = append(changes, git.FileChange{Path: path, Data: []byte(text), Delete: text == removed})
	}
	tree, err := o.git.WriteFiles(ctx, parent, changes)
	must(o.w.t, err)
	o.at = o.at.Add(time.Minute)
	who := git.Signature{Name: "Ada", Email: "ada@acme.test", When: o.at}
	spec := git.CommitSpec{Tree: tree, Author: who, Committer: who, Message: "Change notes\n"}
	if !parent.IsZero() {
		spec.Parents = []git.OID{parent}
	}
	oid, err := o.git.WriteCommit(ctx, spec)
	must(o.w.t, err)
	return oid
}

// set moves the branch, wherever it stands.
func (o *origin) set(to git.OID) {
	o.w.t.Helper()
	ctx := o.w.t.Context()
	refs, err := o.git.Refs(ctx, "refs/heads/")
	must(o.w.t, err)
	from, ok := refs["refs/heads/main"]
	if !ok {
		from = git.Zero
	}
	must(o.w.t, o.git.UpdateRef(ctx, "refs/heads/main", to, from))
	o.tip = to
}

func (o *origin) source() Source { return MirrorSource(o.git, MirrorOptions{}) }

// update brings the index up to date, slice by slice.
func (o *origin) update() Progress {
	o.w.t.Helper()
	return o.updateFrom(UpdateInput{Repo: o.info, Mirror: o.source()})
}

func (o *origin) updateFrom(in UpdateInput) Progress {
	o.w.t.Helper()
	for range 50 {
		p, err := o.w.index.Update(o.w.t.Context(), in)
		must(o.w.t, err)
		if p.Complete {
			return p
		}
	}
	o.w.t.Fatal("the index is not complete after 50 slices")
	return Progress{}
}

// scope reads the named repositories.
func (w *world) scope(names ...string) Scope {
	var readable []Readable
	for _, name := range names {
		readable = append(readable, Readable{ID: w.repos[name].info.ID, Name: name})
	}
	return NewScope(Person{ID: 1, Login: "ada"}, readable)
}

func (w *world) snapshot(names ...string) *Snapshot {
	w.t.Helper()
	s, err := w.index.Snapshot(context.Background(), w.scope(names...))
	must(w.t, err)
	w.t.Cleanup(s.Close)
	return s
}
