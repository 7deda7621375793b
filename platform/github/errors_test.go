package github_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"vault/platform/github"
)

// classes names what each helper says about an error.
func classes(err error) string {
	var out []string
	for _, c := range []struct {
		name string
		is   func(error) bool
	}{
		{"unauthorized", github.IsUnauthorized},
		{"forbidden", github.IsForbidden},
		{"not found", github.IsNotFound},
		{"limited", github.IsRateLimited},
		{"empty", github.IsEmptyRepository},
		{"unavailable", github.IsUnavailable},
	} {
		if c.is(err) {
			out = append(out, c.name)
		}
	}
	return strings.Join(out, ",")
}

const (
	badCredentials = `{"message":"Bad credentials","documentation_url":"https://docs.github.com/rest","status":"401"}`
	samlBlocked    = `{"message":"Resource protected by organization SAML enforcement. You must grant your OAuth token access to this organization."}`
)

func TestFailuresOfBothInterfaces(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	reset := func(d time.Duration) string { return fmt.Sprint(now.Add(d).Unix()) }
	tests := []struct {
		name     string
		answer   http.HandlerFunc
		want     string
		after    time.Duration
		requests int
	}{
		{"bad token", reply(401, badCredentials, "X-RateLimit-Remaining", "0"), "unauthorized", 0, 1},
		{"lock after bad logins", reply(403, `{"message":"Maximum number of login attempts exceeded. Please try again later."}`), "limited", time.Minute, 1},
		{"primary, 403", reply(403, `{"message":"API rate limit exceeded for user ID 1."}`, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", reset(10*time.Minute)), "limited", 10 * time.Minute, 1},
		{"primary, 429", reply(429, `{"message":"API rate limit exceeded"}`, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", reset(90*time.Second)), "limited", 90 * time.Second, 1},
		{"reset in the past", reply(403, `{"message":"API rate limit exceeded"}`, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", reset(-time.Hour)), "limited", time.Second, 1},
		{"reset far away", reply(403, `{"message":"API rate limit exceeded"}`, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", reset(99*time.Hour)), "limited", time.Hour, 1},
		{"secondary with Retry-After", reply(403, `{"message":"You have exceeded a secondary rate limit."}`, "Retry-After", "42", "X-RateLimit-Remaining", "4000"), "limited", 42 * time.Second, 1},
		{"secondary by documentation", reply(403, `{"message":"Slow down","documentation_url":"https://docs.github.com/rest/overview#about-secondary-rate-limits"}`), "limited", time.Minute, 1},
		{"secondary, 429 without anything", reply(429, ``), "limited", time.Minute, 1},
		{"permission lacking", reply(403, `{"message":"Resource not accessible by integration"}`, "X-Accepted-GitHub-Permissions", "contents=write", "X-RateLimit-Remaining", "0"), "forbidden", 0, 1},
		{"single sign-on", reply(403, samlBlocked, "X-GitHub-SSO", "required; url=https://github.test/orgs/acme/sso?x=1"), "forbidden", 0, 1},
		{"not found", reply(404, `{"message":"Not Found","status":"404"}`), "not found", 0, 1},
		{"legal block", reply(451, `{"message":"Repository access blocked"}`), "forbidden", 0, 1},
		{"empty repository", reply(409, `{"message":"Git Repository is empty."}`), "empty", 0, 1},
		{"validation", reply(422, `{"message":"Validation Failed","errors":[{"resource":"Blob","field":"sha","code":"invalid"}]}`), "", 0, 1},
		{"bad gateway", page(502, "<html>bad gateway</html>"), "unavailable", 0, 3},
		{"unavailable", reply(503, `{"message":"We couldn't respond to your request in time"}`), "unavailable", 0, 3},
		{"unavailable for long", reply(503, `{"message":"later"}`, "Retry-After", "30"), "unavailable", 30 * time.Second, 1},
		{"gateway timeout", reply(504, ``), "unavailable", 0, 3},
		{"server error", reply(500, `{"message":"boom"}`), "unavailable", 0, 1},
		{"page with status 200", page(200, "<!doctype html><title>Sign in to the proxy</title>"), "unavailable", 0, 1},
		{"page with status 401", page(401, "<html>proxy</html>"), "unavailable", 0, 1},
		{"half an object", reply(200, `{"data":{`), "unavailable", 0, 1},
		{"cut connection", cut, "unavailable", 0, 3},
	}
	calls := map[string]func(context.Context, github.Config) error{
		"GraphQL": func(ctx context.Context, cfg github.Config) error {
			_, err := github.NewUser(cfg, testToken).Access(ctx, []string{"R_1"})
			return err
		},
		"raw GraphQL": func(ctx context.Context, cfg github.Config) error {
			_, err := github.NewUser(cfg, testToken).FilesAt(ctx, "R_1", oidA, []string{"a.md"})
			return err
		},
		"REST": func(ctx context.Context, cfg github.Config) error {
			_, err := github.NewInstallation(cfg, testToken).Repositories(ctx)
			return err
		},
	}
	for _, tt := range tests {
		for face, do := range calls {
			t.Run(tt.name+", "+face, func(t *testing.T) {
				t.Parallel()
				s := serve(t, tt.answer)
				cfg := s.config(t)
				cfg.Clock = func() time.Time { return now }
				err := do(t.Context(), cfg)
				if err == nil {
					t.Fatal("no error")
				}
				if got := classes(err); got != tt.want {
					t.Errorf("class %q, want %q: %v", got, tt.want, err)
				}
				e, ok := github.AsError(err)
				if !ok || e.RetryAfter != tt.after {
					t.Errorf("error %+v, want to wait %v", e, tt.after)
				}
				if n := len(s.requests()); n != tt.requests {
					t.Errorf("%d requests, want %d", n, tt.requests)
				}
				if e.Status != 0 && e.RequestID != "AB12:34" {
					t.Errorf("request id %q", e.RequestID)
				}
			})
		}
	}
}

func TestQueryErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, entry, want string }{
		{"limit of 2026", `{"type":"RATE_LIMIT","code":"graphql_rate_limit","message":"API rate limit already exceeded for user ID 1."}`, "limited"},
		{"limit before", `{"type":"RATE_LIMITED","message":"API rate limit exceeded"}`, "limited"},
		{"secondary", `{"message":"You have exceeded a secondary rate limit. Please wait."}`, "limited"},
		{"forbidden", `{"type":"FORBIDDEN","path":["viewer"],"message":"Resource not accessible by integration"}`, "forbidden"},
		{"our mistake", `{"path":["query","bogus"],"extensions":{"code":"undefinedField"},"message":"Field 'bogus' doesn't exist"}`, ""},
		{"too many ids", `{"type":"ARGUMENT_LIMIT","message":"You may not provide more than 100 node ids; you provided 101."}`, ""},
		{"gave up", `{"message":"Something went wrong while executing your query."}`, "unavailable"},
		{"a string", `"odd"`, "unavailable"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, reply(200, `{"errors":[`+tt.entry+`]}`, "X-RateLimit-Remaining", "0"))
			_, err := github.NewUser(s.config(t), testToken).Access(t.Context(), nil)
			if got := classes(err); got != tt.want || err == nil {
				t.Errorf("class %q, want %q: %v", got, tt.want, err)
			}
			if n := len(s.requests()); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestSingleSignOnAddressMustBeOnTheWebHost(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"required; url=https://github.test/orgs/acme/sso":               "https://github.test/orgs/acme/sso",
		"required; url=http://github.test/orgs/acme/sso":                "",
		"required; url=https://evil.test/orgs/acme/sso":                 "",
		"required; url=https://github.test@evil.test/":                  "",
		"required; url=https://u@github.test/":                          "",
		"required; url=javascript:alert(1)":                             "",
		"required":                                                      "",
		"required; url=https://github.test/" + strings.Repeat("a", 600): "",
	}
	for header, want := range tests {
		s := serve(t, reply(403, samlBlocked, "X-GitHub-SSO", header))
		_, err := github.NewUser(s.config(t), testToken).Access(t.Context(), nil)
		e, _ := github.AsError(err)
		if e == nil || !e.SSORequired || e.SSO != want {
			t.Errorf("%s: %+v", header, e)
		}
	}
}

func TestErrorsAreBoundedAndHoldNoToken(t *testing.T) {
	t.Parallel()
	s := serve(t, reply(403, `{"message":"refused `+testToken+"\\n"+strings.Repeat("ü", 5000)+`"}`))
	_, err := github.NewUser(s.config(t), testToken).Access(t.Context(), nil)
	e, _ := github.AsError(err)
	if len(e.Message) > 500 || strings.Contains(fmt.Sprintf("%v %+v %#v", err, e, e), testToken) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q", err)
	}
}

func TestCallersThatLeaveAreNotAnOutage(t *testing.T) {
	t.Parallel()
	entered := make(chan struct{})
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		close(entered)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-entered
		cancel()
	}()
	_, err := github.NewUser(s.config(t), testToken).Access(ctx, nil)
	if !errors.Is(err, context.Canceled) || classes(err) != "" {
		t.Errorf("error %v (%s)", err, classes(err))
	}
}

func TestTimeoutsAreAnOutageAndNotRepeated(t *testing.T) {
	t.Parallel()
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	cfg := s.config(t)
	cfg.Timeout = 50 * time.Millisecond
	_, err := github.NewUser(cfg, testToken).Access(t.Context(), nil)
	if !errors.Is(err, context.DeadlineExceeded) || classes(err) != "unavailable" || len(s.requests()) != 1 {
		t.Errorf("error %v (%s) after %d requests", err, classes(err), len(s.requests()))
	}
}
