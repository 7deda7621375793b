package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault/platform/mcp"
)

// variant is one way to send a request; stored says whether the store may
// answer it.
type variant struct {
	name   string
	stored bool
	build  func(id string) *http.Request
}

func legacy(name string, stored bool, method, params string, headers ...string) variant {
	return variant{name, stored, func(id string) *http.Request { return post(legacyBody(id, method, params), headers...) }}
}

func modernMeta(name string, stored bool, method, meta, more string, headers ...string) variant {
	return variant{name, stored, func(id string) *http.Request {
		return post(`{"jsonrpc":"2.0","id":`+id+`,"method":"`+method+`","params":{`+more+`"_meta":{`+meta+`}}}`, headers...)
	}}
}

func initParams(version string) string {
	return `{"protocolVersion":"` + version + `","capabilities":{"roots":{"listChanged":true},"sampling":{}},"clientInfo":{"name":"c","version":"1"}}`
}

func variants() []variant {
	version := "MCP-Protocol-Version: "
	pair := `"` + versionK + `":"` + modern + `","` + capsK + `":`
	list, discover := "Mcp-Method: tools/list", "Mcp-Method: server/discover"
	v := []variant{
		legacy("list", true, "tools/list", ""),
		legacy("list, empty params", true, "tools/list", "{}"),
		legacy("list, progress", true, "tools/list", `{"_meta":{"progressToken":5}}`),
		legacy("list, empty cursor", true, "tools/list", `{"cursor":""}`),
		legacy("list, null cursor", true, "tools/list", `{"cursor":null}`),
		legacy("list, cursor", false, "tools/list", `{"cursor":"emV0YQ=="}`),
		legacy("list, bad cursor", false, "tools/list", `{"cursor":7}`),
		legacy("list, null params", false, "tools/list", `null`),
		legacy("list, array params", false, "tools/list", `[]`),
		legacy("list, null meta", false, "tools/list", `{"_meta":null}`),
		legacy("list, bad meta", false, "tools/list", `{"_meta":"x"}`),
		legacy("list, old meta version", true, "tools/list", `{"_meta":{"`+versionK+`":"2025-06-18"}}`),
		legacy("list, number as version", false, "tools/list", `{"_meta":{"`+versionK+`":20260728}}`),
		legacy("list, word as version", false, "tools/list", `{"_meta":{"`+versionK+`":"latest"}}`),
		legacy("list, session id", true, "tools/list", "", "Mcp-Session-Id: abc"),
		legacy("list, last event", true, "tools/list", "", "Last-Event-ID: 4"),
		legacy("list, charset", true, "tools/list", "", "X: y"),
		legacy("list, unknown header version", false, "tools/list", "", version+"2020-01-01"),
		legacy("list, modern header", false, "tools/list", "", version+modern),
		legacy("list, two versions", false, "tools/list", "", version+"2025-06-18", version+"2025-11-25"),
		legacy("list, escaped method", true, `tools\/list`, ""),
		legacy("ping", true, "ping", ""),
		legacy("ping, params", true, "ping", "{}"),
		legacy("call", false, "tools/call", `{"name":"zeta"}`),
		legacy("unknown", false, "prompts/list", ""),
		legacy("initialize without params", true, "initialize", ""),
		legacy("initialize, bad client", false, "initialize", `{"protocolVersion":"2025-06-18","clientInfo":[]}`),
		legacy("initialize, bad version", false, "initialize", `{"protocolVersion":5}`),
		legacy("initialize, modern header", false, "initialize", initParams("2025-11-25"), version+modern),
		legacy("initialize, header", true, "initialize", initParams("2025-11-25"), version+"2025-11-25"),
		modernMeta("modern list", true, "tools/list", pair+`{}`, "", version+modern, list),
		modernMeta("modern list, capabilities", true, "tools/list", pair+`{"sampling":{},"elicitation":{"form":{}},"x":1}`, "", version+modern, list),
		modernMeta("modern list, client", true, "tools/list", pair+`{},"io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"}`, "", version+modern, list),
		modernMeta("modern list, odd client", true, "tools/list", pair+`{},"io.modelcontextprotocol/clientInfo":7`, "", version+modern, list),
		modernMeta("modern discover", true, "server/discover", pair+`{}`, "", version+modern, discover),
		modernMeta("modern, no version header", false, "tools/list", pair+`{}`, "", list),
		modernMeta("modern, other header", false, "tools/list", pair+`{}`, "", version+"2025-11-25", list),
		modernMeta("modern, later version", false, "tools/list", `"`+versionK+`":"2027-01-01","`+capsK+`":{}`, "", version+"2027-01-01", list),
		modernMeta("modern, no capabilities", false, "tools/list", `"`+versionK+`":"`+modern+`"`, "", version+modern, list),
		modernMeta("modern, null capabilities", false, "tools/list", pair+`null`, "", version+modern, list),
		modernMeta("modern, bad capabilities", false, "tools/list", pair+`{"roots":7}`, "", version+modern, list),
		modernMeta("modern, no method header", false, "tools/list", pair+`{}`, "", version+modern),
		modernMeta("modern, other method header", false, "tools/list", pair+`{}`, "", version+modern, discover),
		modernMeta("modern, two method headers", false, "tools/list", pair+`{}`, "", version+modern, list, discover),
		modernMeta("modern, method in capitals", false, "tools/list", pair+`{}`, "", version+modern, "Mcp-Method: Tools/List"),
		modernMeta("modern, needless name", true, "tools/list", pair+`{}`, "", version+modern, list, "Mcp-Name: zeta"),
		modernMeta("modern, last event", false, "tools/list", pair+`{}`, "", version+modern, list, "Last-Event-ID: 1"),
		modernMeta("modern, cursor", false, "tools/list", pair+`{}`, `"cursor":"eA==",`, version+modern, list),
		modernMeta("modern ping", false, "ping", pair+`{}`, "", version+modern, "Mcp-Method: ping"),
		modernMeta("modern initialize", false, "initialize", pair+`{}`, "", version+modern, "Mcp-Method: initialize"),
		modernMeta("modern call", false, "tools/call", pair+`{}`, `"name":"zeta",`, version+modern, "Mcp-Method: tools/call", "Mcp-Name: zeta"),
	}
	for _, known := range []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} {
		v = append(v,
			legacy("list "+known, true, "tools/list", "{}", version+known),
			legacy("initialize "+known, true, "initialize", initParams(known)))
	}
	for _, other := range []string{"2026-07-28", "1999-01-01", "", "nonsense", "9999-01-01"} {
		v = append(v, legacy("initialize "+other, true, "initialize", initParams(other)))
	}
	return v
}

// refused are bodies that both sides refuse in the same words.
func refused() []string {
	return []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","Method":"tools/call"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{},"_META":{}}}`,
		`[]`, `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, ``, `{}`, `nul`, `{"jsonrpc":"2.0","id":1,"method":"tools/list"} {}`,
		`{"jsonrpc":"2.0","id":null,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\xff\"}",
	}
}

func TestStoreAnswersLikeTheServer(t *testing.T) {
	t.Parallel()
	s := newServer(t, sampleBackend(), io.Discard)
	finished, err := s.Render(t.Context(), sampleView())
	if err != nil {
		t.Fatal(err)
	}
	f := front(t, s, finished)
	ids := []string{"1", "0", "-5", "9007199254740993", "340282366920938463463374607431768211456", "1.50", `"abc"`, `"\u00e9\n"`, `""`}
	for _, v := range variants() {
		for _, id := range ids {
			compare(t, fmt.Sprintf("%s, id %s", v.name, id), v.stored, serve(s, v.build(id)), serve(f, v.build(id)))
		}
	}
	for _, body := range refused() {
		compare(t, body, false, serve(s, post(body)), serve(f, post(body)))
	}
}

// compare checks that both answers are the same to the byte.
func compare(t *testing.T, name string, stored bool, want, got *httptest.ResponseRecorder) {
	t.Helper()
	if (got.Header().Get("X-Stored") != "") != stored {
		t.Errorf("%s: answered from the store: %v", name, !stored)
	}
	got.Header().Del("X-Stored")
	if stored && !strings.Contains(want.Body.String(), `"result":`) {
		t.Errorf("%s: the server refuses it: %s", name, want.Body)
	}
	if want.Code != got.Code || want.Body.String() != got.Body.String() {
		t.Errorf("%s:\nserver %d %s\nfront  %d %s", name, want.Code, want.Body, got.Code, got.Body)
	}
	if diff := cmp.Diff(want.Header(), got.Header()); diff != "" {
		t.Errorf("%s: headers %s", name, diff)
	}
}

func TestFinishedSurvivesStorage(t *testing.T) {
	t.Parallel()
	s := newServer(t, sampleBackend(), io.Discard)
	finished, err := s.Render(t.Context(), sampleView())
	if err != nil {
		t.Fatal(err)
	}
	if len(finished) != 8 {
		t.Errorf("%d results", len(finished))
	}
	stored, err := json.Marshal(finished)
	if err != nil {
		t.Fatal(err)
	}
	var back mcp.Finished
	if err := json.Unmarshal(stored, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(finished, back); diff != "" {
		t.Error(diff)
	}
}

func TestRenderRefusesUnusableViews(t *testing.T) {
	t.Parallel()
	s := newServer(t, sampleBackend(), io.Discard)
	input := json.RawMessage(`{"type":"object"}`)
	for name, tools := range map[string][]mcp.Tool{
		"no name":          {{Input: input}},
		"bad name":         {{Name: "a b", Input: input}},
		"long name":        {{Name: strings.Repeat("a", 129), Input: input}},
		"twice":            {{Name: "a", Input: input}, {Name: "a", Input: input}},
		"no schema":        {{Name: "a"}},
		"broken schema":    {{Name: "a", Input: json.RawMessage(`{"type":`)}},
		"array schema":     {{Name: "a", Input: json.RawMessage(`[]`)}},
		"broken output":    {{Name: "a", Input: input, Output: json.RawMessage(`{`)}},
		"header":           {{Name: "a", Input: json.RawMessage(`{"properties":{"p":{"x-mcp-header":"P"}}}`)}},
		"header, escaped":  {{Name: "a", Input: json.RawMessage(`{"allOf":[{"p":{"x-mcp-h\u0065ader":"P"}}]}`)}},
		"header in output": {{Name: "a", Input: input, Output: json.RawMessage(`{"x-mcp-header":1}`)}},
	} {
		if _, err := s.Render(t.Context(), &mcp.View{Tools: tools}); err == nil {
			t.Errorf("%s: rendered", name)
		}
	}
	if _, err := s.Render(t.Context(), &mcp.View{}); err != nil {
		t.Errorf("an empty view: %v", err)
	}
	if _, err := s.Render(t.Context(), &mcp.View{Tools: []mcp.Tool{{Name: "a", Input: json.RawMessage(`{"description":"x-mcp-header"}`)}}}); err != nil {
		t.Errorf("the words in a description: %v", err)
	}
}

func TestRenderIsStable(t *testing.T) {
	t.Parallel()
	s := newServer(t, sampleBackend(), io.Discard)
	first, err := s.Render(t.Context(), sampleView())
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.Render(context.Background(), sampleView())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Error(diff)
	}
}

// FuzzStoreAgreesWithTheServer holds front and server together on any body: a
// body is never answered differently by the two.
func FuzzStoreAgreesWithTheServer(f *testing.F) {
	for _, v := range variants() {
		r := v.build("1")
		body, _ := io.ReadAll(r.Body)
		f.Add(string(body), r.Header.Get("MCP-Protocol-Version"), r.Header.Get("Mcp-Method"))
	}
	for _, body := range refused() {
		f.Add(body, "", "")
	}
	s := newServer(f, sampleBackend(), io.Discard)
	finished, err := s.Render(f.Context(), sampleView())
	if err != nil {
		f.Fatal(err)
	}
	h := front(f, s, finished)
	f.Fuzz(func(t *testing.T, body, version, method string) {
		build := func() *http.Request {
			r := post(body)
			if version != "" {
				r.Header.Set("MCP-Protocol-Version", version)
			}
			if method != "" {
				r.Header.Set("Mcp-Method", method)
			}
			return r
		}
		want, got := serve(s, build()), serve(h, build())
		if want.Code != got.Code || want.Body.String() != got.Body.String() {
			t.Errorf("%q:\nserver %d %s\nfront  %d %s", body, want.Code, want.Body, got.Code, got.Body)
		}
		if want.Code == http.StatusOK && !json.Valid(want.Body.Bytes()) {
			t.Errorf("%q: invalid answer %s", body, want.Body)
		}
	})
}

func TestMethodLabelsAreFew(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		legacyBody("1", "tools/list", ""):                         "tools/list",
		legacyBody("1", "secret words", ""):                       "other",
		`{"jsonrpc":"2.0","method":"notifications/secret words"}`: "notification",
	} {
		q, err := mcp.ParseRequest(post(body), []byte(body))
		if err != nil || q.MethodLabel() != want {
			t.Errorf("%s: %q, %v", body, q.MethodLabel(), err)
		}
	}
}
