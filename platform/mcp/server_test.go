package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault/platform/fault"
	"vault/platform/mcp"
)

func TestListsKeepOrderAndBytes(t *testing.T) {
	t.Parallel()
	s := newServer(t, sampleBackend(), io.Discard)
	for name, w := range map[string]message{
		"legacy": decode(t, serve(s, post(legacyBody("1", "tools/list", "{}")))),
		"modern": decode(t, serve(s, modernRequest("1", "tools/list", ""))),
	} {
		var result struct {
			Tools []map[string]json.RawMessage `json:"tools"`
			TTL   *int                         `json:"ttlMs"`
			Scope string                       `json:"cacheScope"`
			Type  string                       `json:"resultType"`
		}
		if err := json.Unmarshal(w.Result, &result); err != nil {
			t.Fatalf("%s: %v in %s", name, err, w.Result)
		}
		if len(result.Tools) != 2 || string(result.Tools[0]["name"]) != `"zeta"` || string(result.Tools[1]["name"]) != `"alpha"` {
			t.Errorf("%s: order lost: %s", name, w.Result)
		}
		if got := string(result.Tools[0]["inputSchema"]); got != schema {
			t.Errorf("%s: schema %s", name, got)
		}
		if got := string(result.Tools[0]["annotations"]); got != `{"readOnlyHint":true,"openWorldHint":false}` {
			t.Errorf("%s: annotations %s", name, got)
		}
		if _, there := result.Tools[1]["outputSchema"]; there {
			t.Errorf("%s: alpha has an output schema", name)
		}
		if name == "modern" && (result.TTL == nil || *result.TTL != 0 || result.Scope != "private" || result.Type != "complete") {
			t.Errorf("modern hints: %s", w.Result)
		}
	}
}

func TestInitializeAndDiscover(t *testing.T) {
	t.Parallel()
	s := newServer(t, sampleBackend(), io.Discard)
	asked := map[string]string{
		"2025-11-25": "2025-11-25", "2025-06-18": "2025-06-18", "2025-03-26": "2025-03-26", "2024-11-05": "2024-11-05",
		"2026-07-28": "2025-11-25", "1.0": "2025-11-25", "": "2025-03-26",
	}
	for version, want := range asked {
		w := decode(t, serve(s, post(legacyBody("1", "initialize", `{"protocolVersion":"`+version+`","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`))))
		var result struct {
			ProtocolVersion string          `json:"protocolVersion"`
			Capabilities    json.RawMessage `json:"capabilities"`
			Instructions    string          `json:"instructions"`
			ServerInfo      struct{ Name, Version string }
		}
		if err := json.Unmarshal(w.Result, &result); err != nil {
			t.Fatalf("%q: %v", version, err)
		}
		if result.ProtocolVersion != want || string(result.Capabilities) != `{"tools":{}}` || result.Instructions != sampleView().Instructions ||
			result.ServerInfo.Name != "vault" || result.ServerInfo.Version != "1.2.3" {
			t.Errorf("initialize %q: %s", version, w.Result)
		}
	}
	w := decode(t, serve(s, modernRequest("1", "server/discover", "")))
	var result struct {
		SupportedVersions []string
		Instructions      string
		TTLMs             *int
		CacheScope        string
	}
	if err := json.Unmarshal(w.Result, &result); err != nil {
		t.Fatal(err)
	}
	if result.Instructions != sampleView().Instructions || result.SupportedVersions[0] != modern || *result.TTLMs != 0 || result.CacheScope != "private" {
		t.Errorf("discover: %s", w.Result)
	}
}

func TestCallAnswers(t *testing.T) {
	t.Parallel()
	structured := `{"a":"<b> & \"c\" \\ é\n","n":9007199254740993}`
	b := sampleBackend()
	b.call = func(context.Context, mcp.Call) (*mcp.Answer, error) {
		return &mcp.Answer{Structured: json.RawMessage(structured), Meta: map[string]any{"vault/head": "abc"}}, nil
	}
	s := newServer(t, b, io.Discard)
	for name, r := range map[string]*struct {
		m    message
		body string
	}{
		"legacy": {m: decode(t, serve(s, post(legacyBody("1", "tools/call", `{"name":"zeta","arguments":{}}`))))},
		"modern": {m: decode(t, serve(s, modernRequest("1", "tools/call", `"name":"zeta",`, "Mcp-Name: zeta")))},
	} {
		var result struct {
			Content []struct{ Type, Text string }
			Raw     json.RawMessage `json:"structuredContent"`
			IsError *bool
			Meta    map[string]json.RawMessage `json:"_meta"`
			Type    string                     `json:"resultType"`
		}
		if err := json.Unmarshal(r.m.Result, &result); err != nil {
			t.Fatalf("%s: %v in %s", name, err, r.m.Result)
		}
		if string(result.Raw) != structured || len(result.Content) != 1 || result.Content[0].Text != structured || result.Content[0].Type != "text" {
			t.Errorf("%s: %s", name, r.m.Result)
		}
		if result.IsError != nil || string(result.Meta["vault/head"]) != `"abc"` {
			t.Errorf("%s: %s", name, r.m.Result)
		}
		if _, there := result.Meta["io.modelcontextprotocol/serverInfo"]; there != (name == "modern") || (result.Type == "complete") != (name == "modern") {
			t.Errorf("%s: %s", name, r.m.Result)
		}
	}
}

func TestCallGetsArgumentsUntouched(t *testing.T) {
	t.Parallel()
	b := sampleBackend()
	var got mcp.Call
	b.call = func(_ context.Context, c mcp.Call) (*mcp.Answer, error) {
		got = c
		return &mcp.Answer{IsError: true, Text: "no <way>"}, nil
	}
	s := newServer(t, b, io.Discard)
	args := `{ "repo":"a", "REPO":"b", "big":9007199254740993, "x":1e10 }`
	r := post(legacyBody("1", "tools/call", `{"arguments":`+args+`,"name":"alpha"}`), "User-Agent: claude-code/2.1 (x)")
	m := decode(t, serve(s, r))
	want := mcp.Call{Name: "alpha", Arguments: json.RawMessage(args), ClientName: "claude-code", ClientVersion: "2.1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := string(m.Result); got != `{"content":[{"type":"text","text":"no <way>"}],"isError":true}` {
		t.Errorf("isError answer: %s", got)
	}
	serve(s, modernRequest("1", "tools/call", `"name":"alpha",`, "Mcp-Name: alpha"))
	if string(got.Arguments) != "{}" {
		t.Errorf("absent arguments: %s", got.Arguments)
	}
}

func TestIDsAreEchoedExactly(t *testing.T) {
	t.Parallel()
	s := newServer(t, sampleBackend(), io.Discard)
	ids := []string{
		"0", "-1", "9007199254740993", "123456789012345678901234567890", strings.Repeat("9", 400), "1.0", "1e400",
		`""`, `"a"`, `"\u0041\n\"é"`, `"` + strings.Repeat("x", 900) + `"`, `"1"`,
	}
	for _, id := range ids {
		for name, w := range map[string]message{
			"list":    decode(t, serve(s, post(legacyBody(id, "tools/list", "")))),
			"call":    decode(t, serve(s, post(legacyBody(id, "tools/call", `{"name":"zeta"}`)))),
			"modern":  decode(t, serve(s, modernRequest(id, "server/discover", ""))),
			"unknown": decode(t, serve(s, post(legacyBody(id, "no/such", "")))),
			"no tool": decode(t, serve(s, post(legacyBody(id, "tools/call", `{"name":"nope"}`)))),
		} {
			if string(w.ID) != id {
				t.Errorf("%s: id %s came back as %s", name, id, w.ID)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	s := newServer(t, sampleBackend(), io.Discard)
	tests := []struct {
		name   string
		body   string
		status int
		code   int
	}{
		{"not json", `{"jsonrpc"`, 400, -32700},
		{"empty", ``, 400, -32700},
		{"trailing", legacyBody("1", "ping", "") + "x", 400, -32700},
		{"trailing NUL", legacyBody("1", "ping", "") + "\x00", 400, -32700},
		{"NUL in a string", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pi\x00ng\"}", 400, -32700},
		{"bad UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}", 400, -32700},
		{"byte order mark", "\ufeff" + legacyBody("1", "ping", ""), 400, -32700},
		{"batch", "[" + legacyBody("1", "ping", "") + "]", 400, -32600},
		{"empty batch", "[]", 400, -32600},
		{"scalar", `"x"`, 400, -32600},
		{"no jsonrpc", `{"id":1,"method":"ping"}`, 400, -32600},
		{"jsonrpc 1", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, 400, -32600},
		{"two methods", `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}`, 400, -32600},
		{"two methods, escaped", `{"jsonrpc":"2.0","id":1,"method":"ping","meth\u006fd":"tools/list"}`, 400, -32600},
		{"case", `{"jsonrpc":"2.0","id":1,"Method":"ping"}`, 400, -32600},
		{"two ids", `{"jsonrpc":"2.0","id":1,"ID":2,"method":"ping"}`, 400, -32600},
		{"two params", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"zeta"},"Params":{"name":"alpha"}}`, 400, -32600},
		{"two names", legacyBody("1", "tools/call", `{"name":"zeta","name":"alpha"}`), 400, -32600},
		{"name in another case", legacyBody("1", "tools/call", `{"name":"zeta","Name":"alpha"}`), 400, -32600},
		{"arguments twice", legacyBody("1", "tools/call", `{"name":"zeta","arguments":{},"argumentſ":{"a":1}}`), 400, -32600},
		{"version twice", legacyBody("1", "tools/list", `{"_meta":{"`+versionK+`":"2025-11-25","`+versionK+`":"2026-07-28"}}`), 400, -32600},
		{"meta in another case", legacyBody("1", "tools/list", `{"_Meta":{}}`), 400, -32600},
		{"null id", legacyBody("null", "ping", ""), 400, -32600},
		{"object id", legacyBody(`{"a":1}`, "ping", ""), 400, -32600},
		{"bool id", legacyBody("true", "ping", ""), 400, -32600},
		{"long id", legacyBody(`"`+strings.Repeat("x", 2000)+`"`, "ping", ""), 400, -32600},
		{"method is a number", `{"jsonrpc":"2.0","id":1,"method":1}`, 400, -32600},
		{"long method", legacyBody("1", strings.Repeat("m", 300), ""), 400, -32600},
		{"response", `{"jsonrpc":"2.0","id":1,"result":{}}`, 400, -32600},
		{"request and response", `{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}`, 400, -32600},
		{"deep", legacyBody("1", "tools/call", strings.Repeat(`{"a":`, 100)+"1"+strings.Repeat("}", 100)), 400, -32600},
		{"deep arrays", legacyBody("1", "tools/call", strings.Repeat(`[`, 90000)+strings.Repeat("]", 90000)), 400, -32600},
		{"number out of range", legacyBody("1", "tools/call", `{"name":"zeta","arguments":{"n":1e999}}`), 400, -32600},
		{"long number", legacyBody("1", "tools/call", `{"name":"zeta","arguments":{"n":`+strings.Repeat("9", 400)+`}}`), 400, -32600},
		{"unknown tool", legacyBody("1", "tools/call", `{"name":"nope"}`), 200, -32602},
		{"no tool name", legacyBody("1", "tools/call", `{}`), 200, -32602},
		{"arguments not an object", legacyBody("1", "tools/call", `{"name":"zeta","arguments":[1]}`), 200, -32602},
		{"cursor", legacyBody("1", "tools/list", `{"cursor":"emV0YQ=="}`), 200, -32602},
		{"unknown method", legacyBody("1", "no/such", ""), 200, -32601},
		{"prompts", legacyBody("1", "prompts/list", ""), 200, -32601},
		{"resources", legacyBody("1", "resources/list", ""), 200, -32601},
		{"logging", legacyBody("1", "logging/setLevel", `{"level":"debug"}`), 200, -32601},
		{"completion", legacyBody("1", "completion/complete", `{}`), 200, -32601},
		{"tasks", legacyBody("1", "tasks/list", `{}`), 200, -32601},
		{"listen in the old era", legacyBody("1", "subscriptions/listen", `{}`), 200, -32601},
		{"discover in the old era", legacyBody("1", "server/discover", `{}`), 200, -32601},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := serve(s, post(tt.body))
			m := decode(t, w)
			if w.Code != tt.status || m.Error == nil || m.Error.Code != tt.code {
				t.Errorf("status %d, body %s", w.Code, w.Body)
			}
			if h := w.Header(); h.Get("Content-Type") != "application/json" || h.Get("X-Accel-Buffering") != "no" || h.Get("Cache-Control") != "no-store" {
				t.Errorf("headers %v", h)
			}
		})
	}
}

func TestModernRefusals(t *testing.T) {
	t.Parallel()
	s := newServer(t, sampleBackend(), io.Discard)
	meta := func(m string) string { return legacyBody("7", "tools/list", `{"_meta":{`+m+`}}`) }
	full := `"` + versionK + `":"` + modern + `","` + capsK + `":{}`
	version, method := "MCP-Protocol-Version: "+modern, "Mcp-Method: tools/list"
	tests := []struct {
		name    string
		body    string
		headers []string
		status  int
		code    int
	}{
		{"no version header", meta(full), []string{method}, 400, -32020},
		{"no meta version", legacyBody("7", "tools/list", "{}"), []string{version, method}, 400, -32602},
		{"versions differ", meta(`"` + versionK + `":"2027-01-01","` + capsK + `":{}`), []string{version, method}, 400, -32020},
		{"unknown version", meta(`"` + versionK + `":"2027-01-01","` + capsK + `":{}`), []string{"MCP-Protocol-Version: 2027-01-01", method}, 400, -32022},
		{"no capabilities", meta(`"` + versionK + `":"` + modern + `"`), []string{version, method}, 400, -32602},
		{"bad capabilities", meta(`"` + versionK + `":"` + modern + `","` + capsK + `":[]`), []string{version, method}, 400, -32602},
		{"no method header", meta(full), []string{version}, 400, -32020},
		{"other method header", meta(full), []string{version, "Mcp-Method: tools/call"}, 400, -32020},
		{"last event", meta(full), []string{version, method, "Last-Event-ID: 1"}, 400, -32020},
		{"initialize is gone", strings.ReplaceAll(meta(full), "tools/list", "initialize"), []string{version, "Mcp-Method: initialize"}, 404, -32601},
		{"ping is gone", strings.ReplaceAll(meta(full), "tools/list", "ping"), []string{version, "Mcp-Method: ping"}, 404, -32601},
		{"listen", strings.ReplaceAll(meta(full), "tools/list", "subscriptions/listen"), []string{version, "Mcp-Method: subscriptions/listen"}, 404, -32601},
		{"no name header", legacyBody("7", "tools/call", `{"name":"zeta","_meta":{`+full+`}}`), []string{version, "Mcp-Method: tools/call"}, 400, -32020},
		{"other name header", legacyBody("7", "tools/call", `{"name":"zeta","_meta":{`+full+`}}`), []string{version, "Mcp-Method: tools/call", "Mcp-Name: alpha"}, 400, -32020},
		{"unknown tool", legacyBody("7", "tools/call", `{"name":"nope","_meta":{`+full+`}}`), []string{version, "Mcp-Method: tools/call", "Mcp-Name: nope"}, 400, -32602},
		{"cursor", legacyBody("7", "tools/list", `{"cursor":"x","_meta":{`+full+`}}`), []string{version, method}, 400, -32602},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := serve(s, post(tt.body, tt.headers...))
			m := decode(t, w)
			if w.Code != tt.status || m.Error == nil || m.Error.Code != tt.code || string(m.ID) != "7" {
				t.Errorf("status %d, body %s", w.Code, w.Body)
			}
		})
	}
	if w := serve(s, post(legacyBody("1", "tools/list", ""), "MCP-Protocol-Version: 2020-01-01")); w.Code != 400 {
		t.Errorf("unknown old version: %d %s", w.Code, w.Body)
	}
}

func TestErrorsAndPanicsShowNothing(t *testing.T) {
	t.Parallel()
	const secret = "postgres://user:secret@db"
	tests := []struct {
		name     string
		call     func(context.Context, mcp.Call) (*mcp.Answer, error)
		text     string
		logs     string
		mustHide bool
	}{
		{"fault", func(context.Context, mcp.Call) (*mcp.Answer, error) {
			return nil, fault.NotFound("there is no note %s", fault.Quote("x")).Because(errors.New(secret))
		}, `here is no note "x".`, "", true},
		{"error", func(context.Context, mcp.Call) (*mcp.Answer, error) { return nil, errors.New(secret) }, "reference", secret, false},
		{"panic", func(context.Context, mcp.Call) (*mcp.Answer, error) { panic(secret) }, "reference", "server_test.go", true},
		{"runtime panic", func(context.Context, mcp.Call) (*mcp.Answer, error) {
			var none []int
			return nil, fmt.Errorf("%d", none[len(os.Args)])
		}, "reference", "index out of range", true},
		{"nothing", func(context.Context, mcp.Call) (*mcp.Answer, error) { return nil, nil }, "reference", "no answer", true},
		{"no object", func(context.Context, mcp.Call) (*mcp.Answer, error) {
			return &mcp.Answer{Structured: json.RawMessage(`[]`)}, nil
		}, "reference", "no answer", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var log strings.Builder
			b := sampleBackend()
			b.call = tt.call
			w := serve(newServer(t, b, &log), post(legacyBody("1", "tools/call", `{"name":"zeta","arguments":{"private":"words"}}`)))
			if body := w.Body.String(); !strings.Contains(body, `"isError":true`) || strings.Contains(body, "secret") || !strings.Contains(body, strings.ReplaceAll(tt.text, `"`, `\"`)) {
				t.Errorf("answer %s", body)
			}
			if !strings.Contains(log.String(), tt.logs) || (tt.logs == "" && log.Len() > 0) || (tt.mustHide && strings.Contains(log.String(), "secret")) || strings.Contains(log.String(), "words") {
				t.Errorf("log %s", &log)
			}
		})
	}
}

type brokenBackend struct{ err error }

func (b brokenBackend) View(context.Context, *http.Request) (*mcp.View, error) {
	if b.err == nil {
		panic("secret")
	}
	return nil, b.err
}

func (b brokenBackend) Call(context.Context, mcp.Call) (*mcp.Answer, error) { panic("unreachable") }

func TestViewFailures(t *testing.T) {
	t.Parallel()
	tests := []struct {
		err    error
		status int
		want   string
	}{
		{errors.New("dsn=secret"), 200, "reference"},
		{fault.Unavailable("the index is waking"), 200, "he index is waking."},
		{nil, 500, "reference"},
	}
	for _, tt := range tests {
		var log strings.Builder
		w := serve(newServer(t, brokenBackend{tt.err}, &log), post(legacyBody(`"x"`, "tools/list", "")))
		m := decode(t, w)
		if w.Code != tt.status || m.Error == nil || m.Error.Code != -32603 || !strings.Contains(m.Error.Message, tt.want) || strings.Contains(m.Error.Message, "secret") || string(m.ID) != `"x"` {
			t.Errorf("%v: %d %s", tt.err, w.Code, w.Body)
		}
	}
}

func TestNotificationsAreAccepted(t *testing.T) {
	t.Parallel()
	b := sampleBackend()
	b.call = func(context.Context, mcp.Call) (*mcp.Answer, error) {
		t.Error("a notification ran a tool")
		return nil, nil
	}
	s := newServer(t, b, io.Discard)
	for _, body := range []string{
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"zeta"}}`,
	} {
		if w := serve(s, post(body)); w.Code != 202 || w.Body.Len() != 0 {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
	if w := serve(s, post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, "MCP-Protocol-Version: 1")); w.Code != 400 {
		t.Errorf("unknown version: %d", w.Code)
	}
}
