package localhub

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"vault/platform/git"
)

// watchEvery is how often served folders are looked at. Three stats a look
// cost nothing, work on every file system, and need no file watcher.
const watchEvery = 500 * time.Millisecond

// syncTimeout bounds bringing one folder up to date.
const syncTimeout = time.Minute

// fingerprint is what tells that a folder's HEAD, packed refs or branch were
// written: git replaces these files, so that at least the inode differs.
type fingerprint [4]fileMark

type fileMark struct {
	inode      uint64
	size, time int64
}

func mark(path string) fileMark {
	info, err := os.Lstat(path)
	if err != nil {
		return fileMark{}
	}
	m := fileMark{size: info.Size(), time: info.ModTime().UnixNano()}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		m.inode = sys.Ino
	}
	return m
}

// look takes the fingerprint of a folder whose branch is known.
func (f *folder) look(branch string) fingerprint {
	if f.place.Format == "reftable" {
		return fingerprint{
			mark(filepath.Join(f.place.GitDir, "HEAD")),
			mark(filepath.Join(f.place.CommonDir, "reftable", "tables.list")),
			mark(filepath.Join(f.place.GitDir, "reftable", "tables.list")),
			mark(filepath.Join(f.place.CommonDir, "shallow")),
		}
	}
	return fingerprint{
		mark(filepath.Join(f.place.GitDir, "HEAD")),
		mark(filepath.Join(f.place.CommonDir, "packed-refs")),
		mark(filepath.Join(f.place.CommonDir, "refs", "heads", branch)),
		mark(filepath.Join(f.place.CommonDir, "shallow")),
	}
}

// watch follows the served folders until ctx ends.
func (h *Hub) watch(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		h.lookAtFolders(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (h *Hub) lookAtFolders(ctx context.Context) {
	h.mu.RLock()
	repos := slices.Clone(h.repos)
	h.mu.RUnlock()
	for _, r := range repos {
		if r.folder != nil && ctx.Err() == nil {
			h.lookAt(ctx, r)
		}
	}
}

// lookAt brings a repository up to date if its folder changed since the last
// look that went well. A problem is logged once, and tried again at each look.
func (h *Hub) lookAt(ctx context.Context, r *repository) {
	h.mu.RLock()
	branch := r.state.Branch
	h.mu.RUnlock()
	now := r.folder.look(branch) // before the refs are read: a write in between shows at the next look
	if now == r.folder.seen {
		return
	}
	bounded, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	err := h.syncFolder(bounded, r)
	switch {
	case err == nil:
		r.folder.seen, r.folder.problem = now, ""
		h.mu.RLock()
		if r.state.Branch != branch {
			r.folder.seen = fingerprint{} // another file to look at from now on
		}
		h.mu.RUnlock()
	case errors.Is(err, git.ErrClosed): // it was taken away meanwhile
	case ctx.Err() == nil && err.Error() != r.folder.problem:
		r.folder.problem = err.Error()
		h.log.Warn("a served folder cannot be read", "repository", r.id, "error", err)
	}
}
