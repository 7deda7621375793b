package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault/e2e/harness"
)

// contractOf reads the listed shapes that clients rely on, without
// descriptions.
func contractOf(t *testing.T) []map[string]any {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(harness.Root(), "modules/tools/testdata/contract.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []map[string]any
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// strip takes every description out; a property of that name is none.
func strip(v any, properties bool) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range v {
			if _, isText := value.(string); key == "description" && isText && !properties {
				continue
			}
			_, isMap := value.(map[string]any)
			out[key] = strip(value, key == "properties" && isMap)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = strip(v[i], false)
		}
		return out
	}
	return v
}

func listed(t *testing.T, c *harness.Client) []any {
	t.Helper()
	raw, err := c.RPC("tools/list", nil)
	if err != nil {
		t.Fatal(err)
	}
	var r struct{ Tools []any }
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	return r.Tools
}

func TestListEqualsTheContract(t *testing.T) {
	t.Parallel()
	d := acme(t)
	want, err := json.Marshal(contractOf(t))
	if err != nil {
		t.Fatal(err)
	}
	var wanted []any
	if err := json.Unmarshal(want, &wanted); err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{harness.VersionLegacy, harness.VersionModern} {
		c := d.Client()
		c.Version = version
		if diff := cmp.Diff(wanted, strip(listed(t, c), false)); diff != "" {
			t.Errorf("%s: the list differs from the contract:\n%s", version, diff)
		}
	}
}

func TestEveryPlaceIsDescribed(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join(harness.Root(), "modules/tools/testdata/described.txt"))
	if err != nil {
		t.Fatal(err)
	}
	tools := map[string]any{}
	for _, tool := range listed(t, acme(t).Client()) {
		m := tool.(map[string]any)
		tools[m["name"].(string)] = m
	}
	for place := range strings.Lines(string(data)) {
		place = strings.TrimSpace(place)
		if place == "" {
			continue
		}
		at := any(tools)
		for part := range strings.SplitSeq(place, "/") {
			at = step(at, part)
		}
		m, ok := at.(map[string]any)
		if d, isText := m["description"].(string); !ok || !isText || len(d) < 10 {
			t.Errorf("%s has no description", place)
		}
	}
}

// step goes down one part of a place.
func step(at any, part string) any {
	switch at := at.(type) {
	case map[string]any:
		return at[part]
	case []any:
		if i := int(part[0] - '0'); len(part) == 1 && i < len(at) {
			return at[i]
		}
	}
	return nil
}

// guest gives the person who reads handbook only.
func guest(t *testing.T, d *harness.Dev) *harness.Client {
	t.Helper()
	for login := range d.People {
		c := d.As(login)
		if answer, isError := text(c, "tree", map[string]any{}); !isError && !strings.Contains(answer, "projects") {
			return c
		}
	}
	t.Fatal("every person reads projects")
	return nil
}

func TestAGuestSeesNothingOfTheRest(t *testing.T) {
	t.Parallel()
	d := acme(t)
	c := guest(t, d)
	const secret = "projects"
	for _, version := range []string{harness.VersionLegacy, harness.VersionModern} {
		c.Version = version
		raw, err := c.RPC("tools/list", nil)
		if err != nil {
			t.Fatal(err)
		}
		// "projects/apollo" is an example path in the descriptions.
		list := strings.ReplaceAll(string(raw), "projects/apollo", "")
		if strings.Contains(list, secret) {
			t.Errorf("%s: tools/list names the repository", version)
		}
		if n := strings.Count(list, `"const"`); n != len(contractOf(t)) {
			t.Errorf("%s: %d constants in %d tools", version, n, len(contractOf(t)))
		}
	}
	c.Version = harness.VersionLegacy
	raw, err := c.RPC("initialize", map[string]any{
		"protocolVersion": harness.VersionLegacy, "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "t", "version": "1"},
	})
	if err != nil || strings.Contains(string(raw), secret) {
		t.Errorf("initialize: %s, %v", raw, err)
	}
	calls := []struct {
		tool string
		args map[string]any
	}{
		{"tree", map[string]any{}},
		{"tree", map[string]any{"repo": secret}},
		{"list_notes", map[string]any{"limit": 200}},
		{"list_notes", map[string]any{"repo": secret}},
		{"list_notes", map[string]any{"folder": secret}},
		{"search_notes", map[string]any{"query": "decision", "limit": 100}},
		{"search_notes", map[string]any{"query": "decision", "path": secret + "/active"}},
		{"read_note", map[string]any{"repo": secret, "path": "README.md"}},
		{"read_note", map[string]any{"repo": "handbook", "path": secret + "/active/launch/README.md"}},
		{"read_note", map[string]any{"repo": "handbook", "path": "pick-a-date"}},
	}
	for _, call := range calls {
		answer, _ := text(c, call.tool, call.args)
		// What the caller wrote may be said back; nothing else.
		sent, _ := json.Marshal(call.args)
		if strings.Contains(answer, secret) && !strings.Contains(string(sent), secret) {
			t.Errorf("%s %s: %s", call.tool, sent, answer)
		}
		for _, word := range []string{"active/launch/decisions", "One folder per project"} {
			if strings.Contains(answer, word) {
				t.Errorf("%s %s tells of %s: %s", call.tool, sent, word, answer)
			}
		}
	}
}
