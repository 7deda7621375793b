package index

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vault/platform/git"
)

func manyNotes(n int) files {
	out := files{}
	for i := range n {
		out[fmt.Sprintf("f%02d/n%04d.md", i%40, i)] = fmt.Sprintf("---\ntype: t%d\n---\nnote %d\n[[n%04d]]\n", i%3, i, i+1)
	}
	return out
}

// sameAsFresh compares the index with one that is built anew.
func (o *origin) sameAsFresh() {
	o.w.t.Helper()
	fresh := newWorld(o.w.t, o.info.Name)
	f := fresh.repos[o.info.Name]
	f.info, f.git, f.tip = o.info, o.git, o.tip
	must(o.w.t, fresh.index.SetRepositories(o.w.t.Context(), []RepoInfo{f.info}))
	f.update()
	want, got := fresh.dump(o.info.Name), o.w.dump(o.info.Name)
	if d := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); d != "" {
		o.w.t.Errorf("-fresh +this\n%s", d)
	}
}

func TestSlicesResume(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "notes")
	o := w.repos["notes"]
	o.commit(manyNotes(2200))
	done, slices := 0, 0
	for {
		slices++
		p, err := w.index.Update(t.Context(), UpdateInput{Repo: o.info, Mirror: o.source(), Deadline: time.Now().Add(time.Millisecond)})
		must(t, err)
		if p.Visible {
			break
		}
		if p.Total != 2200 || p.Done < done {
			t.Fatalf("slice %d: %d of %d after %d", slices, p.Done, p.Total, done)
		}
		done = p.Done
		s := w.snapshot("notes")
		r, _ := s.Repo("notes")
		page, err := s.List(t.Context(), ListQuery{Repos: []string{"notes"}, Limit: 5})
		must(t, err)
		if r.Complete || page.Total != 0 || r.Total != 2200 {
			t.Fatalf("a part of a build is seen: %+v, %d notes", r, page.Total)
		}
		s.Close()
		if slices > 40 {
			t.Fatal("the slices come to no end")
		}
	}
	if slices < 3 {
		t.Errorf("done in %d slices", slices)
	}
	o.update()
	o.sameAsFresh()
}

func TestTwoWorkers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "notes")
	o := w.repos["notes"]
	o.commit(manyNotes(1500))
	work := func() {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() { o.update() })
		}
		wg.Wait()
	}
	work()
	o.commit(files{"f01/n0001.md": "changed\n", "new.md": "new\n"})
	work()
	o.sameAsFresh()
}

// meddler is a source in whose middle something else happens, once.
type meddler struct {
	Source
	once *sync.Once
	do   func()
}

func (m meddler) Commit(ctx context.Context, oid git.OID) (CommitInfo, error) {
	m.once.Do(m.do)
	return m.Source.Commit(ctx, oid)
}

// write is an own write: a commit whose contents are at hand.
func (o *origin) write(change files) Delta {
	o.w.t.Helper()
	d := Delta{Repo: o.info.ID, From: o.tip, Branch: "main"}
	d.To = o.commitOn(o.tip, change)
	commit, err := o.source().Commit(o.w.t.Context(), d.To)
	must(o.w.t, err)
	d.Commit = &commit
	for path, text := range change {
		if text == removed {
			d.Files = append(d.Files, FileChange{Path: path, Removed: true})
			continue
		}
		c := Content{OID: git.BlobOID([]byte(text)), Data: []byte(text)}
		d.Contents = append(d.Contents, c)
		d.Files = append(d.Files, FileChange{Path: path, Mode: git.ModeFile, OID: c.OID, Size: int64(len(text))})
	}
	return d
}

// TestOwnWriteDuringUpdate lets a write land between the plan of an update and
// its move: the update must not go back behind it.
func TestOwnWriteDuringUpdate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "notes")
	o := w.repos["notes"]
	base := o.commit(files{"a.md": "one\n"})
	o.update()
	pushed := o.commitOn(base, files{"b.md": "pushed\n"})
	o.set(pushed)
	source := meddler{Source: o.source(), once: &sync.Once{}, do: func() {
		// Somebody moves the index to the pushed commit and writes on it.
		other := UpdateInput{Repo: o.info, Mirror: o.source()}
		o.updateFrom(other)
		d := o.write(files{"a.md": "two\n"})
		must(t, w.index.Apply(t.Context(), d))
		o.set(d.To)
	}}
	p := o.updateFrom(UpdateInput{Repo: o.info, Mirror: source})
	if p.Head != o.tip {
		t.Errorf("head %s, want the write %s", p.Head, o.tip)
	}
	text, _, err := w.snapshot("notes").Text(t.Context(), "notes", "a.md")
	must(t, err)
	if text.Body != "two\n" {
		t.Errorf("the write is gone: %q", text.Body)
	}
	o.sameAsFresh()
}

func TestApply(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "notes")
	o := w.repos["notes"]
	o.commit(files{"a.md": "one\n", "plain.txt": "words to find\n", "n.md": "kept\n"})
	o.update()
	before := w.snapshot("notes")

	d := o.write(files{"a.md": "two\n", "plain.txt": removed, "moved.md": "words to find\n", "n.md": removed, "m.md": "kept\n"})
	d.Contents = d.Contents[:0]
	d.Contents = append(d.Contents, Content{OID: git.BlobOID([]byte("two\n")), Data: []byte("two\n")})
	must(t, w.index.Apply(t.Context(), d))
	o.set(d.To)
	o.sameAsFresh()

	// The old snapshot stays where it was.
	text, ok, err := before.Text(t.Context(), "notes", "a.md")
	must(t, err)
	if !ok || text.Body != "one\n" {
		t.Errorf("the old snapshot reads %q", text.Body)
	}
	if err := w.index.Apply(t.Context(), d); !errors.Is(err, ErrHeadMoved) {
		t.Errorf("applied twice: %v", err)
	}
	state := w.dump("notes")
	lacking := o.write(files{"a.md": "three\n"})
	lacking.Contents = nil
	if err := w.index.Apply(t.Context(), lacking); !errors.Is(err, ErrNoText) {
		t.Errorf("applied without the text: %v", err)
	}
	lacking.Repo = 999
	if err := w.index.Apply(t.Context(), lacking); !errors.Is(err, ErrUnknownRepo) {
		t.Errorf("applied to another repository: %v", err)
	}
	settings := o.write(files{settingsFile: settings(`"/"`)})
	if err := w.index.Apply(t.Context(), settings); err == nil {
		t.Error("a change of .vault/ without its state was applied")
	}
	if w.dump("notes") != state {
		t.Error("a refused move left something behind")
	}
}

func TestBranchComesAndGoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "notes")
	o := w.repos["notes"]
	total := func() int {
		s := w.snapshot("notes")
		defer s.Close()
		page, err := s.List(t.Context(), ListQuery{Limit: 1})
		must(t, err)
		return page.Total
	}
	if p := o.update(); !p.Head.IsZero() {
		t.Errorf("head %s of an empty repository", p.Head)
	}
	r, _ := w.snapshot("notes").Repo("notes")
	if !r.Complete || total() != 0 {
		t.Errorf("an empty repository: %+v", r)
	}
	first := o.commit(files{"a.md": "one\n", settingsFile: settings(`"/"`)})
	o.update()
	must(t, o.git.UpdateRef(t.Context(), "refs/heads/main", git.Zero, first))
	if p := o.update(); !p.Head.IsZero() || p.VaultRev != "" || total() != 0 {
		t.Errorf("after the branch was deleted: %+v, %d notes", p, total())
	}
	must(t, o.git.UpdateRef(t.Context(), "refs/heads/other", first, git.Zero))
	o.info.DefaultBranch = "other"
	if p := o.update(); p.Head != first || p.Branch != "other" || total() != 1 {
		t.Errorf("after the default branch changed: %+v, %d notes", p, total())
	}
	// A commit that the mirror does not know any more.
	_, err := w.db.Exec(t.Context(), `UPDATE repo SET head = $1`, oidBytes("00000000000000000000000000000000000000aa"))
	must(t, err)
	o.tip = o.commitOn(first, files{"b.md": "two\n", "a.md": removed})
	must(t, o.git.UpdateRef(t.Context(), "refs/heads/other", o.tip, first))
	if p := o.update(); p.Head != o.tip {
		t.Errorf("after an unknown head: %+v", p)
	}
	o.sameAsFresh()
}

func TestRepositoryLeaves(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := newWorld(t, "gone", "stays")
	gone, stays := w.repos["gone"], w.repos["stays"]
	gone.commit(files{"shared.md": "shared\n", "own.md": "own\n"})
	stays.commit(files{"shared.md": "shared\n"})
	gone.update()
	stays.update()
	open := w.snapshot("gone", "stays")
	must(t, w.index.SetRepositories(ctx, []RepoInfo{stays.info}))
	after := w.snapshot("gone", "stays")
	if len(after.Repos()) != 1 || len(open.Repos()) != 2 {
		t.Errorf("readable: %v", names(after.Repos()))
	}
	if _, err := w.index.Update(ctx, UpdateInput{Repo: gone.info, Mirror: gone.source()}); !errors.Is(err, ErrUnknownRepo) {
		t.Errorf("a repository that left was updated: %v", err)
	}
	if err := w.index.EraseRepository(ctx, stays.info.ID); !errors.Is(err, ErrActive) {
		t.Errorf("a repository in use was erased: %v", err)
	}
	left, err := w.index.Retired(ctx)
	must(t, err)
	if len(left) != 1 || left[0].ID != gone.info.ID {
		t.Errorf("left: %v", left)
	}
	open.Close()
	must(t, w.index.EraseRepository(ctx, gone.info.ID))
	must(t, w.index.EraseRepository(ctx, gone.info.ID))
	if got := w.dump("gone"); got != "" {
		t.Errorf("still stored: %s", got)
	}
	removedNow, more, err := w.index.Reconcile(ctx)
	must(t, err)
	if removedNow != 0 || more {
		t.Errorf("texts just stored were removed: %d", removedNow)
	}
	_, err = w.db.Exec(ctx, `UPDATE blob SET stored_at = now() - interval '2 hours'`)
	must(t, err)
	removedNow, _, err = w.index.Reconcile(ctx)
	must(t, err)
	if removedNow != 1 {
		t.Errorf("removed %d texts, want the one nobody has", removedNow)
	}
	stays.sameAsFresh()

	// It comes back, and needs its texts again.
	must(t, w.index.SetRepositories(ctx, []RepoInfo{stays.info, gone.info}))
	gone.update()
	gone.sameAsFresh()
}

// TestUnusedTextsGo removes texts that edits left behind, also while an
// update has planned with them.
func TestUnusedTextsGo(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := newWorld(t, "notes")
	o := w.repos["notes"]
	first := o.commit(files{"a.md": "one [[b]]\n"})
	o.update()
	o.commit(files{"a.md": "two\n"})
	o.update()
	age := func() {
		_, err := w.db.Exec(ctx, `UPDATE blob SET stored_at = now() - interval '2 hours'`)
		must(t, err)
		_, _, err = w.index.Reconcile(ctx)
		must(t, err)
	}
	age()
	var n int
	must(t, w.db.QueryRow(ctx, `SELECT (SELECT count(*) FROM blob) + (SELECT count(*) FROM doc) + (SELECT count(*) FROM fold)
		+ (SELECT count(*) FROM link)`).Scan(&n))
	if n != 3 {
		t.Errorf("%d rows are left, want those of one text", n)
	}
	o.set(first)
	source := meddler{Source: o.source(), once: &sync.Once{}, do: age}
	o.updateFrom(UpdateInput{Repo: o.info, Mirror: source})
	o.sameAsFresh()
}

// blobless is a source that gives no content.
type blobless struct{ Source }

func (blobless) Blobs(context.Context, []git.OID, int64, func(git.Blob) error) error {
	return errors.New("no content is to be read")
}

// TestNewFormat makes rows of another format and lets an update read the
// stored texts anew.
func TestNewFormat(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "notes")
	o := w.repos["notes"]
	o.commit(manyNotes(300))
	o.update()
	for _, sql := range []string{
		`UPDATE doc SET format = 0, lines = -1, fields = NULL`, `UPDATE fold SET format = 0, text = 'old'`,
		`UPDATE link SET format = 0, key = 'old'`, `UPDATE repo SET format = 0`, `UPDATE file SET type = 'old'`,
	} {
		_, err := w.db.Exec(t.Context(), sql)
		must(t, err)
	}
	page, err := w.snapshot("notes").List(t.Context(), ListQuery{Type: "old", Limit: 1})
	must(t, err)
	if page.Total != 300 {
		t.Fatalf("%d notes in the old format", page.Total)
	}
	o.updateFrom(UpdateInput{Repo: o.info, Mirror: blobless{o.source()}})
	_, err = w.db.Exec(t.Context(), `UPDATE blob SET stored_at = now() - interval '2 hours'`)
	must(t, err)
	_, _, err = w.index.Reconcile(t.Context())
	must(t, err)
	o.sameAsFresh()
}

// TestLargeBuild makes the search index from the start, as for a repository
// whose texts are too many to index them in one go.
func TestLargeBuild(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "notes")
	w.index.lateIndex = 0
	o := w.repos["notes"]
	o.commit(manyNotes(200))
	p, err := w.index.Update(t.Context(), UpdateInput{Repo: o.info, Mirror: o.source()})
	must(t, err)
	r, _ := w.snapshot("notes").Repo("notes")
	if !p.Visible || !r.settled {
		t.Errorf("%+v, settled %v", p, r.settled)
	}
	var indexes int
	must(t, w.db.QueryRow(t.Context(), `SELECT count(*) FROM pg_indexes WHERE indexname = 'fold_101_text'`).Scan(&indexes))
	if indexes != 1 {
		t.Errorf("%d search indexes", indexes)
	}
	o.sameAsFresh()
}

// TestSearchBeforeIndex searches between the first sight of a build and the
// making of its search index.
func TestSearchBeforeIndex(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "notes")
	o := w.repos["notes"]
	o.commit(manyNotes(200))
	find := func() SearchResult {
		s := w.snapshot("notes")
		defer s.Close()
		res, err := s.Search(t.Context(), SearchQuery{Query: "note 19", Limit: 50})
		must(t, err)
		return res
	}
	p, err := w.index.Update(t.Context(), UpdateInput{Repo: o.info, Mirror: o.source()})
	must(t, err)
	if !p.Visible || p.Complete {
		t.Fatalf("%+v", p)
	}
	before := find()
	o.update()
	if d := cmp.Diff(before, find()); d != "" || len(before.Matches) != 11 {
		t.Errorf("%d hits: %s", len(before.Matches), d)
	}
	// Many chunks of notes, each note once.
	s := w.snapshot("notes")
	for _, q := range []SearchQuery{{Query: "note"}, {Query: "no"}, {Query: `^\w{4} \d+$`, Regex: true}} {
		q.Limit = 1000
		res, err := s.Search(t.Context(), q)
		must(t, err)
		seen := map[string]int{}
		for _, m := range res.Matches {
			seen[m.Path]++
		}
		if len(res.Matches) != 200 || len(seen) != 200 {
			t.Errorf("%s: %d hits in %d notes", q.Query, len(res.Matches), len(seen))
		}
	}
}

// TestSearchStops lets the time for a search without an index run out.
func TestSearchStops(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "notes")
	w.index.walk = 0
	o := w.repos["notes"]
	o.commit(manyNotes(200))
	o.update()
	s := w.snapshot("notes")
	for _, q := range []SearchQuery{{Query: `\d{7}`, Regex: true}, {Query: "%%"}} {
		q.Limit = 10
		res, err := s.Search(t.Context(), q)
		must(t, err)
		if !res.Stopped || res.StoppedAt.Path == "" || res.StoppedAt.Repo != "notes" {
			t.Errorf("%s: %+v", q.Query, res)
		}
	}
	res, err := s.Search(t.Context(), SearchQuery{Query: "nowhere to be found", Limit: 10})
	must(t, err)
	if res.Stopped {
		t.Errorf("a search with the index stopped: %+v", res)
	}
}

// forgetful is a mirror that finds no branch.
type forgetful struct{ Source }

func (forgetful) Head(context.Context, Head) (Head, error) {
	return Head{Branch: "main", OID: git.Zero}, nil
}

// TestMirrorWithoutBranch has GitHub tell a commit that the mirror does not
// get: the index must stay as it is.
func TestMirrorWithoutBranch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "notes")
	o := w.repos["notes"]
	o.commit(files{"a.md": "one\n"})
	o.update()
	o.commit(many(300))
	before := w.dump("notes")
	in := UpdateInput{Repo: o.info, Mirror: forgetful{o.source()}, Compare: noDiff{o.source()}}
	if _, err := w.index.Update(t.Context(), in); err == nil {
		t.Error("no error")
	}
	if w.dump("notes") != before {
		t.Error("the index changed")
	}
}

// noDiff is a source that declines to compare.
type noDiff struct{ Source }

func (noDiff) Diff(context.Context, git.OID, git.OID) ([]FileChange, error) { return nil, ErrNoDiff }

// TestSettingsInForce follows settings through good and broken versions.
func TestSettingsInForce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "notes")
	o := w.repos["notes"]
	folders := func() string {
		s := w.snapshot("notes")
		defer s.Close()
		r, _ := s.Repo("notes")
		if reason, closed := r.Dir.Closed(); closed {
			return "closed: " + reason[:10]
		}
		page, err := s.List(t.Context(), ListQuery{Limit: 10})
		must(t, err)
		var paths []string
		for _, n := range page.Notes {
			paths = append(paths, n.Path)
		}
		return strings.Join(r.Dir.Folders(), ",") + " " + strings.Join(paths, ",")
	}
	steps := []struct {
		changes  []files // each a commit; one push
		want     string
		findings bool
	}{
		{[]files{{"a/x.md": "x", "b/y.md": "y"}}, "/ a/x.md,b/y.md", false},
		{[]files{{settingsFile: settings(`"a"`)}}, "a/ a/x.md", false},
		{[]files{{settingsFile: `{"oh`}}, "a/ a/x.md", true},
		{[]files{{settingsFile: settings(`"b"`)}, {settingsFile: `{"format": 7}`}}, "b/ b/y.md", true},
		{[]files{{"b/z.md": "z"}}, "b/ b/y.md,b/z.md", true},
		{[]files{{settingsFile: removed}}, "/ a/x.md,b/y.md,b/z.md", false},
		{[]files{{settingsFile: settings(`"/"`)}}, "/ a/x.md,b/y.md,b/z.md", false},
	}
	for i, step := range steps {
		for _, change := range step.changes {
			o.commit(change)
		}
		p := o.update()
		if got := folders(); got != step.want {
			t.Errorf("step %d: %s, want %s", i, got, step.want)
		}
		if (len(p.Findings) > 0) != step.findings {
			t.Errorf("step %d: findings %v", i, p.Findings)
		}
	}
	// Broken from the start: nothing is open.
	broken := newWorld(t, "notes")
	b := broken.repos["notes"]
	b.commit(files{"a.md": "x", settingsFile: `{"oh`})
	b.update()
	r, _ := broken.snapshot("notes").Repo("notes")
	if _, closed := r.Dir.Closed(); !closed {
		t.Error("broken settings closed nothing")
	}
}
