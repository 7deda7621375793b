package web_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"

	"vault/platform/fault"
	"vault/platform/web"
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func TestListenServesAndStops(t *testing.T) {
	t.Parallel()
	s, err := web.Listen(web.ServerConfig{Name: "front", Listen: ":0", Log: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	s.Handle(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "here") }))
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	resp, err := http.Get("http://" + s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if string(body) != "here" || !strings.HasPrefix(s.Addr(), "127.0.0.1:") {
		t.Errorf("body %q from %s", body, s.Addr())
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := http.Get("http://" + s.Addr()); err == nil {
		t.Error("still answers after Stop")
	}
}

func TestBusyPortNamesItsHolder(t *testing.T) {
	t.Parallel()
	s, err := web.Listen(web.ServerConfig{Name: "front", Listen: "127.0.0.1:0", Log: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, err = web.Listen(web.ServerConfig{Name: "front", Listen: s.Addr(), Log: quiet()})
	if err == nil || !strings.Contains(err.Error(), "in use") {
		t.Fatalf("error %v", err)
	}
	if want := fmt.Sprintf("pid %d", os.Getpid()); runtime.GOOS == "linux" && !strings.Contains(err.Error(), want) {
		t.Errorf("%v does not name %s", err, want)
	}
}

func TestLoopback(t *testing.T) {
	t.Parallel()
	for listen, want := range map[string]bool{
		":8484": true, "127.0.0.1:1": true, "localhost:1": true, "[::1]:1": true,
		"0.0.0.0:1": false, "192.0.2.1:1": false, "example.org:1": false, "nonsense": false,
	} {
		if got := web.Loopback(listen); got != want {
			t.Errorf("Loopback(%q) = %v", listen, got)
		}
	}
}

func TestRecoverHidesThePanic(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	h := web.Chain(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("token=abc") }), web.Recover(log))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	if w.Code != 500 || strings.Contains(w.Body.String(), "abc") || !strings.Contains(w.Body.String(), "Reference") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if !strings.Contains(out.String(), "token=abc") {
		t.Error("the log lacks the panic")
	}
}

func TestAdmin(t *testing.T) {
	t.Parallel()
	missing := errors.New("db: no connection")
	h := web.Admin(func(context.Context) error { return missing }, http.NotFoundHandler())
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/readyz", nil))
	if w.Code != 503 || !strings.Contains(w.Body.String(), "db: no connection") {
		t.Errorf("readyz %d %s", w.Code, w.Body)
	}
	w = httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/healthz", nil))
	if w.Code != 200 {
		t.Errorf("healthz %d", w.Code)
	}
}

func TestEveryKindHasAStatus(t *testing.T) {
	t.Parallel()
	seen := map[int]fault.Kind{}
	for _, k := range fault.Kinds() {
		status := web.Status(k)
		if other, ok := seen[status]; ok || status < 400 {
			t.Errorf("%s and %s both have status %d", k, other, status)
		}
		seen[status] = k
	}
}
