package github_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vault/platform/git"
	"vault/platform/github"
	"vault/platform/localhub"
)

// hubWorld is a local GitHub with two repositories, of which notes has two
// commits and empty has none.
type hubWorld struct {
	hub         *localhub.Hub
	cfg         github.Config
	notes       localhub.Repository
	empty       localhub.Repository
	first, last git.OID
}

func newHubWorld(t *testing.T) *hubWorld {
	t.Helper()
	runner, err := git.New(t.Context(), git.Options{})
	if err != nil {
		t.Skipf("no git: %v", err)
	}
	w := &hubWorld{}
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { w.hub.ServeHTTP(rw, r) }))
	t.Cleanup(srv.Close)
	w.hub, err = localhub.New(localhub.Config{Dir: t.TempDir(), Git: runner, BaseURL: srv.URL + "/hub", Account: "acme"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.hub.Close(); err != nil {
			t.Error(err)
		}
	})
	endpoints, err := github.EndpointsFor(srv.URL + "/hub")
	if err != nil {
		t.Fatal(err)
	}
	w.cfg = github.Config{Endpoints: endpoints, Transport: srv.Client().Transport}
	w.notes, w.empty = w.add(t, "notes"), w.add(t, "empty")
	w.write(t, runner)
	return w
}

func (w *hubWorld) add(t *testing.T, name string) localhub.Repository {
	t.Helper()
	r, err := w.hub.AddRepository(t.Context(), localhub.RepositorySpec{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// write makes the two commits.
func (w *hubWorld) write(t *testing.T, runner *git.Runner) {
	t.Helper()
	repo := runner.Open(w.notes.GitDir)
	t.Cleanup(func() { _ = repo.Close() })
	who := git.Signature{Name: "Ada", Email: "ada@example.com", When: time.Date(2026, 3, 1, 10, 0, 0, 0, time.FixedZone("", 7200))}
	commit := func(parent git.OID, message string, changes ...git.FileChange) git.OID {
		base := git.Zero
		var parents []git.OID
		if parent != "" {
			c, err := repo.Commit(t.Context(), parent)
			if err != nil {
				t.Fatal(err)
			}
			base, parents = c.Tree, []git.OID{parent}
		}
		tree, err := repo.WriteFiles(t.Context(), base, changes)
		if err != nil {
			t.Fatal(err)
		}
		oid, err := repo.WriteCommit(t.Context(), git.CommitSpec{Tree: tree, Parents: parents, Author: who, Committer: who, Message: message})
		if err != nil {
			t.Fatal(err)
		}
		return oid
	}
	w.first = commit("", "First\n",
		git.FileChange{Path: "plan.md", Data: []byte("# Plan\n")},
		git.FileChange{Path: "old.md", Data: []byte("same text on every line\nsame text on every line\n")},
		git.FileChange{Path: "gone.md", Data: []byte("gone\n")},
		git.FileChange{Path: "link", Mode: git.ModeSymlink, Data: []byte("plan.md")},
		git.FileChange{Path: "b/pic.bin", Data: []byte("\x00\x01\x02")})
	w.last = commit(w.first, "Second\n\nwith a body\n",
		git.FileChange{Path: "plan.md", Data: []byte("# Plan\n\nMore.\n")},
		git.FileChange{Path: "old.md", Delete: true},
		git.FileChange{Path: "new \"name\".md", Data: []byte("same text on every line\nsame text on every line\n")},
		git.FileChange{Path: "gone.md", Delete: true})
	if err := repo.UpdateRef(t.Context(), "refs/heads/main", w.last, git.Zero); err != nil {
		t.Fatal(err)
	}
}

func (w *hubWorld) app() *github.App {
	return github.NewApp(w.cfg, w.hub.App().ClientID, w.hub.App().PrivateKey)
}

func (w *hubWorld) installation(t *testing.T, repos ...int64) *github.InstallationClient {
	t.Helper()
	token, err := w.app().InstallationToken(t.Context(), w.hub.InstallationID(), repos...)
	if err != nil {
		t.Fatal(err)
	}
	return github.NewInstallation(w.cfg, token.Value)
}

func TestHubApp(t *testing.T) {
	t.Parallel()
	w := newHubWorld(t)
	all, err := w.app().Installations(t.Context())
	if err != nil || len(all) != 1 || all[0].ID != w.hub.InstallationID() || all[0].Account != "acme" || all[0].ContentsPermission != "write" {
		t.Fatalf("installations %+v, %v", all, err)
	}
	one, err := w.app().Installation(t.Context(), w.hub.InstallationID())
	if err != nil || one != all[0] {
		t.Errorf("installation %+v, %v", one, err)
	}
	if _, err := w.app().Installation(t.Context(), 1); !github.IsNotFound(err) {
		t.Errorf("unknown installation: %v", err)
	}
	stranger := github.NewApp(w.cfg, w.hub.App().ClientID, appKey())
	if _, err := stranger.InstallationToken(t.Context(), w.hub.InstallationID()); !github.IsUnauthorized(err) {
		t.Errorf("another key: %v", err)
	}
}

func TestHubRepositoriesAndHeads(t *testing.T) {
	t.Parallel()
	w := newHubWorld(t)
	client := w.installation(t)
	repos, err := client.Repositories(t.Context())
	if err != nil || len(repos) != 2 {
		t.Fatalf("repositories %+v, %v", repos, err)
	}
	for _, r := range repos {
		want := w.notes
		if r.Name == "empty" {
			want = w.empty
		}
		if r.ID != want.ID || r.NodeID != want.NodeID || r.FullName != want.FullName || r.DefaultBranch != "main" {
			t.Errorf("repository %+v, want %+v", r, want)
		}
	}
	heads, err := client.Heads(t.Context(), []string{w.empty.NodeID, "R_kgDOnothing", w.notes.NodeID})
	want := []github.Head{
		{NodeID: w.empty.NodeID, ID: w.empty.ID, FullName: "acme/empty", Empty: true},
		{NodeID: "R_kgDOnothing", Missing: true},
		{NodeID: w.notes.NodeID, ID: w.notes.ID, FullName: "acme/notes", Branch: "main", OID: string(w.last)},
	}
	if d := cmp.Diff(want, heads); d != "" || err != nil {
		t.Error(d, err)
	}
	narrow, err := w.installation(t, w.empty.ID).Heads(t.Context(), []string{w.notes.NodeID})
	if err != nil || !narrow[0].Missing {
		t.Errorf("beyond the token's repositories: %+v, %v", narrow, err)
	}
}

func TestHubContent(t *testing.T) {
	t.Parallel()
	w := newHubWorld(t)
	client := w.installation(t)
	got, err := client.Compare(t.Context(), "acme/notes", string(w.first), string(w.last))
	if err != nil || got.Status != "ahead" || got.Ahead != 1 || got.Truncated {
		t.Fatalf("comparison %+v, %v", got, err)
	}
	statuses := map[string]string{}
	for _, f := range got.Files {
		statuses[f.Path] = f.Status + " " + f.Previous
	}
	if d := cmp.Diff(map[string]string{"plan.md": "modified ", "gone.md": "removed ", "new \"name\".md": "renamed old.md"}, statuses); d != "" {
		t.Error(d)
	}
	files, err := client.FilesAt(t.Context(), w.notes.NodeID, string(w.last), []string{"plan.md", "gone.md", "link", "b/pic.bin", "b", "new \"name\".md"})
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for _, f := range files {
		switch {
		case f.Missing:
			seen = append(seen, "missing")
		case f.Text != nil:
			seen = append(seen, *f.Text)
		case f.Binary:
			seen = append(seen, "binary")
		default:
			seen = append(seen, "no blob")
		}
	}
	same := strings.Repeat("same text on every line\n", 2)
	if d := cmp.Diff([]string{"# Plan\n\nMore.\n", "missing", "plan.md", "binary", "no blob", same}, seen); d != "" {
		t.Error(d)
	}
	if files[0].Mode != 0o100644 || files[2].Mode != 0o120000 || files[4].Mode != 0o040000 || files[0].Size != 14 || files[4].Size != -1 {
		t.Errorf("files %+v", files)
	}
	blob, err := client.Blob(t.Context(), "acme/notes", files[3].OID, 100)
	if err != nil || string(blob) != "\x00\x01\x02" {
		t.Errorf("blob %q, %v", blob, err)
	}
	if _, err := client.Blob(t.Context(), "acme/notes", files[3].OID, 2); !errors.Is(err, github.ErrTooLarge) {
		t.Errorf("small limit: %v", err)
	}
	commit, err := client.CommitInfo(t.Context(), w.notes.NodeID, string(w.last))
	if err != nil || strings.TrimSuffix(commit.Message, "\n") != "Second\n\nwith a body" || !cmp.Equal(commit.Parents, []string{string(w.first)}) ||
		commit.Author.Name != "Ada" || commit.Author.When.Format(time.RFC3339) != "2026-03-01T10:00:00+02:00" {
		t.Errorf("commit %+v, %v", commit, err)
	}
}

func TestHubMissingThings(t *testing.T) {
	t.Parallel()
	w := newHubWorld(t)
	client := w.installation(t)
	calls := map[string]func(context.Context) error{
		"compare": func(ctx context.Context) error {
			_, err := client.Compare(ctx, "acme/notes", oidA, string(w.last))
			return err
		},
		"repository": func(ctx context.Context) error {
			_, err := client.Blob(ctx, "acme/nothing", oidA, 100)
			return err
		},
		"blob": func(ctx context.Context) error {
			_, err := client.Blob(ctx, "acme/notes", oidA, 100)
			return err
		},
		"files": func(ctx context.Context) error {
			_, err := client.FilesAt(ctx, w.notes.NodeID, oidA, []string{"a"})
			return err
		},
		"node": func(ctx context.Context) error {
			_, err := client.FilesAt(ctx, "R_kgDOnothing", string(w.last), []string{"a"})
			return err
		},
		"commit": func(ctx context.Context) error {
			_, err := client.CommitInfo(ctx, w.notes.NodeID, oidA)
			return err
		},
	}
	for name, do := range calls {
		if err := do(t.Context()); !github.IsNotFound(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := client.Blob(t.Context(), "acme/empty", oidA, 100); !github.IsEmptyRepository(err) {
		t.Errorf("empty repository: %v", err)
	}
}

func TestHubRenamedRepository(t *testing.T) {
	t.Parallel()
	w := newHubWorld(t)
	if err := w.hub.RenameRepository("notes", "wiki"); err != nil {
		t.Fatal(err)
	}
	got, err := w.installation(t).Compare(t.Context(), "acme/notes", string(w.first), string(w.last))
	if err != nil || got.Status != "ahead" {
		t.Errorf("by the old name: %+v, %v", got, err)
	}
}

func TestHubAccess(t *testing.T) {
	t.Parallel()
	w := newHubWorld(t)
	ids := []string{w.notes.NodeID, w.empty.NodeID, "R_kgDOnothing"}
	people := w.hub.People()
	for n, want := range []string{"notes:write empty:write ", "notes empty ", "notes "} {
		got, err := github.NewUser(w.cfg, people[n].Token).Access(t.Context(), ids)
		if err != nil {
			t.Fatal(err)
		}
		var seen strings.Builder
		for _, r := range got.Repos {
			seen.WriteString(r.Name)
			if r.CanWrite {
				seen.WriteString(":write")
			}
			seen.WriteString(" ")
		}
		if seen.String() != want || got.Login != people[n].Login || got.ID == 0 || got.Rate.Cost != 1 {
			t.Errorf("person %d: %s, %+v", n, seen.String(), got)
		}
		if head := got.Repos[0].HeadOID; head != string(w.last) {
			t.Errorf("head %s", head)
		}
	}
	if err := w.hub.SetArchived("notes", true); err != nil {
		t.Fatal(err)
	}
	got, err := github.NewUser(w.cfg, people[0].Token).Access(t.Context(), ids[:1])
	if err != nil || len(got.Repos) != 1 || got.Repos[0].CanWrite || !got.Repos[0].Archived {
		t.Errorf("archived: %+v, %v", got, err)
	}
	many := make([]string, 501)
	for i := range many {
		many[i] = ids[i%2]
	}
	if got, err := github.NewUser(w.cfg, people[0].Token).Access(t.Context(), many); err != nil || len(got.Repos) != 501 {
		t.Errorf("501 ids: %d, %v", len(got.Repos), err)
	}
	if got, err := github.NewUser(w.cfg, people[0].Token).Access(t.Context(), nil); err != nil || got.Login == "" {
		t.Errorf("no ids: %+v, %v", got, err)
	}
	if err := w.hub.RevokeToken(people[0].Token); err != nil {
		t.Fatal(err)
	}
	if _, err := github.NewUser(w.cfg, people[0].Token).Access(t.Context(), ids); !github.IsUnauthorized(err) {
		t.Errorf("revoked: %v", err)
	}
}
