package github

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Bounds of the wait we report: at least a second, at most the hour after
// which every budget is full again.
const (
	minWait       = time.Second
	maxWait       = time.Hour
	secondaryWait = time.Minute
)

// limited tells whether a refusal is about how much was asked. GitHub
// answers 429 or 403 for REST, and 200 with a typed error for GraphQL; a
// budget at zero alone is no refusal, the last good answer shows it too.
func (x *exchange) limited() bool {
	switch {
	case x.status == http.StatusTooManyRequests:
		return true
	case x.status == http.StatusForbidden:
		return x.limited403()
	case x.status == http.StatusOK:
		return slices.ContainsFunc(x.body.Errors, limitError)
	}
	return false
}

func (x *exchange) limited403() bool {
	doc, message := x.body.DocumentationURL, strings.ToLower(x.body.Message)
	switch {
	case strings.HasSuffix(doc, "secondary-rate-limits"), strings.HasSuffix(doc, "#abuse-rate-limits"):
		return true
	case strings.Contains(message, "rate limit"), strings.Contains(message, "number of login attempts exceeded"):
		return true
	case x.header.Get("Retry-After") != "":
		return true
	}
	// A refusal that explains itself may happen to use up the budget.
	explained := x.header.Get("X-GitHub-SSO") != "" || x.header.Get("X-Accepted-GitHub-Permissions") != ""
	return x.header.Get("X-RateLimit-Remaining") == "0" && !explained
}

func limitError(e apiError) bool {
	switch {
	case e.Type == "RATE_LIMIT", e.Type == "RATE_LIMITED", e.kind() == "graphql_rate_limit", e.Code == "graphql_rate_limit":
		return true
	}
	return strings.Contains(strings.ToLower(e.Message), "secondary rate limit")
}

// wait computes how long to stay away: what the answer says, else until the
// budget is full again, else the minute GitHub asks for.
func (x *exchange) wait(now time.Time) time.Duration {
	if d := retryAfterHeader(x.header); d > 0 {
		return min(max(d, minWait), maxWait)
	}
	if x.header.Get("X-RateLimit-Remaining") == "0" {
		if at, err := strconv.ParseInt(x.header.Get("X-RateLimit-Reset"), 10, 64); err == nil {
			return min(max(time.Unix(at, 0).Sub(now), minWait), maxWait)
		}
	}
	return secondaryWait
}

// retryAfterHeader reads Retry-After in seconds, the only form GitHub sends.
func retryAfterHeader(h http.Header) time.Duration {
	seconds, err := strconv.ParseInt(h.Get("Retry-After"), 10, 64)
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(min(seconds, int64(maxWait/time.Second))) * time.Second
}
