package instance

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"vault/platform/postgres"
)

func TestAwakeWaitsForADatabaseThatCannotBeReached(t *testing.T) {
	t.Parallel()
	// Nothing listens on port 1, so that the failure is the driver's own.
	db, err := postgres.Open(postgres.Config{DSN: "postgres://nobody@127.0.0.1:1/none", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tries := 0
	got, err := awake(t.Context(), func(ctx context.Context) (int, error) {
		if tries++; tries < 3 {
			return 0, db.Ping(ctx)
		}
		return 7, nil
	})
	if err != nil || got != 7 || tries != 3 {
		t.Errorf("got %d after %d tries, %v", got, tries, err)
	}
	broken := errors.New("broken")
	tries = 0
	if _, err := awake(t.Context(), func(context.Context) (int, error) { tries++; return 0, broken }); !errors.Is(err, broken) || tries != 1 {
		t.Errorf("another failure: %v after %d tries", err, tries)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := awake(gone, func(ctx context.Context) (int, error) { return 0, db.Ping(context.WithoutCancel(ctx)) }); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who left: %v", err)
	}
}
