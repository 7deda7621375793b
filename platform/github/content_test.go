package github_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vault/platform/github"
)

const oidB = "2222222222222222222222222222222222222222"

func TestRepositories(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, reply(200, `{"total_count":2,"repositories":[{"id":2,"node_id":"R_2","name":"b","full_name":"acme/b","default_branch":"trunk","archived":true}]}`))
	s.play[0] = reply(200, `{"total_count":2,"repositories":[{"id":1,"node_id":"R_1","name":"a","full_name":"acme/a","default_branch":"main","private":true}]}`,
		"Link", `<`+s.URL+`/api/v3/installation/repositories?page=2>; rel="next"`)
	got, err := github.NewInstallation(s.config(t), testToken).Repositories(t.Context())
	want := []github.Repository{
		{ID: 1, NodeID: "R_1", Name: "a", FullName: "acme/a", DefaultBranch: "main", Private: true},
		{ID: 2, NodeID: "R_2", Name: "b", FullName: "acme/b", DefaultBranch: "trunk", Archived: true},
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(d, err)
	}
}

func TestHeads(t *testing.T) {
	t.Parallel()
	s := serve(t, reply(200, `{"data":{"nodes":[`+
		`{"id":"R_1","databaseId":1,"nameWithOwner":"acme/a","isEmpty":false,"defaultBranchRef":{"name":"main","target":{"oid":"`+oidA+`"}}},`+
		`null,{"id":"R_3","databaseId":3,"nameWithOwner":"acme/c","isEmpty":true,"defaultBranchRef":null}]},`+
		`"errors":[{"type":"NOT_FOUND","path":["nodes",1],"message":"gone"}]}`))
	got, err := github.NewInstallation(s.config(t), testToken).Heads(t.Context(), []string{"R_1", "R_2", "R_3"})
	want := []github.Head{
		{NodeID: "R_1", ID: 1, FullName: "acme/a", Branch: "main", OID: oidA},
		{NodeID: "R_2", Missing: true},
		{NodeID: "R_3", ID: 3, FullName: "acme/c", Empty: true},
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(d, err)
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	s := serve(t, reply(200, `{"status":"ahead","ahead_by":2,"behind_by":0,"files":[
		{"filename":"new.md","previous_filename":"old.md","status":"renamed","sha":"`+oidB+`"},
		{"filename":"gone.md","status":"removed","sha":"`+oidA+`"}]}`))
	client := github.NewInstallation(s.config(t), testToken)
	got, err := client.Compare(t.Context(), "acme/a", oidA, oidB)
	want := github.Comparison{Status: "ahead", Ahead: 2, Files: []github.ComparedFile{
		{Path: "new.md", Previous: "old.md", Status: "renamed", OID: oidB},
		{Path: "gone.md", Status: "removed", OID: oidA},
	}}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(d, err)
	}
	if p := s.requests()[0].Path; p != "/api/v3/repos/acme/a/compare/"+oidA+"..."+oidB {
		t.Errorf("path %s", p)
	}
	for _, bad := range [][3]string{{"acme", oidA, oidB}, {"acme/a", "main", oidB}, {"acme/a", oidA, "../x"}, {"a/..", oidA, oidB}} {
		if _, err := client.Compare(t.Context(), bad[0], bad[1], bad[2]); err == nil {
			t.Errorf("%v was accepted", bad)
		}
	}
	if n := len(s.requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
	many := serve(t, reply(200, `{"status":"ahead","files":[`+strings.TrimSuffix(strings.Repeat(`{"filename":"x"},`, 300), ",")+`]}`))
	if got, err := github.NewInstallation(many.config(t), testToken).Compare(t.Context(), "acme/a", oidA, oidB); err != nil || !got.Truncated {
		t.Errorf("truncated %v, %v", got.Truncated, err)
	}
}

func TestBlob(t *testing.T) {
	t.Parallel()
	content := append([]byte("<html>\x00\xff"), bytes.Repeat([]byte("x"), 70<<10)...)
	raw := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/vnd.github.v3.raw")
		_, _ = w.Write(content)
	}
	s := serve(t, raw)
	client := github.NewInstallation(s.config(t), testToken)
	got, err := client.Blob(t.Context(), "acme/a", oidA, 1<<20)
	if err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if asked := s.requests()[0]; asked.Path != "/api/v3/repos/acme/a/git/blobs/"+oidA || !strings.Contains(asked.Header.Get("Accept"), "raw") {
		t.Errorf("asked %+v", asked)
	}
	for _, limit := range []int64{10, 64 << 10, int64(len(content)) - 1} {
		if _, err := client.Blob(t.Context(), "acme/a", oidA, limit); !errors.Is(err, github.ErrTooLarge) {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
	if got, err := client.Blob(t.Context(), "acme/a", oidA, int64(len(content))); err != nil || len(got) != len(content) {
		t.Errorf("exact limit: %v", err)
	}
	if _, err := client.Blob(t.Context(), "acme/a", "x/../y", 10); err == nil {
		t.Error("a bad id was accepted")
	}
}

func TestFilesAt(t *testing.T) {
	t.Parallel()
	s := serve(t, reply(200, `{"data":{"node":{"object":{
		"f0":{"mode":33188,"oid":"`+oidA+`","object":{"byteSize":3,"isBinary":false,"isTruncated":false,"text":"hi\n"}},
		"f1":null,
		"f2":{"mode":33261,"oid":"`+oidA+`","object":{"byteSize":9,"isBinary":true,"isTruncated":false,"text":null}},
		"f3":{"mode":57344,"oid":"`+oidB+`","object":null},
		"f4":{"mode":16384,"oid":"`+oidB+`","object":{}},
		"f5":{"mode":33188,"oid":"`+oidB+`","object":{"byteSize":600000,"isBinary":false,"isTruncated":true,"text":"cut"}}}}},
		"errors":[{"type":"NOT_FOUND","path":["node","object","f1"],"message":"Could not resolve file for path 'b'."}]}`))
	paths := []string{"a\".md", "b", "bin", "sub", "dir", "long.md"}
	got, err := github.NewInstallation(s.config(t), testToken).FilesAt(t.Context(), "R_1", oidA, paths)
	hi, cutText := "hi\n", "cut"
	want := []github.FileAt{
		{Path: "a\".md", Mode: 0o100644, OID: oidA, Size: 3, Text: &hi},
		{Path: "b", Missing: true},
		{Path: "bin", Mode: 0o100755, OID: oidA, Size: 9, Binary: true},
		{Path: "sub", Mode: 0o160000, OID: oidB, Size: -1},
		{Path: "dir", Mode: 0o040000, OID: oidB, Size: -1},
		{Path: "long.md", Mode: 0o100644, OID: oidB, Size: 600000, Text: &cutText, Truncated: true},
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(d, err)
	}
	v := s.requests()[0].variables(t)
	if v["id"] != "R_1" || v["oid"] != oidA || v["p0"] != "a\".md" || v["p5"] != "long.md" {
		t.Errorf("variables %v", v)
	}
}

func TestFilesAtThatAreNotThere(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, answer, want string }{
		{"repository", `{"data":{"node":null},"errors":[{"type":"NOT_FOUND","path":["node"],"message":"x"}]}`, "not found"},
		{"commit", `{"data":{"node":{"object":null}}}`, "not found"},
		{"a tag", `{"data":{"node":{"object":{}}}}`, "not found"},
		{"time-out at a file", `{"data":{"node":{"object":{"f0":null}}},"errors":[{"path":["node","object","f0"],"message":"timedout"}]}`, "unavailable"},
		{"odd entry", `{"data":{"node":{"object":{"f0":"x"}}}}`, "unavailable"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := github.NewUser(serve(t, reply(200, tt.answer)).config(t), testToken).FilesAt(t.Context(), "R_1", oidA, []string{"a"})
			if err == nil || classes(err) != tt.want {
				t.Errorf("%v (%s)", err, classes(err))
			}
		})
	}
	client := github.NewUser(serve(t, cut).config(t), testToken)
	for name, ask := range map[string]struct {
		commit string
		paths  []string
	}{
		"branch": {"main", []string{"a"}}, "not UTF-8": {oidA, []string{"\xff"}}, "too many": {oidA, make([]string, 501)},
	} {
		if _, err := client.FilesAt(t.Context(), "R_1", ask.commit, ask.paths); err == nil || classes(err) != "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := client.FilesAt(t.Context(), "R_1", oidA, nil); err != nil || len(got) != 0 {
		t.Errorf("no paths: %v, %v", got, err)
	}
}

func TestCommitInfo(t *testing.T) {
	t.Parallel()
	s := serve(t, reply(200, fmt.Sprintf(`{"data":{"node":{"object":{"oid":%q,"message":"subject\n\nbody","tree":{"oid":%q},
		"author":{"name":"Ada","email":"a@x","date":"2026-03-01T10:00:00+02:00"},"committer":{"name":"GitHub","email":"g@x","date":"2026-03-01T08:00:01Z"},
		"parents":{"nodes":[{"oid":%q}]}}}}}`, oidA, oidB, oidB)),
		reply(200, `{"data":{"node":{"object":null}}}`))
	client := github.NewInstallation(s.config(t), testToken)
	got, err := client.CommitInfo(t.Context(), "R_1", oidA)
	want := github.CommitInfo{
		OID: oidA, Tree: oidB, Parents: []string{oidB}, Message: "subject\n\nbody",
		Author:    github.Signature{Name: "Ada", Email: "a@x", When: time.Date(2026, 3, 1, 10, 0, 0, 0, time.FixedZone("", 7200))},
		Committer: github.Signature{Name: "GitHub", Email: "g@x", When: time.Date(2026, 3, 1, 8, 0, 1, 0, time.UTC)},
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(d, err)
	}
	if got.Author.When.Format(time.RFC3339) != "2026-03-01T10:00:00+02:00" {
		t.Errorf("zone lost: %v", got.Author.When)
	}
	if _, err := client.CommitInfo(t.Context(), "R_1", oidA); !github.IsNotFound(err) {
		t.Errorf("missing: %v", err)
	}
}
