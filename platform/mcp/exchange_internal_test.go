package mcp

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"testing"
)

type waiting struct{ started, release chan struct{} }

func (w waiting) View(context.Context, *http.Request) (*View, error) { return nil, errNoAnswer }

func (w waiting) Call(ctx context.Context, _ Call) (*Answer, error) {
	close(w.started)
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-w.release:
		return &Answer{Structured: json.RawMessage(`{}`)}, nil
	}
}

// The session id alone keeps a cancellation that did reach the library from
// another request with the same id: the library keys running requests by both.
func TestSessionsAreApartInTheLibrary(t *testing.T) {
	t.Parallel()
	b := waiting{make(chan struct{}), make(chan struct{})}
	s, err := NewServer(Config{Name: "v", Version: "1", Backend: b, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	view := &View{Tools: []Tool{{Name: "a", Input: json.RawMessage(`{}`)}}}
	parse := func(body string) *exchange {
		m, err := parseMessage([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		q := Request{message: m, ID: m.raw(inID)}
		if err := q.readMethod(); err != nil {
			t.Fatal(err)
		}
		return newExchange(q, view)
	}
	header := http.Header{"Content-Type": {"application/json"}}
	call := parse(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}`)
	done := make(chan struct{})
	go func() {
		s.run(t.Context(), header, call)
		close(done)
	}()
	<-b.started
	s.run(t.Context(), header, parse(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`))
	close(b.release)
	<-done
	if call.answer.IsError {
		t.Errorf("cancelled: %s", call.answer.Text)
	}
}
