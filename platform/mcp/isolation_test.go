package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"vault/platform/mcp"
)

var errSecret = errors.New("secret")

type personKey struct{}

// asPerson stands for the middleware that knows who is calling.
func asPerson(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), personKey{}, r.Header.Get("X-Person"))))
	})
}

// personView gives every person tools and instructions of their own.
func personView(person string) *mcp.View {
	return &mcp.View{Instructions: "for " + person, Tools: []mcp.Tool{
		{Name: "shared", Description: "for " + person, Input: json.RawMessage(`{"type":"object"}`)},
		{Name: person + "__own", Input: json.RawMessage(`{"type":"object"}`)},
	}}
}

func people(n int) *backend {
	b := &backend{views: map[string]*mcp.View{}}
	for i := range n {
		person := fmt.Sprintf("p%d", i)
		b.views[person] = personView(person)
	}
	return b
}

// A client's cancellation must not end another client's request, even though
// both used the same request id and the library keys running requests by it.
func TestCancellationStaysWithItsCaller(t *testing.T) {
	t.Parallel()
	for _, sendBoth := range []string{"2025-11-25", modern} {
		started, release := make(chan struct{}), make(chan struct{})
		b := people(2)
		b.call = func(ctx context.Context, _ mcp.Call) (*mcp.Answer, error) {
			close(started)
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-release:
				return &mcp.Answer{Structured: json.RawMessage(`{"done":true}`)}, nil
			}
		}
		s := newServer(t, b, io.Discard)
		answer := make(chan *httptest.ResponseRecorder)
		go func() {
			answer <- serve(s, post(legacyBody("1", "tools/call", `{"name":"shared"}`), "X-Person: p0"))
		}()
		<-started
		cancel := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
		for _, person := range []string{"p1", "p0"} {
			// A version that the front would not acknowledge goes to the library.
			serve(s, post(cancel, "X-Person: "+person, "MCP-Protocol-Version: "+sendBoth))
			serve(s, post(cancel, "X-Person: "+person))
		}
		close(release)
		if w := <-answer; !strings.Contains(w.Body.String(), `"done":true`) {
			t.Errorf("cancelled by another request: %s", w.Body)
		}
	}
}

// A client that hangs up does end its own request.
func TestHangingUpCancels(t *testing.T) {
	t.Parallel()
	cancelled := make(chan struct{})
	started := make(chan struct{})
	b := people(1)
	b.call = func(ctx context.Context, _ mcp.Call) (*mcp.Answer, error) {
		close(started)
		<-ctx.Done()
		close(cancelled)
		return nil, ctx.Err()
	}
	var log strings.Builder
	server := httptest.NewServer(hostless(newServer(t, b, &log)))
	ctx, hangUp := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, strings.NewReader(legacyBody("1", "tools/call", `{"name":"shared"}`)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Person", "p0")
	go func() { <-started; hangUp() }()
	if resp, err := http.DefaultClient.Do(r); err == nil {
		_ = resp.Body.Close()
		t.Error("answered")
	}
	<-cancelled
	server.Close() // waits for the handler
	if log.Len() > 0 {
		t.Errorf("a hung-up client is no failure: %s", &log)
	}
}

// hostless gives a test server's requests the host that the gate expects.
func hostless(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Host = "vault.test"
		next.ServeHTTP(w, r)
	})
}

// Neither streams nor subscriptions exist, so nothing of one caller's request
// can be delivered to another.
func TestNoStreams(t *testing.T) {
	t.Parallel()
	s := newServer(t, people(1), io.Discard)
	r := post("", "X-Person: p0", "Accept: text/event-stream")
	r.Method = http.MethodGet
	if w := serve(s, r); w.Code != 405 || w.Header().Get("Allow") != "POST" {
		t.Errorf("GET: %d", w.Code)
	}
	w := serve(s, modernRequest("1", "subscriptions/listen", `"notifications":{"toolsListChanged":true},`, "X-Person: p0"))
	if w.Code != 404 || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("listen: %d %v", w.Code, w.Header())
	}
}

// Many callers at once, all with the same request ids: each sees its own list,
// its own answer and its own context.
func TestParallelCallersSeeTheirOwn(t *testing.T) {
	t.Parallel()
	const callers, rounds = 16, 25
	b := people(callers)
	b.call = func(ctx context.Context, c mcp.Call) (*mcp.Answer, error) {
		person, _ := ctx.Value(personKey{}).(string)
		return &mcp.Answer{
			Structured: json.RawMessage(fmt.Sprintf(`{"person":%q,"got":%s}`, person, c.Arguments)),
			Meta:       map[string]any{"person": person},
		}, nil
	}
	server := httptest.NewServer(hostless(asPerson(newServer(t, b, io.Discard))))
	defer server.Close()
	var wg sync.WaitGroup
	for i := range callers {
		person := fmt.Sprintf("p%d", i)
		for round := range rounds {
			wg.Go(func() { checkOwn(t, server.URL, person, round) })
		}
	}
	wg.Wait()
}

func checkOwn(t *testing.T, url, person string, round int) {
	other := "for p"
	list := send(t, url, person, post(legacyBody("1", "tools/list", "")))
	if strings.Count(list, other) != 1 || !strings.Contains(list, `"for `+person+`"`) || !strings.Contains(list, person+"__own") {
		t.Errorf("%s sees %s", person, list)
	}
	discovered := send(t, url, person, modernRequest("1", "server/discover", ""))
	if !strings.Contains(discovered, `"instructions":"for `+person+`"`) {
		t.Errorf("%s sees %s", person, discovered)
	}
	got := send(t, url, person, post(legacyBody("1", "tools/call", fmt.Sprintf(`{"name":"shared","arguments":{"round":%d}}`, round))))
	if !strings.Contains(got, fmt.Sprintf(`{"person":%q,"got":{"round":%d}}`, person, round)) || !strings.Contains(got, `"_meta":{"person":"`+person+`"}`) {
		t.Errorf("%s gets %s", person, got)
	}
	foreign := send(t, url, person, post(legacyBody("1", "tools/call", `{"name":"px__own"}`)))
	if !strings.Contains(foreign, "-32602") {
		t.Errorf("%s calls a foreign tool: %s", person, foreign)
	}
}

func send(t *testing.T, url, person string, r *http.Request) string {
	r.RequestURI = ""
	out, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, r.Body)
	if err != nil {
		t.Error(err)
		return ""
	}
	out.Header = r.Header
	out.Header.Set("X-Person", person)
	resp, err := http.DefaultClient.Do(out)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return string(body)
}

// Marks of one answer never show up in it, whatever the tool returns.
func TestMarksAreReplaced(t *testing.T) {
	t.Parallel()
	for _, structured := range []string{`{}`, `{"a":".text\".data\""}`, `{"a":"` + strings.Repeat(`\"é\\`, 20000) + `"}`} {
		b := people(1)
		b.call = func(context.Context, mcp.Call) (*mcp.Answer, error) {
			return &mcp.Answer{Structured: json.RawMessage(structured)}, nil
		}
		m := decode(t, serve(newServer(t, b, io.Discard), post(legacyBody("1", "tools/call", `{"name":"shared"}`), "X-Person: p0")))
		var result struct {
			Content []struct{ Text string }
			Raw     json.RawMessage `json:"structuredContent"`
		}
		if err := json.Unmarshal(m.Result, &result); err != nil {
			t.Fatal(err)
		}
		if string(result.Raw) != structured || result.Content[0].Text != structured {
			t.Errorf("got %.200s", m.Result)
		}
	}
}
