package tools_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault/modules/tool"
	"vault/modules/tools"
	"vault/platform/mcp"
)

// acme are the repositories of the sample organisation.
func acme() []tool.RepoChoice {
	return []tool.RepoChoice{
		{Name: "projects", Summary: "One folder for each project."},
		{Name: "handbook", Summary: "How Acme works."},
	}
}

// listedFor renders tools/list for a caller, in both eras.
func listedFor(t *testing.T, repos []tool.RepoChoice) map[string][]any {
	t.Helper()
	specs, err := tools.Specs()
	if err != nil {
		t.Fatal(err)
	}
	view := &mcp.View{}
	for _, spec := range specs {
		spec, err := tool.WithRepos(spec, repos)
		if err != nil {
			t.Fatal(err)
		}
		view.Tools = append(view.Tools, spec)
	}
	server, err := mcp.NewServer(mcp.Config{Name: "vault", Version: "1", Backend: none{}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	finished, err := server.Render(t.Context(), view)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]any{}
	for _, key := range []string{"tools/list legacy", "tools/list modern"} {
		var result struct{ Tools []any }
		if err := json.Unmarshal(finished[key], &result); err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		out[key] = result.Tools
	}
	return out
}

type none struct{}

func (none) View(context.Context, *http.Request) (*mcp.View, error) { return nil, os.ErrInvalid }
func (none) Call(context.Context, mcp.Call) (*mcp.Answer, error)    { return nil, os.ErrInvalid }

func contract(t *testing.T) []any {
	t.Helper()
	data, err := os.ReadFile("testdata/contract.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []any
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// withoutDescriptions takes every description off: the member of a schema or
// an entry, not a property of that name.
func withoutDescriptions(v any, names bool) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range v {
			if _, isText := value.(string); key == "description" && isText && !names {
				continue
			}
			out[key] = withoutDescriptions(value, key == "properties" && !names)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = withoutDescriptions(v[i], false)
		}
		return out
	}
	return v
}

func TestListEqualsTheContract(t *testing.T) {
	t.Parallel()
	for era, list := range listedFor(t, acme()) {
		if diff := cmp.Diff(contract(t), withoutDescriptions(list, false)); diff != "" {
			t.Errorf("%s: %s", era, diff)
		}
	}
}

func TestEveryPlaceIsDescribed(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/described.txt")
	if err != nil {
		t.Fatal(err)
	}
	list := listedFor(t, acme())["tools/list legacy"]
	byName := map[string]any{}
	for _, entry := range list {
		entry, _ := entry.(map[string]any)
		name, _ := entry["name"].(string)
		byName[name] = entry
	}
	places := strings.Fields(string(data))
	for _, place := range places {
		name, path, _ := strings.Cut(place, "/")
		node, _ := at(byName[name], path).(map[string]any)
		if text, _ := node["description"].(string); len(text) < 10 || strings.TrimSpace(text) != text {
			t.Errorf("%s: description %q", place, text)
		}
	}
	if got := countDescriptions(list); got != len(places) {
		t.Errorf("%d descriptions at %d places", got, len(places))
	}
}

// at follows a path of member names and list positions.
func at(v any, path string) any {
	if path == "" {
		return v
	}
	for part := range strings.SplitSeq(path, "/") {
		switch node := v.(type) {
		case map[string]any:
			v = node[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i >= len(node) {
				return nil
			}
			v = node[i]
		}
	}
	return v
}

func countDescriptions(v any) int {
	data, _ := json.Marshal(v)
	return strings.Count(string(data), `"description":"`)
}

func TestSpecsCompile(t *testing.T) {
	t.Parallel()
	specs, err := tools.Specs()
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range specs {
		c, err := tool.Compile(tool.Tool{Spec: spec, Handler: func(context.Context, *tool.Call) (any, error) { return nil, nil }})
		if err != nil {
			t.Errorf("%s: %v", spec.Name, err)
			continue
		}
		if _, err := c.Check(json.RawMessage(`{"path":"a","query":"a","repo":"handbook","folder":"a"}`), []string{"handbook"}); err == nil {
			t.Errorf("%s takes the arguments of all tools", spec.Name)
		}
	}
}

func TestSpecsSuitEveryClient(t *testing.T) {
	t.Parallel()
	specs, err := tools.Specs()
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range specs {
		for _, schema := range []json.RawMessage{spec.Input, spec.Output} {
			var members map[string]any
			if err := json.Unmarshal(schema, &members); err != nil {
				t.Fatalf("%s: %v", spec.Name, err)
			}
			for _, combined := range []string{"anyOf", "oneOf", "allOf"} {
				if _, there := members[combined]; there {
					t.Errorf("%s: %s at the top of a schema", spec.Name, combined)
				}
			}
		}
		if a := spec.Annotations; a.ReadOnly == nil || a.OpenWorld == nil {
			t.Errorf("%s: annotations %+v", spec.Name, a)
		}
	}
}

func TestUnknownSpec(t *testing.T) {
	t.Parallel()
	if _, err := tools.Spec("no_such"); err == nil {
		t.Error("no error")
	}
}
