package localhub_test

import (
	"bytes"
	"compress/gzip"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-github/v66/github"
)

const zeros = "0000000000000000000000000000000000000000"

func TestGitOverHTTPIsGuarded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k := newWork(t)
	k.commit("First", "a.md", "text")
	w.add("kb", k.dir)
	w.add("own", "")
	upload, receive := "/info/refs?service=git-upload-pack", "/info/refs?service=git-receive-pack"
	first, second, third := w.token(0), w.token(1), w.token(2)
	app := w.installationToken(nil)
	tests := []struct {
		name, method, path, token string
		status                    int
		text                      string
	}{
		{"no credential", "GET", "/acme/kb.git" + upload, "", 401, "Invalid username or token."},
		{"bad credential", "GET", "/acme/kb.git" + upload, "ghu_no", 401, "Invalid username or token."},
		{"the App's JWT", "GET", "/acme/kb.git" + upload, w.appJWT(), 401, "Invalid username or token."},
		{"reader", "GET", "/acme/kb.git" + upload, second, 200, "service=git-upload-pack"},
		{"without .git", "GET", "/acme/kb" + upload, second, 200, "service=git-upload-pack"},
		{"App", "GET", "/acme/kb.git" + upload, app, 200, "service=git-upload-pack"},
		{"unreadable", "GET", "/acme/own.git" + upload, third, 404, "Repository not found."},
		{"unknown", "GET", "/acme/no.git" + upload, first, 404, "Repository not found."},
		{"other owner", "GET", "/else/kb.git" + upload, first, 404, "Repository not found."},
		{"push by a reader", "GET", "/acme/own.git" + receive, second, 403, "Permission to acme/own.git denied to robin."},
		{"push by the owner", "GET", "/acme/own.git" + receive, first, 200, "service=git-receive-pack"},
		{"push to a folder", "GET", "/acme/kb.git" + receive, first, 403, "Commit in the folder instead"},
		{"pack to a folder", "POST", "/acme/kb.git/git-receive-pack", first, 403, "Commit in the folder instead"},
		{"pack by a reader", "POST", "/acme/own.git/git-receive-pack", second, 403, "denied to robin"},
		{"dumb protocol", "GET", "/acme/kb.git/info/refs", first, 403, ""},
		{"file of the repository", "GET", "/acme/kb.git/config", first, 404, ""},
		{"climbing out", "GET", "/acme/../kb.git" + upload, first, 404, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var header []string
			if tt.token != "" {
				r, _ := http.NewRequest("GET", "http://x", nil)
				r.SetBasicAuth("x-access-token", tt.token)
				header = []string{"Authorization", r.Header.Get("Authorization")}
			}
			a := w.call(tt.method, tt.path, "", nil, header...)
			if a.status != tt.status || !strings.Contains(string(a.body), tt.text) {
				t.Errorf("answer %d %.200q, want %d %q", a.status, a.body, tt.status, tt.text)
			}
			if challenge := a.header.Get("WWW-Authenticate"); (a.status == 401) != (challenge == `Basic realm="GitHub"`) {
				t.Errorf("challenge %q", challenge)
			}
		})
	}
}

func TestArchivedRepositoryTakesNoPush(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k := newWork(t)
	k.commit("First", "a.md", "text")
	w.add("own", "")
	if err := w.hub.SetArchived("own", true); err != nil {
		t.Fatal(err)
	}
	if out, err := k.try("push", w.remote("own", w.token(0)), "main"); err == nil || !strings.Contains(out, "archived") {
		t.Errorf("push: %v %s", err, out)
	}
	data, _ := w.query(w.token(0), `{repository(owner:"acme",name:"own"){isArchived archivedAt}}`, nil)
	if at(data, "repository", "isArchived") != true || at(data, "repository", "archivedAt") == nil {
		t.Errorf("data %v", data)
	}
}

func TestPushIsToldOf(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.add("kb", "")
	w.run()
	k := newWork(t)
	remote := w.remote("kb", w.token(0))
	one := k.commit("One", "a.md", "1", "b.md", "1")
	k.git("push", "-q", remote, "main")
	two := k.commit("Two\n\nWhy", "a.md", "2", "c.md", "new")
	k.git("rm", "-q", "b.md")
	three := k.commit("Three")
	k.git("push", "-q", remote, "main")
	k.git("reset", "-q", "--hard", one)
	other := k.commit("Other", "d.md", "d")
	k.git("push", "-q", "--force", remote, "main", "main:refs/heads/side")
	k.git("push", "-q", remote, ":refs/heads/side")

	tests := []struct {
		ref, before, after       string
		created, deleted, forced bool
		commits                  []string
	}{
		{"refs/heads/main", zeros, one, true, false, false, []string{one}},
		{"refs/heads/main", one, three, false, false, false, []string{two, three}},
		{"refs/heads/main", three, other, false, false, true, []string{other}},
		{"refs/heads/side", zeros, other, true, false, false, nil},
		{"refs/heads/side", other, zeros, false, true, false, nil},
	}
	w.hooks.wait(t, "push", len(tests))
	for i, tt := range tests {
		e := w.hooks.of("push")[i]
		var commits []string
		for j := range at(e.body, "commits").([]any) {
			commits = append(commits, at(e.body, "commits", j, "id").(string))
		}
		got := []any{at(e.body, "ref"), at(e.body, "before"), at(e.body, "after"), at(e.body, "created"), at(e.body, "deleted"), at(e.body, "forced"), commits}
		if diff := cmp.Diff([]any{tt.ref, tt.before, tt.after, tt.created, tt.deleted, tt.forced, tt.commits}, got); diff != "" {
			t.Errorf("push %d (-want +got):\n%s", i, diff)
		}
	}
	e := w.hooks.of("push")[1]
	if at(e.body, "repository", "id") != float64(r.ID) || at(e.body, "repository", "node_id") != r.NodeID || at(e.body, "repository", "owner", "login") != "acme" ||
		at(e.body, "repository", "default_branch") != "main" || at(e.body, "installation", "id") != float64(w.hub.InstallationID()) || at(e.body, "sender", "login") != w.hub.People()[0].Login {
		t.Errorf("payload %s", e.raw)
	}
	last := at(e.body, "head_commit")
	if at(last, "id") != three || at(last, "removed", 0) != "b.md" || at(e.body, "commits", 0, "added", 0) != "c.md" || at(e.body, "commits", 0, "modified", 0) != "a.md" || at(e.body, "commits", 0, "message") != "Two\n\nWhy" {
		t.Errorf("commits %s", e.raw)
	}
	if at(w.hooks.of("push")[4].body, "head_commit") != nil {
		t.Error("a deletion has a head commit")
	}
	checkSignature(t, w, e)
	if got := w.get("/repos/acme/kb/commits/main", w.token(0)).json(t)["sha"]; got != other {
		t.Errorf("head %v, want %s", got, other)
	}
}

func checkSignature(t *testing.T, w *world, e event) {
	t.Helper()
	mac := hmac.New(sha256.New, []byte(w.hub.App().WebhookSecret))
	mac.Write(e.raw)
	if want := "sha256=" + hex.EncodeToString(mac.Sum(nil)); e.header.Get("X-Hub-Signature-256") != want {
		t.Errorf("signature %s, want %s", e.header.Get("X-Hub-Signature-256"), want)
	}
	req, err := http.NewRequest("POST", "http://x", bytes.NewReader(e.raw))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = e.header
	payload, err := github.ValidatePayload(req, []byte(w.hub.App().WebhookSecret))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := github.ParseWebHook(github.WebHookType(req), payload); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]string{
		"X-Github-Hook-Installation-Target-Type": "integration", "X-Github-Hook-Installation-Target-Id": fmt.Sprint(w.hub.App().ID),
		"Content-Type": "application/json",
	} {
		if e.header.Get(name) != want {
			t.Errorf("%s: %q, want %q", name, e.header.Get(name), want)
		}
	}
	if !strings.HasPrefix(e.header.Get("User-Agent"), "GitHub-Hookshot/") || len(e.header.Get("X-GitHub-Delivery")) != 36 {
		t.Errorf("headers %v", e.header)
	}
}

func TestFirstPushNamesTheDefaultBranch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("kb", "")
	k := newWork(t)
	k.git("switch", "-q", "-c", "trunk")
	k.commit("One", "a.md", "1")
	k.git("push", "-q", w.remote("kb", w.token(0)), "trunk", "trunk:refs/heads/zeta")
	data, _ := w.query(w.token(0), `{repository(owner:"acme",name:"kb"){isEmpty defaultBranchRef{name}}}`, nil)
	if at(data, "repository", "defaultBranchRef", "name") != "trunk" || at(data, "repository", "isEmpty") != false {
		t.Errorf("data %v", data)
	}
	if out, err := k.try("push", w.remote("kb", w.token(0)), ":refs/heads/trunk"); err == nil {
		t.Errorf("the default branch was deleted: %s", out)
	}
}

func TestCloneFilterAndFsck(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("kb", "")
	k := newWork(t)
	for i := range 50 {
		k.commit(fmt.Sprint("Note ", i), fmt.Sprintf("n%d.md", i), strings.Repeat(fmt.Sprint(i), 1000))
	}
	remote := w.remote("kb", w.token(0))
	k.git("push", "-q", remote, "main") // large enough that git sends it gzipped or in chunks
	k.git("clone", "-q", "--mirror", remote, "mirror")
	k.git("-C", "mirror", "fsck", "--strict")
	if a, b := k.git("-C", "mirror", "rev-parse", "main"), k.git("rev-parse", "main"); a != b {
		t.Errorf("clone at %s, want %s", a, b)
	}
	k.git("clone", "-q", "--bare", "--filter=blob:none", remote, "partial")
	if n := strings.Count(k.git("-C", "partial", "rev-list", "--objects", "--missing=print", "main"), "\n?"); n < 40 {
		t.Errorf("a partial clone lacks only %d blobs", n)
	}
	k.git("clone", "-q", "--depth=1", "--bare", remote, "shallow")
	gitDir := w.hub.Repositories()[0].GitDir
	k.git("-C", gitDir, "-c", "safe.directory=*", "fsck", "--strict")
}

func TestGzippedRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k := newWork(t)
	head := k.commit("First", "a.md", "text")
	w.add("kb", k.dir)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write([]byte("0032want " + head + "\n00000009done\n"))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	a := w.call("POST", "/acme/kb.git/git-upload-pack", w.token(0), zipped.String(), "Content-Encoding", "gzip", "Content-Type", "application/x-git-upload-pack-request")
	if a.status != 200 || !bytes.Contains(a.body, []byte("PACK")) {
		t.Errorf("answer %d %.100q", a.status, a.body)
	}
}

func TestPushByTheApp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("kb", "")
	w.run()
	k := newWork(t)
	k.commit("One", "a.md", "1")
	if out, err := k.try("push", w.remote("kb", w.installationToken(map[string]any{"permissions": map[string]string{"contents": "read"}})), "main"); err == nil {
		t.Errorf("a reading token pushed: %s", out)
	}
	k.git("push", "-q", w.remote("kb", w.installationToken(nil)), "main")
	if e := w.hooks.wait(t, "push", 1); at(e.body, "pusher", "name") != "vault-local[bot]" {
		t.Errorf("pusher %v", at(e.body, "pusher"))
	}
}

func TestRenamedRepositoryIsStillCloned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("old", "")
	k := newWork(t)
	k.commit("One", "a.md", "1")
	k.git("push", "-q", w.remote("old", w.token(0)), "main")
	if err := w.hub.RenameRepository("old", "new"); err != nil {
		t.Fatal(err)
	}
	k.git("-c", "http.followRedirects=true", "clone", "-q", w.remote("old", w.token(0)), "clone")
	if _, err := os.Stat(filepath.Join(k.dir, "clone", "a.md")); err != nil {
		t.Error(err)
	}
}
