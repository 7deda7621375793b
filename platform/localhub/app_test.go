package localhub_test

import (
	"crypto/rand"
	"crypto/rsa"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-github/v66/github"
)

// appJWT signs the App's credential as a client does; change alters the claims.
func (w *world) appJWT(change ...func(jwt.MapClaims)) string {
	w.t.Helper()
	now := time.Now()
	claims := jwt.MapClaims{
		"iss": w.hub.App().ClientID, "iat": now.Add(-time.Minute).Unix(), "exp": now.Add(9 * time.Minute).Unix(),
	}
	for _, c := range change {
		c(claims)
	}
	token, err := jwt.NewWithClaims(jwt.SigningMethodRS256, claims).SignedString(w.hub.App().PrivateKey)
	if err != nil {
		w.t.Fatal(err)
	}
	return token
}

// installationToken asks for a token with a body such as {"repository_ids": …}.
func (w *world) installationToken(body any) string {
	w.t.Helper()
	a := w.call("POST", fmt.Sprintf("/app/installations/%d/access_tokens", w.hub.InstallationID()), w.appJWT(), body)
	if a.status != http.StatusCreated {
		w.t.Fatalf("token refused: %d %s", a.status, a.body)
	}
	token, _ := a.json(w.t)["token"].(string)
	return token
}

// client is go-github on the hub.
func (w *world) client(token string) *github.Client {
	w.t.Helper()
	c, err := github.NewClient(nil).WithAuthToken(token).WithEnterpriseURLs(w.base, w.base)
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

func TestAppThroughItsClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("one", "")
	two := w.add("two", "")
	ctx := t.Context()
	app := w.client(w.appJWT())
	me, _, err := app.Apps.Get(ctx, "")
	if err != nil || me.GetID() != w.hub.App().ID {
		t.Fatalf("app %v, error %v", me, err)
	}
	list, _, err := app.Apps.ListInstallations(ctx, nil)
	if err != nil || len(list) != 1 || list[0].GetID() != w.hub.InstallationID() || list[0].GetAccount().GetLogin() != "acme" {
		t.Fatalf("installations %v, error %v", list, err)
	}
	if _, _, err := app.Apps.GetInstallation(ctx, list[0].GetID()); err != nil {
		t.Fatal(err)
	}
	token, _, err := app.Apps.CreateInstallationToken(ctx, list[0].GetID(), &github.InstallationTokenOptions{
		RepositoryIDs: []int64{two.ID}, Permissions: &github.InstallationPermissions{Contents: github.String("read")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if left := time.Until(token.GetExpiresAt().Time); left < 59*time.Minute || left > 61*time.Minute {
		t.Errorf("the token lives %v", left)
	}
	if len(token.GetToken()) < 200 || !strings.HasPrefix(token.GetToken(), "ghs_") {
		t.Errorf("the token has %d characters, GitHub's are long", len(token.GetToken()))
	}
	narrow := w.client(token.GetToken())
	repos, _, err := narrow.Apps.ListRepos(ctx, nil)
	if err != nil || repos.GetTotalCount() != 1 || repos.Repositories[0].GetName() != "two" {
		t.Errorf("repositories %v, error %v", repos, err)
	}
	if _, resp, err := narrow.Repositories.Get(ctx, "acme", "one"); err == nil || resp.StatusCode != 404 {
		t.Errorf("a repository outside the token answered %v", resp)
	}
	if _, err := narrow.Apps.RevokeInstallationToken(ctx); err != nil {
		t.Fatal(err)
	}
	if _, resp, err := narrow.Apps.ListRepos(ctx, nil); err == nil || resp.StatusCode != 401 {
		t.Errorf("a revoked token answered %v", resp)
	}
}

func TestInstallationRepositoriesComeInPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var want []string
	for i := range 5 {
		want = append(want, w.add(fmt.Sprintf("r%d", i), "").Name)
	}
	c := w.client(w.installationToken(nil))
	var got []string
	opts := &github.ListOptions{PerPage: 2}
	for {
		page, resp, err := c.Apps.ListRepos(t.Context(), opts)
		if err != nil || page.GetTotalCount() != 5 || len(page.Repositories) > 2 {
			t.Fatalf("page %v, error %v", page, err)
		}
		for _, r := range page.Repositories {
			got = append(got, r.GetName())
		}
		if resp.NextPage == 0 {
			break
		}
		opts.Page = resp.NextPage
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	a := w.get("/installation/repositories?per_page=2&page=2", w.installationToken(nil))
	base := w.base + "/installation/repositories?"
	wantLink := fmt.Sprintf(`<%[1]spage=1&per_page=2>; rel="prev", <%[1]spage=3&per_page=2>; rel="next", <%[1]spage=3&per_page=2>; rel="last", <%[1]spage=1&per_page=2>; rel="first"`, base)
	if got := a.header.Get("Link"); got != wantLink {
		t.Errorf("Link %s\nwant %s", got, wantLink)
	}
	if n := len(at(w.get("/installation/repositories?page=99999999999&per_page=100", w.installationToken(nil)).json(t), "repositories").([]any)); n != 0 {
		t.Errorf("a page far out has %d entries", n)
	}
}

func TestAppJWTIsJudged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.MapClaims{"iss": w.hub.App().ClientID}).SignedString(other)
	if err != nil {
		t.Fatal(err)
	}
	confused, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"iss": w.hub.App().ClientID}).SignedString([]byte("key"))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	set := func(name string, value any) string {
		return w.appJWT(func(c jwt.MapClaims) {
			if c[name] = value; value == nil {
				delete(c, name)
			}
		})
	}
	tests := []struct {
		name, token string
		status      int
		message     string
	}{
		{"app id as issuer", set("iss", w.hub.App().ID), 200, ""},
		{"app id as text", set("iss", fmt.Sprint(w.hub.App().ID)), 200, ""},
		{"foreign key", foreign, 401, "A JSON web token could not be decoded"},
		{"other algorithm", confused, 401, "A JSON web token could not be decoded"},
		{"unknown issuer", set("iss", "Iv1.unknown"), 404, "Integration not found"},
		{"no issuer", set("iss", nil), 401, "Missing 'issuer' claim ('iss') in assertion"},
		{"no end", set("exp", nil), 401, "Missing 'expiration time' claim ('exp') in assertion"},
		{"ended", set("exp", now.Add(-2*time.Minute).Unix()), 401, "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires"},
		{"too long", set("exp", now.Add(12*time.Minute).Unix()), 401, "'Expiration time' claim ('exp') is too far in the future"},
		{"from the future", set("iat", now.Add(5*time.Minute).Unix()), 401, "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued"},
		{"end as text", set("exp", "soon"), 401, "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires"},
		{"a person's token", w.token(0), 401, "A JSON web token could not be decoded"},
		{"no token", "", 401, "A JSON web token could not be decoded"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := w.get("/app", tt.token)
			if message, _ := a.json(t)["message"].(string); a.status != tt.status || message != tt.message {
				t.Errorf("answer %d %q, want %d %q", a.status, message, tt.status, tt.message)
			}
		})
	}
}

func TestTokenRequestIsJudged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.add("one", "")
	path := fmt.Sprintf("/app/installations/%d/access_tokens", w.hub.InstallationID())
	tooMany := make([]int64, 501)
	tests := []struct {
		name   string
		path   string
		body   any
		status int
	}{
		{"nothing asked", path, nil, 201},
		{"by name", path, map[string]any{"repositories": []string{"ONE"}}, 201},
		{"by id", path, map[string]any{"repository_ids": []int64{r.ID}}, 201},
		{"unknown name", path, map[string]any{"repositories": []string{"two"}}, 422},
		{"unknown id", path, map[string]any{"repository_ids": []int64{r.ID, 5}}, 422},
		{"too many", path, map[string]any{"repository_ids": tooMany}, 422},
		{"unknown permission", path, map[string]any{"permissions": map[string]string{"issues": "read"}}, 422},
		{"more than granted", path, map[string]any{"permissions": map[string]string{"metadata": "write"}}, 422},
		{"wrong type", path, map[string]any{"repository_ids": "one"}, 422},
		{"no JSON", path, "{", 400},
		{"too large", path, `{"repositories":["` + strings.Repeat("x", 3<<20) + `"]}`, 413},
		{"unknown installation", "/app/installations/7/access_tokens", nil, 404},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if a := w.call("POST", tt.path, w.appJWT(), tt.body); a.status != tt.status {
				t.Errorf("answer %d %s, want %d", a.status, a.body, tt.status)
			}
		})
	}
}

func TestTokenWithoutContentsSeesNoContents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k := newWork(t)
	k.commit("First", "a.md", "text")
	r := w.add("kb", k.dir)
	token := w.installationToken(map[string]any{"permissions": map[string]string{"metadata": "read"}})
	if a := w.get("/repos/acme/kb", token); a.status != 200 {
		t.Errorf("metadata: %d", a.status)
	}
	a := w.get("/repos/acme/kb/commits/main", token)
	if a.status != 403 || a.header.Get("X-Accepted-GitHub-Permissions") != "contents=read" || a.json(t)["message"] != "Resource not accessible by integration" {
		t.Errorf("contents: %d %v %s", a.status, a.header, a.body)
	}
	data, errs := w.query(token, `query($id:ID!){node(id:$id){... on Repository{name defaultBranchRef{name}}}}`, map[string]any{"id": r.NodeID})
	if at(data, "node", "name") != "kb" || at(data, "node", "defaultBranchRef") != nil || at(errs, 0, "type") != "FORBIDDEN" || at(errs, 0, "extensions", "saml_failure") != false {
		t.Errorf("data %v, errors %v", data, errs)
	}
	if out, err := k.try("ls-remote", w.remote("kb", token)); err == nil {
		t.Errorf("git listed %s", out)
	}
}
