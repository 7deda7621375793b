package localhub

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"vault/platform/git"
)

// A served folder may have come from a stranger, unpacked from an archive. It
// cannot run anything (the git runner sees to that), but it could borrow: name
// another repository of this user as its own, through a .git file or link, an
// alternates file or a link among its objects. What lies there would then be
// served as the folder's content. So a folder is served only if its objects
// are its own; an honest folder that borrows is told how to become whole.
//
// Linked work trees are served: git keeps a note of each inside the repository
// that it belongs to, which a stranger's archive cannot forge.

// checkFolder judges how a folder is tied to its repository.
func checkFolder(abs string, place git.Folder) error {
	if place.ObjectFormat != "sha1" {
		return fmt.Errorf("the folder %q uses %s object ids, which GitHub does not have; only sha1 is served", abs, place.ObjectFormat)
	}
	if err := checkTie(abs, place); err != nil {
		return err
	}
	return checkObjects(place)
}

func checkTie(abs string, place git.Folder) error {
	dot := filepath.Join(abs, ".git")
	switch place.GitDir {
	case abs, dot:
		if place.CommonDir == place.GitDir {
			return nil
		}
	}
	if isLinkedWorkTree(dot, place) || isSubmodule(abs, place) {
		return nil
	}
	return fmt.Errorf("the folder %q says that its repository is %q, but that repository knows nothing of it; serve %q itself if that is what you want",
		abs, place.CommonDir, place.CommonDir)
}

// isLinkedWorkTree looks for the note that git keeps of a work tree in the
// repository that it belongs to.
func isLinkedWorkTree(dot string, place git.Folder) bool {
	if filepath.Dir(place.GitDir) != filepath.Join(place.CommonDir, "worktrees") {
		return false
	}
	text, err := readRegular(filepath.Join(place.GitDir, "gitdir"), 8192)
	if err != nil {
		return false
	}
	back := strings.TrimRight(string(text), "\r\n")
	if !filepath.IsAbs(back) {
		back = filepath.Join(place.GitDir, back)
	}
	return samePlace(back, dot)
}

// isSubmodule reports whether the repository lies where a folder above keeps
// those of its submodules.
func isSubmodule(abs string, place git.Folder) bool {
	if place.GitDir != place.CommonDir {
		return false
	}
	for dir := filepath.Dir(abs); ; dir = filepath.Dir(dir) {
		if within(filepath.Join(dir, ".git", "modules"), place.GitDir) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

func samePlace(a, b string) bool {
	x, errX := os.Lstat(a)
	y, errY := os.Lstat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// within reports whether path lies below dir; both are absolute and clean.
func within(dir, path string) bool {
	return strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// checkObjects judges whether a repository's objects are its own. It runs
// again whenever the folder moved.
func checkObjects(place git.Folder) error {
	objects := filepath.Join(place.CommonDir, "objects")
	info, err := os.Lstat(filepath.Join(objects, "info", "alternates"))
	switch {
	case err == nil && (info.Size() > 0 || !info.Mode().IsRegular()):
		return fmt.Errorf("the repository %q borrows objects from another one (objects/info/alternates), which is not served; make it whole with: git -C %q repack -a -d && rm %q",
			place.CommonDir, place.CommonDir, filepath.Join(objects, "info", "alternates"))
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("look for borrowed objects: %w", err)
	}
	if err := ownFolder(place, objects); err != nil {
		return err
	}
	folders, err := os.ReadDir(objects)
	if err != nil {
		return fmt.Errorf("look at the objects: %w", err)
	}
	for _, entry := range folders {
		dir := filepath.Join(objects, entry.Name())
		if err := errors.Join(ownFolder(place, dir), ownFiles(place, dir, entry)); err != nil {
			return err
		}
	}
	return nil
}

func ownFiles(place git.Folder, dir string, entry os.DirEntry) error {
	if !entry.IsDir() {
		return nil
	}
	files, err := os.ReadDir(dir)
	for _, file := range files {
		if file.Type()&os.ModeSymlink != 0 {
			return foreign(place, filepath.Join(dir, file.Name()))
		}
	}
	return ignoreMissing(err) // git may be tidying up
}

func ownFolder(place git.Folder, dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return ignoreMissing(err)
	}
	if info.Mode()&os.ModeSymlink != 0 {
		return foreign(place, dir)
	}
	return nil
}

func foreign(place git.Folder, path string) error {
	return fmt.Errorf("the repository %q keeps its objects elsewhere (%q is a symbolic link), which is not served; clone it and serve the clone", place.CommonDir, path)
}

// readRegular reads a file up to a size. A pipe in its place would hold the
// reader for ever, and a link could lead anywhere.
func readRegular(path string, max int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > max {
		return nil, fmt.Errorf("%q is no regular file of at most %d bytes", path, max)
	}
	return io.ReadAll(io.LimitReader(f, max))
}
