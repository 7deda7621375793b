package e2e

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestGate holds who and what the front lets in.
func TestGate(t *testing.T) {
	t.Parallel()
	d := acme(t)
	_, github := owner(t, d.Ready)
	base := strings.TrimSuffix(d.Address, "/acme")
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	bearer := func(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }
	good := bearer(d.Token)
	with := func(name, value string) http.Header {
		h := good.Clone()
		h.Set(name, value)
		return h
	}
	tests := []struct {
		name, method, url, body string
		header                  http.Header
		host                    string
		want                    int
		challenge               bool
	}{
		{name: "good", method: "POST", url: d.Address, body: list, header: good, want: 200},
		{name: "no token", method: "POST", url: d.Address, body: list, want: 401, challenge: true},
		{name: "junk token", method: "POST", url: d.Address, body: list, header: bearer("junk"), want: 401, challenge: true},
		{name: "changed token", method: "POST", url: d.Address, body: list, header: bearer(d.Token[:len(d.Token)-2] + "AA"), want: 401, challenge: true},
		{name: "raw GitHub token", method: "POST", url: d.Address, body: list, header: bearer(github), want: 401, challenge: true},
		{name: "token in the query", method: "POST", url: d.Address + "?access_token=" + d.Token, body: list, want: 401, challenge: true},
		{name: "basic", method: "POST", url: d.Address, body: list, header: http.Header{"Authorization": {"Basic " + d.Token}}, want: 401, challenge: true},
		{name: "probe without a token", method: "GET", url: d.Address, want: 401, challenge: true},
		{name: "probe with a token", method: "GET", url: d.Address, header: good, want: 405},
		{name: "delete", method: "DELETE", url: d.Address, header: good, want: 405},
		{name: "unknown name", method: "POST", url: base + "/nobody", body: list, header: good, want: 404},
		{name: "unknown name without a token", method: "POST", url: base + "/nobody", body: list, want: 404},
		{name: "root", method: "GET", url: base + "/", want: 404},
		{name: "deeper path", method: "POST", url: d.Address + "/x", body: list, header: good, want: 404},
		{name: "encoded slash", method: "POST", url: base + "/acme%2Fx", body: list, header: good, want: 404},
		{name: "foreign origin", method: "POST", url: d.Address, body: list, header: with("Origin", "https://evil.example"), want: 403},
		{name: "loopback origin", method: "POST", url: d.Address, body: list, header: with("Origin", "http://localhost:6274"), want: 200},
		{name: "foreign host", method: "POST", url: d.Address, body: list, header: good, host: "evil.example", want: 421},
		{name: "huge body", method: "POST", url: d.Address, body: `{"a":"` + strings.Repeat("x", 5<<20) + `"}`, header: good, want: 413},
		{name: "another content type", method: "POST", url: d.Address, body: list, header: with("Content-Type", "text/plain"), want: 415},
		{name: "batch", method: "POST", url: d.Address, body: "[" + list + "]", header: good, want: 400},
		{name: "no JSON", method: "POST", url: d.Address, body: "{", header: good, want: 400},
		{name: "repeated member", method: "POST", url: d.Address, body: `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}`, header: good, want: 400},
		{name: "deep nesting", method: "POST", url: d.Address, body: `{"jsonrpc":"2.0","id":1,"method":"ping","params":` + strings.Repeat(`{"a":`, 10_000) + "1" + strings.Repeat("}", 10_000) + "}", header: good, want: 400},
		{name: "smuggled link key", method: "POST", url: d.Address, body: list, header: http.Header{"Vault-Link": {"x"}, "Vault-Epoch": {"999999"}}, want: 401, challenge: true},
		{name: "unsigned delivery", method: "POST", url: base + "/webhook", body: "{}", header: http.Header{"X-Github-Event": {"push"}}, want: 401},
		{name: "badly signed delivery", method: "POST", url: base + "/webhook", body: "{}", header: http.Header{"X-Github-Event": {"push"}, "X-Hub-Signature-256": {"sha256=" + strings.Repeat("0", 64)}}, want: 401},
		{name: "delivery by GET", method: "GET", url: base + "/webhook", want: 405},
		{name: "hub admin without its token", method: "GET", url: d.Hub + "/admin/state", header: http.Header{"User-Agent": {"x"}}, want: 401},
		{name: "hub admin with a person's token", method: "GET", url: d.Hub + "/admin/state", header: bearer(github), want: 401},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req, err := http.NewRequest(tt.method, tt.url, bytes.NewReader([]byte(tt.body)))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			for name, values := range tt.header {
				req.Header[name] = values
			}
			req.Host = tt.host
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = resp.Body.Close() }()
			body, _ := io.ReadAll(resp.Body)
			if resp.StatusCode != tt.want {
				t.Errorf("status %d, want %d: %s", resp.StatusCode, tt.want, cut(string(body)))
			}
			challenge := resp.Header.Get("WWW-Authenticate")
			if tt.challenge && !strings.Contains(challenge, `resource_metadata="`+base+`/.well-known/oauth-protected-resource/acme"`) {
				t.Errorf("challenge %q", challenge)
			}
			for _, secret := range []string{github, d.Token, d.HubAdmin} {
				if strings.Contains(string(body), secret) {
					t.Errorf("the answer holds a token")
				}
			}
		})
	}
}

// TestRefusalsQuoteWhatWasSent sends what the protocol's library would show
// as it is, or explain in words of its own insides.
func TestRefusalsQuoteWhatWasSent(t *testing.T) {
	t.Parallel()
	c := acme(t).Client()
	for _, tt := range []struct{ body, want string }{
		{`"method":"x\u202ey\n"`, `there is no method \"x`},
		{`"method":"prompts/list"`, `-32601`},
		{`"method":"tools/call","params":[1]`, `"code":-32602,"message":"params must be an object"`},
		{`"method":"tools/call","params":{"name":"x\u202ey"}`, `there is no tool \"x`},
	} {
		resp, err := c.Post([]byte(`{"jsonrpc":"2.0","id":1,`+tt.body+`}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		got := string(resp.Body)
		if !strings.Contains(got, tt.want) || strings.ContainsAny(got, "\u202e") || strings.Contains(got, `\u202e`) || strings.Contains(got, "Go struct") {
			t.Errorf("%s: %s", tt.body, cut(got))
		}
	}
}

// TestNotificationsAreAccepted sends what clients send after initialize.
func TestNotificationsAreAccepted(t *testing.T) {
	t.Parallel()
	resp, err := acme(t).Client().Post([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`), nil)
	if err != nil || resp.Status != http.StatusAccepted || len(resp.Body) > 0 {
		t.Errorf("%d %s, %v", resp.Status, resp.Body, err)
	}
}

// TestIDsAreEchoedExactly sends ids that a float would change, through both
// ways of answering.
func TestIDsAreEchoedExactly(t *testing.T) {
	t.Parallel()
	c := acme(t).Client()
	for _, id := range []string{"9007199254740993", `"a\u00e9"`, "-1", `""`, "0"} {
		for _, rest := range []string{`"method":"tools/list"`, `"method":"tools/call","params":{"name":"tree","arguments":{}}`} {
			resp, err := c.Post([]byte(`{"jsonrpc":"2.0","id":`+id+`,`+rest+`}`), nil)
			if err != nil || resp.Status != 200 || !strings.Contains(string(resp.Body), `"id":`+id) {
				t.Errorf("%s %s: %d %s, %v", id, rest, resp.Status, cut(string(resp.Body)), err)
			}
		}
	}
}
