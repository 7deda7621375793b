package installations

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"vault/platform/jobs"
	"vault/platform/postgres"
)

// The kinds of jobs that this package inserts.
const (
	KindIndex     = "index_repository"
	KindSync      = "sync_installation"
	KindCatalogue = "build_catalogue"
)

// IndexArgs are the arguments of a KindIndex job: bring the index of one
// repository up to date.
type IndexArgs struct {
	Repository int64 `json:"repository"`
}

// SyncArgs are the arguments of a KindSync job: compare the repositories of an
// installation with GitHub's list.
type SyncArgs struct {
	Installation int64 `json:"installation"`
}

// CatalogueArgs are the arguments of a KindCatalogue job: rebuild the stored
// answers of an installation.
type CatalogueArgs struct {
	Installation int64 `json:"installation"`
}

// The states of an installation as Installation and Summary show them.
const (
	// StatePending is an installation that no operator has enabled yet.
	StatePending = "pending"
	// StateEnabled is an installation that is served.
	StateEnabled = "enabled"
	// StateDisabled is an installation that an operator turned off.
	StateDisabled = "disabled"
	// StateSuspended is an enabled installation that its owner suspended at
	// GitHub.
	StateSuspended = "suspended"
	// StateDeleted is an installation that was removed at GitHub. Its id never
	// comes back.
	StateDeleted = "deleted"
)

// ErrGone says that a repository is not to be worked on: it left its
// installation, or that is not served.
var ErrGone = errors.New("the repository is not served")

// Installation is one installation of the App.
type Installation struct {
	ID      int64
	Account string
	State   string
	// Name is the address below the front; "" before it was enabled.
	Name string
	// Epoch rises with whatever may change who reads what.
	Epoch        int64
	Repositories []Repository
}

// Repository is one repository of an installation. GitHub names it by ID and
// NodeID; the names may change.
type Repository struct {
	ID            int64
	Installation  int64
	NodeID        string
	Name          string
	FullName      string
	DefaultBranch string
	// Active says that it belongs to its installation now.
	Active bool
	// WantedGen and DoneGen are the newest generation that a push asked for
	// and the newest that a run worked off.
	WantedGen, DoneGen int64
	// IndexedHead and VaultRev are what the last run found, Complete whether
	// it left nothing to do.
	IndexedHead, VaultRev string
	Complete              bool
	// Done and Total count the notes of the build that goes on or was last.
	Done, Total int
	// Findings are what is wrong with its `.vault/`, as JSON.
	Findings json.RawMessage
	// Error says why the last run failed, "" if it did not; for operators.
	Error string
}

// Service is the door to the control database. It is safe for concurrent use.
type Service struct {
	db    *postgres.DB
	queue *jobs.Queue
	log   *slog.Logger
}

// New makes the service. queue only inserts here; whether it also works is the
// caller's affair.
func New(db *postgres.DB, queue *jobs.Queue, log *slog.Logger) *Service {
	return &Service{db: db, queue: queue, log: log}
}

// insert adds a job about one repository or installation unless an equal one
// waits or runs. args are those of its kind.
func (s *Service) insert(ctx context.Context, tx postgres.Tx, kind string, about int64, args any) error {
	raw, err := json.Marshal(args)
	if err != nil {
		return fmt.Errorf("encode the arguments of %s: %w", kind, err)
	}
	return s.queue.InsertTx(ctx, tx, jobs.Job{Kind: kind, Key: strconv.FormatInt(about, 10), Args: raw})
}

func (s *Service) insertIndex(ctx context.Context, tx postgres.Tx, repository int64) error {
	return s.insert(ctx, tx, KindIndex, repository, IndexArgs{Repository: repository})
}

func (s *Service) insertSync(ctx context.Context, tx postgres.Tx, installation int64) error {
	return s.insert(ctx, tx, KindSync, installation, SyncArgs{Installation: installation})
}

func (s *Service) insertCatalogue(ctx context.Context, tx postgres.Tx, installation int64) error {
	return s.insert(ctx, tx, KindCatalogue, installation, CatalogueArgs{Installation: installation})
}

// channel is where a transaction that changes what State tells says so.
const channel = "vault_installations"

// notify tells every Watch once the transaction has committed.
func notify(ctx context.Context, tx postgres.Tx) error {
	if _, err := tx.Exec(ctx, `SELECT pg_notify($1, '')`, channel); err != nil {
		return fmt.Errorf("notify of a change: %w", err)
	}
	return nil
}

// deliveriesKept is how long deliveries are remembered. GitHub can be asked to
// repeat one for three days.
const deliveriesKept = 8 * 24 * time.Hour
