package postgres

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeInstall makes a folder with programs that only tell a version.
func fakeInstall(t *testing.T, version string) string {
	t.Helper()
	dir := t.TempDir()
	script := "#!/bin/sh\necho '" + version + "'\n"
	for _, name := range []string{"postgres", "initdb"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFindBinaries(t *testing.T) {
	t.Parallel()
	install := map[int]string{}
	for _, major := range []int{14, 15, 16, 17, 99} {
		install[major] = fakeInstall(t, fmt.Sprintf("postgres (PostgreSQL) %d.3 (Packager %d.3-1)", major, major))
	}
	garbage := fakeInstall(t, "hello")
	onlyServer := fakeInstall(t, "postgres (PostgreSQL) 17.1")
	links := t.TempDir()
	if err := errors.Join(os.Remove(filepath.Join(onlyServer, "initdb")),
		os.Symlink(filepath.Join(install[16], "postgres"), filepath.Join(links, "postgres"))); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		path, folders []string
		want          int
		dir           string // "" for none
	}{
		"PATH first":              {path: []string{install[15]}, folders: []string{install[17]}, dir: install[15]},
		"newest":                  {folders: []string{install[15], install[17], install[16]}, dir: install[17]},
		"unknown last":            {folders: []string{install[99], install[16]}, dir: install[16]},
		"unknown if alone":        {folders: []string{install[99]}, dir: install[99]},
		"too old":                 {path: []string{install[14]}},
		"too old on PATH":         {path: []string{install[14]}, folders: []string{install[16]}, dir: install[16]},
		"as the cluster":          {path: []string{install[17]}, folders: []string{install[15], install[16]}, want: 15, dir: install[15]},
		"none as the cluster":     {path: []string{install[17]}, want: 15},
		"link":                    {path: []string{links}, dir: install[16]},
		"not the whole":           {path: []string{onlyServer, garbage, "/nowhere", "", "relative"}},
		"not the whole, then one": {path: []string{onlyServer, garbage, install[15]}, dir: install[15]},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := strings.Join(tc.path, string(os.PathListSeparator))
			b, err := findBinaries(t.Context(), path, tc.folders, tc.want)
			if tc.dir == "" {
				if !errors.Is(err, ErrNoBinaries) {
					t.Errorf("found %+v, error %v", b, err)
				}
				return
			}
			want, evalErr := filepath.EvalSymlinks(tc.dir)
			if err != nil || evalErr != nil || b.dir != want {
				t.Errorf("found %+v, error %v, want %s", b, err, want)
			}
		})
	}
}

func TestFindBinariesNamesWhatThereIs(t *testing.T) {
	t.Parallel()
	install := fakeInstall(t, "postgres (PostgreSQL) 17.3")
	_, err := findBinaries(t.Context(), install, []string{install}, 15)
	if err == nil || !strings.Contains(err.Error(), "version 15, only 17") {
		t.Errorf("error = %v", err)
	}
}

func TestLongSocketPathIsRefused(t *testing.T) {
	t.Parallel()
	base := filepath.Join(t.TempDir(), strings.Repeat("x", 100))
	h := home{root: t.TempDir()}
	if err := os.Mkdir(base, 0o700); err != nil {
		t.Fatal(err)
	}
	err := (&Server{home: h}).makeSockets(base)
	if err == nil || !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("error = %v", err)
	}
	if left, err := os.ReadDir(base); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestHomeRefusesWhatIsInTheWay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Symlink(dir, link)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, link} {
		if _, err := (home{root: path}).prepare(dir); err == nil || !strings.Contains(err.Error(), "in the way") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestLogIsSetAside(t *testing.T) {
	t.Parallel()
	h := home{root: t.TempDir()}
	if err := os.WriteFile(h.path(logFile), make([]byte, logLimit+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int64{0, 5} {
		f, start, err := h.openLog()
		if err != nil {
			t.Fatal(err)
		}
		if start != want {
			t.Errorf("the log starts at %d, want %d", start, want)
		}
		if _, err := f.WriteString("hello"); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := readTail(h.path(logFile), 5); err != nil || text != "hello" {
		t.Errorf("tail = %q, %v", text, err)
	}
}
