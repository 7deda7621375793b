package github_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"vault/platform/github"
)

const testToken = "ghu_secretSECRETsecret"

// seen is one request as the test server got it.
type seen struct {
	Method string
	Path   string
	Query  string
	Header http.Header
	Body   string
}

// server plays answers in order, the last one again and again, and keeps what
// it was asked.
type server struct {
	*httptest.Server

	mu    sync.Mutex
	asked []seen
	play  []http.HandlerFunc
}

func serve(t *testing.T, play ...http.HandlerFunc) *server {
	t.Helper()
	s := &server{play: play}
	s.Server = httptest.NewServer(http.HandlerFunc(s.handle))
	t.Cleanup(s.Close)
	return s
}

func (s *server) handle(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	s.mu.Lock()
	answer := s.play[min(len(s.asked), len(s.play)-1)]
	s.asked = append(s.asked, seen{r.Method, r.URL.Path, r.URL.RawQuery, r.Header.Clone(), string(body)})
	s.mu.Unlock()
	w.Header().Set("X-GitHub-Request-Id", "AB12:34")
	answer(w, r)
}

func (s *server) requests() []seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]seen(nil), s.asked...)
}

func (s *server) config(t *testing.T) github.Config {
	t.Helper()
	endpoints, err := github.EndpointsFor(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	endpoints.Web = "https://github.test"
	return github.Config{Endpoints: endpoints, UserAgent: "vault-test", Transport: s.Client().Transport, Timeout: 10 * time.Second}
}

// reply answers with a status, JSON and headers given as name, value pairs.
func reply(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func page(status int, body string) http.HandlerFunc {
	return reply(status, body, "Content-Type", "text/html")
}

// cut breaks the connection before an answer.
func cut(_ http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }

// variables gives the variables of a GraphQL request.
func (s seen) variables(t *testing.T) map[string]any {
	t.Helper()
	var body struct {
		Query     string         `json:"query"`
		Variables map[string]any `json:"variables"`
	}
	if err := json.Unmarshal([]byte(s.Body), &body); err != nil {
		t.Fatalf("body %q: %v", s.Body, err)
	}
	if body.Query == "" || strings.Contains(body.Query, "R_1") {
		t.Errorf("query text %q", body.Query)
	}
	return body.Variables
}
