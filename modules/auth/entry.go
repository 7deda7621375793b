package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash/maphash"
	"sync/atomic"
	"time"
)

// key names one answer. It holds no token: person is the token's HMAC under
// a key that only this process has.
type key struct {
	person       [sha256.Size]byte
	installation int64
	epoch        int64
	// repos is a hash of the repositories asked about, so that an answer
	// never speaks for others, even if two processes disagree about what the
	// installation holds at one epoch.
	repos uint64
}

func (s *Service) keyOf(r Request) key {
	k := key{
		installation: r.Installation,
		epoch:        s.epochs.raise(r.Installation, r.Epoch),
		repos:        s.hashRepos(r.Repositories),
	}
	mac := hmac.New(sha256.New, s.secret)
	mac.Write([]byte(r.Token.Reveal()))
	mac.Sum(k.person[:0])
	return k
}

func (s *Service) hashRepos(repos []KnownRepo) uint64 {
	var h maphash.Hash
	h.SetSeed(s.seed)
	var id [8]byte
	for _, r := range repos {
		binary.LittleEndian.PutUint64(id[:], uint64(r.ID))
		// The error of a hash is always nil.
		_, _ = h.Write(id[:])
		_, _ = h.WriteString(r.NodeID)
		_ = h.WriteByte(0)
		_, _ = h.WriteString(r.Name)
		_ = h.WriteByte(0)
	}
	return h.Sum64()
}

// text names the key for the single flight.
func (k key) text() string {
	b := make([]byte, 0, sha256.Size+24)
	b = append(b, k.person[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(k.installation))
	b = binary.LittleEndian.AppendUint64(b, uint64(k.epoch))
	return string(binary.LittleEndian.AppendUint64(b, k.repos))
}

// entry is one answer of GitHub's: an access, or a verdict.
type entry struct {
	access  Access
	verdict *verdict
	// refresh is when a used entry is asked for again ahead of its end.
	refresh time.Time
	// until is the entry's end.
	until time.Time

	// quiet is the time, in Unix nanoseconds, before which it is not asked
	// for again in the background; it moves when asking begins and fails.
	quiet atomic.Int64
	// unconfirmed is set while asking again has failed.
	unconfirmed atomic.Bool
}

func (e *entry) fresh(now time.Time) bool { return now.Before(e.until) }

// due tells whether the entry should be asked for again in the background,
// and tells it to one caller only.
func (e *entry) due(now time.Time) bool {
	if e.verdict != nil || now.Before(e.refresh) {
		return false
	}
	quiet := e.quiet.Load()
	return now.UnixNano() >= quiet && e.quiet.CompareAndSwap(quiet, now.Add(refusalLife).UnixNano())
}

func (e *entry) result(now time.Time) (Access, error) {
	if e.verdict != nil {
		return Access{}, e.verdict.err(now)
	}
	out := e.access
	out.Unconfirmed = e.unconfirmed.Load()
	return out, nil
}

// weight counts an entry's memory, in bytes, roughly.
func (e *entry) weight() uint32 {
	return 512 + 160*uint32(len(e.access.Readable))
}
