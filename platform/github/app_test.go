package github_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"

	"vault/platform/github"
)

const oidA = "1111111111111111111111111111111111111111"

var appKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// clock is a time the test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Unix(1_800_000_000, 0)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func tokenReply(value string, expires time.Time) http.HandlerFunc {
	return reply(201, fmt.Sprintf(`{"token":%q,"expires_at":%q,"permissions":{"contents":"read"}}`, value, expires.UTC().Format(time.RFC3339)))
}

func appFor(t *testing.T, s *server, c *clock) *github.App {
	t.Helper()
	cfg := s.config(t)
	cfg.Clock = c.Now
	return github.NewApp(cfg, "Iv1.app", appKey())
}

func TestTheAppSignsItselfIn(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := serve(t, reply(200, `{"id":5,"account":{"login":"acme","id":9,"type":"Organization"},"repository_selection":"all","permissions":{"contents":"write","metadata":"read"}}`))
	got, err := appFor(t, s, c).Installation(t.Context(), 5)
	want := github.Installation{ID: 5, Account: "acme", AccountID: 9, AccountType: "Organization", AllRepositories: true, ContentsPermission: "write"}
	if err != nil || got != want {
		t.Fatalf("%+v, %v", got, err)
	}
	asked := s.requests()[0]
	if asked.Path != "/api/v3/app/installations/5" || asked.Header.Get("X-GitHub-Api-Version") != "2022-11-28" {
		t.Errorf("asked %+v", asked)
	}
	var claims jwt.RegisteredClaims
	_, err = jwt.ParseWithClaims(strings.TrimPrefix(asked.Header.Get("Authorization"), "Bearer "), &claims,
		func(*jwt.Token) (any, error) { return appKey().Public(), nil },
		jwt.WithValidMethods([]string{"RS256"}), jwt.WithTimeFunc(c.Now))
	if err != nil || claims.Issuer != "Iv1.app" {
		t.Fatalf("claims %+v, %v", claims, err)
	}
	if !claims.IssuedAt.Equal(c.Now().Add(-time.Minute)) || claims.ExpiresAt.Sub(claims.IssuedAt.Time) > 10*time.Minute || !claims.ExpiresAt.After(c.Now()) {
		t.Errorf("from %v to %v", claims.IssuedAt, claims.ExpiresAt)
	}
	if _, err := github.NewApp(s.config(t), "1", nil).Installations(t.Context()); err == nil || classes(err) != "" {
		t.Errorf("without a key: %v", err)
	}
}

func TestInstallationsAreReadPageByPage(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, reply(200, `[{"id":2,"account":{"login":"b"},"suspended_at":"2026-01-01T00:00:00Z"}]`))
	s.play[0] = reply(200, `[{"id":1,"account":{"login":"a"}}]`, "Link", `<`+s.URL+`/api/v3/app/installations?page=2>; rel="next"`)
	got, err := appFor(t, s, newClock()).Installations(t.Context())
	want := []github.Installation{{ID: 1, Account: "a"}, {ID: 2, Account: "b", Suspended: true}}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(d, err)
	}
	if q := s.requests()[1].Query; !strings.Contains(q, "page=2") || !strings.Contains(q, "per_page=100") {
		t.Errorf("query %s", q)
	}

	circle := serve(t, nil)
	circle.play[0] = reply(200, `[]`, "Link", `<`+circle.URL+`/x?page=1>; rel="next"`)
	if _, err := appFor(t, circle, newClock()).Installations(t.Context()); err == nil || len(circle.requests()) > 2 {
		t.Errorf("circle: %v after %d", err, len(circle.requests()))
	}
}

func TestInstallationTokensAreKeptAndRenewedInTime(t *testing.T) {
	t.Parallel()
	c := newClock()
	hour := c.Now().Add(time.Hour)
	s := serve(t, tokenReply("ghs_1", hour), tokenReply("ghs_2", hour), tokenReply("ghs_3", hour.Add(time.Hour)), reply(503, ""))
	app := appFor(t, s, c)
	get := func(want string, requests int, ids ...int64) {
		t.Helper()
		got, err := app.InstallationToken(t.Context(), 5, ids...)
		if err != nil || got.Value != want || len(s.requests()) != requests {
			t.Fatalf("token %q, %v after %d requests, want %q after %d", got.Value, err, len(s.requests()), want, requests)
		}
	}
	get("ghs_1", 1, 8, 7, 7)
	get("ghs_1", 1, 7, 8)
	get("ghs_2", 2)
	var body struct {
		RepositoryIDs []int64           `json:"repository_ids"`
		Permissions   map[string]string `json:"permissions"`
	}
	asked := s.requests()[0]
	if err := json.Unmarshal([]byte(asked.Body), &body); err != nil || asked.Method != "POST" || asked.Path != "/api/v3/app/installations/5/access_tokens" {
		t.Fatalf("asked %+v, %v", asked, err)
	}
	if d := cmp.Diff([]int64{7, 8}, body.RepositoryIDs); d != "" || !cmp.Equal(body.Permissions, map[string]string{"contents": "read"}) {
		t.Errorf("body %s", asked.Body)
	}
	c.advance(54 * time.Minute)
	get("ghs_1", 2, 7, 8)
	c.advance(2 * time.Minute)
	get("ghs_3", 3, 7, 8)
	// Renewing the other fails: it is good for four minutes still.
	get("ghs_2", 6)
	c.advance(3 * time.Minute)
	if got, err := app.InstallationToken(t.Context(), 5); !github.IsUnavailable(err) {
		t.Errorf("token %v, %v", got, err)
	}
}

func TestARefusedRenewalForgetsTheToken(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := serve(t, tokenReply("ghs_1", c.Now().Add(4*time.Minute)), reply(404, `{"message":"Not Found"}`), reply(503, ""))
	app := appFor(t, s, c)
	if _, err := app.InstallationToken(t.Context(), 5); err != nil {
		t.Fatal(err)
	}
	if _, err := app.InstallationToken(t.Context(), 5); !github.IsNotFound(err) {
		t.Errorf("uninstalled: %v", err)
	}
	if got, err := app.InstallationToken(t.Context(), 5); err == nil {
		t.Errorf("token of a gone installation: %v", got)
	}
}

func TestUnusableTokens(t *testing.T) {
	t.Parallel()
	c := newClock()
	for name, answer := range map[string]http.HandlerFunc{
		"empty": tokenReply("", c.Now().Add(time.Hour)),
		"ended": tokenReply("ghs_x", c.Now().Add(-time.Second)),
		"ill":   tokenReply("ghs x", c.Now().Add(time.Hour)),
	} {
		if got, err := appFor(t, serve(t, answer), c).InstallationToken(t.Context(), 5); !github.IsUnavailable(err) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	long := "ghs_" + strings.Repeat("a", 1000)
	if got, err := appFor(t, serve(t, tokenReply(long, c.Now().Add(time.Hour))), c).InstallationToken(t.Context(), 5); err != nil || got.Value != long {
		t.Errorf("long token: %v", err)
	}
	if _, err := appFor(t, serve(t, cut), c).InstallationToken(t.Context(), 5, make([]int64, 501)...); err == nil {
		t.Error("501 repositories were accepted")
	}
}

func TestManyCallersShareOneTokenRequest(t *testing.T) {
	t.Parallel()
	c := newClock()
	entered, release := make(chan struct{}), make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		close(entered)
		<-release
		tokenReply("ghs_1", c.Now().Add(time.Hour))(w, r)
	})
	app := appFor(t, s, c)
	first, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		_, err := app.InstallationToken(first, 5)
		left <- err
	}()
	<-entered
	results := make(chan error, 20)
	for range 20 {
		go func() {
			got, err := app.InstallationToken(t.Context(), 5)
			if err == nil && got.Value != "ghs_1" {
				err = fmt.Errorf("token %v", got)
			}
			results <- err
		}()
	}
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("the one who left got %v", err)
	}
	close(release)
	for range 20 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	if n := len(s.requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
}
