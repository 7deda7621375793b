package github_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vault/platform/github"
)

const (
	viewer = `"viewer":{"login":"ada","databaseId":7,"id":"U_7"}`
	rate   = `"rateLimit":{"cost":1,"remaining":4999,"resetAt":"2026-11-30T12:00:00Z"}`
)

func repoJSON(id int, permission, extra string) string {
	return fmt.Sprintf(`{"id":"R_new%d","databaseId":%d,"name":"r%d","nameWithOwner":"acme/r%d","viewerPermission":%q,`+
		`"isArchived":false,"isDisabled":false,"isLocked":false,"isEmpty":false,"defaultBranchRef":{"name":"main","target":{"oid":"c%d"}}%s}`,
		id, id, id, id, permission, id, extra)
}

func TestAccessReadsPartialDataAsTheNormalCase(t *testing.T) {
	t.Parallel()
	s := serve(t, reply(200, `{"data":{`+viewer+`,"n0":[`+
		repoJSON(1, "WRITE", "")+`,null,`+repoJSON(3, "READ", "")+`,null,{},`+
		`{"id":"R_6","databaseId":6,"name":"r6","nameWithOwner":"acme/r6","viewerPermission":"ADMIN","isArchived":true,"isDisabled":false,"isLocked":false,"isEmpty":true,"defaultBranchRef":null}`+
		`],`+rate+`},"errors":[`+
		`{"type":"NOT_FOUND","path":["n0",1],"locations":[{"line":1,"column":2}],"message":"Could not resolve to a node with the global id of 'R_2'."},`+
		`{"type":"FORBIDDEN","path":["n0",3],"extensions":{"saml_failure":true},"message":"Resource protected by organization SAML enforcement."}]}`))
	got, err := github.NewUser(s.config(t), testToken).Access(t.Context(), []string{"R_1", "R_2", "R_3", "R_4", "R_5", "R_6"})
	if err != nil {
		t.Fatal(err)
	}
	want := github.Access{
		Login: "ada", ID: 7, NodeID: "U_7",
		Repos: []github.RepoAccess{
			{NodeID: "R_1", ID: 1, FullName: "acme/r1", Name: "r1", Permission: "WRITE", CanWrite: true, DefaultBranch: "main", HeadOID: "c1"},
			{NodeID: "R_3", ID: 3, FullName: "acme/r3", Name: "r3", Permission: "READ", DefaultBranch: "main", HeadOID: "c3"},
			{NodeID: "R_6", ID: 6, FullName: "acme/r6", Name: "r6", Permission: "ADMIN", Archived: true, Empty: true},
		},
		SSOBlocked: []string{"R_4"},
		Rate:       github.Rate{Cost: 1, Remaining: 4999, Reset: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	asked := s.requests()
	if len(asked) != 1 || asked[0].Path != "/api/graphql" || asked[0].Header.Get("Authorization") != "Bearer "+testToken ||
		asked[0].Header.Get("User-Agent") != "vault-test" {
		t.Errorf("asked %+v", asked)
	}
	if v := asked[0].variables(t); len(v["n0"].([]any)) != 6 || v["w0"] != true || v["w1"] != false {
		t.Errorf("variables %v", v)
	}
}

// echo answers an access query with every repository readable.
func echo(w http.ResponseWriter, r *http.Request) {
	body := r.Context().Value(bodyKey{}).(string)
	var req struct {
		Variables map[string]json.RawMessage `json:"variables"`
	}
	_ = json.Unmarshal([]byte(body), &req)
	var b strings.Builder
	for n := range 5 {
		if string(req.Variables[fmt.Sprintf("w%d", n)]) != "true" {
			continue
		}
		var ids []string
		_ = json.Unmarshal(req.Variables[fmt.Sprintf("n%d", n)], &ids)
		nodes := make([]string, len(ids))
		for i, id := range ids {
			nodes[i] = fmt.Sprintf(`{"id":%q,"databaseId":1,"name":"n","nameWithOwner":"a/n","viewerPermission":"READ","isArchived":false,"isDisabled":false,"isLocked":false,"isEmpty":true,"defaultBranchRef":null}`, id)
		}
		fmt.Fprintf(&b, `,"n%d":[%s]`, n, strings.Join(nodes, ","))
	}
	reply(200, `{"data":{`+viewer+b.String()+`,`+rate+`}}`)(w, r)
}

type bodyKey struct{}

func TestAccessAsksForAtMostAHundredPerField(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ repos, requests int }{{0, 1}, {100, 1}, {101, 1}, {500, 1}, {501, 2}} {
		t.Run(fmt.Sprint(tt.repos), func(t *testing.T) {
			t.Parallel()
			s := serve(t, nil)
			s.play[0] = func(w http.ResponseWriter, r *http.Request) {
				asked := s.requests()
				echo(w, r.WithContext(context.WithValue(r.Context(), bodyKey{}, asked[len(asked)-1].Body)))
			}
			ids := make([]string, tt.repos)
			for i := range ids {
				ids[i] = fmt.Sprintf("R_x%d", i)
			}
			got, err := github.NewUser(s.config(t), testToken).Access(t.Context(), ids)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Repos) != tt.repos || len(s.requests()) != tt.requests {
				t.Fatalf("%d repositories in %d requests", len(got.Repos), len(s.requests()))
			}
			for i, r := range got.Repos {
				if r.NodeID != ids[i] {
					t.Fatalf("position %d is %s", i, r.NodeID)
				}
			}
			for _, asked := range s.requests() {
				for name, value := range asked.variables(t) {
					if list, ok := value.([]any); ok && len(list) > 100 {
						t.Errorf("%s has %d ids", name, len(list))
					}
				}
			}
		})
	}
}

func TestAccessNeverTakesAFailureForNotReadable(t *testing.T) {
	t.Parallel()
	one := func(node, errs string) http.HandlerFunc {
		return reply(200, `{"data":{`+viewer+`,"n0":[`+node+`],`+rate+`},"errors":[`+errs+`]}`)
	}
	tests := []struct {
		name   string
		answer http.HandlerFunc
	}{
		{"resource limit", one("null", `{"type":"RESOURCE_LIMITS_EXCEEDED","path":["n0",0],"message":"Resource limits for this query exceeded."}`)},
		{"beside a readable one", one(repoJSON(1, "READ", ""), `{"type":"RESOURCE_LIMITS_EXCEEDED","message":"Resource limits for this query exceeded."}`)},
		{"no type", one("null", `{"message":"Something went wrong while executing your query."}`)},
		{"not found and a time-out", one("null", `{"type":"NOT_FOUND","path":["n0",0],"message":"x"},{"message":"timedout"}`)},
		{"no person", reply(200, `{"data":{"viewer":null,"n0":[null],"rateLimit":null},"errors":[{"type":"FORBIDDEN","path":["viewer"],"message":"x"}]}`)},
		{"data null", reply(200, `{"data":null,"errors":[{"message":"Something went wrong"}]}`)},
		{"no data", reply(200, `{}`)},
		{"list null", reply(200, `{"data":{`+viewer+`,"n0":null,`+rate+`}}`)},
		{"fewer than asked", one("", "")},
		{"more than asked", one("null,null", "")},
		{"unknown field", reply(200, `{"data":{"surprise":1}}`)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, tt.answer)
			got, err := github.NewUser(s.config(t), testToken).Access(t.Context(), []string{"R_1"})
			if err == nil {
				t.Fatalf("no error, %+v", got)
			}
			if github.IsUnauthorized(err) || github.IsNotFound(err) {
				t.Errorf("misread as %v", err)
			}
		})
	}
}
