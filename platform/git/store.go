package git

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
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

// writeLoose makes as few system calls as it can: they are what a commit costs.
func (repo *Repo) writeLoose(folder, path, kind string, data []byte) error {
	var packed bytes.Buffer
	if err := repo.run.deflate(&packed, kind, data); err != nil {
		return err
	}
	temp := filepath.Join(folder, "tmp_obj_"+rand.Text()) // a name that git gc knows
	err := createFile(temp, packed.Bytes())
	if errors.Is(err, os.ErrNotExist) {
		if err = os.Mkdir(folder, 0o777); err == nil || errors.Is(err, os.ErrExist) {
			err = createFile(temp, packed.Bytes())
		}
	}
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp)
	}
	return err
}

// createFile writes a read-only file that was not there.
func createFile(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// deflate writes an object as git's loose format has it: header and content in
// one zlib stream. Compressors are large and therefore used again.
func (r *Runner) deflate(to io.Writer, kind string, data []byte) error {
	z, ok := r.deflaters.Get().(*zlib.Writer)
	if !ok {
		var err error
		if z, err = zlib.NewWriterLevel(to, zlib.BestSpeed); err != nil {
			return err
		}
	}
	defer r.deflaters.Put(z)
	z.Reset(to)
	_, err := fmt.Fprintf(z, "%s %d\x00", kind, len(data))
	if err == nil {
		_, err = z.Write(data)
	}
	return errors.Join(err, z.Close())
}
