// Package postgres is the product's way to its databases: a lazy pool,
// transactions that are tried again, read snapshots, notifications,
// migrations, and a private server for machines that have no other.
//
// Statements are written by the packages that own the tables; they get a
// Querier from here and keep the driver's types out of their faces.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Defaults of Config.
const (
	defaultMaxConns  = 8
	defaultIdleClose = time.Minute
	connectTimeout   = 10 * time.Second
)

// Config says how to reach one database.
type Config struct {
	// DSN is a postgres:// URL or a keyword/value string.
	DSN string
	// MaxConns is the most connections held at once; 0 means 8.
	MaxConns int32
	// Parameters are set on every connection, for example
	// "synchronous_commit": "off".
	Parameters map[string]string
	// IdleClose is how long an unused connection stays open; 0 means one
	// minute. The pool keeps none open beyond it, so that a database nobody
	// uses can sleep.
	IdleClose time.Duration
	// Log gets what no caller can be told, such as a failed rollback.
	Log *slog.Logger
}

// DB is one database behind a pool. It is safe for concurrent use and is a
// Querier whose statements each run on a connection of their own.
type DB struct {
	pool *pgxpool.Pool
	log  *slog.Logger
}

// Querier runs statements: a DB, a Tx or a ReadTx. All but a DB are bound to
// one connection and must not be used by two goroutines at once.
type Querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, rows pgx.CopyFromSource) (int64, error)
	SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults
}

// Open checks the configuration and makes the pool. It makes no connection:
// the first use does.
func Open(c Config) (*DB, error) {
	config, err := poolConfig(c)
	if err != nil {
		return nil, err
	}
	// The context bounds only the connections a pool opens ahead of use, and
	// this one opens none.
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, fmt.Errorf("make the pool of %s: %w", config.ConnConfig.Database, err)
	}
	log := c.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &DB{pool: pool, log: log}, nil
}

func poolConfig(c Config) (*pgxpool.Config, error) {
	if c.DSN == "" {
		return nil, errors.New("no database address is configured")
	}
	config, err := pgxpool.ParseConfig(c.DSN)
	if err != nil {
		return nil, fmt.Errorf("parse the database address: %w", err)
	}
	config.MinConns, config.MinIdleConns = 0, 0
	config.MaxConns = c.MaxConns
	if config.MaxConns <= 0 {
		config.MaxConns = defaultMaxConns
	}
	config.MaxConnIdleTime = c.IdleClose
	if config.MaxConnIdleTime <= 0 {
		config.MaxConnIdleTime = defaultIdleClose
	}
	config.HealthCheckPeriod = max(config.MaxConnIdleTime/2, 10*time.Millisecond)
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	setParameters(config.ConnConfig, c.Parameters)
	return config, nil
}

func setParameters(config *pgx.ConnConfig, parameters map[string]string) {
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "vault"
	}
	for name, value := range parameters {
		config.RuntimeParams[name] = value
	}
}

// Ping reports whether the database answers.
func (db *DB) Ping(ctx context.Context) error {
	if err := db.pool.Ping(ctx); err != nil {
		return fmt.Errorf("reach the database: %w", err)
	}
	return nil
}

// Close waits for connections in use to come back and closes all of them.
func (db *DB) Close() { db.pool.Close() }

// Pool gives the driver's pool. It is for platform/jobs alone, whose library
// wants it.
func (db *DB) Pool() *pgxpool.Pool { return db.pool }

// Exec runs a statement on a connection of its own.
func (db *DB) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	return db.pool.Exec(ctx, sql, args...)
}

// Query runs a query on a connection that is held until the rows are closed.
func (db *DB) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return db.pool.Query(ctx, sql, args...)
}

// QueryRow runs a query of one row on a connection of its own.
func (db *DB) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return db.pool.QueryRow(ctx, sql, args...)
}

// CopyFrom loads rows in bulk on a connection of its own.
func (db *DB) CopyFrom(
	ctx context.Context, table pgx.Identifier, columns []string, rows pgx.CopyFromSource,
) (int64, error) {
	return db.pool.CopyFrom(ctx, table, columns, rows)
}

// SendBatch runs several statements in one round trip.
func (db *DB) SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults {
	return db.pool.SendBatch(ctx, batch)
}
