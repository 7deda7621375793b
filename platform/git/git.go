// Package git runs the git program, and is the only place that does.
//
// A repository may come from a stranger, so nothing it carries decides what
// runs: every process gets a GIT_DIR said aloud, an environment made from
// nothing, configuration that outranks the repository's own, caps on time,
// output and entries, and a process group that dies with its context.
//
// Objects are addressed by OID. Paths are raw bytes as git stores them: they
// may hold newlines, quotes or invalid UTF-8, and a crafted tree may even hold
// "..", so callers judge them before use.
package git

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

var (
	// ErrNotFound says that a ref, commit or object does not exist.
	ErrNotFound = errors.New("not found")
	// ErrNotRepository says that a folder is no git repository.
	ErrNotRepository = errors.New("not a git repository")
	// ErrRefMoved says that a ref did not have the expected value.
	ErrRefMoved = errors.New("the ref has moved")
	// ErrRefBusy says that another process is moving the same ref.
	ErrRefBusy = errors.New("the ref is being moved")
	// ErrTooLarge says that an answer went over its cap on bytes or entries.
	ErrTooLarge = errors.New("over the size limit")
	// ErrTimeout says that a git process went over its cap on time.
	ErrTimeout = errors.New("over the time limit")
	// ErrRefused says that a request is one this package never carries out.
	ErrRefused = errors.New("refused")
	// ErrFormat says that a repository is stored in a way that is not served.
	ErrFormat = errors.New("repository format not supported")
	// ErrClosed says that a Repo or Runner was used after Close.
	ErrClosed = errors.New("closed")
)

// Options configure a Runner.
type Options struct {
	// Binary is the git program; "" looks for git on PATH.
	Binary string
	// AllowHTTP lists base URLs below which Fetch may use plain http. Anything
	// else needs https.
	AllowHTTP []string
	// Log receives findings about transferred objects; nil discards them.
	Log *slog.Logger
}

// Runner starts git processes. It is safe for concurrent use.
type Runner struct {
	binary  string
	version version
	home    string
	allow   []string
	log     *slog.Logger
	limits  limits

	deflaters sync.Pool
}

// New finds git, checks its version and prepares an empty home folder, which
// Close removes. Its error says what to install.
func New(ctx context.Context, o Options) (*Runner, error) {
	binary, err := findBinary(o.Binary)
	if err != nil {
		return nil, err
	}
	home, err := os.MkdirTemp("", "vault-git-home-")
	if err != nil {
		return nil, fmt.Errorf("make an empty home folder for git: %w", err)
	}
	r := &Runner{binary: binary, home: home, allow: o.AllowHTTP, log: o.Log, limits: defaultLimits()}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	if r.version, err = r.askVersion(ctx); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func findBinary(name string) (string, error) {
	if name == "" {
		name = "git"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("find git: %w; install git %s or newer", err, minimum)
	}
	return filepath.Abs(path)
}

// Version is the version of the git program, as in "2.39.5".
func (r *Runner) Version() string { return r.version.String() }

// Close removes the home folder. Repositories opened by this runner are closed
// by their own Close.
func (r *Runner) Close() error {
	if err := os.RemoveAll(r.home); err != nil {
		return fmt.Errorf("remove git's home folder: %w", err)
	}
	return nil
}
