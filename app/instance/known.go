package instance

import (
	"context"
	"fmt"
	"sync"
	"time"

	"vault/modules/auth"
	"vault/modules/index"
)

// Known lists the installation's repositories from its index, at most 5 s old
// and never older than the newest epoch a front has named.
type Known struct {
	index *index.Index

	mu    sync.Mutex
	list  []auth.KnownRepo
	epoch int64
	read  time.Time
}

// knownFor is how long the list is used without a new epoch.
const knownFor = 5 * time.Second

// NewKnown makes the list over an index.
func NewKnown(x *index.Index) *Known { return &Known{index: x} }

// At gives the list as of an epoch. It waits for a database that wakes.
func (k *Known) At(ctx context.Context, epoch int64) ([]auth.KnownRepo, error) {
	if list := k.fresh(epoch); list != nil {
		return list, nil
	}
	repos, err := awake(ctx, k.index.Repositories)
	if err != nil {
		return nil, fmt.Errorf("list the installation's repositories: %w", err)
	}
	list := make([]auth.KnownRepo, 0, len(repos))
	for _, r := range repos {
		list = append(list, auth.KnownRepo{ID: r.ID, NodeID: r.NodeID, Name: r.Name})
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.list, k.read, k.epoch = list, time.Now(), max(epoch, k.epoch)
	return list, nil
}

// fresh gives the remembered list, nil when it has to be read again.
func (k *Known) fresh(epoch int64) []auth.KnownRepo {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.list == nil || epoch > k.epoch || time.Since(k.read) >= knownFor {
		return nil
	}
	return k.list
}
