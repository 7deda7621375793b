package localhub_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/shurcooL/githubv4"
)

func TestAccessQueryThroughItsClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k := newWork(t)
	head := k.commit("First", "a.md", "text")
	kb, empty := w.add("kb", k.dir), w.add("empty", "")
	var q struct {
		Viewer struct {
			Login      string
			DatabaseID int64 `graphql:"databaseId"`
		}
		Nodes []struct {
			Repository struct {
				NameWithOwner    string
				ViewerPermission string
				IsEmpty          bool
				DefaultBranchRef *struct {
					Name   string
					Target struct{ OID string }
				}
			} `graphql:"... on Repository"`
		} `graphql:"nodes(ids:$ids)"`
		RateLimit struct{ Cost, Remaining int }
	}
	c := githubv4.NewEnterpriseClient(w.base+"/api/graphql", &http.Client{Transport: bearer{w.token(1)}})
	if err := c.Query(t.Context(), &q, map[string]any{"ids": []githubv4.ID{kb.NodeID, empty.NodeID}}); err != nil {
		t.Fatal(err)
	}
	if q.Viewer.Login != w.hub.People()[1].Login || q.RateLimit.Cost != 1 {
		t.Errorf("answer %+v", q)
	}
	one, two := q.Nodes[0].Repository, q.Nodes[1].Repository
	if one.NameWithOwner != "acme/kb" || one.ViewerPermission != "READ" || one.IsEmpty || one.DefaultBranchRef.Target.OID != head || one.DefaultBranchRef.Name != "main" {
		t.Errorf("repository %+v", one)
	}
	if !two.IsEmpty || two.DefaultBranchRef != nil {
		t.Errorf("empty repository %+v", two)
	}
}

// bearer sends a token.
type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(context.WithoutCancel(r.Context()))
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

func TestNodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k := newWork(t)
	head := k.commit("First", "a.md", "text")
	r := w.add("kb", k.dir)
	hidden := w.add("hidden", "")
	token := w.token(2)
	data, _ := w.query(token, `{repository(owner:"ACME",name:"KB"){id owner{__typename login id} defaultBranchRef{id target{__typename id ... on Commit{tree{id entries{object{id __typename}}}}}}} viewer{id}}`, nil)
	repo := at(data, "repository")
	ids := map[string]any{
		"Repository": at(repo, "id"), "Ref": at(repo, "defaultBranchRef", "id"), "Organization": at(repo, "owner", "id"),
		"Commit": at(repo, "defaultBranchRef", "target", "id"), "Tree": at(repo, "defaultBranchRef", "target", "tree", "id"),
		"Blob": at(repo, "defaultBranchRef", "target", "tree", "entries", 0, "object", "id"), "User": at(data, "viewer", "id"),
	}
	for want, id := range ids {
		data, errs := w.query(token, `query($id:ID!){node(id:$id){id __typename}}`, map[string]any{"id": id})
		if at(data, "node", "__typename") != want || at(data, "node", "id") != id {
			t.Errorf("%s %v: %v %v", want, id, data, errs)
		}
	}
	if got := ids["Repository"]; got != r.NodeID || !strings.HasPrefix(r.NodeID, "R_kgDO") || !strings.HasPrefix(ids["Ref"].(string), "REF_kwDO") {
		t.Errorf("ids %v", ids)
	}
	commit := strings.TrimPrefix(ids["Commit"].(string), "C_")
	for _, id := range []string{"", "x", hidden.NodeID, "R_kgDOAAAAAQ", "T_" + commit, "U_" + strings.TrimPrefix(r.NodeID, "R_"), "MDEwOlJlcG9zaXRvcnkxMjk2MjY5", "C_kwDO" + head} {
		data, errs := w.query(token, `query($id:ID!){node(id:$id){id} viewer{login}}`, map[string]any{"id": id})
		want := fmt.Sprintf("Could not resolve to a node with the global id of '%s'.", id)
		if at(data, "node") != nil || at(data, "viewer", "login") == nil || at(errs, 0, "type") != "NOT_FOUND" || at(errs, 0, "message") != want || at(errs, 0, "path", 0) != "node" {
			t.Errorf("%q: %v %v", id, data, errs)
		}
	}
}

func TestNodeIDsAreLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.add("kb", "")
	ids := func(n int) []string {
		out := make([]string, n)
		for i := range out {
			out[i] = r.NodeID
		}
		return out
	}
	data, errs := w.query(w.token(0), `query($a:[ID!]!,$b:[ID!]!){a:nodes(ids:$a){id} b:nodes(ids:$b){id}}`, map[string]any{"a": ids(100), "b": ids(99)})
	if len(errs) != 0 || len(at(data, "a").([]any)) != 100 || len(at(data, "b").([]any)) != 99 {
		t.Errorf("errors %v", errs)
	}
	data, errs = w.query(w.token(0), `query($a:[ID!]!){a:nodes(ids:$a){id}}`, map[string]any{"a": ids(101)})
	if data != nil || at(errs, 0, "type") != "ARGUMENT_LIMIT" || at(errs, 0, "message") != "You may not provide more than 100 node ids; you provided 101." {
		t.Errorf("data %v, errors %v", data, errs)
	}
}

func TestFilesOfACommit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k := newWork(t)
	big := strings.Repeat("äöü\n", 512_000/7+50)
	head := k.commit("First", "a.md", "text", "d/b ü.md", "Grüße", "bin", "a\x00b", "latin", "caf\xe9", "big", big, "empty", "", "link-target", "x")
	if err := k.link("a.md", "link"); err != nil {
		t.Fatal(err)
	}
	k.git("add", "link")
	k.git("update-index", "--add", "--cacheinfo", "160000,"+head+",sub")
	k.git("update-index", "--chmod=+x", "link-target")
	k.git("commit", "-q", "-m", "Links")
	head = k.git("rev-parse", "HEAD")
	w.add("kb", k.dir)
	file := func(path string) any {
		data, errs := w.query(w.token(0), `query($o:GitObjectID!,$p:String!){repository(owner:"acme",name:"kb"){object(oid:$o){... on Commit{file(path:$p){name path pathRaw mode type oid extension size object{__typename ... on Blob{byteSize isBinary isTruncated text}}}}}}}`, map[string]any{"o": head, "p": path})
		if len(errs) > 0 {
			t.Fatalf("%s: %v", path, errs)
		}
		return at(data, "repository", "object", "file")
	}
	for path, want := range map[string]string{
		"a.md":        "33188 blob .md 4 Blob 4 false false text",
		"d/b ü.md":    "33188 blob .md 7 Blob 7 false false Grüße",
		"/d/b ü.md":   "33188 blob .md 7 Blob 7 false false Grüße",
		"bin":         "33188 blob  3 Blob 3 true false <nil>",
		"latin":       "33188 blob  4 Blob 4 false false café",
		"empty":       "33188 blob  0 Blob 0 false false ",
		"link":        "40960 blob  4 Blob 4 false false a.md",
		"link-target": "33261 blob  1 Blob 1 false false x",
		"d":           "16384 tree  0 Tree <nil> <nil> <nil> <nil>",
		"sub":         "57344 commit  0 <nil> <nil> <nil> <nil> <nil>",
	} {
		f := file(path)
		got := fmt.Sprintln(at(f, "mode"), at(f, "type"), at(f, "extension"), at(f, "size"), at(f, "object", "__typename"), at(f, "object", "byteSize"), at(f, "object", "isBinary"), at(f, "object", "isTruncated"), at(f, "object", "text"))
		if diff := cmp.Diff(want+"\n", got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
		raw, _ := base64.StdEncoding.DecodeString(fmt.Sprint(at(f, "pathRaw")))
		if clean := strings.TrimPrefix(path, "/"); string(raw) != clean || at(f, "oid") != k.git("rev-parse", "HEAD:"+clean) {
			t.Errorf("%s: %v", path, f)
		}
	}
	f := file("big")
	text, _ := at(f, "object", "text").(string)
	if at(f, "object", "isTruncated") != true || len(text) > 512_000 || len(text) < 511_990 || !strings.HasPrefix(big, text) || at(f, "object", "byteSize") != float64(len(big)) {
		t.Errorf("big: %d bytes, %v", len(text), at(f, "object", "isTruncated"))
	}
	for _, path := range []string{"", "nope.md", "a.md/x", "d//b ü.md", "../a.md", "sub/x"} {
		if f := file(path); f != nil {
			t.Errorf("%q gave %v", path, f)
		}
	}
}

func TestObjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k := newWork(t)
	k.commit("First\n\nBody", "a.md", "text")
	head := k.commit("A headline that is longer than the seventy-two characters which GitHub shows of it\nand goes on", "d/b.md", "more")
	k.git("tag", "-a", "-m", "Tagged", "v1")
	k.git("branch", "feature/x", "HEAD^")
	w.add("kb", "")
	k.git("push", "-q", w.remote("kb", w.token(0)), "--all")
	k.git("push", "-q", w.remote("kb", w.token(0)), "--tags")
	repo := func(selection string) (any, []any) {
		data, errs := w.query(w.token(0), `{repository(owner:"acme",name:"kb"){`+selection+`}}`, nil)
		return at(data, "repository"), errs
	}
	for expression, want := range map[string]string{
		"HEAD": "Commit " + head, "main": "Commit " + head, "refs/heads/main": "Commit " + head, head: "Commit " + head,
		"feature/x": "Commit " + k.git("rev-parse", "HEAD^"), "v1": "Tag " + k.git("rev-parse", "v1"),
		"main:": "Tree " + k.git("rev-parse", "HEAD^{tree}"), "v1:d": "Tree " + k.git("rev-parse", "HEAD:d"),
		"main:d/b.md": "Blob " + k.git("rev-parse", "HEAD:d/b.md"),
		"main:nope":   "<nil> <nil>", "nope": "<nil> <nil>", "main:d/b.md/": "Blob " + k.git("rev-parse", "HEAD:d/b.md"),
	} {
		r, errs := repo(fmt.Sprintf(`object(expression:%q){__typename oid}`, expression))
		if got := fmt.Sprint(at(r, "object", "__typename"), " ", at(r, "object", "oid")); got != want || len(errs) > 0 {
			t.Errorf("%s: %s, want %s (%v)", expression, got, want, errs)
		}
	}
	r, errs := repo(`ref(qualifiedName:"v1"){name prefix target{... on Tag{name target{oid}}}} defaultBranchRef{target{... on Commit{messageHeadline messageBody message author{name date user{login}} parents(first:1){totalCount nodes{oid messageHeadline messageBody}} file(path:"d"){object{... on Tree{entries{name}}}}}}}`)
	commit := at(r, "defaultBranchRef", "target")
	if len(errs) > 0 || at(r, "ref", "prefix") != "refs/tags/" || at(r, "ref", "target", "target", "oid") != head {
		t.Errorf("%v %v", r, errs)
	}
	if at(commit, "messageHeadline") != "A headline that is longer than the seventy-two characters which GitHub …" || at(commit, "messageBody") != "…shows of it\n\nand goes on" {
		t.Errorf("message %v", commit)
	}
	if at(commit, "parents", "totalCount") != 1.0 || at(commit, "parents", "nodes", 0, "messageBody") != "Body" || at(commit, "author", "user") != nil || at(commit, "file", "object", "entries", 0, "name") != "b.md" {
		t.Errorf("commit %v", commit)
	}
}

func TestGapsAndRulesOfGraphQL(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k := newWork(t)
	k.commit("First", "a.md", "text")
	w.add("kb", k.dir)
	tests := []struct {
		name, selection string
		want            map[string]any
	}{
		{"history is not built", `defaultBranchRef{target{... on Commit{history(first:1){totalCount}}}}`, map[string]any{"type": "LOCALHUB_UNIMPLEMENTED", "message": "The field 'Commit.history' exists on GitHub but is not built into this local GitHub.", "path": []any{"repository", "defaultBranchRef", "target", "history"}}},
		{"unbounded connection", `defaultBranchRef{target{... on Commit{parents{totalCount}}}}`, map[string]any{"type": "MISSING_PAGINATION_BOUNDARIES", "message": "You must provide a `first` or `last` value to properly paginate the `parents` connection."}},
		{"wide connection", `defaultBranchRef{target{... on Commit{parents(first:101){totalCount}}}}`, map[string]any{"type": "EXCESSIVE_PAGINATION", "message": "Requesting 101 records on the `parents` connection exceeds the `first` limit of 100 records."}},
		{"malformed id", `object(oid:"xyz"){oid}`, map[string]any{"message": `Argument 'oid' on Field 'object' has an invalid value ("xyz"). Expected type 'GitObjectID'.`}},
		{"unknown field", `bogus`, map[string]any{"message": "Field 'bogus' doesn't exist on type 'Repository'", "path": []any{"query", "repository", "bogus"}, "extensions": map[string]any{"code": "undefinedField", "typeName": "Repository", "fieldName": "bogus"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, errs := w.query(w.token(0), `{repository(owner:"acme",name:"kb"){`+tt.selection+`}}`, nil)
			for key, want := range tt.want {
				if diff := cmp.Diff(want, at(errs, 0, key)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", key, diff)
				}
			}
		})
	}
	data, errs := w.query(w.token(0), `{repository(owner:"acme",name:"none"){id}}`, nil)
	if at(data, "repository") != nil || at(errs, 0, "type") != "NOT_FOUND" || at(errs, 0, "message") != "Could not resolve to a Repository with the name 'acme/none'." {
		t.Errorf("data %v, errors %v", data, errs)
	}
	a := w.call("POST", "/graphql", w.token(0), map[string]any{"query": "{viewer{nope}}"})
	if _, has := a.json(t)["data"]; a.status != 200 || has {
		t.Errorf("a refused query answered %d %s", a.status, a.body)
	}
	data, _ = w.query(w.installationToken(nil), `{viewer{login databaseId} repository(owner:"acme",name:"kb"){viewerPermission}}`, nil)
	if at(data, "viewer", "login") != "vault-local[bot]" || at(data, "repository", "viewerPermission") != "WRITE" {
		t.Errorf("the App's view %v", data)
	}
}

func TestOneQueryReadsOnlySoMuchText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k := newWork(t)
	k.commit("First", "big.md", strings.Repeat("0123456789abcdef", 40_000))
	w.add("kb", k.dir)
	var fields strings.Builder
	for i := range 200 {
		fmt.Fprintf(&fields, `t%d:object(expression:"main:big.md"){... on Blob{text}} `, i)
	}
	data, errs := w.query(w.token(0), `{repository(owner:"acme",name:"kb"){`+fields.String()+`}}`, nil)
	if len(errs) < 50 || at(errs, 0, "type") != "RESOURCE_LIMITS_EXCEEDED" || at(data, "repository", "t0", "text") == nil || at(data, "repository", "t199", "text") != nil {
		t.Errorf("%d errors, first %v", len(errs), at(errs, 0))
	}
}
