package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

const (
	// versionTable keeps which migrations a database has had.
	versionTable = "schema_version"
	// migrationLock is the advisory lock under which migrations run, one
	// process at a time for each database.
	migrationLock = 0x7661756c74 // "vault"
)

// Migrate brings the database up to the newest migration in files, which are
// named NNNN_name.sql and lie at its root. It only goes forward, takes an
// advisory lock so that processes starting together do not meet, and leaves a
// database that is newer than files as it is.
func Migrate(ctx context.Context, dsn string, files fs.FS, log *slog.Logger) (err error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return fmt.Errorf("parse the database address: %w", err)
	}
	setParameters(config, nil)
	release, err := lockMigrations(ctx, config)
	if err != nil {
		return fmt.Errorf("lock the migrations of %s: %w", config.Database, err)
	}
	defer func() { err = errors.Join(err, release()) }()

	pool := stdlib.OpenDB(*config)
	defer func() { err = errors.Join(err, pool.Close()) }()
	if err := applyMigrations(ctx, pool, files, log); err != nil {
		return fmt.Errorf("migrate %s: %w", config.Database, err)
	}
	return nil
}

// lockMigrations holds the lock on a connection of its own; closing that
// connection releases it, whatever happened to the others.
func lockMigrations(ctx context.Context, config *pgx.ConnConfig) (release func() error, err error) {
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	release = func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
		defer cancel()
		return conn.Close(ctx)
	}
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock($1)`, int64(migrationLock)); err != nil {
		return nil, errors.Join(err, release())
	}
	return release, nil
}

func applyMigrations(ctx context.Context, pool *sql.DB, files fs.FS, log *slog.Logger) error {
	options := []goose.ProviderOption{
		goose.WithTableName(versionTable),
		goose.WithDisableGlobalRegistry(true),
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, pool, files, options...)
	if err != nil {
		return err
	}
	results, err := provider.Up(ctx)
	if err != nil {
		return err
	}
	for _, r := range results {
		if log != nil {
			log.InfoContext(ctx, "migrated", "version", r.Source.Version, "duration", r.Duration)
		}
	}
	return nil
}
