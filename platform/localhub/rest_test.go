package localhub_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-github/v66/github"

	"vault/platform/localhub"
)

func TestErrorShapes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k := newWork(t)
	k.commit("First", "a.md", "text")
	w.add("kb", k.dir)
	w.add("empty", "")
	w.add("gone", "")
	if err := w.hub.RemoveRepository("gone"); err != nil {
		t.Fatal(err)
	}
	rest, graphQL := `"documentation_url":"https://docs.github.com/rest"`, `"documentation_url":"https://docs.github.com/graphql"`
	first, third, app := w.token(0), w.token(2), w.installationToken(nil)
	sha := strings.Repeat("a", 40)
	tests := []struct {
		name, method, path, token string
		status                    int
		body                      string
	}{
		{"bad token", "GET", "/user", "ghu_wrong", 401, `{` + rest + `,"message":"Bad credentials","status":"401"}`},
		{"bad token to GraphQL", "POST", "/graphql", "ghu_wrong", 401, `{` + graphQL + `,"message":"Bad credentials","status":"401"}`},
		{"forged installation token", "GET", "/installation/repositories", app[:len(app)-3] + "abc", 401, `{` + rest + `,"message":"Bad credentials","status":"401"}`},
		{"no token", "GET", "/user", "", 401, `{` + rest + `,"message":"Requires authentication","status":"401"}`},
		{"no token for a repository", "GET", "/repos/acme/kb", "", 401, `{` + rest + `,"message":"Requires authentication","status":"401"}`},
		{"no token to GraphQL", "POST", "/graphql", "", 401, `{"documentation_url":"https://docs.github.com/graphql/guides/forming-calls-with-graphql#authenticating-with-graphql","message":"This endpoint requires you to be authenticated.","status":"401"}`},
		{"unreadable repository", "GET", "/repos/acme/empty", third, 404, `{` + rest + `,"message":"Not Found","status":"404"}`},
		{"repository that is not", "GET", "/repos/acme/never", first, 404, `{` + rest + `,"message":"Not Found","status":"404"}`},
		{"repository that left", "GET", "/repos/acme/gone", first, 404, `{` + rest + `,"message":"Not Found","status":"404"}`},
		{"other owner", "GET", "/repos/other/kb", first, 404, `{` + rest + `,"message":"Not Found","status":"404"}`},
		{"empty repository's blob", "GET", "/repos/acme/empty/git/blobs/" + sha, first, 409, `{` + rest + `,"message":"Git Repository is empty.","status":"409"}`},
		{"empty repository's commit", "GET", "/repos/acme/empty/commits/main", first, 409, `{` + rest + `,"message":"Git Repository is empty.","status":"409"}`},
		{"empty repository's tree", "GET", "/repos/acme/empty/git/trees/main", first, 409, `{` + rest + `,"message":"Git Repository is empty.","status":"409"}`},
		{"empty repository compared", "GET", "/repos/acme/empty/compare/main...main", first, 409, `{` + rest + `,"message":"Git Repository is empty.","status":"409"}`},
		{"missing blob", "GET", "/repos/acme/kb/git/blobs/" + sha, first, 404, `{` + rest + `,"message":"Not Found","status":"404"}`},
		{"malformed blob", "GET", "/repos/acme/kb/git/blobs/xyz", first, 422, `{` + rest + `,"message":"The sha parameter must be exactly 40 characters and contain only [0-9a-f].","status":"422"}`},
		{"missing commit", "GET", "/repos/acme/kb/commits/nope", first, 422, `{` + rest + `,"message":"No commit found for SHA: nope","status":"422"}`},
		{"compare without dots", "GET", "/repos/acme/kb/compare/main", first, 404, `{` + rest + `,"message":"Not Found","status":"404"}`},
		{"installation's own list for a person", "GET", "/installation/repositories", first, 403, `{` + rest + `,"message":"You must authenticate with an installation access token in order to list repositories for an installation.","status":"403"}`},
		{"person's page for an App", "GET", "/user", app, 403, `{` + rest + `,"message":"Resource not accessible by integration","status":"403"}`},
		{"unknown installation", "GET", "/user/installations/3/repositories", first, 404, `{` + rest + `,"message":"Not Found","status":"404"}`},
		{"no JSON to GraphQL", "POST", "/graphql", first, 400, `{` + graphQL + `,"message":"A query attribute must be specified and must be a string.","status":"400"}`},
		{"not built", "GET", "/repos/acme/kb/issues", first, 501, `{` + rest + `,"message":"LOCALHUB_UNIMPLEMENTED: GET /repos/acme/kb/issues exists on GitHub but is not built into this local GitHub.","status":"501"}`},
		{"no such thing", "GET", "/nonsense", first, 404, `{` + rest + `,"message":"Not Found","status":"404"}`},
		{"dots in the path", "GET", "/repos/acme/kb/../kb", first, 501, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, prefix := range []string{"", "/api/v3"} {
				if prefix != "" && tt.path == "/graphql" {
					prefix = "/api"
				}
				a := w.call(tt.method, prefix+tt.path, tt.token, nil)
				if a.status != tt.status || tt.body != "" && string(a.body) != tt.body {
					t.Errorf("%s answered %d %s\nwant %d %s", prefix+tt.path, a.status, a.body, tt.status, tt.body)
				}
			}
		})
	}
}

func TestEveryAnswerHasGitHubsHeaders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	requestID := regexp.MustCompile(`^[0-9A-F]{4}:[0-9A-F]{6}:[0-9A-F]{6}:[0-9A-F]{6}:[0-9A-F]{8}$`)
	for _, path := range []string{"/user", "/nonsense", "/graphql", "/repos/acme/no"} {
		for i, token := range []string{w.token(0), "ghu_wrong"} {
			method := map[bool]string{true: "POST", false: "GET"}[path == "/graphql"]
			a := w.call(method, path, token, nil)
			if !requestID.MatchString(a.header.Get("X-GitHub-Request-Id")) || a.header.Get("X-GitHub-Media-Type") != "github.v3; format=json" {
				t.Errorf("%s: headers %v", path, a.header)
			}
			wantLimit := []string{"100000", "0"}[i]
			wantResource := map[bool]string{true: "graphql", false: "core"}[path == "/graphql"]
			for name, want := range map[string]string{"Limit": wantLimit, "Resource": wantResource} {
				if got := a.header.Get("X-RateLimit-" + name); got != want {
					t.Errorf("%s with token %d: X-RateLimit-%s %q, want %q", path, i, name, got, want)
				}
			}
			if a.header.Get("X-RateLimit-Reset") == "" || a.header.Get("X-RateLimit-Used") == "" {
				t.Errorf("%s: headers %v", path, a.header)
			}
		}
	}
	if a := w.get("/user", w.token(0), "User-Agent", ""); a.status != 403 || !strings.Contains(string(a.body), "User-Agent header") {
		t.Errorf("without User-Agent: %d %s", a.status, a.body)
	}
	if a := w.get("/user", w.token(0), "X-GitHub-Api-Version", "1999-01-01"); a.status != 400 {
		t.Errorf("unknown version: %d", a.status)
	}
}

func TestCredentialsInEveryForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.token(0)
	basic := func(user, password string) string {
		r, _ := http.NewRequest("GET", "http://x", nil)
		r.SetBasicAuth(user, password)
		return r.Header.Get("Authorization")
	}
	for header, status := range map[string]int{
		"Bearer " + token: 200, "token " + token: 200, "TOKEN  " + token: 200,
		basic("x-access-token", token): 200, basic(token, ""): 200, basic(token, "x-oauth-basic"): 200,
		basic("x-access-token", "no"): 401, "Basic !!!": 401, "Digest " + token: 401, "Bearer": 401, "Bearer a.b.c": 401,
	} {
		if a := w.get("/user", "", "Authorization", header); a.status != status {
			t.Errorf("%.12q answered %d, want %d", header, a.status, status)
		}
	}
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *localhub.Config) { c.HourlyLimit = 3 })
	first, second := w.token(0), w.token(1)
	for i := range 3 {
		a := w.get("/user", first)
		if a.status != 200 || a.header.Get("X-RateLimit-Remaining") != fmt.Sprint(2-i) {
			t.Errorf("request %d: %d %v", i, a.status, a.header)
		}
	}
	_, _, err := w.client(first).Users.Get(t.Context(), "")
	var limited *github.RateLimitError
	if !errors.As(err, &limited) {
		t.Errorf("the client saw %v", err)
	}
	id := at(w.get("/user", second).json(t), "id")
	if id == nil {
		t.Error("the second person is limited by the first's requests")
	}
	if a := w.get("/rate_limit", first); at(a.json(t), "resources", "core", "remaining") != 0.0 || at(a.json(t), "resources", "graphql", "remaining") != 3.0 {
		t.Errorf("limits %s", a.body)
	}
	for range 3 {
		w.query(first, "{rateLimit{remaining}}", nil)
	}
	data, errs := w.query(first, "{viewer{login}}", nil)
	if data != nil || at(errs, 0, "type") != "RATE_LIMIT" || at(errs, 0, "code") != "graphql_rate_limit" || !strings.HasPrefix(at(errs, 0, "message").(string), "API rate limit already exceeded for user ID ") {
		t.Errorf("data %v, errors %v", data, errs)
	}
}

func TestPeopleSeeWhatTheyMay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, two := w.add("one", ""), w.add("two", "")
	names := func(token string) []string {
		list, _, err := w.client(token).Apps.ListUserRepos(t.Context(), w.hub.InstallationID(), nil)
		if err != nil {
			t.Fatal(err)
		}
		out := []string{}
		for _, r := range list.Repositories {
			out = append(out, fmt.Sprintf("%s %v", r.GetName(), r.GetPermissions()["push"]))
		}
		return out
	}
	for i, want := range [][]string{{"one true", "two true"}, {"one false", "two false"}, {"one false"}} {
		if diff := cmp.Diff(want, names(w.token(i))); diff != "" {
			t.Errorf("person %d (-want +got):\n%s", i, diff)
		}
	}
	query := `query($ids:[ID!]!){nodes(ids:$ids){... on Repository{name viewerPermission}}}`
	data, errs := w.query(w.token(2), query, map[string]any{"ids": []string{two.NodeID, one.NodeID}})
	if at(data, "nodes", 0) != nil || at(data, "nodes", 1, "viewerPermission") != "READ" || at(errs, 0, "path", 1) != 0.0 {
		t.Errorf("data %v, errors %v", data, errs)
	}
	if err := w.hub.SetAccess(w.hub.People()[2].Login, "two", "write"); err != nil {
		t.Fatal(err)
	}
	if err := w.hub.SetAccess(w.hub.People()[2].Login, "one", "none"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"two true"}, names(w.token(2))); diff != "" {
		t.Errorf("after a change (-want +got):\n%s", diff)
	}
}

func TestGuestsGainNothingWhenTheirRepositoryGoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("one", "")
	w.add("two", "")
	if err := w.hub.RemoveRepository("one"); err != nil {
		t.Fatal(err)
	}
	if a := w.get("/repos/acme/two", w.token(2)); a.status != 404 {
		t.Errorf("the second repository answered %d", a.status)
	}
	w.add("one", "")
	if a := w.get("/repos/acme/one", w.token(2)); a.status != 200 {
		t.Errorf("the first repository, back again, answered %d", a.status)
	}
}

func TestRenamedRepositoryRedirects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.add("old", "")
	if err := w.hub.RenameRepository("old", "new"); err != nil {
		t.Fatal(err)
	}
	token := w.token(0)
	a := w.get("/repos/acme/old?x=1", token)
	target := fmt.Sprintf("%s/repositories/%d?x=1", w.base, r.ID)
	if a.status != 301 || a.header.Get("Location") != target || a.json(t)["url"] != target || a.json(t)["message"] != "Moved Permanently" {
		t.Errorf("answer %d %v %s", a.status, a.header, a.body)
	}
	got, _, err := w.client(token).Repositories.Get(t.Context(), "acme", "old")
	if err != nil || got.GetName() != "new" || got.GetID() != r.ID {
		t.Errorf("repository %v, error %v", got, err)
	}
	data, _ := w.query(token, `{a:repository(owner:"acme",name:"old"){name} b:repository(owner:"acme",name:"old",followRenames:false){name}}`, nil)
	if at(data, "a", "name") != "new" || at(data, "b") != nil {
		t.Errorf("data %v", data)
	}
	if a := w.get("/repos/acme/old", w.token(2)); a.status != 301 {
		t.Errorf("for a reader of the first: %d", a.status)
	}
	w.add("old", "") // the name is used again: the redirect ends
	got, _, err = w.client(token).Repositories.Get(t.Context(), "acme", "old")
	if err != nil || got.GetID() == r.ID {
		t.Errorf("repository %v, error %v", got, err)
	}
}

func TestBlobs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k := newWork(t)
	text := strings.Repeat("Grüße, \x00\xff und mehr.\n", 20)
	k.commit("First", "a.md", text)
	w.add("kb", k.dir)
	sha := k.git("rev-parse", "HEAD:a.md")
	c := w.client(w.installationToken(nil))
	raw, _, err := c.Git.GetBlobRaw(t.Context(), "acme", "kb", sha)
	if err != nil || !bytes.Equal(raw, []byte(text)) {
		t.Errorf("raw %q, error %v", raw, err)
	}
	blob, _, err := c.Git.GetBlob(t.Context(), "acme", "kb", sha)
	if err != nil || blob.GetEncoding() != "base64" || blob.GetSize() != len(text) || blob.GetSHA() != sha {
		t.Fatalf("blob %v, error %v", blob, err)
	}
	for line := range strings.Lines(blob.GetContent()) {
		if len(line) > 61 || !strings.HasSuffix(line, "\n") {
			t.Errorf("line %q", line)
		}
	}
	a := w.get("/repos/acme/kb/git/blobs/"+sha, w.token(0), "Accept", "application/vnd.github.raw+json")
	if !bytes.Equal(a.body, []byte(text)) || a.header.Get("X-GitHub-Media-Type") != "github.v3; param=raw; format=json" {
		t.Errorf("raw+json answered %q %v", a.body, a.header)
	}
}

func TestTreesEqualGits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k := newWork(t)
	k.commit("First", "a.md", "1", "d/b.md", "22", "d/e/c.md", "333", "z \"q\"\n.md", "4")
	k.git("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",sub")
	k.git("commit", "-q", "-m", "A submodule")
	w.add("kb", k.dir)
	c := w.client(w.token(0))
	for _, recursive := range []bool{false, true} {
		args := []string{"ls-tree", "-z", "-l", "HEAD"}
		if recursive {
			args = []string{"ls-tree", "-z", "-l", "-r", "-t", "HEAD"}
		}
		want := strings.Split(strings.TrimSuffix(k.git(args...), "\x00"), "\x00")
		tree, _, err := c.Git.GetTree(t.Context(), "acme", "kb", "main", recursive)
		if err != nil || tree.GetTruncated() || tree.GetSHA() != k.git("rev-parse", "HEAD^{tree}") {
			t.Fatalf("tree %v, error %v", tree, err)
		}
		var got []string
		for _, e := range tree.Entries {
			size := "-"
			if e.GetType() == "blob" {
				size = fmt.Sprint(e.GetSize())
			}
			got = append(got, fmt.Sprintf("%s %s %s %7s\t%s", e.GetMode(), e.GetType(), e.GetSHA(), size, e.GetPath()))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("recursive %v (-want +got):\n%s", recursive, diff)
		}
	}
}

func TestCommits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k := newWork(t)
	k.commit("First", "a.md", "1\n2\n")
	head := k.commit("Change two\nlines\n\nand a body", "a.md", "1\n3\n", "b.md", "new\n")
	w.add("kb", k.dir)
	c := w.client(w.token(0))
	for _, ref := range []string{"main", "heads/main", "refs/heads/main", "HEAD", head} {
		got, _, err := c.Repositories.GetCommit(t.Context(), "acme", "kb", ref, nil)
		if err != nil {
			t.Fatalf("%s: %v", ref, err)
		}
		if got.GetSHA() != head || got.GetCommit().GetMessage() != "Change two\nlines\n\nand a body" || got.GetCommit().GetAuthor().GetEmail() != "ann@example.org" {
			t.Errorf("%s: commit %v", ref, got)
		}
		if s := got.GetStats(); s.GetAdditions() != 2 || s.GetDeletions() != 1 || s.GetTotal() != 3 || len(got.Files) != 2 {
			t.Errorf("%s: stats %v, files %v", ref, s, got.Files)
		}
	}
	sha, _, err := c.Repositories.GetCommitSHA1(t.Context(), "acme", "kb", "main", "")
	if err != nil || sha != head {
		t.Errorf("sha %q, error %v", sha, err)
	}
	if _, resp, _ := c.Repositories.GetCommitSHA1(t.Context(), "acme", "kb", "main", head); resp.StatusCode != 304 {
		t.Errorf("an unchanged head answered %d", resp.StatusCode)
	}
	ref, _, err := c.Git.GetRef(t.Context(), "acme", "kb", "heads/main")
	if err != nil || ref.GetObject().GetSHA() != head || ref.GetObject().GetType() != "commit" {
		t.Errorf("ref %v, error %v", ref, err)
	}
	branch, _, err := c.Repositories.GetBranch(t.Context(), "acme", "kb", "main", 0)
	if err != nil || branch.GetCommit().GetSHA() != head {
		t.Errorf("branch %v, error %v", branch, err)
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k := newWork(t)
	long := strings.Repeat("a line of the note\n", 20)
	base := k.commit("Base", "keep.md", "k\n", "old name.md", long, "gone.md", "g\n", "change.md", "1\n", "mode.sh", "x\n")
	k.git("mv", "old name.md", "new ü.md")
	k.git("rm", "-q", "gone.md")
	k.git("update-index", "--chmod=+x", "mode.sh")
	k.write("change.md", "2\n")
	k.write("added.md", "a\n")
	k.git("add", "change.md", "added.md")
	k.git("commit", "-q", "-m", "All at once")
	k.git("reset", "-q", "--hard")
	head := k.git("rev-parse", "HEAD")
	k.git("switch", "-q", "-c", "feature/side", base)
	side := k.commit("Side", "side.md", "s\n")
	k.git("switch", "-q", "--orphan", "lone")
	lone := k.commit("Lone", "lone.md", "l\n")
	k.git("switch", "-q", "main")
	w.add("kb", "")
	k.git("push", "-q", w.remote("kb", w.token(0)), "--all")
	c := w.client(w.installationToken(nil))
	tests := []struct {
		base, head, status string
		ahead, behind      int
		files              []string
	}{
		{base, head, "ahead", 1, 0, []string{
			"added added.md", "modified change.md", "removed gone.md", "changed mode.sh", "renamed new ü.md from old name.md",
		}},
		{head, base, "behind", 0, 1, nil},
		{"main", "main", "identical", 0, 0, nil},
		{"main", "feature/side", "diverged", 1, 1, []string{"added side.md"}},
		{"main", side, "diverged", 1, 1, []string{"added side.md"}},
	}
	for _, tt := range tests {
		got, _, err := c.Repositories.CompareCommits(t.Context(), "acme", "kb", tt.base, tt.head, nil)
		if err != nil {
			t.Fatalf("%s...%s: %v", tt.base, tt.head, err)
		}
		if got.GetStatus() != tt.status || got.GetAheadBy() != tt.ahead || got.GetBehindBy() != tt.behind || len(got.Commits) != tt.ahead {
			t.Errorf("%s...%s: %s +%d -%d, %d commits", tt.base, tt.head, got.GetStatus(), got.GetAheadBy(), got.GetBehindBy(), len(got.Commits))
		}
		var files []string
		for _, f := range got.Files {
			line := f.GetStatus() + " " + f.GetFilename()
			if f.GetPreviousFilename() != "" {
				line += " from " + f.GetPreviousFilename()
			}
			files = append(files, line)
			if want, err := k.try("rev-parse", tt.head+":"+f.GetFilename()); err == nil && want != f.GetSHA() {
				t.Errorf("%s has sha %s, want %s", f.GetFilename(), f.GetSHA(), want)
			}
		}
		if diff := cmp.Diff(tt.files, files); diff != "" {
			t.Errorf("%s...%s (-want +got):\n%s", tt.base, tt.head, diff)
		}
	}
	if _, resp, err := c.Repositories.CompareCommits(t.Context(), "acme", "kb", "main", lone, nil); err == nil || resp.StatusCode != 404 || !strings.Contains(err.Error(), "No common ancestor") {
		t.Errorf("unrelated histories: %v", err)
	}
}

func TestCompareHasLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k := newWork(t)
	base := k.commit("Base")
	for i := range 310 {
		k.write(fmt.Sprintf("n%03d.md", i), fmt.Sprintf("%d\n%d\n", i, i))
	}
	k.commit("Many files")
	var input strings.Builder
	for i := range 260 {
		fmt.Fprintf(&input, "commit refs/heads/main\ncommitter C <c@example.org> %d +0000\ndata 2\nc\n", 1_700_000_000+i)
		if i == 0 {
			input.WriteString("from refs/heads/main^0\n")
		}
	}
	k.stdin(input.String(), "fast-import", "--quiet", "--force")
	w.add("kb", k.dir)
	got, _, err := w.client(w.token(0)).Repositories.CompareCommits(t.Context(), "acme", "kb", base, "main", nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Files) != 300 || len(got.Commits) != 250 || got.GetTotalCommits() != 261 || got.GetAheadBy() != 261 {
		t.Errorf("%d files, %d commits of %d", len(got.Files), len(got.Commits), got.GetTotalCommits())
	}
	if f := got.Files[7]; f.GetAdditions() != 2 || f.GetDeletions() != 0 || f.GetChanges() != 2 {
		t.Errorf("counts of %s: +%d -%d", f.GetFilename(), f.GetAdditions(), f.GetDeletions())
	}
	second, resp, err := w.client(w.token(0)).Repositories.CompareCommits(t.Context(), "acme", "kb", base, "main", &github.ListOptions{Page: 3, PerPage: 100})
	if err != nil || len(second.Files) != 0 || len(second.Commits) != 61 || resp.PrevPage != 2 || resp.NextPage != 0 {
		t.Errorf("page 3: %d files, %d commits, error %v", len(second.Files), len(second.Commits), err)
	}
}
