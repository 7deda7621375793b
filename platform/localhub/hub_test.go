package localhub_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault/platform/localhub"
)

// restart opens the hub's folder anew.
func (w *world) restart() {
	w.t.Helper()
	if err := w.hub.Close(); err != nil {
		w.t.Fatal(err)
	}
	w.open()
}

func TestStateSurvivesARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k := newWork(t)
	head := k.commit("One", "a.md", "1")
	own, served := w.add("own", ""), w.add("kb", k.dir)
	k.git("push", "-q", w.remote("own", w.token(0)), "main")
	if err := w.hub.SetAccess(w.hub.People()[2].Login, "kb", "write"); err != nil {
		t.Fatal(err)
	}
	people, app, installation, token := w.hub.People(), w.hub.App(), w.hub.InstallationID(), w.installationToken(nil)
	w.restart()
	if n := len(w.hub.Repositories()); n != 0 {
		t.Errorf("%d repositories are served before any was added", n)
	}
	if a := w.get("/repos/acme/kb", w.token(0)); a.status != 404 {
		t.Errorf("a repository that was not added answered %d", a.status)
	}
	if diff := cmp.Diff([]localhub.Repository{own, served}, []localhub.Repository{w.add("own", ""), w.add("kb", k.dir)}); diff != "" {
		t.Errorf("repositories (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(people, w.hub.People()); diff != "" {
		t.Errorf("people (-want +got):\n%s", diff)
	}
	if now := w.hub.App(); now.ID != app.ID || now.ClientSecret != app.ClientSecret || now.WebhookSecret != app.WebhookSecret || !now.PrivateKey.Equal(app.PrivateKey) || w.hub.InstallationID() != installation {
		t.Error("the App changed")
	}
	if a := w.get("/installation/repositories", token); at(a.json(t), "total_count") != 2.0 {
		t.Errorf("the installation token answered %d %s", a.status, a.body)
	}
	data, _ := w.query(w.token(2), `{own:repository(owner:"acme",name:"own"){defaultBranchRef{target{oid}}} kb:repository(owner:"acme",name:"kb"){viewerPermission}}`, nil)
	if at(data, "own", "defaultBranchRef", "target", "oid") != head || at(data, "kb", "viewerPermission") != "WRITE" {
		t.Errorf("data %v", data)
	}
	info, err := os.Stat(filepath.Join(w.config.Dir, "state.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("state file %v, error %v", info.Mode(), err)
	}
	left, _ := filepath.Glob(filepath.Join(w.config.Dir, ".state-*"))
	if len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

func TestNameThatMeansSomethingElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k, other := newWork(t), newWork(t)
	k.commit("One", "a.md", "1")
	head := other.commit("Other", "b.md", "2")
	before := w.add("kb", k.dir)
	stop := w.run()
	w.hooks.wait(t, "installation", 1)
	stop()
	w.restart()
	after := w.add("kb", other.dir)
	if after.ID == before.ID {
		t.Error("another folder got the same id")
	}
	if got := w.served("kb"); got != "main "+head {
		t.Errorf("served %q", got)
	}
	if _, err := os.Stat(before.GitDir); !os.IsNotExist(err) {
		t.Errorf("the old repository is still there: %v", err)
	}
	w.run()
	e := w.hooks.wait(t, "installation_repositories", 2)
	removed := w.hooks.of("installation_repositories")[0]
	if at(removed.body, "repositories_removed", 0, "id") != float64(before.ID) || at(e.body, "repositories_added", 0, "id") != float64(after.ID) {
		t.Errorf("events %s %s", removed.raw, e.raw)
	}
}

func TestDamagedStateIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, text := range []string{"{", `{"version":99}`, `{"version":1}`} {
		config := w.config
		config.Dir = t.TempDir()
		if err := os.WriteFile(filepath.Join(config.Dir, "state.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := localhub.New(config); err == nil || !strings.Contains(err.Error(), config.Dir) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, base := range []string{"", "nonsense", "ftp://x/hub"} {
		config := w.config
		config.Dir, config.BaseURL = t.TempDir(), base
		if _, err := localhub.New(config); err == nil {
			t.Errorf("base URL %q was taken", base)
		}
	}
}

func TestBadNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("kb", "")
	for _, name := range []string{"", ".", "..", "a/b", "a b", "ü", "x.git", strings.Repeat("a", 101), "KB"} {
		if _, err := w.hub.AddRepository(t.Context(), localhub.RepositorySpec{Name: name}); err == nil {
			t.Errorf("%q was taken", name)
		}
	}
}

func TestInstallationEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one := w.add("one", "")
	w.run()
	e := w.hooks.wait(t, "installation", 1)
	if at(e.body, "action") != "created" || at(e.body, "repositories", 0, "id") != float64(one.ID) || at(e.body, "installation", "id") != float64(w.hub.InstallationID()) || at(e.body, "installation", "account", "login") != "acme" {
		t.Errorf("event %s", e.raw)
	}
	two := w.add("two", "")
	e = w.hooks.wait(t, "installation_repositories", 1)
	if at(e.body, "action") != "added" || at(e.body, "repositories_added", 0, "id") != float64(two.ID) || len(at(e.body, "repositories_removed").([]any)) != 0 {
		t.Errorf("event %s", e.raw)
	}
	if err := w.hub.RemoveRepository("two"); err != nil {
		t.Fatal(err)
	}
	e = w.hooks.wait(t, "installation_repositories", 2)
	if at(e.body, "action") != "removed" || at(e.body, "repositories_removed", 0, "full_name") != "acme/two" {
		t.Errorf("event %s", e.raw)
	}
	data, errs := w.query(w.token(0), `query($i:ID!){node(id:$i){id}}`, map[string]any{"i": two.NodeID})
	if at(data, "node") != nil || len(errs) != 1 {
		t.Errorf("a removed repository is seen: %v", data)
	}
	if again := w.add("two", ""); again.ID != two.ID {
		t.Errorf("it came back as %d, was %d", again.ID, two.ID)
	}
	if err := w.hub.DeleteRepository("two"); err != nil {
		t.Fatal(err)
	}
	if again := w.add("two", ""); again.ID == two.ID {
		t.Error("a deleted repository came back")
	}
	if err := w.hub.RenameRepository("one", "eins"); err != nil {
		t.Fatal(err)
	}
	e = w.hooks.wait(t, "repository", 1)
	if at(e.body, "action") != "renamed" || at(e.body, "changes", "repository", "name", "from") != "one" || at(e.body, "repository", "full_name") != "acme/eins" {
		t.Errorf("event %s", e.raw)
	}
	token := w.token(2)
	if err := w.hub.RevokeToken(token); err != nil {
		t.Fatal(err)
	}
	e = w.hooks.wait(t, "github_app_authorization", 1)
	if at(e.body, "action") != "revoked" || at(e.body, "sender", "login") != w.hub.People()[2].Login {
		t.Errorf("event %s", e.raw)
	}
	if a := w.get("/user", token); a.status != 401 || w.token(2) != "" {
		t.Errorf("a revoked token answered %d", a.status)
	}
	fresh, err := w.hub.IssueToken(w.hub.People()[2].Login)
	if err != nil || w.get("/user", fresh).status != 200 {
		t.Errorf("a new token does not work: %v", err)
	}
	app := w.installationToken(nil)
	if err := w.hub.RevokeToken(app); err != nil || w.get("/installation/repositories", app).status != 401 {
		t.Errorf("the installation token was not revoked: %v", err)
	}
	if err := w.hub.RevokeToken("ghu_none"); err == nil {
		t.Error("an unknown token was revoked")
	}
}

func TestDefaultBranchIsChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("kb", "")
	k := newWork(t)
	k.commit("One", "a.md", "1")
	k.git("push", "-q", w.remote("kb", w.token(0)), "main", "main:refs/heads/next")
	w.run()
	if err := w.hub.SetDefaultBranch(t.Context(), "kb", "next"); err != nil {
		t.Fatal(err)
	}
	e := w.hooks.wait(t, "repository", 1)
	if at(e.body, "action") != "edited" || at(e.body, "changes", "default_branch", "from") != "main" || at(e.body, "repository", "default_branch") != "next" {
		t.Errorf("event %s", e.raw)
	}
	if !strings.Contains(k.git("ls-remote", "--symref", w.remote("kb", w.token(0)), "HEAD"), "refs/heads/next") {
		t.Error("git sees another HEAD")
	}
	if err := w.hub.SetDefaultBranch(t.Context(), "kb", "nope"); err == nil {
		t.Error("a missing branch was taken")
	}
	served := newWork(t)
	served.commit("One", "a.md", "1")
	w.add("folder", served.dir)
	if err := w.hub.SetDefaultBranch(t.Context(), "folder", "next"); err == nil {
		t.Error("a served folder's branch was changed")
	}
}

func TestDeliveryWaitsForItsReceiver(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, func(c *localhub.Config) { c.WebhookURL = "http://" + address })
	w.add("one", "")
	w.add("two", "")
	w.run()
	w.add("three", "")
	until(t, "an attempt in vain", func() bool {
		all := w.hub.Deliveries()
		return len(all) == 2 && all[1].Status == "failed to connect to host"
	})
	if listener, err = net.Listen("tcp", address); err != nil {
		t.Skipf("the port was taken meanwhile: %v", err)
	}
	var mu sync.Mutex
	var got []string
	server := &http.Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, r.Header.Get("X-GitHub-Event"))
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	until(t, "both deliveries", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(got) == 2
	})
	if diff := cmp.Diff([]string{"installation", "installation_repositories"}, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestDeliveryLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hooks.status = 503
	w.add("one", "")
	w.run()
	w.hooks.wait(t, "installation", 1)
	until(t, "the log", func() bool { return w.hub.Deliveries()[0].StatusCode == 503 })
	c := w.client(w.appJWT())
	list, _, err := c.Apps.ListHookDeliveries(t.Context(), nil)
	if err != nil || len(list) != 1 || list[0].GetStatusCode() != 503 || list[0].GetEvent() != "installation" || list[0].GetAction() != "created" {
		t.Fatalf("deliveries %v, error %v", list, err)
	}
	failed := w.get("/app/hook/deliveries?status=failure", w.appJWT())
	if !strings.Contains(string(failed.body), list[0].GetGUID()) {
		t.Errorf("failures %s", failed.body)
	}
	w.hooks.mu.Lock()
	w.hooks.status = 200
	w.hooks.mu.Unlock()
	if a := w.call("POST", fmt.Sprintf("/app/hook/deliveries/%d/attempts", list[0].GetID()), w.appJWT(), nil); a.status != 202 {
		t.Errorf("redelivery answered %d %s", a.status, a.body)
	}
	again := w.hooks.wait(t, "installation", 2)
	if again.header.Get("X-GitHub-Delivery") != list[0].GetGUID() {
		t.Error("the redelivery has another id")
	}
	detail, _, err := c.Apps.GetHookDelivery(t.Context(), list[0].GetID())
	if err != nil || !json.Valid(detail.GetRequest().GetRawPayload()) {
		t.Errorf("delivery %v, error %v", detail, err)
	}
	if a := w.call("POST", "/app/hook/deliveries/999/attempts", w.appJWT(), nil); a.status != 404 {
		t.Errorf("unknown delivery answered %d", a.status)
	}
}

func TestAdminOverHTTP(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.hub.AdminToken()
	for _, wrong := range []string{"", "x", w.token(0), w.installationToken(nil)} {
		if a := w.get("/admin/state", wrong); a.status != 401 {
			t.Errorf("a wrong token answered %d", a.status)
		}
	}
	w.run()
	k := newWork(t)
	k.commit("One", "a.md", "1")
	login := w.hub.People()[2].Login
	steps := []struct {
		method, path string
		body         any
		status       int
	}{
		{"POST", "/admin/repositories", map[string]any{"name": "first"}, 200},
		{"POST", "/admin/repositories", map[string]any{"name": "kb"}, 200},
		{"POST", "/admin/repositories", map[string]any{"name": "kb"}, 422},
		{"POST", "/admin/repositories", map[string]any{"name": "a/b"}, 422},
		{"POST", "/admin/repositories", "{", 400},
		{"POST", "/admin/repositories", `{"name":"` + strings.Repeat("x", 100_000) + `"}`, 413},
		{"PUT", "/admin/access", map[string]any{"login": login, "repository": "kb", "permission": "write"}, 200},
		{"PUT", "/admin/access", map[string]any{"login": login, "repository": "no", "permission": "write"}, 404},
		{"PUT", "/admin/access", map[string]any{"login": "no", "repository": "kb", "permission": "write"}, 422},
		{"PUT", "/admin/access", map[string]any{"login": login, "repository": "kb", "permission": "all"}, 422},
		{"PATCH", "/admin/repositories/kb", map[string]any{"default_branch": "nope"}, 404},
		{"PATCH", "/admin/repositories/kb", map[string]any{"archived": true}, 200},
		{"PATCH", "/admin/repositories/kb", map[string]any{"archived": false, "name": "notes"}, 200},
		{"PATCH", "/admin/repositories/kb", map[string]any{"name": "x"}, 404},
		{"POST", "/admin/tokens/revoke", map[string]any{"token": w.token(1)}, 200},
		{"POST", "/admin/tokens", map[string]any{"login": login}, 200},
		{"POST", "/admin/ping", nil, 200},
		{"DELETE", "/admin/repositories/first", nil, 200},
		{"DELETE", "/admin/repositories/first", nil, 404},
		{"DELETE", "/admin/repositories/notes?content=delete", nil, 200},
		{"GET", "/admin/nothing", nil, 404},
	}
	for _, s := range steps {
		if a := w.call(s.method, s.path, token, s.body); a.status != s.status {
			t.Errorf("%s %s answered %d %s, want %d", s.method, s.path, a.status, a.body, s.status)
		}
	}
	state := w.get("/admin/state", token).json(t)
	if at(state, "account") != "acme" || len(at(state, "people").([]any)) != 3 || len(at(state, "repositories").([]any)) != 0 {
		t.Errorf("state %v", state)
	}
	w.hooks.wait(t, "ping", 1)
	var actions []string
	for _, e := range w.hooks.of("repository") {
		actions = append(actions, at(e.body, "action").(string))
	}
	if diff := cmp.Diff([]string{"archived", "unarchived", "renamed"}, actions); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if a := w.get("/admin/deliveries", token); a.status != 200 || !strings.Contains(string(a.body), `"event":"ping"`) {
		t.Errorf("deliveries %d %s", a.status, a.body)
	}
}

// TestManyAtOnce is for the race detector: clients, pushes, a watched folder
// and admin acts together.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k := newWork(t)
	k.commit("One", "a.md", "1")
	w.add("kb", k.dir)
	w.add("own", "")
	w.run()
	token, remote := w.token(0), w.remote("own", w.token(0))
	var wait sync.WaitGroup
	for i := range 4 {
		wait.Go(func() {
			for range 5 {
				w.query(token, `{repository(owner:"acme",name:"kb"){isEmpty defaultBranchRef{target{... on Commit{file(path:"a.md"){object{... on Blob{text}}}}}}}}`, nil)
				w.get("/installation/repositories", w.installationToken(nil))
			}
		})
		wait.Go(func() {
			p := newWork(t)
			p.commit("Push", "p.md", fmt.Sprint(i))
			p.git("push", "-q", remote, fmt.Sprintf("main:refs/heads/b%d", i))
		})
	}
	wait.Go(func() {
		for i := range 5 {
			name := fmt.Sprintf("r%d", i)
			w.add(name, "")
			if err := w.hub.RenameRepository(name, name+"-x"); err != nil {
				t.Error(err)
			}
			if err := w.hub.RemoveRepository(name + "-x"); err != nil {
				t.Error(err)
			}
		}
	})
	last := ""
	for i := range 5 {
		last = k.commit("Next", "a.md", fmt.Sprint(i, i))
	}
	wait.Wait()
	w.untilServed("kb", "main "+last)
	until(t, "four pushed branches", func() bool {
		n := 0
		for _, e := range w.hooks.of("push") {
			if at(e.body, "created") == true {
				n++
			}
		}
		return n == 4
	})
}

func TestPanicIsContained(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.call("POST", "/graphql", w.token(0), map[string]any{"query": `{node(id:99999999999999999999999){id}}`})
	if a.status != 200 {
		t.Errorf("answer %d %s", a.status, a.body)
	}
}
