package vaultdir_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"vault/modules/vaultdir"
	"vault/platform/fault"
)

func settingsText(extra string) string {
	return `{"format": 3, "role": "root", "name": "kb", "prompts": [], "resources": []` + extra + `}`
}

func repoWith(t testing.TB, extra string) *vaultdir.Repo {
	t.Helper()
	r, findings := vaultdir.Load("kb", []vaultdir.File{{Path: vaultdir.SettingsPath, Text: settingsText(extra)}})
	if reason, closed := r.Closed(); closed {
		t.Fatalf("closed: %s (%v)", reason, findings)
	}
	return r
}

func TestCleanPath(t *testing.T) {
	t.Parallel()
	const nfc, nfd = "notes/caf\u00e9.md", "notes/cafe\u0301.md"
	tests := []struct {
		arg  string
		kind vaultdir.PathKind
		want string
		says string // part of the refusal; "" for none
	}{
		{"a/b.md", vaultdir.KindFile, "a/b.md", ""},
		{nfd, vaultdir.KindFile, nfc, ""},
		{"100%25.md", vaultdir.KindFile, "100%25.md", ""},
		{"it's \"quoted\" #1?.md", vaultdir.KindFile, "it's \"quoted\" #1?.md", ""},
		{"family \U0001F469\u200D\U0001F467.md", vaultdir.KindFile, "family \U0001F469\u200D\U0001F467.md", ""},
		{"a/", vaultdir.KindFolder, "a", ""},
		{"a/", vaultdir.KindAny, "a", ""},
		{"", vaultdir.KindFolder, "", ""},
		{"/", vaultdir.KindFolder, "", ""},
		{"", vaultdir.KindFile, "", "empty or the root"},
		{"/", vaultdir.KindAny, "", "empty or the root"},
		{"a/", vaultdir.KindFile, "", "ends with a slash"},
		{"a//", vaultdir.KindFolder, "", "is empty"},
		{"//", vaultdir.KindFolder, "", "starts with a slash"},
		{"/a.md", vaultdir.KindFile, "", "starts with a slash"},
		{"/a/", vaultdir.KindFolder, "", "starts with a slash"},
		{"a//b.md", vaultdir.KindFile, "", "is empty"},
		{"a/./b.md", vaultdir.KindFile, "", `"."`},
		{"../b.md", vaultdir.KindFile, "", `".."`},
		{"a/..", vaultdir.KindFolder, "", `".."`},
		{`a\b.md`, vaultdir.KindFile, "", "backslash"},
		{"a\x00b.md", vaultdir.KindFile, "", "control"},
		{"a\nb.md", vaultdir.KindFile, "", "control"},
		{"a\u0085b.md", vaultdir.KindFile, "", "control"},
		{"a\u202Edm.exe", vaultdir.KindFile, "", "control"},
		{"a\u2028b.md", vaultdir.KindFile, "", "control"},
		{"a\u2066b.md", vaultdir.KindFile, "", "control"},
		{"a\xffb.md", vaultdir.KindFile, "", "UTF-8"},
		{".vault/settings.jsonc", vaultdir.KindFile, "", "hidden"},
		{"a/.git/config", vaultdir.KindFile, "", "hidden"},
		{"a/...", vaultdir.KindFolder, "", "hidden"},
		{strings.Repeat("a", vaultdir.MaxPath+1), vaultdir.KindFile, "", "longer than 4096 bytes"},
		{strings.Repeat("a", vaultdir.MaxPath), vaultdir.KindFile, strings.Repeat("a", vaultdir.MaxPath), ""},
	}
	for _, tt := range tests {
		t.Run(tt.arg[:min(len(tt.arg), 40)], func(t *testing.T) {
			t.Parallel()
			got, err := vaultdir.CleanPath(tt.arg, tt.kind)
			if tt.says == "" {
				if err != nil || got != tt.want {
					t.Fatalf("CleanPath = %q, %v; want %q", got, err, tt.want)
				}
				return
			}
			if err == nil {
				t.Fatalf("CleanPath accepts it as %q", got)
			}
			if fault.KindOf(err) != fault.KindInvalid || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("CleanPath says %q (%s), want %q", err, fault.KindOf(err), tt.says)
			}
		})
	}
}

func TestAcceptedPathsComeBackWithoutTypeOfError(t *testing.T) {
	t.Parallel()
	// A nil *fault.Error inside a non-nil error would read as a refusal.
	if _, err := vaultdir.CleanPath("a.md", vaultdir.KindFile); err != nil {
		t.Errorf("CleanPath of a good path: %v", err)
	}
	if _, err := vaultdir.Plain("kb").Check("a.md", vaultdir.KindFile); err != nil {
		t.Errorf("Check of a good path: %v", err)
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	some := repoWith(t, `, "folders": ["active/", "caf\u00e9/sub"]`)
	tests := []struct {
		path        string
		plain, some bool
	}{
		{"active/a.md", true, true},
		{"active/x/y/a.md", true, true},
		{"active", true, false},
		{"active.md", true, false},
		{"activeness/a.md", true, false},
		{"Active/a.md", true, false},
		{"other/active/a.md", true, false},
		{"cafe\u0301/sub/a.md", true, true},
		{"caf\u00e9/a.md", true, false},
		{"active/.hidden/a.md", false, false},
		{"active/.a.md", false, false},
		{".vault/settings.jsonc", false, false},
		{"active/a\nb.md", false, false},
		{"active/a\u202Eb.md", false, false},
		{"active/a\xffb.md", false, false},
		{`active/a\b.md`, false, false},
		{"", false, false},
	}
	for _, tt := range tests {
		if got := vaultdir.Plain("kb").Open(tt.path); got != tt.plain {
			t.Errorf("plain: Open(%q) = %v", tt.path, got)
		}
		if got := some.Open(tt.path); got != tt.some {
			t.Errorf("folders: Open(%q) = %v", tt.path, got)
		}
	}
}

func TestCheckNamesTheOpenFolders(t *testing.T) {
	t.Parallel()
	r := repoWith(t, `, "folders": ["area/active/", "archive"]`)
	accepted := []struct {
		arg  string
		kind vaultdir.PathKind
		want string
	}{
		{"archive/a.md", vaultdir.KindFile, "archive/a.md"},
		{"archive", vaultdir.KindFolder, "archive"},
		{"archive/", vaultdir.KindAny, "archive"},
		{"area", vaultdir.KindFolder, "area"}, // above an open folder
		{"", vaultdir.KindFolder, ""},
	}
	for _, tt := range accepted {
		if got, err := r.Check(tt.arg, tt.kind); err != nil || got != tt.want {
			t.Errorf("Check(%q) = %q, %v", tt.arg, got, err)
		}
	}
	refused := []struct {
		arg  string
		kind vaultdir.PathKind
	}{
		{"secret/x.md", vaultdir.KindFile},
		{"archive", vaultdir.KindFile},
		{"area", vaultdir.KindAny},
		{"area/x.md", vaultdir.KindFile},
		{"are", vaultdir.KindFolder},
		{".vault/settings.jsonc", vaultdir.KindFile},
		{"../x.md", vaultdir.KindFile},
	}
	for _, tt := range refused {
		_, err := r.Check(tt.arg, tt.kind)
		if err == nil {
			t.Errorf("Check(%q) accepts it", tt.arg)
			continue
		}
		if said := fault.Public(err, ""); !strings.Contains(said, `"archive/" and "area/active/"`) {
			t.Errorf("Check(%q) does not name the open folders: %s", tt.arg, said)
		}
	}
	if _, err := vaultdir.Plain("kb").Check("../x.md", vaultdir.KindFile); strings.Contains(fault.Public(err, ""), "open folder") {
		t.Errorf("a plain repository names open folders: %v", err)
	}
}

func TestWhere(t *testing.T) {
	t.Parallel()
	var many []string
	for _, c := range "abcdefghijklmno" {
		many = append(many, `"`+string(c)+`"`)
	}
	tests := map[string]string{
		``:                       "",
		`, "folders": ["/"]`:     "",
		`, "folders": ["a"]`:     `the only open folder of this repository is "a/"`,
		`, "folders": ["b","a"]`: `the open folders of this repository are "a/" and "b/"`,
		`, "folders": [` + strings.Join(many, ",") + `]`: `the open folders of this repository are "a/", "b/", "c/", "d/", "e/", "f/", "g/", "h/", "i/", "j/", "k/", "l/" and 3 more`,
	}
	for extra, want := range tests {
		if got := repoWith(t, extra).Where(); got != want {
			t.Errorf("%s: Where = %q", extra, got)
		}
	}
}

func FuzzCleanPath(f *testing.F) {
	for _, s := range []string{"a/b.md", "", "/", "a/", "a//", "../x", "a\u0301/.x", "\xff", `a\b`, "a\u202E", "e\u0301\u0323"} {
		f.Add(s)
	}
	r := repoWith(f, `, "folders": ["a/", "b/c"]`)
	f.Fuzz(func(t *testing.T, arg string) {
		for _, kind := range []vaultdir.PathKind{vaultdir.KindFile, vaultdir.KindFolder, vaultdir.KindAny} {
			clean, err := vaultdir.CleanPath(arg, kind)
			if err != nil {
				if fault.Public(err, "ref") == "" || !utf8.ValidString(err.Error()) {
					t.Errorf("refusal of %q is no sentence: %q", arg, err)
				}
				continue
			}
			again, err := vaultdir.CleanPath(clean, kind)
			if err != nil || again != clean {
				t.Errorf("CleanPath(%q) = %q, and of that %q, %v", arg, clean, again, err)
			}
			if clean != "" && (!vaultdir.Plain("kb").Open(clean) || len(clean) > vaultdir.MaxPath || strings.HasSuffix(clean, "/")) {
				t.Errorf("CleanPath(%q) gives the unclean %q", arg, clean)
			}
			checked, err := r.Check(arg, kind)
			if err == nil && checked != clean {
				t.Errorf("Check(%q) = %q, CleanPath %q", arg, checked, clean)
			}
			if kind == vaultdir.KindFile && (err == nil) != r.Open(arg) {
				t.Errorf("Check and Open disagree about %q: %v", arg, err)
			}
		}
	})
}
