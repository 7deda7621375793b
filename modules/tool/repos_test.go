package tool_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault/modules/tool"
)

func repoOf(t *testing.T, input json.RawMessage) (property map[string]json.RawMessage, rest map[string]any) {
	t.Helper()
	if err := json.Unmarshal(input, &rest); err != nil {
		t.Fatal(err)
	}
	properties, _ := rest["properties"].(map[string]any)
	raw, err := json.Marshal(properties["repo"])
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &property); err != nil {
		t.Fatal(err)
	}
	delete(properties, "repo")
	return property, rest
}

func TestWithRepos(t *testing.T) {
	t.Parallel()
	spec := specOf(wide)
	tests := []struct {
		repos []tool.RepoChoice
		want  string
	}{
		{[]tool.RepoChoice{{"b", "Second <b> & \"more\"."}, {"a", ""}}, `[{"const":"a"},{"const":"b","description":"Second \u003cb\u003e \u0026 \"more\"."}]`},
		{[]tool.RepoChoice{{"a", "One."}}, `[{"const":"a","description":"One."}]`},
		{nil, ``},
	}
	for _, tt := range tests {
		got, err := tool.WithRepos(spec, tt.repos)
		if err != nil {
			t.Fatal(err)
		}
		property, rest := repoOf(t, got.Input)
		if string(property["anyOf"]) != tt.want || string(property["type"]) != `"string"` || string(property["description"]) != `"Which."` {
			t.Errorf("%v: %s", tt.repos, property)
		}
		_, before := repoOf(t, spec.Input)
		if diff := cmp.Diff(before, rest); diff != "" {
			t.Error(diff)
		}
	}
	if string(spec.Input) != wide {
		t.Error("the spec itself was changed")
	}
}

func TestWithReposKeepsTheOrderOfArguments(t *testing.T) {
	t.Parallel()
	got, err := tool.WithRepos(specOf(wide), []tool.RepoChoice{{Name: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(wide, `"repo": {`)
	if !strings.HasPrefix(string(got.Input), wide[:at]) {
		t.Errorf("got %s", got.Input)
	}
}

func TestWithReposShrinks(t *testing.T) {
	t.Parallel()
	for n, want := range map[int][2]int{1: {1, 1}, 40: {40, 40}, 41: {41, 0}, 200: {200, 0}, 201: {0, 0}, 5000: {0, 0}} {
		repos := make([]tool.RepoChoice, n)
		for i := range repos {
			repos[i] = tool.RepoChoice{Name: fmt.Sprintf("r%05d", n-i), Summary: "A line."}
		}
		got, err := tool.WithRepos(specOf(wide), repos)
		if err != nil {
			t.Fatal(err)
		}
		property, _ := repoOf(t, got.Input)
		constants, described := strings.Count(string(property["anyOf"]), `"const"`), strings.Count(string(property["anyOf"]), `"description"`)
		if constants != want[0] || described != want[1] {
			t.Errorf("%d repositories: %d constants, %d descriptions", n, constants, described)
		}
		if _, there := property["anyOf"]; there != (want[0] > 0) {
			t.Errorf("%d repositories: anyOf is there: %v", n, there)
		}
	}
}

func TestWithReposLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{`{"type":"object"}`, `{"type":"object","properties":{"note":{"properties":{"repo":{}}}}}`, `{"properties":{}}`} {
		got, err := tool.WithRepos(specOf(schema), []tool.RepoChoice{{Name: "a"}})
		if err != nil || string(got.Input) != schema {
			t.Errorf("%s became %s, %v", schema, got.Input, err)
		}
	}
	for _, schema := range []string{``, `[]`, `{"properties":`, `{"properties":[]}`, `{"properties":{"repo":5}}`} {
		if _, err := tool.WithRepos(specOf(schema), nil); err == nil {
			t.Errorf("%q: no error", schema)
		}
	}
}
