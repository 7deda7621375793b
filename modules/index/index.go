package index

import (
	"log/slog"
	"time"

	"github.com/maypok86/otter/v2"

	"vault/modules/vaultdir"
	"vault/platform/postgres"
)

// dirCache is how many versions of .vault/ folders are kept ready.
const dirCache = 1000

// Index is the index of one installation. It is safe for concurrent use.
type Index struct {
	db   *postgres.DB
	log  *slog.Logger
	dirs *otter.Cache[dirKey, *vaultdir.Repo]

	// lateIndex and walk are lateIndexBytes and walkTime, smaller in tests.
	lateIndex int64
	walk      time.Duration
}

// dirKey names what a vaultdir.Repo is made of, which never changes.
type dirKey struct {
	repo int64
	name string
	rev  vaultdir.Rev
}

// New makes the index over an installation's database, which has had the
// migrations of schema.Installation. It connects when it is first used.
func New(db *postgres.DB, log *slog.Logger) *Index {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	dirs := otter.Must(&otter.Options[dirKey, *vaultdir.Repo]{MaximumSize: dirCache})
	return &Index{db: db, log: log, dirs: dirs, lateIndex: lateIndexBytes, walk: walkTime}
}
