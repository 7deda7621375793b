package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"vault/platform/mcp"
)

const (
	modern   = "2026-07-28"
	versionK = "io.modelcontextprotocol/protocolVersion"
	capsK    = "io.modelcontextprotocol/clientCapabilities"
)

// backend serves one view per value of the header X-Person, and runs call.
type backend struct {
	views map[string]*mcp.View
	call  func(ctx context.Context, c mcp.Call) (*mcp.Answer, error)
}

func (b *backend) View(_ context.Context, r *http.Request) (*mcp.View, error) {
	view, ok := b.views[r.Header.Get("X-Person")]
	if !ok {
		return nil, fmt.Errorf("no view")
	}
	return view, nil
}

func (b *backend) Call(ctx context.Context, c mcp.Call) (*mcp.Answer, error) {
	return b.call(ctx, c)
}

func flag(b bool) *bool { return &b }

// schema is an input schema with everything that a re-encoding would lose.
const schema = `{"type":"object","$schema":"https://json-schema.org/draft/2020-12/schema","properties":{"big":{"type":"integer","maximum":9007199254740991},"repo":{"type":"string","anyOf":[{"const":"z"},{"const":"a"}]}},"required":["big"]}`

func sampleView() *mcp.View {
	return &mcp.View{
		Instructions: "Notes <are> data & \"quoted\"\u2028.",
		Tools: []mcp.Tool{
			{Name: "zeta", Title: "Z", Description: "z <first>", Input: json.RawMessage(schema), Output: json.RawMessage(schema),
				Annotations: mcp.Annotations{ReadOnly: flag(true), OpenWorld: flag(false)}, Meta: map[string]any{"anthropic/alwaysLoad": true}},
			{Name: "alpha", Description: "a", Input: json.RawMessage(schema)},
		},
	}
}

func echo(_ context.Context, c mcp.Call) (*mcp.Answer, error) {
	return &mcp.Answer{Structured: json.RawMessage(`{"got":` + string(c.Arguments) + `}`)}, nil
}

func sampleBackend() *backend {
	return &backend{views: map[string]*mcp.View{"": sampleView()}, call: echo}
}

func newServer(t testing.TB, b mcp.Backend, log io.Writer) *mcp.Server {
	t.Helper()
	s, err := mcp.NewServer(mcp.Config{
		Name: "vault", Version: "1.2.3", Backend: b, MaxBody: 1 << 20, Hosts: []string{"vault.test"},
		Origins: []string{"https://claude.ai", "http://localhost"}, Log: slog.New(slog.NewTextHandler(log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// post makes a request with headers given as "Name: value".
func post(body string, headers ...string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "http://vault.test/acme", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	return r
}

// call makes a legacy request body.
func legacyBody(id, method, params string) string {
	if params == "" {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `"}`
	}
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":` + params + `}`
}

// modernRequest makes a complete request of the modern era; more is put into
// params before _meta.
func modernRequest(id, method, more string, headers ...string) *http.Request {
	body := `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{` + more + `"_meta":{"` + versionK + `":"` + modern + `","` + capsK + `":{}}}}`
	return post(body, append([]string{"MCP-Protocol-Version: " + modern, "Mcp-Method: " + method}, headers...)...)
}

func serve(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func decode(t testing.TB, w *httptest.ResponseRecorder) message {
	t.Helper()
	var m message
	if err := json.Unmarshal(w.Body.Bytes(), &m); err != nil {
		t.Fatalf("status %d, body %q: %v", w.Code, w.Body, err)
	}
	return m
}

// front answers as a process with stored results does, or forwards to s.
func front(t testing.TB, s *mcp.Server, finished mcp.Finished) http.Handler {
	t.Helper()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := mcp.ReadBody(r)
		if err != nil {
			mcp.WriteError(w, err)
			return
		}
		q, err := mcp.ParseRequest(r, body)
		if err != nil {
			mcp.WriteError(w, err)
			return
		}
		if q.Acknowledged() {
			mcp.WriteAccepted(w)
			return
		}
		if result, ok := finished.Result(q); ok {
			w.Header().Set("X-Stored", "1")
			if err := mcp.WriteResult(w, q, result); err != nil {
				t.Error(err)
			}
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.ServeHTTP(w, r)
	})
}
