package index

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault/platform/git"
)

// settings is a good settings.jsonc that opens the given folders.
func settings(folders string) string {
	return `{"format": 3, "role": "root", "name": "notes", "prompts": [], "resources": [],
	"folders": [` + folders + `], "typeField": "kind", "summaryField": "about"}`
}

// TestIncrementalEqualsFull lets one index follow a history push by push, and
// another one read the end of it at once: both must hold the same.
func TestIncrementalEqualsFull(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 7))
			w := newWorld(t, "notes")
			o := w.repos["notes"]
			tips := []git.OID{o.commit(files{"a/one.md": "one\n"})}
			o.update()
			for step := range 25 {
				parent := o.tip
				if r.IntN(8) == 0 { // a force push onto an older commit
					parent = tips[r.IntN(len(tips))]
				}
				for range 1 + r.IntN(3) {
					parent = o.commitOn(parent, randomChange(t, o, parent, r))
				}
				o.set(parent)
				tips = append(tips, parent)
				if r.IntN(3) > 0 || step == 24 {
					o.update()
				}
			}
			fresh := newWorld(t, "notes")
			f := fresh.repos["notes"]
			f.git, f.tip = o.git, o.tip
			f.update()
			if d := cmp.Diff(strings.Split(fresh.dump("notes"), "\n"), strings.Split(w.dump("notes"), "\n")); d != "" {
				t.Errorf("-full +incremental\n%s", d)
			}
		})
	}
}

// randomChange adds, edits, moves and removes files, settings among them.
func randomChange(t *testing.T, o *origin, parent git.OID, r *rand.Rand) files {
	t.Helper()
	current := map[string]git.OID{}
	must(t, o.git.Tree(t.Context(), parent, func(e git.TreeEntry) error {
		current[e.Path] = e.OID
		return nil
	}))
	paths := []string{
		"a/one.md", "a/two.md", "a/data.csv", "b/three.markdown", "b/pic.png", "b/x.canvas", "README.md",
		"b/e\u0301.md", "c/big.md", ".hidden/h.md", "a/bad\xff.md",
	}
	change := files{}
	for range 1 + r.IntN(4) {
		path := paths[r.IntN(len(paths))]
		if _, ok := current[path]; ok && r.IntN(3) == 0 {
			change[path] = removed
			continue
		}
		change[path] = randomText(r)
	}
	if r.IntN(4) == 0 {
		vault := []string{
			settings(`"/"`), settings(`"a"`), settings(`"b", "c"`), `{"format": 3, broken`, `{"format": 9}`, "",
		}
		change[settingsFile] = vault[r.IntN(len(vault))]
		if _, ok := current[settingsFile]; ok && r.IntN(5) == 0 {
			change[settingsFile] = removed
		}
	}
	if r.IntN(6) == 0 {
		change[".vault/instructions.md"] = fmt.Sprintf("Be nice, %d times.\n", r.IntN(5))
	}
	return change
}

func randomText(r *rand.Rand) string {
	texts := []string{
		"plain text\n", "---\ntitle: T\nkind: k1\nabout: short\ntype: t1\nstatus: s\n---\n# H\n\n[[two]]\n",
		"nul \x00 here", "latin \xe9", "", "---\nkind: [a, b]\n---\n", "---\nx: [\n---\n",
		"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "\uFEFF---\ntitle: bom\n---\nx\r\n",
	}
	text := texts[r.IntN(len(texts))]
	if r.IntN(2) == 0 {
		text += fmt.Sprintf("number %d\n", r.IntN(1000))
	}
	return text
}
