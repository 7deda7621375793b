package mcp_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"vault/platform/mcp"
)

func TestGate(t *testing.T) {
	t.Parallel()
	s := newServer(t, sampleBackend(), io.Discard)
	ping := legacyBody("1", "ping", "")
	tests := []struct {
		name    string
		method  string
		host    string
		origins []string
		status  int
	}{
		{"plain", "POST", "vault.test", nil, 200},
		{"port", "POST", "vault.test:8443", nil, 200},
		{"host in capitals", "POST", "VAULT.test", nil, 200},
		{"other host", "POST", "evil.test", nil, 421},
		{"host with our name in front", "POST", "vault.test.evil.test", nil, 421},
		{"no host", "POST", "", nil, 421},
		{"loopback is not listed", "POST", "127.0.0.1:80", nil, 421},
		{"own origin", "POST", "vault.test", []string{"https://vault.test"}, 200},
		{"own origin, port", "POST", "vault.test:81", []string{"http://vault.test:81"}, 200},
		{"own origin, other port", "POST", "vault.test:81", []string{"http://vault.test:82"}, 403},
		{"listed origin", "POST", "vault.test", []string{"https://claude.ai"}, 200},
		{"listed origin, other scheme", "POST", "vault.test", []string{"http://claude.ai"}, 403},
		{"listed origin, other port", "POST", "vault.test", []string{"https://claude.ai:444"}, 403},
		{"loopback origin, any port", "POST", "vault.test", []string{"http://localhost:6274"}, 200},
		{"other loopback origin", "POST", "vault.test", []string{"http://127.0.0.1:6274"}, 403},
		{"foreign origin", "POST", "vault.test", []string{"https://evil.test"}, 403},
		{"look-alike", "POST", "vault.test", []string{"https://claude.ai.evil.test"}, 403},
		{"null origin", "POST", "vault.test", []string{"null"}, 403},
		{"empty origin", "POST", "vault.test", []string{""}, 403},
		{"two origins", "POST", "vault.test", []string{"https://claude.ai", "https://evil.test"}, 403},
		{"file origin", "POST", "vault.test", []string{"file://vault.test"}, 403},
		{"GET", "GET", "vault.test", nil, 405},
		{"HEAD", "HEAD", "vault.test", nil, 405},
		{"PUT", "PUT", "vault.test", nil, 405},
		{"DELETE", "DELETE", "vault.test", nil, 405},
		{"OPTIONS without an origin", "OPTIONS", "vault.test", nil, 405},
		{"preflight", "OPTIONS", "vault.test", []string{"https://claude.ai"}, 204},
		{"foreign preflight", "OPTIONS", "vault.test", []string{"https://evil.test"}, 403},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := post(ping)
			r.Method, r.Host = tt.method, tt.host
			for _, origin := range tt.origins {
				r.Header.Add("Origin", origin)
			}
			w := serve(s, r)
			if w.Code != tt.status {
				t.Fatalf("status %d: %s", w.Code, w.Body)
			}
			if tt.status == 405 && w.Header().Get("Allow") != "POST" {
				t.Errorf("headers %v", w.Header())
			}
			allowed := w.Header().Get("Access-Control-Allow-Origin")
			if want := tt.origins != nil && tt.status < 300; (allowed != "") != want || (want && allowed != tt.origins[0]) {
				t.Errorf("headers %v", w.Header())
			}
			if w.Header().Get("Access-Control-Allow-Credentials") != "" {
				t.Error("credentials are allowed across origins")
			}
		})
	}
}

func TestGateHostsDefaultToLoopback(t *testing.T) {
	t.Parallel()
	open := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	tests := []struct {
		hosts  []string
		host   string
		status int
	}{
		{nil, "localhost:8484", 418}, {nil, "127.0.0.1:8484", 418}, {nil, "127.9.9.9", 418}, {nil, "[::1]:8484", 418}, {nil, "[::1]", 418},
		{nil, "vault.test", 421}, {nil, "127.0.0.1.evil.test", 421}, {nil, "0.0.0.0", 421}, {nil, "localhost.evil.test", 421},
		{[]string{"*"}, "anything.test:1", 418},
		{[]string{"a.test:1"}, "a.test:1", 418}, {[]string{"a.test:1"}, "a.test:2", 421}, {[]string{"a.test:1"}, "a.test", 421},
		{[]string{"[::1]"}, "[::1]:9", 418},
	}
	for _, tt := range tests {
		r := post("{}")
		r.Host = tt.host
		if w := serve(mcp.Gate(mcp.Config{Hosts: tt.hosts})(open), r); w.Code != tt.status {
			t.Errorf("%v: host %s: %d", tt.hosts, tt.host, w.Code)
		}
	}
}

func TestBodyLimit(t *testing.T) {
	t.Parallel()
	s := newServer(t, sampleBackend(), io.Discard) // 1 MiB
	body := func(size int) string {
		frame := legacyBody("1", "tools/call", `{"name":"zeta","arguments":{"a":""}}`)
		return strings.Replace(frame, `"a":""`, `"a":"`+strings.Repeat("x", size-len(frame))+`"`, 1)
	}
	if w := serve(s, post(body(1<<20))); w.Code != 200 {
		t.Errorf("a body at the limit: %d", w.Code)
	}
	over := body(1<<20 + 1)
	if w := serve(s, post(over)); w.Code != 413 || decode(t, w).Error == nil {
		t.Errorf("over the limit, length known: %d", w.Code)
	}
	r := httptest.NewRequest(http.MethodPost, "http://vault.test/", io.MultiReader(strings.NewReader(over)))
	r.Header.Set("Content-Type", "application/json")
	r.ContentLength = -1
	if w := serve(s, r); w.Code != 413 || decode(t, w).Error == nil {
		t.Errorf("over the limit, length unknown: %d", w.Code)
	}
	r = post(body(1000))
	r.ContentLength = 5
	r.Body = io.NopCloser(io.MultiReader(strings.NewReader("{"), brokenReader{}))
	if w := serve(s, r); w.Code != 400 || strings.Contains(w.Body.String(), "secret") {
		t.Errorf("broken body: %d %s", w.Code, w.Body)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errSecret }

func TestContentType(t *testing.T) {
	t.Parallel()
	s := newServer(t, sampleBackend(), io.Discard)
	for contentType, status := range map[string]int{
		"application/json": 200, "application/json; charset=utf-8": 200, "Application/JSON": 200,
		"text/plain": 415, "": 415, "application/jsonp": 415, "application/json; charset": 415, "application/json, text/plain": 415,
	} {
		r := post(legacyBody("1", "tools/list", ""))
		r.Header.Set("Content-Type", contentType)
		if w := serve(s, r); w.Code != status {
			t.Errorf("%q: %d %s", contentType, w.Code, w.Body)
		}
	}
}
