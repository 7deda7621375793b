package github

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	gogithub "github.com/google/go-github/v66/github"
	"golang.org/x/sync/singleflight"
)

const (
	// tokenMargin is how long before its end a token is renewed. It is more
	// than one job takes, so that a token outlives the job it is given to.
	tokenMargin = 5 * time.Minute
	// tokenLast is the shortest rest of life a token is still given out
	// with, when renewing it fails.
	tokenLast = 90 * time.Second
	// tokenSlots bounds the cache.
	tokenSlots = 2000
	// tokenRepositories is GitHub's limit of repositories named by id.
	tokenRepositories = 500
)

// InstallationToken gives a token that reads the contents of the given
// repositories of an installation, of all of them when none is named; at most
// 500 can be. Tokens are kept and renewed five minutes before their end; many
// callers at once share one request, and one that leaves does not disturb the
// others. While renewing fails, a token that is still good is given out.
func (a *App) InstallationToken(ctx context.Context, id int64, repoIDs ...int64) (Token, error) {
	if len(repoIDs) > tokenRepositories {
		return Token{}, fmt.Errorf("a token names at most %d repositories, not %d", tokenRepositories, len(repoIDs))
	}
	ids := slices.Clone(repoIDs)
	slices.Sort(ids)
	return a.tokens.get(ctx, tokenRequest{installation: id, repositories: slices.Compact(ids)})
}

// makeToken asks GitHub for a new token. It is repeated like a read: a token
// too many only expires.
func (a *App) makeToken(ctx context.Context, r tokenRequest) (Token, error) {
	options := &gogithub.InstallationTokenOptions{
		RepositoryIDs: r.repositories,
		Permissions:   &gogithub.InstallationPermissions{Contents: gogithub.String("read")},
	}
	const op = "make installation token"
	var out Token
	err := a.client.rest(ctx, call{op: op, read: true}, func(ctx context.Context, gh *gogithub.Client) error {
		t, _, err := gh.Apps.CreateInstallationToken(ctx, r.installation, options)
		out = Token{Value: t.GetToken(), Expires: t.GetExpiresAt().Time}
		return err
	})
	if err != nil {
		return Token{}, err
	}
	if !sendable(out.Value) || !out.Expires.After(a.client.cfg.Clock()) {
		return Token{}, &Error{Op: op, Status: 201, Message: "the answer holds no usable token", class: classUnavailable}
	}
	return out, nil
}

// tokenRequest says what a token is for; the repositories are sorted.
type tokenRequest struct {
	installation int64
	repositories []int64
}

func (r tokenRequest) key() string {
	return strings.Trim(fmt.Sprint(r.installation, r.repositories), "[]")
}

// tokenCache keeps installation tokens until shortly before their end.
type tokenCache struct {
	clock  func() time.Time
	make   func(context.Context, tokenRequest) (Token, error)
	flight singleflight.Group

	mu     sync.Mutex
	tokens map[string]Token
}

func newTokenCache(clock func() time.Time, create func(context.Context, tokenRequest) (Token, error)) *tokenCache {
	return &tokenCache{clock: clock, make: create, tokens: map[string]Token{}}
}

func (c *tokenCache) get(ctx context.Context, r tokenRequest) (Token, error) {
	key := r.key()
	if t, ok := c.lookup(key, tokenMargin); ok {
		return t, nil
	}
	// The request goes on without the caller that began it; the client's own
	// timeout ends it.
	detached := context.WithoutCancel(ctx)
	result := c.flight.DoChan(key, func() (any, error) { return c.renew(detached, key, r) })
	select {
	case <-ctx.Done():
		return Token{}, ctx.Err()
	case res := <-result:
		token, _ := res.Val.(Token)
		return token, res.Err
	}
}

func (c *tokenCache) renew(ctx context.Context, key string, r tokenRequest) (Token, error) {
	if t, ok := c.lookup(key, tokenMargin); ok {
		return t, nil
	}
	t, err := c.make(ctx, r)
	switch {
	case err == nil:
		c.store(key, t)
		return t, nil
	case IsUnavailable(err) || IsRateLimited(err):
		if old, ok := c.lookup(key, tokenLast); ok {
			return old, nil
		}
	default:
		c.drop(key)
	}
	return Token{}, err
}

// lookup gives a token that is good for at least the given time.
func (c *tokenCache) lookup(key string, rest time.Duration) (Token, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.tokens[key]
	return t, ok && t.Expires.Sub(c.clock()) > rest
}

func (c *tokenCache) drop(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.tokens, key)
}

// store keeps a token, and makes room first: ended tokens go, and if none
// has, all do, since each costs one request to get back.
func (c *tokenCache) store(key string, t Token) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.tokens) >= tokenSlots {
		now := c.clock()
		for k, old := range c.tokens {
			if !old.Expires.After(now) {
				delete(c.tokens, k)
			}
		}
	}
	if len(c.tokens) >= tokenSlots {
		clear(c.tokens)
	}
	c.tokens[key] = t
}
