package postgres

import (
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// ErrNoRows says that a query of one row found none.
var ErrNoRows = pgx.ErrNoRows

// Error codes of Postgres, appendix A of its manual.
const (
	codeSerialization     = "40001"
	codeDeadlock          = "40P01"
	codeUnique            = "23505"
	codeObjectInUse       = "55006"
	codeDuplicateDatabase = "42P04"
	codeUndefinedTable    = "42P01"
	codeUndefinedDatabase = "3D000"
	codeCannotConnectNow  = "57P03"
	codeAdminShutdown     = "57P01"
)

// IsUnique reports whether err is the violation of a unique constraint.
func IsUnique(err error) bool { return hasCode(err, codeUnique) }

// IsMissing reports whether err says that a database or a table is not there,
// so that migrations have not run.
func IsMissing(err error) bool { return hasCode(err, codeUndefinedTable, codeUndefinedDatabase) }

// IsUnreachable reports whether err says that no connection could be made, or
// that the server is just starting or stopping: nothing was done, and it may
// be tried again.
func IsUnreachable(err error) bool {
	var connect *pgconn.ConnectError
	return errors.As(err, &connect) || hasCode(err, codeCannotConnectNow, codeAdminShutdown)
}

// IsBusy reports whether err says that another session holds what is wanted,
// such as the template of a new database.
func IsBusy(err error) bool { return hasCode(err, codeObjectInUse) }

// Constraint gives the name of the violated constraint in err, or "".
func Constraint(err error) string {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.ConstraintName
	}
	return ""
}

// isRetryable reports failures that say nothing about the statement: the same
// transaction can succeed when it is run again.
func isRetryable(err error) bool { return hasCode(err, codeSerialization, codeDeadlock) }

func hasCode(err error, codes ...string) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return false
	}
	for _, code := range codes {
		if pg.Code == code {
			return true
		}
	}
	return false
}
