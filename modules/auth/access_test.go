package auth_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"vault/modules/auth"
	"vault/platform/fault"
	"vault/platform/github"
)

// hub answers the access query: each token is a person, who can read some
// repositories.
type hub struct {
	*httptest.Server

	mu     sync.Mutex
	people map[string][]int
	broken http.HandlerFunc
	asked  int
}

func newHub(t testing.TB, people map[string][]int) *hub {
	t.Helper()
	h := &hub{people: people}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	return h
}

func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	h.asked++
	broken := h.broken
	readable, known := h.people[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	h.mu.Unlock()
	if broken != nil {
		broken(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if !known {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"message":"Bad credentials","status":"401"}`)
		return
	}
	var req struct {
		Variables struct {
			N0 []string `json:"n0"`
		} `json:"variables"`
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_, _ = io.WriteString(w, accessAnswer(req.Variables.N0, readable))
}

func accessAnswer(ids []string, readable []int) string {
	nodes, errs := make([]string, len(ids)), []string{}
	for i, id := range ids {
		n := 0
		_, _ = fmt.Sscanf(id, "R_%d", &n)
		if !slices.Contains(readable, n) {
			nodes[i] = "null"
			errs = append(errs, fmt.Sprintf(`{"type":"NOT_FOUND","path":["n0",%d],"message":"Could not resolve"}`, i))
			continue
		}
		permission := "READ"
		if n%2 == 1 {
			permission = "WRITE"
		}
		nodes[i] = fmt.Sprintf(`{"id":%q,"databaseId":%d,"name":"r","nameWithOwner":"acme/r","viewerPermission":%q,`+
			`"isArchived":false,"isDisabled":false,"isLocked":false,"isEmpty":false,"defaultBranchRef":null}`, id, n, permission)
	}
	list := ""
	if len(ids) > 0 {
		list = `,"n0":[` + strings.Join(nodes, ",") + `]`
	}
	return `{"data":{"viewer":{"login":"ada","databaseId":7,"id":"U_7"}` + list +
		`,"rateLimit":{"cost":1,"remaining":9,"resetAt":"2026-11-30T12:00:00Z"}},"errors":[` + strings.Join(errs, ",") + `]}`
}

func (h *hub) set(change func(*hub)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change(h)
}

func (h *hub) questions() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.asked
}

func answer(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// clock is a time the test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

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

func newService(t testing.TB, h *hub) (*auth.Service, *clock) {
	t.Helper()
	c := &clock{now: start}
	endpoints, err := github.EndpointsFor(h.URL)
	if err != nil {
		t.Fatal(err)
	}
	endpoints.Web = "https://github.test"
	s, err := auth.New(auth.Config{
		GitHub: github.Config{Endpoints: endpoints, Clock: c.Now, Transport: h.Client().Transport},
		Clock:  c.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, c
}

func ask(token string, epoch int64, repos ...int64) auth.Request {
	r := auth.Request{Token: github.Secret(token), Installation: 42, Epoch: epoch}
	for _, id := range repos {
		r.Repositories = append(r.Repositories, auth.KnownRepo{ID: id, NodeID: fmt.Sprintf("R_%d", id), Name: fmt.Sprintf("repo%d", id)})
	}
	return r
}

// readable asks and gives what came back: the numbers, or the kind of fault.
func readable(t testing.TB, s *auth.Service, r auth.Request) string {
	t.Helper()
	got, err := s.Access(t.Context(), r)
	if err != nil {
		return string(fault.KindOf(err))
	}
	if !slices.Equal(got.Scope.IDs(), got.Readable) {
		t.Errorf("scope %v, readable %v", got.Scope.IDs(), got.Readable)
	}
	return fmt.Sprint(got.Readable)
}

func TestAccessIsWhatGitHubSays(t *testing.T) {
	t.Parallel()
	h := newHub(t, map[string][]int{"all": {1, 2, 3}, "one": {2}, "none": {}})
	s, _ := newService(t, h)
	got, err := s.Access(t.Context(), ask("all", 1, 3, 1, 2))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Readable, []int64{1, 2, 3}) || got.Person.Login != "ada" || got.Person.ID != 7 || got.Scope.Person() != got.Person ||
		!got.Scope.CanWrite(1) || got.Scope.CanWrite(2) || !got.Checked.Equal(start) || got.Unconfirmed {
		t.Errorf("access %+v", got)
	}
	for token, want := range map[string]string{"one": "[2]", "none": "denied", "gone": "unauthenticated"} {
		if got := readable(t, s, ask(token, 1, 1, 2, 3)); got != want {
			t.Errorf("%s: %s, want %s", token, got, want)
		}
	}
	if got := readable(t, s, ask("all", 1)); got != "denied" {
		t.Errorf("no repositories: %s", got)
	}
	wrong := ask("all", 1, 1, 2)
	wrong.Repositories[0].ID = 9
	if got := readable(t, s, wrong); got != "[2]" {
		t.Errorf("ids that do not belong together: %s", got)
	}
}

func TestAnswersStandForFifteenMinutes(t *testing.T) {
	t.Parallel()
	h := newHub(t, map[string][]int{"ada": {1}})
	s, c := newService(t, h)
	check := func(want string, questions int) {
		t.Helper()
		if got := readable(t, s, ask("ada", 1, 1, 2)); got != want || h.questions() != questions {
			t.Fatalf("%s after %d questions, want %s after %d", got, h.questions(), want, questions)
		}
	}
	check("[1]", 1)
	h.set(func(h *hub) { h.people["ada"] = []int{1, 2} })
	c.advance(11 * time.Minute)
	check("[1]", 1)
	c.advance(4 * time.Minute)
	check("[1 2]", 2)
}

func TestAnswersAreRenewedBeforeTheyEnd(t *testing.T) {
	t.Parallel()
	h := newHub(t, map[string][]int{"ada": {1}})
	s, c := newService(t, h)
	r := ask("ada", 1, 1, 2)
	if got := readable(t, s, r); got != "[1]" {
		t.Fatal(got)
	}
	h.set(func(h *hub) { h.people["ada"] = []int{1, 2} })
	c.advance(13 * time.Minute)
	eventually(t, func() bool { return readable(t, s, r) == "[1 2]" })
	if n := h.questions(); n != 2 {
		t.Errorf("%d questions", n)
	}
	c.advance(11 * time.Minute)
	if got := readable(t, s, r); got != "[1 2]" || h.questions() != 2 {
		t.Errorf("%s after %d questions", got, h.questions())
	}
	h.set(func(h *hub) { delete(h.people, "ada") })
	c.advance(2 * time.Minute)
	eventually(t, func() bool { return readable(t, s, r) == "unauthenticated" })
}

func TestAnAnswerStandsWhileGitHubIsDown(t *testing.T) {
	t.Parallel()
	h := newHub(t, map[string][]int{"ada": {1}})
	s, c := newService(t, h)
	r := ask("ada", 1, 1)
	if got := readable(t, s, r); got != "[1]" {
		t.Fatal(got)
	}
	h.set(func(h *hub) { h.broken = answer(500, `{"message":"down"}`) })
	c.advance(13 * time.Minute)
	eventually(t, func() bool {
		got, err := s.Access(t.Context(), r)
		if err != nil || !slices.Equal(got.Readable, []int64{1}) {
			t.Fatalf("%+v, %v", got, err)
		}
		return got.Unconfirmed
	})
	for range 5 {
		_ = readable(t, s, r)
	}
	if n := h.questions(); n != 2 {
		t.Errorf("%d questions while down", n)
	}
	if got := readable(t, s, ask("ada", 2, 1)); got != "unavailable" {
		t.Errorf("at the next epoch: %s", got)
	}
	h.set(func(h *hub) { h.broken = nil })
	c.advance(time.Minute)
	eventually(t, func() bool {
		got, err := s.Access(t.Context(), ask("ada", 2, 1))
		return err == nil && !got.Unconfirmed
	})
}

func TestNothingStandsLongerThanItsTime(t *testing.T) {
	t.Parallel()
	h := newHub(t, map[string][]int{"ada": {1}})
	s, c := newService(t, h)
	if got := readable(t, s, ask("ada", 1, 1)); got != "[1]" {
		t.Fatal(got)
	}
	h.set(func(h *hub) { h.broken = answer(500, `{}`) })
	c.advance(15 * time.Minute)
	if got := readable(t, s, ask("ada", 1, 1)); got != "unavailable" {
		t.Errorf("after its end: %s", got)
	}
}

func TestEpochs(t *testing.T) {
	t.Parallel()
	h := newHub(t, map[string][]int{"ada": {1, 2}})
	s, _ := newService(t, h)
	if got := readable(t, s, ask("ada", 5, 1)); got != "[1]" {
		t.Fatal(got)
	}
	// A repository was added.
	if got := readable(t, s, ask("ada", 6, 1, 2)); got != "[1 2]" {
		t.Errorf("added: %s", got)
	}
	// A right was taken away, and only this request knows yet.
	h.set(func(h *hub) { h.people["ada"] = []int{2} })
	if got := readable(t, s, ask("ada", 7, 1, 2)); got != "[2]" {
		t.Errorf("raised: %s", got)
	}
	// Requests of a process that lags behind must not bring the right back.
	if got := readable(t, s, ask("ada", 6, 1, 2)); got != "[2]" {
		t.Errorf("lagging: %s", got)
	}
	if got := readable(t, s, ask("ada", 5, 1)); got != "denied" {
		t.Errorf("lagging further: %s", got)
	}
	// Another installation has epochs of its own.
	other := ask("ada", 1, 2)
	other.Installation = 43
	if got := readable(t, s, other); got != "[2]" {
		t.Errorf("another installation: %s", got)
	}
}

func TestAnswersAreNotSharedBetweenPeople(t *testing.T) {
	t.Parallel()
	h := newHub(t, map[string][]int{"ada": {1, 2}, "bob": {2}})
	s, _ := newService(t, h)
	for range 2 {
		for token, want := range map[string]string{"ada": "[1 2]", "bob": "[2]"} {
			if got := readable(t, s, ask(token, 1, 1, 2)); got != want {
				t.Errorf("%s: %s", token, got)
			}
		}
	}
	if n := h.questions(); n != 2 {
		t.Errorf("%d questions", n)
	}
}

func TestRefusalsAreRememberedForHalfAMinute(t *testing.T) {
	t.Parallel()
	now := func(d time.Duration) string { return fmt.Sprint(start.Add(d).Unix()) }
	tests := []struct {
		name   string
		answer http.HandlerFunc
		kind   fault.Kind
		after  time.Duration
		life   time.Duration
		says   string
	}{
		{"bad token", answer(401, `{"message":"Bad credentials"}`), fault.KindUnauthenticated, 0, 30 * time.Second, "Sign in again"},
		{"limit", answer(403, `{"message":"API rate limit exceeded"}`, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", now(10*time.Minute)), fault.KindLimited, 10 * time.Minute, 30 * time.Second, "limit"},
		{"short limit", answer(429, `{}`, "Retry-After", "7"), fault.KindLimited, 7 * time.Second, 7 * time.Second, "limit"},
		{"outage", answer(500, `{}`), fault.KindUnavailable, 5 * time.Second, 3 * time.Second, "cannot be asked"},
		{"page", answer(200, `<html>`, "Content-Type", "text/html"), fault.KindUnavailable, 5 * time.Second, 3 * time.Second, "cannot be asked"},
		{"single sign-on", answer(403, `{"message":"Resource protected by organization SAML enforcement"}`, "X-GitHub-SSO", "required; url=https://github.test/orgs/acme/sso"), fault.KindDenied, 0, 30 * time.Second, "https://github.test/orgs/acme/sso"},
		{"refusal", answer(403, `{"message":"Sorry. Your account was suspended"}`), fault.KindDenied, 0, 30 * time.Second, `"Sorry. Your account was suspended"`},
		{"hidden by single sign-on", answer(200, `{"data":{"viewer":{"login":"ada","databaseId":7,"id":"U_7"},"n0":[null],"rateLimit":{"cost":1,"remaining":1,"resetAt":"2026-11-30T12:00:00Z"}},"errors":[{"type":"FORBIDDEN","path":["n0",0],"extensions":{"saml_failure":true},"message":"x"}]}`), fault.KindDenied, 0, 30 * time.Second, "single sign-on"},
		{"wrong address", answer(404, `{"message":"Not Found"}`), fault.KindInternal, 0, 3 * time.Second, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHub(t, nil)
			h.broken = tt.answer
			s, c := newService(t, h)
			_, err := s.Access(t.Context(), ask("ada", 1, 1))
			if fault.KindOf(err) != tt.kind || !strings.Contains(strings.ToLower(fault.Public(err, "R")), strings.ToLower(tt.says)) {
				t.Fatalf("%v: %s", err, fault.Public(err, "R"))
			}
			if f, ok := fault.As(err); ok && f.RetryAfter != tt.after {
				t.Errorf("wait %v, want %v", f.RetryAfter, tt.after)
			}
			c.advance(tt.life - time.Second)
			if _, err := s.Access(t.Context(), ask("ada", 1, 1)); fault.KindOf(err) != tt.kind || h.questions() != 1 {
				t.Errorf("before its end: %v after %d questions", err, h.questions())
			}
			h.set(func(h *hub) { h.broken, h.people = nil, map[string][]int{"ada": {1}} })
			c.advance(time.Second)
			if got := readable(t, s, ask("ada", 1, 1)); got != "[1]" {
				t.Errorf("after its end: %s", got)
			}
		})
	}
}

func TestEachCallerGetsAnErrorOfItsOwn(t *testing.T) {
	t.Parallel()
	h := newHub(t, nil)
	s, _ := newService(t, h)
	_, first := s.Access(t.Context(), ask("ada", 1, 1))
	_, second := s.Access(t.Context(), ask("ada", 1, 1))
	f, _ := fault.As(first)
	_ = f.Fix("changed by one caller")
	if strings.Contains(fault.Public(second, ""), "changed") {
		t.Error("callers share an error")
	}
}

func TestCallersShareOneQuestion(t *testing.T) {
	t.Parallel()
	h := newHub(t, nil)
	entered, release := make(chan struct{}, 1), make(chan struct{})
	h.broken = func(w http.ResponseWriter, _ *http.Request) {
		entered <- struct{}{}
		<-release
		answer(200, accessAnswer([]string{"R_1"}, []int{1}))(w, nil)
	}
	s, _ := newService(t, h)
	leaving, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		_, err := s.Access(leaving, ask("ada", 1, 1))
		left <- err
	}()
	<-entered
	results := make(chan string, 20)
	for range cap(results) {
		go func() { results <- readable(t, s, ask("ada", 1, 1)) }()
	}
	leave()
	if err := <-left; err == nil || fault.KindOf(err) == fault.KindUnauthenticated {
		t.Errorf("the one who left got %v", err)
	}
	close(release)
	for range cap(results) {
		if got := <-results; got != "[1]" {
			t.Errorf("got %s", got)
		}
	}
	if n := h.questions(); n != 1 {
		t.Errorf("%d questions", n)
	}
}

// eventually waits until a condition holds that a goroutine brings about.
func eventually(t *testing.T, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(10 * time.Second)
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("it did not happen")
		}
	}
}

func BenchmarkAccessRemembered(b *testing.B) {
	h := newHub(b, map[string][]int{"ada": {1, 2, 3}})
	s, _ := newService(b, h)
	ids := make([]int64, 50)
	for i := range ids {
		ids[i] = int64(i + 1)
	}
	r := ask("ada", 1, ids...)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Access(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
}
