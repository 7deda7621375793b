package auth

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/maypok86/otter/v2"
	"golang.org/x/sync/singleflight"

	"vault/platform/fault"
	"vault/platform/github"
)

const (
	// defaultTTL is how long an answer of GitHub's counts.
	defaultTTL = 15 * time.Minute
	// cacheBytes bounds the remembered answers.
	cacheBytes = 32 << 20
	// maxAsking bounds the questions to GitHub under way at once.
	maxAsking = 50
	// maxTurn is how long a question waits for its turn among them.
	maxTurn = 10 * time.Second
)

// Config is what Service needs.
type Config struct {
	// GitHub says where to ask.
	GitHub github.Config
	// TTL is how long an answer counts, counted from the question. Default
	// and most 15 minutes.
	TTL time.Duration
	// Log gets a warning when an answer cannot be renewed. Nil drops it.
	Log *slog.Logger
	// Clock is the time source. Default time.Now.
	Clock func() time.Time
}

// Service knows what people may read. It is safe for use by many goroutines.
//
// An answer counts for one token, one installation, one epoch and one list of
// repositories, and for at most the TTL. One that is used in the last fifth of
// its life is asked for again in the background, so that nobody waits; when
// GitHub does not answer then, it stands to its end. It never stands across
// epochs: an epoch is raised because rights changed.
type Service struct {
	cfg    Config
	secret []byte
	seed   maphash.Seed
	epochs *epochs
	cache  *otter.Cache[key, *entry]
	flight singleflight.Group
	asking chan struct{}
}

// New makes the service. Close ends it.
func New(cfg Config) (*Service, error) {
	if cfg.TTL <= 0 || cfg.TTL > defaultTTL {
		cfg.TTL = defaultTTL
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	secret := make([]byte, 32)
	if _, err := rand.Read(secret); err != nil {
		return nil, fmt.Errorf("draw the cache key: %w", err)
	}
	cache, err := otter.New(&otter.Options[key, *entry]{
		MaximumWeight:    cacheBytes,
		Weigher:          func(_ key, e *entry) uint32 { return e.weight() },
		ExpiryCalculator: otter.ExpiryWriting[key, *entry](cfg.TTL),
	})
	if err != nil {
		return nil, fmt.Errorf("make the access cache: %w", err)
	}
	return &Service{
		cfg:    cfg,
		secret: secret,
		seed:   maphash.MakeSeed(),
		epochs: newEpochs(),
		cache:  cache,
		asking: make(chan struct{}, maxAsking),
	}, nil
}

// Close ends what runs in the background. Questions under way end by
// themselves.
func (s *Service) Close() { s.cache.StopAllGoroutines() }

// Access tells what a person may read of an installation. Faults:
// unauthenticated when GitHub does not accept the token, denied when the
// person can read none of the repositories, limited and unavailable when
// GitHub did not answer and no answer is remembered.
//
// Callers who ask the same at once share one question, which goes on when one
// of them leaves.
func (s *Service) Access(ctx context.Context, r Request) (Access, error) {
	k := s.keyOf(r)
	now := s.cfg.Clock()
	if e, ok := s.cache.GetIfPresent(k); ok && e.fresh(now) {
		if e.due(now) {
			s.begin(ctx, k, r)
		}
		return e.result(now)
	}
	select {
	case <-ctx.Done():
		return Access{}, fmt.Errorf("wait for access: %w", ctx.Err())
	case got := <-s.begin(ctx, k, r):
		if got.Err != nil {
			return Access{}, got.Err
		}
		e, ok := got.Val.(*entry)
		if !ok {
			return Access{}, errors.New("wait for access: an answer of another kind")
		}
		return e.result(s.cfg.Clock())
	}
}

// begin asks GitHub unless somebody is asking already.
func (s *Service) begin(ctx context.Context, k key, r Request) <-chan singleflight.Result {
	// The question outlives the caller that began it; the GitHub client's
	// timeout ends it.
	detached := context.WithoutCancel(ctx)
	return s.flight.DoChan(k.text(), func() (any, error) { return s.renew(detached, k, r) })
}

// renew asks GitHub and remembers the answer.
func (s *Service) renew(ctx context.Context, k key, r Request) (e *entry, err error) {
	// A panic here would end the process, since no caller's recovery is
	// above this goroutine.
	defer func() {
		if p := recover(); p != nil {
			e, err = nil, fmt.Errorf("ask for access: panic: %v\n%s", p, debug.Stack())
		}
	}()
	old, known := s.cache.GetIfPresent(k)
	now := s.cfg.Clock()
	if known && old.fresh(now) && now.Before(old.refresh) {
		return old, nil
	}
	e = s.ask(ctx, r)
	if e.verdict != nil && e.verdict.passing() && known && old.verdict == nil && old.fresh(s.cfg.Clock()) {
		s.keep(ctx, old, e.verdict)
		return old, nil
	}
	s.cache.Set(k, e)
	return e, nil
}

// keep lets an answer stand that could not be renewed.
func (s *Service) keep(ctx context.Context, old *entry, v *verdict) {
	old.unconfirmed.Store(true)
	wait := max(v.retry.Sub(s.cfg.Clock()), refusalLife)
	old.quiet.Store(s.cfg.Clock().Add(wait).UnixNano())
	s.cfg.Log.WarnContext(ctx, "access not renewed", "error", v.cause)
}

// ask puts the one question to GitHub, when its turn comes.
func (s *Service) ask(ctx context.Context, r Request) *entry {
	turn := time.NewTimer(maxTurn)
	defer turn.Stop()
	select {
	case s.asking <- struct{}{}:
		defer func() { <-s.asking }()
		return s.question(ctx, r)
	case <-turn.C:
		now := s.cfg.Clock()
		return refused(&verdict{
			kind:  fault.KindUnavailable,
			retry: now.Add(comeBack),
			life:  failureLife,
			cause: errors.New("too many questions to GitHub under way"),
		}, now)
	}
}

// question asks with the person's own token.
func (s *Service) question(ctx context.Context, r Request) *entry {
	begun := s.cfg.Clock()
	ids := make([]string, len(r.Repositories))
	for i, repo := range r.Repositories {
		ids[i] = repo.NodeID
	}
	answer, err := github.NewUser(s.cfg.GitHub, r.Token.Reveal()).Access(ctx, ids)
	now := s.cfg.Clock()
	if err != nil {
		return refused(verdictOf(err, now), now)
	}
	access := accessFrom(r.Repositories, answer, begun)
	if len(access.Readable) == 0 {
		return refused(nothingReadable(answer), now)
	}
	return &entry{
		access:  access,
		refresh: begun.Add(s.cfg.TTL * 4 / 5),
		until:   begun.Add(s.cfg.TTL),
	}
}

// refused is the entry that remembers a "no". Its refresh is its end, so that
// it is never asked for again ahead of time.
func refused(v *verdict, now time.Time) *entry {
	until := now.Add(v.life)
	return &entry{verdict: v, refresh: until, until: until}
}
