package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	embedded "github.com/fergusstrange/embedded-postgres"
)

// Download says whether and from where Postgres is fetched on a machine that
// has none installed.
type Download struct {
	// Allowed permits a download at all.
	Allowed bool
	// Source is the base URL of a Maven repository with the archives of
	// io.zonky.test.postgres; "" is the public one.
	Source string
	// Folder keeps what was downloaded; "" is a folder in the user's cache, for
	// root one that every user can reach.
	Folder string
}

// downloadVersion is the version that is fetched.
const downloadVersion = embedded.V17

// binaries gives the downloaded Postgres, fetching it the first time. major is
// the version of an existing cluster, 0 for none.
func (d Download) binaries(ctx context.Context, major int, a account, log *slog.Logger) (binaries, error) {
	if !d.Allowed {
		return binaries{}, errors.New("none may be downloaded")
	}
	name, _, _ := strings.Cut(string(downloadVersion), ".")
	if major != 0 && name != fmt.Sprint(major) {
		return binaries{}, fmt.Errorf("only version %s can be downloaded", name)
	}
	folder, err := d.folder(a)
	if err != nil {
		return binaries{}, err
	}
	installed := filepath.Join(folder, string(downloadVersion))
	if b, err := inspect(ctx, filepath.Join(installed, "bin")); err == nil {
		return b, nil
	}
	log.InfoContext(ctx, "downloading Postgres", "version", downloadVersion, "folder", installed)
	if err := d.fetch(ctx, folder, installed); err != nil {
		return binaries{}, err
	}
	return inspect(ctx, filepath.Join(installed, "bin"))
}

func (d Download) folder(a account) (string, error) {
	folder := d.Folder
	switch {
	case folder != "":
	case a.switched:
		base, err := sharedBase()
		if err != nil {
			return "", err
		}
		folder = filepath.Join(base, "vault-postgres")
	default:
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("find a folder for the downloaded Postgres: %w", err)
		}
		folder = filepath.Join(cache, "vault", "postgres")
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", fmt.Errorf("make a folder for the downloaded Postgres: %w", err)
	}
	return folder, nil
}

// fetch downloads and unpacks into a new folder, which gets its name when it is
// whole. The library has no step for this alone: it also starts what it
// unpacked. So it is given a data folder that looks finished and is empty, and
// its start fails, at once and without having run a server.
func (d Download) fetch(ctx context.Context, folder, installed string) (err error) {
	work, err := os.MkdirTemp(folder, "download-")
	if err != nil {
		return fmt.Errorf("make a folder for the download: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	data := filepath.Join(work, "data")
	major, _, _ := strings.Cut(string(downloadVersion), ".")
	if err := errors.Join(os.Chmod(work, 0o755), os.Mkdir(data, 0o700),
		os.WriteFile(filepath.Join(data, "PG_VERSION"), []byte(major), 0o600)); err != nil {
		return fmt.Errorf("prepare the download: %w", err)
	}
	startErr := d.runLibrary(ctx, work, data)
	unpacked := filepath.Join(work, "unpacked")
	if _, err := inspect(ctx, filepath.Join(unpacked, "bin")); err != nil {
		return fmt.Errorf("download Postgres %s from %s: %w", downloadVersion, d.source(), oneLine(startErr, err))
	}
	if err := os.Rename(unpacked, installed); err != nil {
		return fmt.Errorf("keep the downloaded Postgres: %w", err)
	}
	return nil
}

// oneLine makes one line of what the library and the look at its result say.
func oneLine(errs ...error) error {
	return errors.New(lastLines(errors.Join(errs...).Error(), 6))
}

func (d Download) source() string {
	if d.Source == "" {
		return "the public repository"
	}
	return d.Source
}

func (d Download) runLibrary(ctx context.Context, work, data string) error {
	config := embedded.DefaultConfig().
		Version(downloadVersion).
		Port(0).
		CachePath(filepath.Join(work, "archive")).
		RuntimePath(filepath.Join(work, "run")).
		BinariesPath(filepath.Join(work, "unpacked")).
		DataPath(data).
		Logger(io.Discard)
	if d.Source != "" {
		config = config.BinaryRepositoryURL(strings.TrimSuffix(d.Source, "/"))
	}
	result := make(chan error, 1)
	go func() { result <- embedded.NewDatabase(config).Start() }()
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
