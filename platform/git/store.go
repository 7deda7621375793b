package git

import (
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// storeDir is the folder that new objects go to. Only sha1 repositories have
// one here, since ids are made by this package.
func (repo *Repo) storeDir(ctx context.Context) (string, error) {
	repo.storeMu.Lock()
	defer repo.storeMu.Unlock()
	if repo.store != "" {
		return repo.store, nil
	}
	text, err := repo.answer(ctx, "rev-parse", "--show-object-format", "--git-path", "objects")
	if err != nil {
		return "", fmt.Errorf("find the object folder: %w", err)
	}
	format, dir, found := strings.Cut(text, "\n")
	if !found || dir == "" {
		return "", fmt.Errorf("find the object folder: unexpected answer %.200q", text)
	}
	if format != "sha1" {
		return "", fmt.Errorf("write into a repository with %s ids, only sha1 is written: %w", format, ErrFormat)
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(repo.dir, dir)
	}
	repo.store = dir
	return dir, nil
}

// writeObject stores one object as a loose file, unless one is there. The file
// appears under its name complete; like git by default it is not synced to
// disk.
func (repo *Repo) writeObject(ctx context.Context, kind string, data []byte) (OID, error) {
	dir, err := repo.storeDir(ctx)
	if err != nil {
		return "", err
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	oid := objectOID(kind, data)
	folder := filepath.Join(dir, string(oid[:2]))
	path := filepath.Join(folder, string(oid[2:]))
	if _, err := os.Lstat(path); err == nil {
		return oid, nil
	}
	if err := repo.writeLoose(folder, path, kind, data); err != nil {
		return "", fmt.Errorf("write %s %s: %w", kind, oid, err)
	}
	return oid, nil
}

func (repo *Repo) writeLoose(folder, path, kind string, data []byte) error {
	f, err := os.CreateTemp(folder, "tmp_obj_")
	if errors.Is(err, os.ErrNotExist) {
		if err = os.Mkdir(folder, 0o777); err == nil || errors.Is(err, os.ErrExist) {
			f, err = os.CreateTemp(folder, "tmp_obj_")
		}
	}
	if err != nil {
		return err
	}
	err = errors.Join(repo.run.deflate(f, kind, data), f.Chmod(0o444), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// deflate writes an object as git's loose format has it: header and content in
// one zlib stream. Compressors are large and therefore used again.
func (r *Runner) deflate(f *os.File, kind string, data []byte) error {
	z, ok := r.deflaters.Get().(*zlib.Writer)
	if !ok {
		var err error
		if z, err = zlib.NewWriterLevel(f, zlib.BestSpeed); err != nil {
			return err
		}
	}
	defer r.deflaters.Put(z)
	z.Reset(f)
	_, err := fmt.Fprintf(z, "%s %d\x00", kind, len(data))
	if err == nil {
		_, err = z.Write(data)
	}
	return errors.Join(err, z.Close())
}
