package vaultdir_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault/modules/vaultdir"
	"vault/schema"
)

const everyKey = "\uFEFF" + `{
  // Every key once, and the comments of a real file.
  "$schema": "https://example.org/settings.schema.json",
  "format": 3, /* the only one */
  "role": "root",
  "name": "projects",
  "prompts": [
    {"name": "weekly", "title": "Weekly review", "file": ".vault/prompts/weekly.md",
     "arguments": [{"name": "project", "description": "Which one.", "required": true}]},
  ],
  "resources": [{"path": "active/cafe` + "\u0301" + `.md", "name": "The café"}],
  "summary": "One folder per project: plans, decisions and meeting notes.",
  "folders": ["active/", "archive/", "active/launch/"],
  "typeField": "kind",
  "summaryField": "gist",
  "untyped": "error",
  "frontmatterSchema": "warning",
  "exempt": ["active/templates/", "**/draft-*.md"],
  "defaultType": "note",
  "order": ["record", "close"],
  "overview": {"topic": "project", "fields": ["status", "owner"]},
}
// the last line has no end`

func TestEverySetting(t *testing.T) {
	t.Parallel()
	ok, findings := vaultdir.CheckSettings(everyKey)
	if !ok || len(findings) > 0 {
		t.Fatalf("CheckSettings = %v, %v", ok, findings)
	}
	r, findings := vaultdir.Load("projects", []vaultdir.File{{Path: vaultdir.SettingsPath, Text: everyKey}})
	if len(findings) > 0 {
		t.Errorf("findings: %v", findings)
	}
	got := map[string]any{
		"summary": r.Summary(), "folders": r.Folders(), "typeField": r.TypeField(), "summaryField": r.SummaryField(),
		"untyped": r.Untyped(), "frontmatterSchema": r.FrontmatterSchema(), "defaultType": r.DefaultType(),
		"order": r.Order(), "overview": *r.Overview(), "prompts": r.Prompts(), "resources": r.Resources(),
	}
	want := map[string]any{
		"summary": "One folder per project: plans, decisions and meeting notes.",
		"folders": []string{"active/", "archive/"}, "typeField": "kind", "summaryField": "gist",
		"untyped": vaultdir.Error, "frontmatterSchema": vaultdir.Warning, "defaultType": "note",
		"order": []string{"record", "close"}, "overview": vaultdir.Overview{Topic: "project", Fields: []string{"status", "owner"}},
		"prompts": []vaultdir.Prompt{{
			Name: "weekly", Title: "Weekly review", File: ".vault/prompts/weekly.md",
			Arguments: []vaultdir.Argument{{Name: "project", Description: "Which one.", Required: true}},
		}},
		"resources": []vaultdir.Resource{{Path: "active/caf\u00e9.md", Name: "The café"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTheSchemaHasEveryKeyAndTheExampleUsesIt(t *testing.T) {
	t.Parallel()
	var top struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if err := json.Unmarshal(schema.Settings, &top); err != nil {
		t.Fatal(err)
	}
	for key := range top.Properties {
		if !strings.Contains(everyKey, fmt.Sprintf("%q:", key)) {
			t.Errorf("the example lacks %q", key)
		}
	}
	if len(top.Properties) != 16 { // the documented fifteen and $schema
		t.Errorf("the schema has %d keys", len(top.Properties))
	}
	slices.Sort(top.Required)
	if diff := cmp.Diff([]string{"format", "name", "prompts", "resources", "role"}, top.Required); diff != "" {
		t.Error(diff)
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]*vaultdir.Repo{"plain": vaultdir.Plain("kb"), "required keys only": repoWith(t, "")} {
		if diff := cmp.Diff([]string{"/"}, r.Folders()); diff != "" {
			t.Errorf("%s: folders %s", name, diff)
		}
		if r.TypeField() != "type" || r.SummaryField() != "summary" || r.Untyped() != vaultdir.Hint || r.FrontmatterSchema() != vaultdir.Hint {
			t.Errorf("%s: fields %q %q, severities %q %q", name, r.TypeField(), r.SummaryField(), r.Untyped(), r.FrontmatterSchema())
		}
		if r.Summary() != "" || r.Instructions() != "" || r.DefaultType() != "" || r.Overview() != nil || len(r.Order()) > 0 {
			t.Errorf("%s: something is set that is not by default", name)
		}
		if !r.Exempt("a/README.md") || r.Exempt("a/readme.md") || r.Exempt("a/b.md") {
			t.Errorf("%s: exempt", name)
		}
	}
}

// finding is what a test states about a finding.
func finding(f vaultdir.Finding) string {
	return fmt.Sprintf("%d:%d %s %s: %s", f.Line, f.Column, f.Severity, f.Rule, f.Message)
}

func TestFindings(t *testing.T) {
	t.Parallel()
	const head = `{"format": 3, "role": "root", "name": "kb", "prompts": [], "resources": [],` + "\n"
	tests := []struct {
		name, text string
		ok         bool
		want       []string // each finding starts with this
	}{
		{"misspelt key", head + `  "Folder": ["a"]}`, false, []string{`2:3 error settings-key: there is no key "Folder" here; did you mean "folders"?`}},
		{"other case", head + `"typefield": "a"}`, false, []string{`2:1 error settings-key: there is no key "typefield" here; did you mean "typeField"?`}},
		{"foreign key", head + `"colour": "red"}`, true, []string{`2:1 warning settings-key: there is no key "colour" here; the known ones are `}},
		{"nested misspelt key", head + `"overview": {"topics": "a"}}`, false, []string{`2:14 error settings-key: there is no key "topics" here; did you mean "topic"?`}},
		{"duplicate key", head + `"untyped": "hint", "untyped": "error"}`, false, []string{`2:20 error settings-duplicate: the key "untyped" stands here a second time`}},
		{"escaped duplicate", head + `"untyped": "hint", "unt\u0079ped": "error"}`, false, []string{`2:20 error settings-duplicate: the key "untyped"`}},
		{"duplicate in a list", head + `"order": ["a", "b", "a"]}`, false, []string{`2:10 error settings-value: "order" names the same thing twice`}},
		{"missing keys", `{"format": 3, "role": "root"}`, false, []string{`1:1 error settings-value: the settings object needs the key "name"`, `1:1 error settings-value: the settings object needs the key "prompts"`, `1:1 error settings-value: the settings object needs the key "resources"`}},
		{"other format", strings.Replace(head, "3", "2", 1) + "}", false, []string{`1:12 error settings-value: "format" must be 3`}},
		{"other role", strings.Replace(head, "root", "leaf", 1) + "}", false, []string{`1:23 error settings-value: "role" must be "root"`}},
		{"wrong type", head + `"folders": "active/"}`, false, []string{`2:12 error settings-value: "folders" must be of type array, not string`}},
		{"null", head + `"folders": null}`, false, []string{`2:12 error settings-value: "folders" must be of type array, not null`}},
		{"no folders", head + `"folders": []}`, false, []string{`2:12 error settings-value: "folders" needs at least one entry`}},
		{"severity", head + `"untyped": "warning"}`, false, []string{`2:12 error settings-value: "untyped" must be "hint", "error"`}},
		{"too many fields", head + `"overview": {"fields": ["a","b","c","d","e","f","g","h","i","j","k"]}}`, false, []string{`2:24 error settings-value: "overview.fields" may have at most 10 entries`}},
		{"hidden folder", head + `"folders": ["a", ".github"]}`, false, []string{`2:18 error settings-path: this folder cannot be opened: files and folders whose name starts with a dot`}},
		{"absolute folder", head + `"folders": ["/a"]}`, false, []string{`2:13 error settings-path: this folder cannot be opened: it starts with a slash`}},
		{"two stars in a part", head + `"exempt": ["a/x**.md"]}`, false, []string{`2:12 error settings-path: this entry cannot be used: "**" stands for whole parts`}},
		{"prompt outside", strings.Replace(head, `"prompts": []`, `"prompts": [{"name": "a", "file": "../a.md"}]`, 1) + "}", false, []string{`1:79 error settings-value: "prompts.0.file" must be a Markdown file directly in`}},
		{"resource outside", strings.Replace(head, `"resources": []`, `"resources": [{"path": "b/x.md"}]`, 1) + `"folders": ["a"]}`, false, []string{`1:83 error settings-path: the path "b/x.md" is outside the open folders of this repository`}},
		{"summary is the type", head + `"summaryField": "type"}`, false, []string{`2:17 error settings-value: "summaryField" may not be the field that holds the type`}},
		{"long summary", head + `"summary": "` + strings.Repeat("word ", 40) + `"}`, true, []string{`2:12 warning vault-text: the summary is longer than 120 characters`, `2:12 warning vault-text: the summary is shown on one line`}},
		{"summary of two lines", head + `"summary": "a\nb"}`, true, []string{`2:12 warning vault-text: the summary is shown on one line`}},
		{"column in characters", head + `"summary": "äöü", "x": 1}`, true, []string{`2:19 warning settings-key`}},
		{"syntax", head + "\"a\": tru}", false, []string{`2:6 error vault-syntax: the file is not JSON with comments: invalid literal`}},
		{"syntax column in characters", head + `"ä" 1}`, false, []string{`2:5 error vault-syntax: the file is not JSON with comments: invalid character '1'`}},
		{"nothing", "", false, []string{`1:1 error vault-syntax`}},
		{"a list", "[]", false, []string{`1:1 error settings-value: the settings object must be of type object, not array`}},
		{"two values", "{} {}", false, []string{`1:4 error vault-syntax`}},
		{"deep", strings.Repeat("[", 17) + strings.Repeat("]", 17), false, []string{`1:17 error vault-syntax: objects and lists nest deeper than 16 levels`}},
		{"very deep", strings.Repeat("[", 60_000), false, []string{`1:17 error vault-syntax: objects and lists nest`}},
		{"brackets in strings and comments", head + "// [[[[[[[[[[[[[[[[[[[[\n/* {{{{{{{{{{{{{{{{{{{{ */ \"summary\": \"[[[[[[[[[[[[[[[[[[[\\\"[\"}", true, nil},
		{"large", `{"a": "` + strings.Repeat("x", 70_000) + `"}`, false, []string{`0:0 error vault-syntax: the file is larger than 64 KiB`}},
		{"NUL", "{\n \x00}", false, []string{`2:2 error vault-syntax: the file is not text`}},
		{"not UTF-8", "{\"\xff\": 1}", false, []string{`1:3 error vault-syntax: the file is not text`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ok, findings := vaultdir.CheckSettings(tt.text)
			if ok != tt.ok {
				t.Errorf("ok = %v", ok)
			}
			for i := range max(len(findings), len(tt.want)) {
				switch {
				case i >= len(findings):
					t.Errorf("missing: %s", tt.want[i])
				case i >= len(tt.want):
					t.Errorf("unexpected: %s", finding(findings[i]))
				case !strings.HasPrefix(finding(findings[i]), tt.want[i]):
					t.Errorf("got  %s\nwant %s", finding(findings[i]), tt.want[i])
				}
			}
		})
	}
}

func TestNameThatDiffersIsAFindingOnly(t *testing.T) {
	t.Parallel()
	r, findings := vaultdir.Load("other", []vaultdir.File{{Path: vaultdir.SettingsPath, Text: settingsText("")}})
	if _, closed := r.Closed(); closed || !r.Open("a.md") {
		t.Error("a name that differs closes the repository")
	}
	if len(findings) != 1 || finding(findings[0]) != `1:39 warning settings-name: the name is "kb", and the repository is called "other"; the repository's name counts` {
		t.Errorf("findings %v", findings)
	}
}

func TestBadSettingsCloseTheRepository(t *testing.T) {
	t.Parallel()
	instructions := vaultdir.File{Path: vaultdir.InstructionsPath, Text: "Be brief."}
	tests := map[string][]vaultdir.File{
		`(".vault/settings.jsonc", line 1: "format" must be 3)`:       {instructions, {Path: vaultdir.SettingsPath, Text: strings.Replace(settingsText(`, "summary": "x"`), "3", "4", 1)}},
		`(".vault/settings.jsonc", line 1: the file is not JSON with`: {{Path: vaultdir.SettingsPath, Text: "{"}, instructions},
		`(".vault/settings.json": the settings must be in settings.`:  {{Path: ".vault/settings.json", Text: settingsText("")}, instructions},
		`(".vault/Settings.jsonc": the settings must be in settings`:  {{Path: ".vault/Settings.jsonc", Text: settingsText("")}},
	}
	for says, files := range tests {
		r, findings := vaultdir.Load("kb", files)
		reason, closed := r.Closed()
		if !closed || !strings.Contains(reason, says) {
			t.Errorf("Closed = %q, %v; want %s", reason, closed, says)
		}
		if len(findings) == 0 {
			t.Errorf("%s: no finding", says)
		}
		if r.Open("a.md") || r.Summary() != "" || r.Instructions() != "" || len(r.Folders()) > 0 || r.Where() != "" {
			t.Errorf("%s: something is open: %q %q %v", says, r.Summary(), r.Instructions(), r.Folders())
		}
		for _, arg := range []string{"a.md", "../x", ""} {
			if _, err := r.Check(arg, vaultdir.KindFolder); err == nil || !strings.Contains(err.Error(), "closed until its settings are mended") {
				t.Errorf("%s: Check(%q) = %v", says, arg, err)
			}
		}
	}
}

func TestFolderWithoutSettingsIsOpen(t *testing.T) {
	t.Parallel()
	r, findings := vaultdir.Load("kb", []vaultdir.File{
		{Path: vaultdir.InstructionsPath, Text: "Be brief."},
		{Path: ".vault/README.md", Text: "For people."},
		{Path: ".vault/types/setting.md", Text: "x"},
	})
	if !r.Open("a.md") || r.Instructions() != "Be brief." || r.Rev() == "" {
		t.Errorf("open %v, instructions %q, rev %q", r.Open("a.md"), r.Instructions(), r.Rev())
	}
	if len(findings) != 1 || findings[0].Rule != vaultdir.RuleFile || findings[0].Severity != vaultdir.Warning {
		t.Errorf("findings %v", findings)
	}
}

func TestMisnamedFilesBesideGoodSettings(t *testing.T) {
	t.Parallel()
	r, findings := vaultdir.Load("kb", []vaultdir.File{
		{Path: vaultdir.SettingsPath, Text: settingsText("")},
		{Path: ".vault/settings.json", Text: "{}"},
		{Path: ".vault/Instructions.md", Text: "x"},
		{Path: ".vault/notes.txt", Text: "x"},
	})
	if _, closed := r.Closed(); closed {
		t.Error("closed")
	}
	if len(findings) != 2 || findings[0].Path != ".vault/Instructions.md" || findings[1].Path != ".vault/settings.json" {
		t.Errorf("findings %v", findings)
	}
}

func TestExempt(t *testing.T) {
	t.Parallel()
	r := repoWith(t, `, "exempt": ["templates/", "a/*/x.md", "**/draft-*.md", "log/**", "one.md", "caf\u00e9"]`)
	tests := map[string]bool{
		"templates/a/b.md": true, "templates": true, "templates2/a.md": false, "x/templates/a.md": false,
		"a/b/x.md": true, "a/b/c/x.md": false, "a/x.md": false,
		"draft-1.md": true, "p/q/draft-.md": true, "p/draft-1/x.md": false, "p/adraft-1.md": false,
		"log/x.md": true, "log/x/y.md": true, "log": false, "one.md": true, "onexmd": false,
		"cafe\u0301/x.md": true, "deep/README.md": true,
	}
	for path, want := range tests {
		if got := r.Exempt(path); got != want {
			t.Errorf("Exempt(%q) = %v", path, got)
		}
	}
	if !repoWith(t, `, "exempt": ["/"]`).Exempt("any.md") {
		t.Error(`"/" does not exempt everything`)
	}
}

func TestFoldersAreOutermost(t *testing.T) {
	t.Parallel()
	tests := map[string][]string{
		`["b", "a/", "a/x", "a-b"]`: {"a-b/", "a/", "b/"},
		`["a", "/"]`:                {"/"},
		`["a", "a/"]`:               {"a/"},
	}
	for folders, want := range tests {
		if diff := cmp.Diff(want, repoWith(t, `, "folders": `+folders).Folders()); diff != "" {
			t.Errorf("%s: %s", folders, diff)
		}
	}
}

func TestRevDependsOnTheFilesOnly(t *testing.T) {
	t.Parallel()
	a := vaultdir.File{Path: vaultdir.SettingsPath, Text: settingsText("")}
	b := vaultdir.File{Path: vaultdir.InstructionsPath, Text: "x"}
	rev := func(files ...vaultdir.File) vaultdir.Rev {
		r, _ := vaultdir.Load("kb", files)
		return r.Rev()
	}
	if rev() != "" || vaultdir.Plain("kb").Rev() != "" {
		t.Error("no files have a rev")
	}
	if rev(a, b) != rev(b, a) {
		t.Error("the order of files counts")
	}
	if rev(a, b) == rev(a) || rev(a, b) == rev(a, vaultdir.File{Path: b.Path, Text: "y"}) {
		t.Error("a change does not show")
	}
}

func TestWhatARepoGivesOutIsACopy(t *testing.T) {
	t.Parallel()
	r, _ := vaultdir.Load("projects", []vaultdir.File{{Path: vaultdir.SettingsPath, Text: everyKey}})
	r.Folders()[0], r.Order()[0], r.Overview().Fields[0] = "x", "x", "x"
	r.Prompts()[0].Arguments[0].Name, r.Resources()[0].Path = "x", "x"
	if r.Folders()[0] == "x" || r.Order()[0] == "x" || r.Overview().Fields[0] == "x" || r.Prompts()[0].Arguments[0].Name == "x" || r.Resources()[0].Path == "x" {
		t.Error("a caller changed the settings")
	}
}

func FuzzCheckSettings(f *testing.F) {
	f.Add(everyKey)
	f.Add(settingsText(`, "exempt": ["**"], "overview": {}`))
	f.Add("{\"a\": [1, /* x */ \"\\u0000\"], // y")
	f.Fuzz(func(t *testing.T, text string) {
		ok, findings := vaultdir.CheckSettings(text)
		lines := strings.Count(text, "\n") + 2
		for _, v := range findings {
			if v.Line > lines || v.Line < 0 || v.Column < 0 || v.Message == "" || strings.ContainsAny(v.Message, "\n\x00") {
				t.Errorf("finding %q of %q", finding(v), text)
			}
		}
		r, _ := vaultdir.Load("kb", []vaultdir.File{{Path: vaultdir.SettingsPath, Text: text}})
		if _, closed := r.Closed(); closed == ok {
			t.Errorf("ok %v, closed %v: %q", ok, closed, text)
		}
	})
}

func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"folders", "typeField", "untyped", "order", "summary", "summaryField"}
	tests := map[string]string{
		"folder": "folders", "FOLDERS": "folders", "type_field": "typeField", "sumary": "summary",
		"ordr": "order", "colour": "", "x": "", "": "", strings.Repeat("a", 1000): "",
	}
	for name, want := range tests {
		if got, ok := vaultdir.Nearest(name, known); got != want || ok != (want != "") {
			t.Errorf("Nearest(%.20q) = %q, %v", name, got, ok)
		}
	}
}
