package github_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"vault/platform/github"
)

func TestReadsGoOnAfterPassingFailures(t *testing.T) {
	t.Parallel()
	good := reply(200, `{"data":{`+viewer+`,`+rate+`}}`)
	for name, bad := range map[string]http.HandlerFunc{
		"502": page(502, "<html>"), "503": reply(503, ""), "504": reply(504, ""), "cut": cut,
		"cut inside": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte(`{"data":`))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, bad, bad, good)
			got, err := github.NewUser(s.config(t), testToken).Access(t.Context(), nil)
			if err != nil || got.Login != "ada" {
				t.Fatalf("%+v, %v", got, err)
			}
			asked := s.requests()
			if len(asked) != 3 || asked[2].Body != asked[0].Body || asked[2].Body == "" {
				t.Errorf("asked %+v", asked)
			}
		})
	}
}

func TestRedirectsStayOnTheHost(t *testing.T) {
	t.Parallel()
	elsewhere := serve(t, reply(200, `{"total_count":0,"repositories":[]}`))
	to := func(address string, status int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, address, status) }
	}

	s := serve(t, to("/api/v3/installation/elsewhere", 301), reply(200, `{"total_count":1,"repositories":[{"id":1}]}`))
	repos, err := github.NewInstallation(s.config(t), testToken).Repositories(t.Context())
	asked := s.requests()
	if err != nil || len(repos) != 1 || len(asked) != 2 || asked[1].Header.Get("Authorization") != "Bearer "+testToken {
		t.Errorf("same host: %v, %v, %+v", repos, err, asked)
	}

	for name, address := range map[string]string{
		"another host": elsewhere.URL + "/api/v3/installation/repositories",
		"another path": "/acme/notes",
		"dots":         "/api/v3/../../acme",
		"credentials":  "http://x:y@" + strings.TrimPrefix(elsewhere.URL, "http://") + "/",
	} {
		s := serve(t, to(address, 302))
		_, err := github.NewInstallation(s.config(t), testToken).Repositories(t.Context())
		if err == nil || strings.Contains(err.Error(), testToken) {
			t.Errorf("%s: %v", name, err)
		}
		for _, r := range s.requests() {
			if !strings.HasPrefix(r.Path, "/api/v3/installation") {
				t.Errorf("%s: the token went to %s", name, r.Path)
			}
		}
	}
	if n := len(elsewhere.requests()); n != 0 {
		t.Errorf("%d requests elsewhere", n)
	}

	loop := serve(t, to("/api/v3/installation/repositories", 301))
	if _, err := github.NewInstallation(loop.config(t), testToken).Repositories(t.Context()); err == nil || len(loop.requests()) > 7 {
		t.Errorf("loop: %v after %d", err, len(loop.requests()))
	}
}

func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"data":{"viewer":{"login":"`))
		chunk := bytes.Repeat([]byte("a"), 1<<20)
		for range 9 {
			_, _ = w.Write(chunk)
		}
		_, _ = w.Write([]byte(`"}}}`))
	})
	_, err := github.NewUser(s.config(t), testToken).Access(t.Context(), nil)
	if !errors.Is(err, github.ErrTooLarge) || len(s.requests()) != 1 {
		t.Errorf("error %v after %d", err, len(s.requests()))
	}
}

func TestBadCredentialsAreNotSent(t *testing.T) {
	t.Parallel()
	for _, token := range []string{"", "a b", "a\r\nX: y", "ü", strings.Repeat("a", 9000)} {
		s := serve(t, reply(200, `{}`))
		_, err := github.NewUser(s.config(t), token).Access(t.Context(), nil)
		if !github.IsUnauthorized(err) || len(s.requests()) != 0 {
			t.Errorf("%q: %v after %d", token, err, len(s.requests()))
		}
	}
}

func TestLogShowsTheCallAndNoSecret(t *testing.T) {
	t.Parallel()
	s := serve(t, reply(200, `{"total_count":1,"repositories":[{"id":1,"full_name":"acme/hidden"}]}`))
	var log bytes.Buffer
	cfg := s.config(t)
	cfg.Log = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if _, err := github.NewInstallation(cfg, testToken).Repositories(t.Context()); err != nil {
		t.Fatal(err)
	}
	text := log.String()
	if !strings.Contains(text, "AB12:34") || strings.Contains(text, testToken) || strings.Contains(text, "hidden") {
		t.Errorf("log %s", text)
	}
}

func TestSecretsDoNotPrint(t *testing.T) {
	t.Parallel()
	secret := github.Secret("hush")
	token := github.Token{Value: "hush"}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "secret", secret, "token", token)
	encoded, err := json.Marshal(map[string]any{"secret": secret, "token": token})
	if err != nil {
		t.Fatal(err)
	}
	text := log.String() + string(encoded)
	for _, verb := range []string{"%v", "%s", "%q", "%+v", "%#v", "%x", "%d"} {
		text += fmt.Sprintf(verb+verb+verb, secret, token, struct{ A any }{secret})
	}
	if strings.Contains(text, "hush") || strings.Contains(text, fmt.Sprintf("%x", "hush")) {
		t.Errorf("printed %s", text)
	}
	if secret.Reveal() != "hush" {
		t.Error("Reveal lost the secret")
	}
}

func TestEndpointsFor(t *testing.T) {
	t.Parallel()
	tests := map[string]github.Endpoints{
		"https://github.com":         {API: "https://api.github.com", GraphQL: "https://api.github.com/graphql", Web: "https://github.com", Git: "https://github.com"},
		"https://GitHub.com/":        {API: "https://api.github.com", GraphQL: "https://api.github.com/graphql", Web: "https://github.com", Git: "https://github.com"},
		"https://acme.ghe.com":       {API: "https://api.acme.ghe.com", GraphQL: "https://api.acme.ghe.com/graphql", Web: "https://acme.ghe.com", Git: "https://acme.ghe.com"},
		"https://git.acme.example":   {API: "https://git.acme.example/api/v3", GraphQL: "https://git.acme.example/api/graphql", Web: "https://git.acme.example", Git: "https://git.acme.example"},
		"http://127.0.0.1:8484/hub/": {API: "http://127.0.0.1:8484/hub/api/v3", GraphQL: "http://127.0.0.1:8484/hub/api/graphql", Web: "http://127.0.0.1:8484/hub", Git: "http://127.0.0.1:8484/hub"},
	}
	for base, want := range tests {
		if got, err := github.EndpointsFor(base); err != nil || got != want {
			t.Errorf("%s: %+v, %v", base, got, err)
		}
	}
	for _, base := range []string{"", "github.com", "ssh://github.com", "https://", "https://u:p@github.com", "https://github.com?x", "https://github.com#x", "https://[::1"} {
		if got, err := github.EndpointsFor(base); err == nil || strings.Contains(err.Error(), "u:p") {
			t.Errorf("%q: %+v, %v", base, got, err)
		}
	}
	e := tests["http://127.0.0.1:8484/hub/"]
	if got, err := e.CloneURL("acme/kb"); err != nil || got != "http://127.0.0.1:8484/hub/acme/kb.git" {
		t.Errorf("%q, %v", got, err)
	}
	for _, name := range []string{"", "acme", "acme/", "/kb", "acme/..", "acme/a/b", "acme/a?b", "acme/a b", "acme/ä"} {
		if got, err := e.CloneURL(name); err == nil {
			t.Errorf("%q became %q", name, got)
		}
	}
}
