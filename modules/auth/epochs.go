package auth

import "sync"

// epochs knows the highest epoch of each installation this process has been
// told of. Processes learn of a raised epoch at different moments, so that a
// request may come with an epoch that another request has already passed.
// Such a request is answered as of the higher epoch: it must not bring back an
// entry from before a right was taken away, and an answer that is newer than
// it asked for is always right.
type epochs struct {
	mu   sync.RWMutex
	seen map[int64]int64
}

func newEpochs() *epochs { return &epochs{seen: map[int64]int64{}} }

// raise notes an epoch and gives the highest one.
func (e *epochs) raise(installation, epoch int64) int64 {
	e.mu.RLock()
	highest, ok := e.seen[installation]
	e.mu.RUnlock()
	if ok && highest >= epoch {
		return highest
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	highest = max(e.seen[installation], epoch)
	e.seen[installation] = highest
	return highest
}
