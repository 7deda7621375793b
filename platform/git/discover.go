package git

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Folder says where the parts of a git repository are. Paths are absolute.
type Folder struct {
	// GitDir is the git folder: HEAD and, for a linked work tree, nothing else.
	GitDir string
	// CommonDir holds the refs and objects; it equals GitDir except for a
	// linked work tree.
	CommonDir string
	// ObjectDirs are the repository's own object folder and then those it
	// borrows from, as far as they exist. Git follows borrowing by itself, so
	// naming the first as an alternate is enough.
	ObjectDirs []string
	// WorkTree is the folder with the files, "" when there is none.
	WorkTree string
	// Bare says that the repository has no work tree.
	Bare bool
	// Shallow says that the history was cut off at the commits that
	// ShallowFile lists.
	Shallow     bool
	ShallowFile string
	// Format is how refs are stored: "files" or "reftable".
	Format string
	// ObjectFormat is the hash of the ids: "sha1" or "sha256".
	ObjectFormat string
}

// Discover looks at a folder that holds a repository: bare, with a .git
// folder, or a linked work tree or submodule with a .git file. Folders above
// are not looked at. ErrNotRepository if it holds none; ErrFormat, with the
// Folder, if this git cannot read how it is stored.
//
// Only the repository's own settings files are read, and git is not run inside
// the folder.
func (r *Runner) Discover(ctx context.Context, folder string) (Folder, error) {
	f, err := locate(folder)
	if err != nil {
		return Folder{}, fmt.Errorf("look at %.300q: %w", folder, err)
	}
	config, err := r.readConfig(ctx, f)
	if err != nil {
		return Folder{}, fmt.Errorf("look at %.300q: %w", folder, err)
	}
	f.apply(config)
	f.ObjectDirs = objectDirs(filepath.Join(f.CommonDir, "objects"))
	shallow := filepath.Join(f.CommonDir, "shallow")
	if info, err := os.Stat(shallow); err == nil && info.Size() > 0 {
		f.Shallow, f.ShallowFile = true, shallow
	}
	if f.Format == "reftable" && r.version.before(reftable) {
		return f, fmt.Errorf("look at %.300q: refs are stored as reftable, which git %s cannot read; install git %s or newer: %w",
			folder, r.version, reftable, ErrFormat)
	}
	return f, nil
}

// locate finds the git folder and the common folder, following gitfiles as
// gitrepository-layout(5) describes them.
func locate(folder string) (Folder, error) {
	abs, err := filepath.Abs(folder)
	if err != nil {
		return Folder{}, err
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return Folder{}, err
	}
	dot := filepath.Join(abs, ".git")
	info, err := os.Stat(dot)
	f := Folder{GitDir: abs}
	switch {
	case err == nil && info.IsDir():
		f.GitDir, f.WorkTree = dot, abs
	case err == nil:
		f.WorkTree = abs
		if f.GitDir, err = followFile(dot, "gitdir: ", abs); err != nil {
			return Folder{}, err
		}
	}
	if f.GitDir, err = filepath.EvalSymlinks(f.GitDir); err != nil {
		return Folder{}, ErrNotRepository
	}
	f.CommonDir = f.GitDir
	common := filepath.Join(f.GitDir, "commondir")
	if _, err := os.Lstat(common); err == nil {
		if f.CommonDir, err = followFile(common, "", f.GitDir); err != nil {
			return Folder{}, err
		}
	}
	if !isGitDir(f) {
		return Folder{}, ErrNotRepository
	}
	return f, nil
}

// followFile reads a path out of a small file.
func followFile(file, prefix, base string) (string, error) {
	text, err := readSmall(file, 8192)
	if err != nil {
		return "", err
	}
	path, ok := strings.CutPrefix(strings.TrimRight(text, "\r\n"), prefix)
	if !ok || path == "" {
		return "", ErrNotRepository
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(base, path)
	}
	return filepath.Clean(path), nil
}

// isGitDir applies git's own test: HEAD, an object folder and a ref folder.
func isGitDir(f Folder) bool {
	for _, dir := range []string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(f.CommonDir, dir)); err != nil || !info.IsDir() {
			return false
		}
	}
	head := filepath.Join(f.GitDir, "HEAD")
	if info, err := os.Lstat(head); err == nil && info.Mode()&os.ModeSymlink != 0 {
		target, err := os.Readlink(head)
		return err == nil && strings.HasPrefix(target, "refs/")
	}
	text, err := readSmall(head, 8192)
	return err == nil && (strings.HasPrefix(text, "ref:") || OID(strings.TrimSpace(text)).Valid())
}

// readSmall reads a regular file up to a size; a pipe in its place would hold
// the reader for ever.
func readSmall(path string, max int64) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > max {
		return "", fmt.Errorf("%s is no small regular file: %w", path, ErrNotRepository)
	}
	data, err := io.ReadAll(io.LimitReader(f, max))
	return string(data), err
}

// apply takes what the repository's settings say about its form.
func (f *Folder) apply(config map[string]string) {
	f.Format, f.ObjectFormat = "files", "sha1"
	if v := config["extensions.refstorage"]; v != "" {
		f.Format, _, _ = strings.Cut(v, ":")
	}
	if v := config["extensions.objectformat"]; v != "" {
		f.ObjectFormat = v
	}
	if v := config["core.worktree"]; v != "" && f.GitDir == f.CommonDir {
		if !filepath.IsAbs(v) {
			v = filepath.Join(f.GitDir, v)
		}
		f.WorkTree = filepath.Clean(v)
	}
	if f.WorkTree == "" && filepath.Base(f.GitDir) == ".git" && config["core.bare"] == "false" {
		f.WorkTree = filepath.Dir(f.GitDir)
	}
	f.Bare = f.WorkTree == ""
}

// readConfig lists the repository's own settings, without following includes.
// The last value of a key counts.
func (r *Runner) readConfig(ctx context.Context, f Folder) (map[string]string, error) {
	config := map[string]string{}
	for _, file := range []string{filepath.Join(f.CommonDir, "config"), filepath.Join(f.GitDir, "config.worktree")} {
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
			continue
		}
		var out []byte
		args := []string{"config", "--file", file, "--no-includes", "--list", "-z"}
		if err := r.run(ctx, call{args: args, read: readInto(&out)}); err != nil {
			return nil, fmt.Errorf("read settings: %w", err)
		}
		for entry := range strings.SplitSeq(string(out), "\x00") {
			key, value, _ := strings.Cut(entry, "\n")
			config[key] = value
		}
	}
	return config, nil
}

// alternateDepth is how far borrowing is followed, as git does it.
const alternateDepth = 5

// objectDirs lists an object folder and what it borrows from, each once.
func objectDirs(own string) []string {
	dirs := []string{own}
	level := []string{own}
	for range alternateDepth {
		var next []string
		for _, dir := range level {
			for _, other := range alternatesOf(dir) {
				if !slices.Contains(dirs, other) && len(dirs) < 64 {
					dirs, next = append(dirs, other), append(next, other)
				}
			}
		}
		level = next
	}
	return dirs
}

func alternatesOf(dir string) []string {
	text, err := readSmall(filepath.Join(dir, "info", "alternates"), 64<<10)
	if err != nil {
		return nil
	}
	var found []string
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" || line[0] == '#' || line[0] == '"' {
			continue
		}
		if !filepath.IsAbs(line) {
			line = filepath.Join(dir, line)
		}
		if info, err := os.Stat(line); err == nil && info.IsDir() {
			found = append(found, filepath.Clean(line))
		}
	}
	return found
}
