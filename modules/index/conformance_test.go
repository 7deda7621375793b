package index

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault/platform/git"
	"vault/platform/github"
	"vault/platform/localhub"
)

// hubWorld is a world whose repository is served by a hub.
type hubWorld struct {
	*world
	origin  *origin
	client  *github.InstallationClient
	url     string
	token   string
	mirror  *git.Repo
	compare Source
}

func newHubWorld(t *testing.T) *hubWorld {
	t.Helper()
	ctx := t.Context()
	server := httptest.NewUnstartedServer(nil)
	base := "http://" + server.Listener.Addr().String() + "/hub"
	runner, err := git.New(ctx, git.Options{AllowHTTP: []string{base}})
	must(t, err)
	t.Cleanup(func() { must(t, runner.Close()) })
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	hub, err := localhub.New(localhub.Config{
		Dir: t.TempDir(), Git: runner, BaseURL: base, Account: "acme", PrivateKey: key,
	})
	must(t, err)
	server.Config.Handler = http.HandlerFunc(hub.ServeHTTP)
	server.Start()
	t.Cleanup(func() {
		server.Close()
		must(t, hub.Close())
	})
	r, err := hub.AddRepository(ctx, localhub.RepositorySpec{Name: "notes"})
	must(t, err)

	w := newWorld(t, "notes")
	o := w.repos["notes"]
	o.info.ID, o.info.NodeID, o.info.FullName = r.ID, r.NodeID, r.FullName
	must(t, w.index.SetRepositories(ctx, []RepoInfo{o.info}))
	o.git = runner.Open(r.GitDir)
	t.Cleanup(func() { _ = o.git.Close() })

	endpoints, err := github.EndpointsFor(base)
	must(t, err)
	cfg := github.Config{Endpoints: endpoints}
	token, err := github.NewApp(cfg, hub.App().ClientID, key).InstallationToken(ctx, hub.InstallationID())
	must(t, err)
	h := &hubWorld{
		world: w, origin: o, client: github.NewInstallation(cfg, token.Value),
		url: endpoints.Git + "/" + r.FullName + ".git", token: token.Value,
	}
	h.mirror, err = runner.InitBare(ctx, t.TempDir(), "main")
	must(t, err)
	t.Cleanup(func() { _ = h.mirror.Close() })
	h.compare = CompareSource(h.client, o.info)
	return h
}

func (h *hubWorld) mirrorSource() Source {
	return MirrorSource(h.mirror, MirrorOptions{
		URL: h.url, Token: h.token,
		Blob: func(ctx context.Context, oid git.OID, max int64) ([]byte, error) {
			return h.client.Blob(ctx, h.origin.info.FullName, string(oid), max)
		},
	})
}

// TestSourcesAgree asks both sources the same questions. The comparison may
// decline; where it answers, it must say what the mirror says.
func TestSourcesAgree(t *testing.T) {
	t.Parallel()
	h := newHubWorld(t)
	o := h.origin
	sources := []Source{h.mirrorSource(), h.compare}
	for _, s := range sources {
		head, err := s.Head(t.Context(), Head{Branch: "main"})
		must(t, err)
		if !head.OID.IsZero() {
			t.Fatalf("head of an empty repository: %v", head)
		}
	}
	first := o.commit(files{"a.md": "one\n", "dir/b.md": "two\n", "run.sh": "x\n", "gone.md": "bye\n"})
	tests := []struct {
		name     string
		change   files
		declined bool
	}{
		{name: "edit", change: files{"a.md": "one more\n"}},
		{name: "add, remove, rename", change: files{"gone.md": removed, "dir/b.md": removed, "dir/c.md": "two\n", "n/ä.md": "ä\n"}},
		{name: "file becomes folder", change: files{"run.sh": removed, "run.sh/x.md": "x\n"}},
		{name: "NUL, not UTF-8, empty", change: files{"nul.md": "\x00", "latin.md": "\xe9", "empty.md": ""}},
		{name: "large text", change: files{"large.md": strings.Repeat("0123456789abcde\n", 40_000)}},
		{name: "over the mirror's filter", change: files{"huge.md": strings.Repeat("0123456789abcde\n", 80_000)}},
		{name: "larger than is kept", change: files{"enormous.md": strings.Repeat("0123456789abcde\n", 1<<20+1)}},
		{name: "a path that is no text", change: files{"x\xff.md": "x\n"}, declined: true},
		{name: "300 files", change: many(300), declined: true},
		{name: "nothing", change: files{"a.md": "one more\n"}},
	}
	from := first
	for _, tt := range tests {
		to := o.commit(tt.change)
		compareSources(t, sources, pair{from: from, to: to}, tt.name, tt.declined)
		from = to
	}
	// Backwards and sideways only the mirror can tell.
	compareSources(t, sources, pair{from: from, to: first}, "backwards", true)
	side := o.commitOn(first, files{"side.md": "side\n"})
	o.set(side)
	compareSources(t, sources, pair{from: from, to: side}, "force push", true)
}

func many(n int) files {
	out := files{}
	for i := range n {
		out["many/"+string(rune('a'+i%26))+strings.Repeat("x", i/26)+".md"] = "many\n"
	}
	return out
}

type pair struct{ from, to git.OID }

func compareSources(t *testing.T, sources []Source, p pair, name string, declined bool) {
	t.Helper()
	type answer struct {
		Head   Head
		Files  []FileChange
		Blobs  map[git.OID]string
		Commit CommitInfo
	}
	var answers []answer
	for i, s := range sources {
		var a answer
		var err error
		a.Head, err = s.Head(t.Context(), Head{Branch: "main"})
		must(t, err)
		a.Files, err = s.Diff(t.Context(), p.from, p.to)
		if i == 1 && declined {
			if !errors.Is(err, ErrNoDiff) {
				t.Errorf("%s: not declined: %v", name, err)
			}
			return
		}
		if err != nil {
			t.Fatalf("%s: source %d: %v", name, i, err)
		}
		slices.SortFunc(a.Files, func(a, b FileChange) int { return strings.Compare(a.Path, b.Path) })
		a.Blobs = blobsOf(t, s, a.Files)
		// Whether a size is known before the blob is read may differ.
		for j := range a.Files {
			a.Files[j].Size = 0
		}
		a.Commit, err = s.Commit(t.Context(), p.to)
		must(t, err)
		answers = append(answers, a)
	}
	if d := cmp.Diff(answers[0], answers[1]); d != "" {
		t.Errorf("%s: -mirror +compare\n%s", name, d)
	}
}

func blobsOf(t *testing.T, s Source, list []FileChange) map[git.OID]string {
	t.Helper()
	var oids []git.OID
	for _, f := range list {
		if !f.Removed {
			oids = append(oids, f.OID)
		}
	}
	blobs := map[git.OID]string{}
	must(t, s.Blobs(t.Context(), oids, textLimit, func(b git.Blob) error {
		if b.Missing {
			t.Errorf("blob %s is missing", b.OID)
		}
		blobs[b.OID] = string(b.Data)
		if b.TooLarge {
			blobs[b.OID] = "too large"
		}
		return nil
	}))
	return blobs
}

// TestUpdateThroughBoth follows pushes with both sources at hand, as the
// indexer does.
func TestUpdateThroughBoth(t *testing.T) {
	t.Parallel()
	h := newHubWorld(t)
	o := h.origin
	in := UpdateInput{Repo: o.info, Mirror: h.mirrorSource(), Compare: h.compare}
	if p := o.updateFrom(in); !p.Head.IsZero() {
		t.Errorf("an empty repository has head %s", p.Head)
	}
	first := o.commit(files{"a.md": "one\n", settingsFile: settings(`"/"`)})
	o.updateFrom(in)
	o.commit(files{"a.md": "two\n"})
	mirrored, err := h.mirror.Ref(t.Context(), "refs/heads/main")
	must(t, err)
	o.updateFrom(in)
	after, err := h.mirror.Ref(t.Context(), "refs/heads/main")
	must(t, err)
	if mirrored != after || mirrored != first {
		t.Error("a small push went through the mirror")
	}
	o.commit(files{settingsFile: settings(`"b"`)})
	o.commit(files{settingsFile: `{"format": 3, oh`})
	o.updateFrom(in)
	o.commit(many(320))
	o.updateFrom(in)
	o.set(o.commitOn(first, files{"z.md": "z\n"}))
	o.updateFrom(in)

	fresh := newWorld(t, "notes")
	f := fresh.repos["notes"]
	f.info, f.git, f.tip = o.info, o.git, o.tip
	must(t, fresh.index.SetRepositories(t.Context(), []RepoInfo{f.info}))
	f.update()
	if d := cmp.Diff(strings.Split(fresh.dump("notes"), "\n"), strings.Split(h.dump("notes"), "\n")); d != "" {
		t.Errorf("-full +incremental\n%s", d)
	}
}
