package postgres

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
)

const (
	// sharedPrefix starts the names of the homes of root's private servers.
	sharedPrefix = "vault-dev-"
	// markerFile names, inside a home, the data folder it belongs to.
	markerFile   = "belongs-to"
	passwordFile = "password"
	logFile      = "server.log"
	// knownFile names, inside a data folder, its home, where that lies outside.
	knownFile  = "postgres-folder"
	socketFile = "socket-folder"
	clusterDir = "cluster"
	// logLimit is the size over which a log is set aside at a start.
	logLimit = 1 << 20
)

// home is the folder with everything of one private server. It is ours; of
// what is inside, only the cluster belongs to the server's account.
type home struct {
	root    string
	account account
}

func (h home) path(name string) string { return filepath.Join(h.root, name) }

// locateHome gives where the server of a data folder lives: inside it, or for
// a switched account in a folder which that account can reach, since root's
// own folders are closed to it.
func locateHome(data string, a account) (home, error) {
	if !a.switched {
		return home{root: filepath.Join(data, "postgres"), account: a}, nil
	}
	base, err := sharedBase()
	if err != nil {
		return home{}, err
	}
	sum := sha256.Sum256([]byte(data))
	return home{root: filepath.Join(base, sharedPrefix+hex.EncodeToString(sum[:8])), account: a}, nil
}

// sharedBase is where services keep their data on this system.
func sharedBase() (string, error) {
	for _, dir := range []string{"/var/lib", "/var/db"} {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir, nil
		}
	}
	return "", errors.New("neither /var/lib nor /var/db exists to keep the data of a private Postgres in")
}

// claim lets a data folder have its home outside of it. A home that it does
// not know belonged to an earlier folder of the same name, and goes: what is
// in it was made for what is gone.
func (h home) claim(ctx context.Context, data string, log *slog.Logger) error {
	known := filepath.Join(data, knownFile)
	if text, err := os.ReadFile(known); err == nil && string(text) == h.root {
		return nil
	}
	if _, err := os.Lstat(h.root); err == nil {
		if err := h.remove(ctx); err != nil {
			return fmt.Errorf("remove the private Postgres of an earlier %s: %w", data, err)
		}
		log.InfoContext(ctx, "removed the private Postgres of an earlier data folder", "folder", h.root)
	}
	if err := writeFile(known, h.root); err != nil {
		return fmt.Errorf("note where the private Postgres is: %w", err)
	}
	return nil
}

// prepare makes the home, its marker and its password.
func (h home) prepare(data string) (password string, err error) {
	if err := makeFolder(h.root); err != nil {
		return "", fmt.Errorf("make the folder of the private Postgres: %w", err)
	}
	if h.account.switched {
		// The account's group may pass through, and nobody may list.
		if err := errors.Join(os.Chown(h.root, 0, h.account.gid), os.Chmod(h.root, 0o710)); err != nil {
			return "", fmt.Errorf("open %s to user %s: %w", h.root, h.account.name, err)
		}
	}
	if err := writeFile(h.path(markerFile), data); err != nil {
		return "", fmt.Errorf("mark the folder of the private Postgres: %w", err)
	}
	return h.password()
}

// makeFolder makes a private folder, or accepts one that is a folder of ours.
func makeFolder(path string) error {
	err := os.Mkdir(path, 0o700)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is in the way: it is no folder", path)
	}
	if uid, ok := owner(info); ok && uid != os.Geteuid() {
		return fmt.Errorf("%s is in the way: it belongs to another user", path)
	}
	return nil
}

// password reads the server's password, or makes it for a cluster that is not
// there yet.
func (h home) password() (string, error) {
	text, err := os.ReadFile(h.path(passwordFile))
	if err == nil && len(text) > 0 {
		return string(text), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read the password of the private Postgres: %w", err)
	}
	if _, err := os.Stat(h.path(clusterDir)); err == nil {
		return "", fmt.Errorf("the password of the private Postgres in %s is gone: delete that folder "+
			"while vault is stopped; what was in it is built again from the repositories", h.root)
	}
	var random [20]byte
	_, _ = rand.Read(random[:]) // never fails: crypto/rand ends the process instead
	password := strings.ToLower(base32.StdEncoding.EncodeToString(random[:]))
	if err := writeFile(h.path(passwordFile), password); err != nil {
		return "", fmt.Errorf("keep the password of the private Postgres: %w", err)
	}
	return password, nil
}

// writeFile replaces a file as a whole, readable by us alone.
func writeFile(path, text string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// openLog opens the server's log for appending and tells where this start's
// lines begin. A log that has grown is set aside first.
func (h home) openLog() (f *os.File, start int64, err error) {
	path := h.path(logFile)
	if info, err := os.Stat(path); err == nil && info.Size() > logLimit {
		if err := os.Rename(path, path+".old"); err != nil {
			return nil, 0, fmt.Errorf("set the log of the private Postgres aside: %w", err)
		}
	}
	f, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, 0, fmt.Errorf("open the log of the private Postgres: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// removeSockets removes the folder of a socket that a crash left behind.
func (h home) removeSockets() error {
	dir, err := os.ReadFile(h.path(socketFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if strings.HasPrefix(filepath.Base(string(dir)), socketPrefix) {
		err = os.RemoveAll(string(dir))
	}
	return errors.Join(err, os.Remove(h.path(socketFile)))
}

// remove stops what may still run in the home and deletes it.
func (h home) remove(ctx context.Context) error {
	if err := stopLeftover(ctx, h.path(clusterDir)); err != nil {
		return err
	}
	return errors.Join(h.removeSockets(), os.RemoveAll(h.root))
}

// sweep removes the homes in base whose data folder is gone: they can be
// found no other way, since they do not lie inside it.
func sweep(ctx context.Context, base string, log *slog.Logger) {
	roots, _ := filepath.Glob(filepath.Join(base, sharedPrefix+"*")) // fails only for a bad pattern
	for _, root := range roots {
		data, err := os.ReadFile(filepath.Join(root, markerFile))
		if err != nil || !filepath.IsAbs(string(data)) {
			continue
		}
		if _, err := os.Lstat(string(data)); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := (home{root: root}).remove(ctx); err != nil {
			log.WarnContext(ctx, "remove a private Postgres without an owner", "folder", root, "error", err)
			continue
		}
		log.InfoContext(ctx, "removed a private Postgres without an owner", "folder", root)
	}
}
