package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"vault/platform/mcp"
)

// listView has a list of about the size of the real one.
func listView() *mcp.View {
	v := &mcp.View{Instructions: "Notes."}
	for i := range 11 {
		v.Tools = append(v.Tools, mcp.Tool{Name: fmt.Sprintf("tool%d", i), Description: strings.Repeat("word ", 400), Input: json.RawMessage(schema), Output: json.RawMessage(schema)})
	}
	return v
}

func BenchmarkParseRequest(b *testing.B) {
	for name, r := range map[string]*http.Request{
		"legacy": post(legacyBody("17", "tools/list", `{"_meta":{"progressToken":17}}`), "MCP-Protocol-Version: 2025-11-25"),
		"modern": modernRequest("17", "tools/list", ""),
	} {
		body, _ := io.ReadAll(r.Body)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if q, err := mcp.ParseRequest(r, body); err != nil || q.Key == "" {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkFront compares answering from the store with a bare handler that
// writes the same bytes, over a real connection.
func BenchmarkFront(b *testing.B) {
	back := sampleBackend()
	back.views[""] = listView()
	s := newServer(b, back, io.Discard)
	finished, err := s.Render(b.Context(), listView())
	if err != nil {
		b.Fatal(err)
	}
	whole := serve(s, post(legacyBody("1", "tools/list", ""))).Body.Bytes()
	gate := mcp.Gate(mcp.Config{Hosts: []string{"*"}})
	handlers := []struct {
		name string
		h    http.Handler
	}{
		{"bare", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(whole)
		})},
		{"store", gate(front(b, s, finished))},
		{"server", hostless(s)},
	}
	for _, h := range handlers {
		b.Run(h.name, func(b *testing.B) {
			server := httptest.NewServer(h.h)
			defer server.Close()
			b.SetBytes(int64(len(whole)))
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					fetch(b, server.URL)
				}
			})
		})
	}
}

func fetch(b *testing.B, url string) {
	resp, err := http.Post(url, "application/json", strings.NewReader(legacyBody("1", "tools/list", "")))
	if err != nil {
		b.Error(err)
		return
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
}

func BenchmarkCall(b *testing.B) {
	for _, size := range []int{100, 40000} {
		back := sampleBackend()
		text, _ := json.Marshal(strings.Repeat("word \"x\"\n", size/9))
		structured := bytes.Join([][]byte{[]byte(`{"content":`), text, []byte(`}`)}, nil)
		back.call = func(_ context.Context, _ mcp.Call) (*mcp.Answer, error) {
			return &mcp.Answer{Structured: structured}, nil
		}
		s := newServer(b, back, io.Discard)
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				serve(s, post(legacyBody("1", "tools/call", `{"name":"zeta","arguments":{"path":"a.md"}}`)))
			}
		})
	}
}
