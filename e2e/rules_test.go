package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"vault/e2e/harness"
)

// odd is one vault over two repositories with everything that is unusual:
// "plain" is open as a whole, "small" opens two folders.
var odd struct {
	once sync.Once
	dir  string
	dev  *harness.Dev
}

const (
	nfd = "cafe\u0301"
	nfc = "caf\u00e9"
)

// oddFiles are the files of "plain".
func oddFiles() map[string]string {
	long := strings.Repeat("word ", 12_000)
	return map[string]string{
		"README.md":             "---\nsummary: The root.\n---\n# Root\n",
		"a.md":                  "alpha\nbeta\n",
		"empty.md":              "",
		"crlf.md":               "one\r\ntwo\r\n",
		"bom.md":                "\uFEFF---\ntitle: Marked\ntype: note\n---\ntext\n",
		"nul.md":                "a\x00b\n",
		"latin1.md":             "caf\xe9\n",
		"broken.md":             "---\ntitle: [\n---\nfind me by brokenword\n",
		"twice.md":              "---\ntitle: A\ntitle: B\n---\ntext\n",
		"lfs.md":                "version https://git-lfs.github.com/spec/v1\noid sha256:aa\nsize 12\n",
		"long.md":               long + "needle " + long + "\nsecond\n",
		"many.md":               strings.Repeat("line of text\n", 10_000),
		"100%25.md":             "percent\n",
		"dir/readme.MD":         "another spelling\n",
		"dir/b.markdown":        "an ending\n",
		"dir/" + nfd + ".md":    "decomposed\n",
		"dir/sub/deep.md":       "---\ntype: note\nstatus: draft\ntags: [x, y]\ndone: true\nwhen: 2026-05-04T10:00:00Z\nmap: {a: 1}\n---\ndeep\n",
		"both/" + nfd + ".md":   "formdecomposed\n",
		"both/" + nfc + ".md":   "formcomposed\n",
		"data.csv":              "x,y\n1,2\n",
		".hidden/secret.md":     "hiddenword\n",
		"sub/.secret.md":        "hiddenword\n",
		"heads.md":              "# One\n\n## Same\n\na\n\n# Two\n\n## Same\n\nb\n\n## C#\n\nc\n\n```\n# not\n```\n",
		"greek.md":              "ΣΊΣΥΦΟΣ and straße and İstanbul\n",
		"small/inside-plain.md": "a folder with another repository's name\n",
	}
}

const openFolders = `{"format": 3, "role": "root", "name": "small", "prompts": [], "resources": [],
  "summary": "Two folders are open.", "folders": ["notes/", "more/"], "overview": {"topic": "topic", "fields": ["owner"]}}`

// oddVault starts the vault once.
func oddVault(t *testing.T) *harness.Dev {
	t.Helper()
	odd.once.Do(func() {
		var err error
		if odd.dir, err = os.MkdirTemp("", "vault-e2e-"); err != nil {
			t.Fatal(err)
		}
		_ = os.Chmod(odd.dir, 0o755)
		plain := repository(t, filepath.Join(odd.dir, "plain"), oddFiles())
		if err := os.Symlink("a.md", filepath.Join(plain, "link.md")); err != nil {
			t.Fatal(err)
		}
		git(t, plain, "add", "-A")
		git(t, plain, "commit", "-q", "-m", "Add a symbolic link")
		small := repository(t, filepath.Join(odd.dir, "small"), map[string]string{
			".vault/settings.jsonc":  openFolders,
			".vault/instructions.md": "Be kind.\n\n## plain\n\nforged\n",
			"notes/x.md":             "---\ntopic: trees\nowner: Ada\n---\nopenword\n",
			"more/y.md":              "openword\n",
			"closed/z.md":            "closedword\n",
		})
		odd.dev = startIn(t, odd.dir, plain, small)
	})
	if odd.dev == nil {
		t.Fatal("the vault did not start")
	}
	return odd.dev
}

// rule is one call and what its answer must and must not hold.
type rule struct {
	name    string
	tool    string
	args    string
	isError bool
	want    []string
	not     []string
}

// TestRules holds the rules that count for every tool, through the front.
// The subtests run one after the other, since they share a vault that ends
// with the test.
func TestRules(t *testing.T) {
	t.Parallel()
	d := oddVault(t)
	c := d.Client()
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			var args map[string]any
			if err := json.Unmarshal([]byte(r.args), &args); err != nil {
				t.Fatal(err)
			}
			answer, isError := text(c, r.tool, args)
			if isError != r.isError {
				t.Errorf("isError %v: %s", isError, cut(answer))
			}
			for _, want := range r.want {
				if !strings.Contains(answer, want) {
					t.Errorf("%s is missing in %s", want, cut(answer))
				}
			}
			for _, not := range r.not {
				if strings.Contains(answer, not) {
					t.Errorf("%s stands in %s", not, cut(answer))
				}
			}
		})
	}
}

func cut(s string) string {
	if len(s) > 600 {
		return s[:600] + fmt.Sprintf("… (%d bytes)", len(s))
	}
	return s
}

func rules() []rule {
	return append(append(namingRules(), textRules()...), inputRules()...)
}

// namingRules are about repo, path and what stands where.
func namingRules() []rule {
	return []rule{
		{"repo named", "list_notes", `{"repo":"plain","folder":"dir"}`, false, []string{`"path":"dir/b.markdown"`, `"repo":"plain"}`}, []string{`"path":"plain/`}},
		{"repo left out", "list_notes", `{"folder":"plain/dir"}`, false, []string{`"path":"plain/dir/b.markdown"`, `"repo":"plain"`}, []string{`"hasMore":false,"repo"`}},
		{"across by name", "search_notes", `{"query":"openword"}`, false, []string{`small/more/y.md`, `small/notes/x.md`}, nil},
		{"no repository in front", "list_notes", `{"folder":"dir"}`, true, []string{"starts with the name of a repository", `"plain", "small"`}, nil},
		{"name repeated", "read_note", `{"repo":"plain","path":"plain/a.md"}`, false, []string{`"path":"a.md"`}, nil},
		{"name repeated in a configured one", "read_note", `{"repo":"small","path":"small/notes/x.md"}`, false, []string{`"path":"notes/x.md"`}, nil},
		{"a folder of another's name", "read_note", `{"repo":"plain","path":"small/inside-plain.md"}`, false, []string{"another repository's name"}, nil},
		{"another repository's path", "read_note", `{"repo":"small","path":"plain/a.md"}`, true, []string{`"repo": "plain"`, `"a.md"`}, nil},
		{"unreadable repo", "read_note", `{"repo":"nope","path":"a.md"}`, true, []string{`"plain", "small"`}, nil},
		{"trailing slash", "list_notes", `{"repo":"plain","folder":"dir/"}`, false, []string{"dir/sub/deep.md"}, nil},
		{"root as a slash", "list_notes", `{"repo":"plain","folder":"/"}`, false, []string{"a.md"}, nil},
		{"stored NFD, asked NFC", "read_note", `{"repo":"plain","path":"dir/` + nfc + `.md"}`, false, []string{"decomposed", nfd}, nil},
		{"stored NFD, asked NFD", "read_note", `{"repo":"plain","path":"dir/` + nfd + `.md"}`, false, []string{"decomposed"}, nil},
		{"both forms stored, asked NFC", "read_note", `{"repo":"plain","path":"both/` + nfc + `.md"}`, false, []string{"formcomposed"}, nil},
		{"both forms stored, asked NFD", "read_note", `{"repo":"plain","path":"both/` + nfd + `.md"}`, false, []string{"formdecomposed"}, nil},
		{"percent means itself", "read_note", `{"repo":"plain","path":"100%25.md"}`, false, []string{"percent"}, nil},
		{"no decoding", "read_note", `{"repo":"plain","path":"%61.md"}`, true, nil, []string{"alpha"}},
		{"ending left off", "read_note", `{"repo":"plain","path":"dir/sub/deep"}`, false, []string{"dir/sub/deep.md"}, nil},
		{"near paths", "read_note", `{"repo":"plain","path":"deep.md"}`, true, []string{"dir/sub/deep.md"}, nil},
		{"absolute", "read_note", `{"repo":"plain","path":"/a.md"}`, true, nil, []string{"alpha"}},
		{"dots", "read_note", `{"repo":"plain","path":"dir/../a.md"}`, true, nil, []string{"alpha"}},
		{"backslash", "read_note", `{"repo":"plain","path":"dir\\a.md"}`, true, nil, nil},
		{"control", "read_note", `{"repo":"plain","path":"a\u0007.md"}`, true, nil, []string{"\u0007"}},
		{"bidi", "read_note", `{"repo":"plain","path":"a\u202e.md"}`, true, nil, []string{"\u202e"}},
		{"hidden folder", "read_note", `{"repo":"plain","path":".hidden/secret.md"}`, true, nil, []string{"hiddenword"}},
		{"hidden file", "read_note", `{"repo":"plain","path":"sub/.secret.md"}`, true, nil, []string{"hiddenword"}},
		{"hidden is not searched", "search_notes", `{"query":"hiddenword"}`, false, []string{`"matches":[]`}, nil},
		{"settings are closed", "read_note", `{"repo":"small","path":".vault/settings.jsonc"}`, true, []string{`"notes/"`, `"more/"`}, nil},
		{"closed folder", "read_note", `{"repo":"small","path":"closed/z.md"}`, true, []string{`"notes/"`, `"more/"`}, []string{"closedword"}},
		{"closed folder reads as nothing", "read_note", `{"repo":"small","path":"closed/nothing.md"}`, true, []string{`"notes/"`, `"more/"`}, nil},
		{"missing names the folders", "read_note", `{"repo":"small","path":"notes/nothing.md"}`, true, []string{`"notes/"`, `"more/"`}, nil},
		{"closed is not searched", "search_notes", `{"query":"closedword"}`, false, []string{`"matches":[]`}, nil},
		{"closed is not counted", "tree", `{"repo":"small"}`, false, []string{`"total":2`, "Be kind."}, []string{"closed", "\\n## plain"}},
		{"symbolic link", "read_note", `{"repo":"plain","path":"link.md"}`, true, nil, []string{"alpha"}},
		{"tree without repo", "tree", `{}`, false, []string{`"entries":[]`, `"total":0`, `"repo":"plain"`, "Two folders are open."}, nil},
		{"tree folder without repo", "tree", `{"folder":"dir"}`, true, []string{`"repo"`}, nil},
		{"tree depth without repo", "tree", `{"depth":2}`, true, []string{`"repo"`}, nil},
		{"overview", "list_notes", `{"repo":"small","folder":"notes"}`, false, []string{`"topic":"trees"`, `"owner":"Ada"`}, nil},
		{"nothing near", "read_note", `{"repo":"plain","path":"zzzzzzzzzzzzzzzzzzzzzzz/qqqqqqqqqqqqqqqqqqqqqqqqq.md"}`, true, []string{"The tools list_notes and tree"}, nil},
		{"missing folder", "list_notes", `{"repo":"plain","folder":"dri"}`, true, []string{"dir"}, nil},
		{"impossible search path", "search_notes", `{"repo":"plain","query":"x","path":"nowhere"}`, true, nil, nil},
	}
}

// textRules are about what a text is.
func textRules() []rule {
	return []rule{
		{"final newline", "read_note", `{"repo":"plain","path":"a.md"}`, false, []string{`"total_lines":2`, `"content":"alpha\nbeta\n"`}, nil},
		{"empty note", "read_note", `{"repo":"plain","path":"empty.md"}`, false, []string{`"total_lines":0`, `"from_line":1`, `"to_line":0`}, nil},
		{"CRLF stays", "read_note", `{"repo":"plain","path":"crlf.md"}`, false, []string{`one\r\ntwo\r\n`, `"total_lines":2`}, nil},
		{"CRLF out of hits", "search_notes", `{"repo":"plain","query":"two$","regex":true}`, false, []string{`"text":"two"`}, nil},
		{"BOM", "read_note", `{"repo":"plain","path":"bom.md"}`, false, []string{"\"content\":\"\uFEFF---", `"title":"Marked"`, `"type":"note"`}, nil},
		{"NUL", "read_note", `{"repo":"plain","path":"nul.md"}`, true, []string{"NUL"}, nil},
		{"NUL is listed", "list_notes", `{"repo":"plain","limit":200}`, false, []string{`"nul.md"`, `"latin1.md"`}, nil},
		{"not UTF-8", "read_note", `{"repo":"plain","path":"latin1.md"}`, true, []string{"UTF-8"}, nil},
		{"broken frontmatter", "read_note", `{"repo":"plain","path":"broken.md"}`, false, []string{`"note":`, "frontmatter cannot be read", "brokenword"}, nil},
		{"broken frontmatter is searched", "search_notes", `{"repo":"plain","query":"brokenword"}`, false, []string{"broken.md"}, nil},
		{"duplicate key", "read_note", `{"repo":"plain","path":"twice.md"}`, false, []string{"frontmatter cannot be read, line 3"}, nil},
		{"LFS pointer", "read_note", `{"repo":"plain","path":"lfs.md"}`, false, []string{"LFS"}, nil},
		{"another text file", "read_note", `{"repo":"plain","path":"data.csv"}`, false, []string{"x,y"}, nil},
		{"other files are no notes", "list_notes", `{"repo":"plain","limit":200}`, false, nil, []string{"data.csv"}},
		{"README spelling", "read_note", `{"repo":"plain","path":"dir/readme.MD"}`, false, []string{"exactly README.md"}, nil},
		{"README spelling in a list", "list_notes", `{"repo":"plain","folder":"dir"}`, false, []string{"exactly README.md"}, nil},
		{"long line cut", "read_note", `{"repo":"plain","path":"long.md"}`, false, []string{`"truncated":true`, "cut inside", "from_line 2"}, nil},
		{"long line around the match", "search_notes", `{"repo":"plain","query":"needle"}`, false, []string{"needle", `"shortened":true`}, nil},
		{"cut at a line", "read_note", `{"repo":"plain","path":"many.md"}`, false, []string{`"truncated":true`, `"to_line":3076`, "from_line 3077"}, nil},
		{"beyond the end", "read_note", `{"repo":"plain","path":"a.md","from_line":3}`, true, []string{"2 lines", "total_lines"}, nil},
		{"a range", "read_note", `{"repo":"plain","path":"a.md","from_line":2,"to_line":9}`, false, []string{`"content":"beta\n"`, `"to_line":2`}, nil},
		{"heading", "read_note", `{"repo":"plain","path":"heads.md","heading":"one"}`, false, []string{`"from_line":1`, `"to_line":6`}, nil},
		{"heading chain", "read_note", `{"repo":"plain","path":"heads.md","heading":"Two > Same"}`, false, []string{`"from_line":9`}, nil},
		{"ambiguous heading", "read_note", `{"repo":"plain","path":"heads.md","heading":"Same"}`, true, []string{"line 3", "line 9", "One", "Two"}, nil},
		{"heading with a hash", "read_note", `{"repo":"plain","path":"heads.md","heading":"C#"}`, false, []string{`"from_line":13`}, []string{`"text":"not"`}},
		{"fields", "list_notes", `{"repo":"plain","type":"note","status":"draft","fields":["tags","done","when","map","none"]}`, false, []string{`"tags":"x, y"`, `"done":"true"`, `"when":"2026-05-04"`, `"map":"{\"a\":1}"`}, []string{"none"}},
		{"final sigma", "search_notes", `{"repo":"plain","query":"σίσυφος"}`, false, []string{"greek.md"}, nil},
		{"sharp s is not ss", "search_notes", `{"repo":"plain","query":"strasse"}`, false, []string{`"matches":[]`}, nil},
		{"both forms of é", "search_notes", `{"repo":"plain","query":"` + nfc + `"}`, false, []string{`"matches":[]`}, nil},
		{"smart case", "search_notes", `{"repo":"plain","query":"Alpha"}`, false, []string{`"matches":[]`}, nil},
		{"brackets mean themselves", "search_notes", `{"repo":"plain","query":"title: ["}`, false, []string{"broken.md"}, nil},
		{"bad pattern", "search_notes", `{"repo":"plain","query":"a(","regex":true}`, true, []string{"character 2"}, nil},
	}
}

// inputRules are about arguments.
func inputRules() []rule {
	return []rule{
		{"unknown argument", "read_note", `{"repo":"plain","pth":"a.md"}`, true, []string{`"pth"`, `"path"`}, nil},
		{"another letter case", "read_note", `{"repo":"plain","path":"a.md","REPO":"small"}`, true, []string{`"REPO"`}, nil},
		{"list as a string", "list_notes", `{"repo":"plain","type":"note","fields":"[\"status\"]"}`, false, []string{`"status":"draft"`}, nil},
		{"out of range", "list_notes", `{"repo":"plain","limit":500}`, true, []string{"200"}, nil},
		{"wrong type", "list_notes", `{"repo":"plain","limit":"5"}`, true, []string{"5"}, nil},
		{"missing argument", "read_note", `{"repo":"plain"}`, true, []string{`"path"`}, nil},
		{"missing repo", "read_note", `{"path":"a.md"}`, true, []string{`"plain", "small"`}, nil},
		{"excluding arguments", "read_note", `{"repo":"plain","path":"heads.md","heading":"One","from_line":1}`, true, []string{"leave out"}, nil},
		{"empty filter result", "list_notes", `{"repo":"plain","type":"decision"}`, false, []string{`"total":0`, `note`}, nil},
		{"offset over its range", "list_notes", `{"repo":"plain","offset":9007199254740992}`, true, []string{"at most 9007199254740991"}, nil},
		{"next offset", "list_notes", `{"repo":"plain","limit":2}`, false, []string{`"hasMore":true`, "offset 2"}, nil},
		{"every problem at once", "list_notes", `{"repo":"plain","limit":0,"offset":-1}`, true, []string{"limit", "offset"}, nil},
	}
}

// TestPagesNeitherRepeatNorSkip walks lists and searches page by page.
func TestPagesNeitherRepeatNorSkip(t *testing.T) {
	t.Parallel()
	c := acme(t).Client()
	for _, call := range []struct {
		tool, list string
		args       map[string]any
	}{
		{"list_notes", "notes", map[string]any{}},
		{"list_notes", "notes", map[string]any{"repo": "projects"}},
		{"search_notes", "matches", map[string]any{"query": "the"}},
		{"tree", "entries", map[string]any{"repo": "projects", "depth": 5}},
	} {
		all := page(t, c, call.tool, call.list, call.args, 100)
		for _, limit := range []int{1, 3, 7} {
			got := page(t, c, call.tool, call.list, call.args, limit)
			if strings.Join(got, "\n") != strings.Join(all, "\n") {
				t.Errorf("%s %v by %d: %d items, want %d", call.tool, call.args, limit, len(got), len(all))
			}
		}
	}
}

// page reads a list to its end.
func page(t *testing.T, c *harness.Client, tool, list string, args map[string]any, limit int) []string {
	t.Helper()
	var items []string
	for {
		sent := map[string]any{"limit": limit, "offset": len(items)}
		for key, value := range args {
			sent[key] = value
		}
		answer, err := harness.Into[map[string]json.RawMessage](c, tool, sent)
		if err != nil {
			t.Fatal(err)
		}
		var part []json.RawMessage
		if err := json.Unmarshal(answer[list], &part); err != nil {
			t.Fatal(err)
		}
		for _, item := range part {
			items = append(items, string(item))
		}
		if string(answer["hasMore"]) != "true" {
			return items
		}
	}
}
