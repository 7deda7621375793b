package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
)

// databaseName is what names of databases made here look like: plain enough to
// need no quoting anywhere.
var databaseName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)

// WithDatabase gives the address of another database on the server of dsn,
// which must be a postgres:// URL.
func WithDatabase(dsn, name string) (string, error) {
	if !strings.HasPrefix(dsn, "postgres://") && !strings.HasPrefix(dsn, "postgresql://") {
		return "", errors.New("the database address is not a postgres:// URL")
	}
	u, err := url.Parse(dsn)
	if err != nil {
		return "", errors.New("the database address is not a valid URL") // err may quote the password
	}
	u.Path, u.RawPath = "/"+name, ""
	return u.String(), nil
}

// CreateDatabase makes a database on the server of dsn, encoded in UTF-8. One
// that exists is left as it is. The name is lower-case letters, digits and
// underscores, at most 63.
func CreateDatabase(ctx context.Context, dsn, name string) (err error) {
	if !databaseName.MatchString(name) {
		return fmt.Errorf("create database %q: the name must match %s", name, databaseName)
	}
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return fmt.Errorf("create database %s: %w", name, err)
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	var exists bool
	err = conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, name).Scan(&exists)
	if err != nil {
		return fmt.Errorf("create database %s: %w", name, err)
	}
	if exists {
		return nil
	}
	_, err = conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize()+" TEMPLATE template0 ENCODING 'UTF8'")
	if hasCode(err, codeDuplicateDatabase, codeUnique) {
		return nil // another process was faster
	}
	if err != nil {
		return fmt.Errorf("create database %s: %w", name, err)
	}
	return nil
}
