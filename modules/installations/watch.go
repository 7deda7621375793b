package installations

import (
	"context"
	"sync"
	"time"
)

// The times of Watch. A notification can be lost with its connection, so that
// the poll is what bounds how old a reader's picture gets.
const (
	pollEvery    = 5 * time.Second
	reconnectMin = 100 * time.Millisecond
	reconnectMax = 5 * time.Second
)

// Watch calls changed each time what State tells may differ: once it listens,
// after every change, and every five seconds at the latest. Changes that come
// together are told once. It returns nil when ctx ends and survives failures
// of the database.
func (s *Service) Watch(ctx context.Context, changed func(context.Context)) error {
	signal := make(chan struct{}, 1)
	var listening sync.WaitGroup
	listening.Go(func() { s.listen(ctx, signal) })
	defer listening.Wait()
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-signal:
		case <-ticker.C:
		}
		changed(ctx)
		ticker.Reset(pollEvery)
	}
}

// listen passes notifications on to signal until ctx ends, over as many
// connections as that takes.
func (s *Service) listen(ctx context.Context, signal chan<- struct{}) {
	poke := func() {
		select {
		case signal <- struct{}{}:
		default:
		}
	}
	pause := reconnectMin
	for ctx.Err() == nil {
		err := s.db.Listen(ctx, channel, func() { pause = reconnectMin; poke() }, func(string) { poke() })
		if ctx.Err() != nil {
			return
		}
		s.log.WarnContext(ctx, "listening for changes of installations broke off", "error", err, "again_in", pause)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, reconnectMax)
	}
}
