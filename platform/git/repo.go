package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Repo is one git folder. It is safe for concurrent use. It may hold two git
// processes that Close ends: one that reads objects, one that moves refs.
type Repo struct {
	run  *Runner
	dir  string
	safe []string

	objects line
	refs    line

	storeMu sync.Mutex
	store   string
}

// Open names the git folder dir (a bare repository, or the .git of a work
// tree). Nothing is read before the first call. Safe are the exact
// safe.directory entries, where the folder belongs to somebody else; without
// any it is dir itself.
func (r *Runner) Open(dir string, safe ...string) *Repo {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if len(safe) == 0 {
		safe = []string{dir}
		// Git compares with the path it was given or the real one, by version.
		if path, err := filepath.EvalSymlinks(dir); err == nil && path != dir {
			safe = append(safe, path)
		}
	}
	return &Repo{run: r, dir: dir, safe: safe, objects: newLine(), refs: newLine()}
}

// Dir is the git folder, absolute.
func (repo *Repo) Dir() string { return repo.dir }

// Close ends the processes that the repository holds. It waits for calls in
// progress; later calls that need such a process give ErrClosed.
func (repo *Repo) Close() error {
	return errors.Join(repo.objects.close(), repo.refs.close())
}

// InitBare makes a bare sha1 repository whose HEAD names branch, and opens it.
// Alternates are object folders that it borrows from. A repository that is
// there already stays as it is, HEAD included; its alternates become the given
// ones.
func (r *Runner) InitBare(ctx context.Context, dir, branch string, alternates ...string) (*Repo, error) {
	if err := checkRef("refs/heads/" + branch); err != nil {
		return nil, err
	}
	repo := r.Open(dir)
	if err := os.MkdirAll(repo.dir, 0o700); err != nil {
		return nil, fmt.Errorf("make a repository: %w", err)
	}
	args := []string{"init", "--bare", "--quiet", "--template=", "--object-format=sha1", "--initial-branch=" + branch}
	if err := repo.do(ctx, call{args: args}); err != nil {
		return nil, fmt.Errorf("make a repository in %s: %w", dir, err)
	}
	if err := repo.setAlternates(alternates); err != nil {
		return nil, fmt.Errorf("make a repository in %s: %w", dir, err)
	}
	return repo, nil
}

// setAlternates writes one absolute path a line, as gitrepository-layout(5)
// has it. An absolute path starts with neither a comment sign nor a quote.
func (repo *Repo) setAlternates(dirs []string) error {
	file := filepath.Join(repo.dir, "objects", "info", "alternates")
	if len(dirs) == 0 {
		if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	}
	var text strings.Builder
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) || strings.ContainsAny(dir, "\n\x00") {
			return fmt.Errorf("object folder %.200q must be an absolute path on one line: %w", dir, ErrRefused)
		}
		text.WriteString(dir + "\n")
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return replaceFile(file, []byte(text.String()), 0o600)
}

// replaceFile writes a file so that readers see the old or the new content.
func replaceFile(path string, data []byte, mode os.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), "tmp_vault_")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// in completes a call with where it runs.
func (repo *Repo) in(c call) call {
	c.dir, c.safe = repo.dir, repo.safe
	return c
}

func (repo *Repo) do(ctx context.Context, c call) error { return repo.run.run(ctx, repo.in(c)) }

// walk is do with the caps of a call whose answer grows with the repository.
func (repo *Repo) walk(ctx context.Context, c call, read func(io.Reader) error) error {
	c.read, c.limit, c.time = read, repo.run.limits.stream, repo.run.limits.long
	return repo.do(ctx, c)
}

// answer is the output of a small call without its final newline.
func (repo *Repo) answer(ctx context.Context, args ...string) (string, error) {
	var out []byte
	err := repo.do(ctx, call{args: args, read: readInto(&out)})
	return strings.TrimSuffix(string(out), "\n"), err
}
