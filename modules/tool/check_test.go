package tool_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault/modules/tool"
	"vault/platform/fault"
)

func TestCheckAccepts(t *testing.T) {
	t.Parallel()
	c := compile(t, wide, nil)
	tests := []struct{ name, arguments, want string }{
		{"defaults", `{"path":"a","repo":"a"}`, `{"limit":50,"path":"a","regex":false,"repo":"a"}`},
		{"defaults give way", `{"path":"a","repo":"a","limit":7,"regex":true}`, `{"limit":7,"path":"a","regex":true,"repo":"a"}`},
		{"a whole number with a fraction", `{"path":"a","repo":"a","limit":5.0,"from_line":1e2}`, `{"from_line":100,"limit":5,"path":"a","regex":false,"repo":"a"}`},
		{"the largest exact integer", `{"path":"a","repo":"a","from_line":9007199254740991}`, `{"from_line":9007199254740991,"limit":50,"path":"a","regex":false,"repo":"a"}`},
		{"null is left out", `{"path":"a","repo":"a","heading":null,"limit":null,"more_edits":null}`, `{"limit":50,"path":"a","regex":false,"repo":"a"}`},
		{"numbers of free members are exact", `{"path":"a","repo":"a","frontmatter":{"n":12345678901234567890.10,"z":null,"Title":1,"title":2}}`, `{"frontmatter":{"Title":1,"n":12345678901234567890.10,"title":2,"z":null},"limit":50,"path":"a","regex":false,"repo":"a"}`},
		{"a list in a string", `{"path":"a","repo":"a","fields":"[\"x\",\"y\"]"}`, `{"fields":["x","y"],"limit":50,"path":"a","regex":false,"repo":"a"}`},
		{"an object in a string", `{"path":"a","repo":"a","frontmatter":"{\"a\":[1]}"}`, `{"frontmatter":{"a":[1]},"limit":50,"path":"a","regex":false,"repo":"a"}`},
		{"items in strings", `{"path":"a","repo":"a","more_edits":"[\"{\\\"path\\\":\\\"p\\\",\\\"old_text\\\":\\\"[1]\\\"}\"]"}`, `{"limit":50,"more_edits":[{"old_text":"[1]","path":"p"}],"path":"a","regex":false,"repo":"a"}`},
		{"a string stays a string", `{"path":"[1]","repo":"a","heading":"{}","any":"[2]"}`, `{"any":"[2]","heading":"{}","limit":50,"path":"[1]","regex":false,"repo":"a"}`},
		{"characters as themselves", `{"path":"<é>&\u2028","repo":"a"}`, "{\"limit\":50,\"path\":\"<é>&\\u2028\",\"regex\":false,\"repo\":\"a\"}"},
		{"length in characters", `{"path":"a","repo":"a","text":"ééééé"}`, `{"limit":50,"path":"a","regex":false,"repo":"a","text":"ééééé"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := c.Check(json.RawMessage(tt.arguments), []string{"a", "b"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got.JSON())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	c := compile(t, wide, nil)
	with := func(more string) string { return `{"path":"a","repo":"a",` + more + `}` }
	tests := []struct{ name, arguments, want string }{
		{"missing", `{"repo":"a"}`, `"path" is missing: it must be text`},
		{"null where it is needed", `{"path":null,"repo":"a"}`, `"path" is missing: it must be text`},
		{"unknown, near", with(`"limt":3`), `"limt" is no argument of wide: did you mean "limit"?`},
		{"unknown, another case", with(`"REPO":"b"`), `"REPO" is no argument of wide: did you mean "repo"?`},
		{"unknown, folding", with(`"\u017from_line":"b"`), `"ſrom_line" is no argument of wide: did you mean "from_line"?`},
		{"unknown, far", with(`"colour":3`), `"colour" is no argument of wide: there are "any", "fields", "from_line", "frontmatter", "heading", "limit", "mode", "more_edits", "path", "ratio", "regex", "repo", "text"`},
		{"unknown below", with(`"more_edits":[{"path":"p","old_text":"o"},{"path":"p","old_txt":"o"}]`), `"old_txt" is no member of "more_edits[1]": did you mean "old_text"? "more_edits[1].old_text" is missing: it must be text`},
		{"over what a float holds", with(`"from_line":1e400`), `"from_line" is 1` + strings.Repeat("0", 39) + `…, but must be a whole number of at least 1 and at most 9007199254740991`},
		{"twice", `{"path":"a","path":"b","repo":"a"}`, `"path" is given twice`},
		{"twice, escaped", `{"path":"a","repo":"a","rep\u006f":"b"}`, `"repo" is given twice`},
		{"twice below", with(`"frontmatter":{"a":1,"a":2}`), `"a" is given twice`},
		{"number in quotes", with(`"limit":"5"`), `"limit" is the text "5", but must be a whole number from 1 to 200: send 5 without quotes`},
		{"boolean in quotes", with(`"regex":"true"`), `"regex" is the text "true", but must be true or false: send true without quotes`},
		{"word as number", with(`"limit":"five"`), `"limit" is the text "five", but must be a whole number from 1 to 200`},
		{"too large", with(`"limit":500`), `"limit" is 500, but must be a whole number from 1 to 200`},
		{"too small", with(`"limit":0`), `"limit" is 0, but must be a whole number from 1 to 200`},
		{"fraction", with(`"limit":1.5`), `"limit" is 1.5, but must be a whole number from 1 to 200`},
		{"no upper end", with(`"from_line":0`), `"from_line" is 0, but must be a whole number of at least 1`},
		{"beyond exact integers", with(`"from_line":9007199254740993`), `"from_line" is 9007199254740993, but must be a whole number of at least 1 and at most 9007199254740991`},
		{"upper end only", with(`"ratio":2`), `"ratio" is 2, but must be a number of at most 1.5`},
		{"text for a number", `{"path":5,"repo":"a"}`, `"path" is 5, but must be text`},
		{"null in a list", with(`"fields":[null]`), `"fields[0]" is null, but must be text that matches ^[a-z]+$`},
		{"empty", with(`"heading":""`), `"heading" is empty, but must be text that is not empty`},
		{"too long", with(`"text":"abcdefg"`), `"text" is 7 characters long, but must be text of at most 5 characters`},
		{"not among the values", with(`"mode":"some"`), `"mode" is "some", but must be "all" or "one"`},
		{"too many", with(`"fields":["a","b","c","d"]`), `"fields" is a list of 4 items, but must be a list of at most 3 items, each text that matches ^[a-z]+$`},
		{"too few", with(`"more_edits":[]`), `"more_edits" is a list of 0 items, but must be a list of 1 to 30 items, each an object`},
		{"an item", with(`"fields":["a","B!"]`), `"fields[1]" is "B!", but must be text that matches ^[a-z]+$`},
		{"an item in a string", with(`"fields":"[\"B!\"]"`), `"fields[0]" is "B!", but must be text that matches ^[a-z]+$`},
		{"a text for a list", with(`"fields":"a, b"`), `"fields" is the text "a, b", but must be a list of at most 3 items, each text that matches ^[a-z]+$`},
		{"an object for a list", with(`"fields":{"a":1}`), `"fields" is an object, but must be a list of at most 3 items, each text that matches ^[a-z]+$`},
		{"an object in a string for a list", with(`"fields":"{}"`), `"fields" is the text "{}", but must be a list of at most 3 items, each text that matches ^[a-z]+$`},
		{"a list for an object", with(`"frontmatter":[]`), `"frontmatter" is a list of 0 items, but must be an object`},
		{"broken JSON in a string", with(`"frontmatter":"{\"a\":1,\"a\":2}"`), `"frontmatter" is the text "{”a”:1,”a”:2}", but must be an object`},
		{"several types", with(`"any":5`), `"any" is 5, but must be text or a list`},
		{"everything at once", `{"limit":0,"nope":1,"heading":""}`, `"nope" is no argument of wide: there are "any", "fields", "from_line", "frontmatter", "heading", "limit", "mode", "more_edits", "path", "ratio", "regex", "repo", "text". "repo" is missing: the repositories that you can read are "a", "b". "path" is missing: it must be text. "heading" is empty, but must be text that is not empty. "limit" is 0, but must be a whole number from 1 to 200`},
		{"repo not there", `{"path":"a","repo":"x"}`, `"repo" is "x": the repositories that you can read are "a", "b"`},
		{"repo of another type", `{"path":"a","repo":["a"]}`, `"repo" is a list of 1 item: the repositories that you can read are "a", "b"`},
		{"repo in another case", `{"path":"a","repo":"A"}`, `"repo" is "A": the repositories that you can read are "a", "b"`},
		{"not an object", `[1]`, `the arguments are not an object`},
		{"null", `null`, `the arguments are not an object`},
		{"not JSON", `{"a"`, `the arguments are not valid JSON`},
		{"two values", `{} {}`, `the arguments are not valid JSON`},
		{"empty text", ``, `the arguments are not valid JSON`},
		{"deep", with(`"frontmatter":` + strings.Repeat(`{"a":`, 60) + "1" + strings.Repeat("}", 60)), `the arguments are nested more than 40 levels deep`},
		{"endless depth", strings.Repeat(`{"a":`, 100000), `the arguments are nested more than 40 levels deep`},
		{"huge exponent", with(`"limit":1e999999999`), `a number is too long or out of range`},
		{"tiny exponent", with(`"limit":1e-999999999`), `a number is too long or out of range`},
		{"exponent beyond an int", with(`"limit":1e99999999999999999999`), `a number is too long or out of range`},
		{"long number", with(`"limit":` + strings.Repeat("9", 500)), `a number is too long or out of range`},
		{"fairly long number", with(`"limit":` + strings.Repeat("9", 100)), `"limit" is ` + strings.Repeat("9", 40) + `…, but must be a whole number from 1 to 200`},
		{"quoting", with(`"a\u202e\"b\n":1`), `"a�”b�" is no argument of wide: there are "any", "fields", "from_line", "frontmatter", "heading", "limit", "mode", "more_edits", "path", "ratio", "regex", "repo", "text"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := c.Check(json.RawMessage(tt.arguments), []string{"a", "b"})
			f, ok := fault.As(err)
			if !ok || f.Kind != fault.KindInvalid {
				t.Fatalf("got %v", err)
			}
			if diff := cmp.Diff(tt.want, f.Msg); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCheckNamesTheFieldOfASingleProblem(t *testing.T) {
	t.Parallel()
	_, err := compile(t, wide, nil).Check(json.RawMessage(`{"path":"a","repo":"a","limit":0}`), []string{"a"})
	if f, ok := fault.As(err); !ok || f.Field != "limit" {
		t.Errorf("got %+v", f)
	}
}

func TestGiven(t *testing.T) {
	t.Parallel()
	input, err := compile(t, wide, nil).Check(json.RawMessage(`{"path":"a","repo":"a","limit":50,"regex":null}`), []string{"a"})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"path": true, "limit": true, "regex": false, "heading": false} {
		if input.Given(name) != want {
			t.Errorf("%s: given %v", name, !want)
		}
	}
}

func TestCheckBoundsItsOwnAnswer(t *testing.T) {
	t.Parallel()
	arguments := `{"path":"a","repo":"a"`
	for i := range 500 {
		arguments += fmt.Sprintf(`,"%s%d":1`, strings.Repeat("long", 100), i)
	}
	_, err := compile(t, wide, nil).Check(json.RawMessage(arguments+"}"), []string{"a"})
	f, ok := fault.As(err)
	if !ok || len(f.Msg) > 8000 || !strings.HasSuffix(f.Msg, "And 490 more") {
		t.Errorf("%d bytes: %.200s", len(f.Msg), f.Msg)
	}
	if _, err := compile(t, wide, nil).Check(json.RawMessage(`{"path":"`+strings.Repeat("x", 5<<20)+`"}`), nil); fault.KindOf(err) != fault.KindInvalid {
		t.Errorf("five megabytes: %v", err)
	}
}

func TestCheckNamesReadableRepositoriesOnly(t *testing.T) {
	t.Parallel()
	c := compile(t, wide, nil)
	many := make([]string, 300)
	for i := range many {
		many[i] = fmt.Sprintf("team-%03d-notes", i)
	}
	tests := []struct {
		name  string
		repos []string
		want  string
	}{
		{"team-007-note", []string{"only"}, `"repo" is "team-007-note": the repository that you can read is "only"`},
		{"team-007-note", nil, `"repo" is "team-007-note": there is no repository here that you can read`},
		{"team-007-note", many, `"repo" is "team-007-note": of the 300 repositories that you can read, these have names like it: "team-007-notes", `},
		{"zzzzzzzzzzzz", many, `"repo" is "zzzzzzzzzzzz": none of the 300 repositories that you can read has a name like it`},
	}
	for _, tt := range tests {
		_, err := c.Check(json.RawMessage(`{"path":"a","repo":"`+tt.name+`"}`), tt.repos)
		f, ok := fault.As(err)
		if !ok || !strings.HasPrefix(f.Msg, tt.want) || len(f.Msg) > 300 {
			t.Errorf("%d repositories: %v", len(tt.repos), err)
		}
	}
}

func TestOptionalRepo(t *testing.T) {
	t.Parallel()
	c := compile(t, `{"type":"object","properties":{"repo":{"type":"string","anyOf":[{"const":"x"}]}}}`, nil)
	for arguments, ok := range map[string]bool{`{}`: true, `{"repo":null}`: true, `{"repo":"a"}`: true, `{"repo":"x"}`: false, `{"repo":""}`: false} {
		if _, err := c.Check(json.RawMessage(arguments), []string{"a"}); (err == nil) != ok {
			t.Errorf("%s: %v", arguments, err)
		}
	}
}

func TestNoArguments(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{`{"type":"object"}`, `{"type":"object","properties":{}}`, `{"type":"object","additionalProperties":false}`} {
		c := compile(t, schema, nil)
		if _, err := c.Check(json.RawMessage(`{}`), nil); err != nil {
			t.Errorf("%s: %v", schema, err)
		}
		_, err := c.Check(json.RawMessage(`{"a":1}`), nil)
		if f, ok := fault.As(err); !ok || f.Msg != `"a" is no argument of wide: it takes none` {
			t.Errorf("%s: %v", schema, err)
		}
	}
}

func TestCompileRefusesWhatTheValidatorDoesNotKnow(t *testing.T) {
	t.Parallel()
	for name, schema := range map[string]string{
		"no object":          `{"type":"string"}`,
		"no type":            `{"properties":{}}`,
		"remote reference":   `{"type":"object","properties":{"a":{"$ref":"http://127.0.0.1:1/x"}}}`,
		"identity":           `{"type":"object","$id":"http://127.0.0.1:1/x"}`,
		"new keyword":        `{"type":"object","properties":{"a":{"type":"array","prefixItems":[]}}}`,
		"keyword in anyOf":   `{"type":"object","properties":{"a":{"anyOf":[{"contentSchema":{}}]}}}`,
		"keyword in items":   `{"type":"object","properties":{"a":{"type":"array","items":{"$dynamicRef":"#"}}}}`,
		"broken pattern":     `{"type":"object","properties":{"a":{"type":"string","pattern":"("}}}`,
		"broken JSON":        `{"type":`,
		"property no schema": `{"type":"object","properties":{"a":5}}`,
	} {
		if _, err := tool.Compile(tool.Tool{Spec: specOf(schema), Handler: nothing}); err == nil {
			t.Errorf("%s: compiled", name)
		}
	}
	if _, err := tool.Compile(tool.Tool{Spec: specOf(wide)}); err == nil {
		t.Error("a tool without a handler compiled")
	}
}

// FuzzCheck holds what every handler relies on: arguments that pass decode
// into plain JSON with declared names only, and pass again unchanged.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{`{"path":"a","repo":"a"}`, `{"path":"a","repo":"a","fields":"[\"x\"]","limit":5.0}`, `{"path":"\ud800","repo":"a","more_edits":[{"path":"","old_text":""}]}`, `{"frontmatter":{"a":{"b":[1e2,null]}},"path":"","repo":"b"}`} {
		f.Add([]byte(seed))
	}
	c := compile(f, wide, nil)
	f.Fuzz(func(t *testing.T, data []byte) {
		input, err := c.Check(data, []string{"a", "b"})
		if err != nil {
			if _, ok := fault.As(err); !ok {
				t.Fatalf("%q: %v", data, err)
			}
			return
		}
		again, err := c.Check(input.JSON(), []string{"a", "b"})
		if err != nil || string(again.JSON()) != string(input.JSON()) {
			t.Errorf("%q: %s, then %s %v", data, input.JSON(), again.JSON(), err)
		}
	})
}
