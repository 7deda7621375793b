package localhub

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// anonymousLimit is GitHub's limit for requests without a credential.
const anonymousLimit = 60

// The resources that have limits of their own.
const (
	resourceCore    = "core"
	resourceGraphQL = "graphql"
)

// rateLimits counts requests per account and resource, in windows of an hour
// that begin with the first request.
type rateLimits struct {
	hourly int

	mu      sync.Mutex
	windows map[limitName]*window
}

type limitName struct {
	key      string
	id       int64
	resource string
}

type window struct {
	used  int
	reset time.Time
}

// usage is a limit's standing.
type usage struct {
	resource               string
	limit, used, remaining int
	reset                  time.Time
}

func newRateLimits(hourly int) *rateLimits {
	return &rateLimits{hourly: hourly, windows: map[limitName]*window{}}
}

// take draws cost points and reports whether they were there. Cost 0 looks
// only.
func (l *rateLimits) take(c credential, resource string, cost int, now time.Time) (usage, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	limit := l.hourly
	if c.holder == holderNobody {
		limit = anonymousLimit
	}
	name := limitName{c.limitKey, c.limitID, resource}
	w, ok := l.windows[name]
	if !ok || !now.Before(w.reset) {
		w = &window{reset: now.Add(time.Hour).Truncate(time.Second)}
		if cost > 0 {
			l.windows[name] = w
		}
	}
	granted := w.used+cost <= limit
	if granted {
		w.used += cost
	}
	return usage{resource: resource, limit: limit, used: w.used, remaining: limit - w.used, reset: w.reset}, granted
}

// set writes the headers that every answer carries.
func (u usage) set(header http.Header) {
	header.Set("X-RateLimit-Limit", strconv.Itoa(u.limit))
	header.Set("X-RateLimit-Remaining", strconv.Itoa(u.remaining))
	header.Set("X-RateLimit-Used", strconv.Itoa(u.used))
	header.Set("X-RateLimit-Reset", strconv.FormatInt(u.reset.Unix(), 10))
	header.Set("X-RateLimit-Resource", u.resource)
}

func (u usage) json() map[string]any {
	return map[string]any{
		"limit": u.limit, "used": u.used, "remaining": u.remaining, "reset": u.reset.Unix(), "resource": u.resource,
	}
}

// exceeded is the sentence of the primary limit.
func (c credential) exceeded() string {
	switch c.holder {
	case holderNobody:
		return "API rate limit exceeded for 127.0.0.1. (But here's the good news: Authenticated requests get a higher rate limit. Check out the documentation for more details.)"
	case holderPerson:
		return fmt.Sprintf("API rate limit exceeded for user ID %d.", c.limitID)
	}
	return fmt.Sprintf("API rate limit exceeded for installation ID %d.", c.limitID)
}
