package mcp

import (
	"context"
	"log/slog"
	"maps"
	"net/http"

	library "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"vault/platform/telemetry"
)

const levelError = slog.LevelError

func attr(key, value string) slog.Attr { return slog.String(key, value) }

// newLibrary sets the library up without everything that would be shared
// between callers: no sessions, no streams, no notifications, no tools of its
// own, no instructions of its own.
func (s *Server) newLibrary() *server.StreamableHTTPServer {
	hooks := &server.Hooks{}
	hooks.AddAfterInitialize(func(ctx context.Context, _ any, _ *library.InitializeRequest, result *library.InitializeResult) {
		result.Instructions = exchangeOf(ctx).view.Instructions
	})
	hooks.AddAfterDiscover(func(ctx context.Context, _ any, _ *library.DiscoverRequest, result *library.DiscoverResult) {
		result.Instructions = exchangeOf(ctx).view.Instructions
	})
	hooks.AddAfterListTools(func(ctx context.Context, _ any, _ *library.ListToolsRequest, result *library.ListToolsResult) {
		result.Tools = listed(exchangeOf(ctx).view.Tools)
	})
	shared := server.NewMCPServer(s.config.Name, s.config.Version,
		server.WithHooks(hooks),
		server.WithToolCapabilities(false),
		server.WithCacheHints(0, library.CacheScopePrivate),
	)
	return server.NewStreamableHTTPServer(shared,
		server.WithStateLess(true),
		server.WithDisableStreaming(true),
		server.WithDisableLocalhostProtection(true), // the gate judges hosts
		server.WithStreamableHTTPLogger(s.config.Log),
		server.WithHTTPContextFunc(func(ctx context.Context, _ *http.Request) context.Context {
			return shared.WithContext(ctx, exchangeOf(ctx))
		}),
	)
}

// listed converts a view's tools, keeping their order.
func listed(tools []Tool) []library.Tool {
	out := make([]library.Tool, 0, len(tools))
	for _, t := range tools {
		entry := library.Tool{
			Name: t.Name, Title: t.Title, Description: t.Description,
			RawInputSchema: t.Input, RawOutputSchema: t.Output,
			Annotations: library.ToolAnnotation{
				ReadOnlyHint: t.Annotations.ReadOnly, DestructiveHint: t.Annotations.Destructive,
				IdempotentHint: t.Annotations.Idempotent, OpenWorldHint: t.Annotations.OpenWorld,
			},
		}
		if len(t.Meta) > 0 {
			entry.Meta = &library.Meta{AdditionalFields: t.Meta}
		}
		out = append(out, entry)
	}
	return out
}

// run hands the request to the library and records what it answers.
func (s *Server) run(ctx context.Context, h http.Header, x *exchange) *recorder {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the library's own goroutine even after a panic
	x.handler = func(ctx context.Context, _ library.CallToolRequest) (*library.CallToolResult, error) {
		x.answer = s.call(ctx, h.Get("User-Agent"), x)
		return x.placeholder(), nil
	}
	rec := newRecorder()
	s.http.Handle(rec, &server.HTTPRequest{
		Method: http.MethodPost, Header: h, Body: x.request.libraryBody(), Context: withExchange(ctx, x),
	})
	return rec
}

// call runs the tool and never fails: what went wrong becomes an answer.
func (s *Server) call(ctx context.Context, userAgent string, x *exchange) (answer *Answer) {
	defer func() {
		if v := recover(); v != nil {
			answer = &Answer{IsError: true, Text: s.panicked(ctx, v)}
		}
	}()
	c := Call{Name: x.request.Tool, Arguments: x.request.arguments()}
	c.ClientName, c.ClientVersion = x.request.client(userAgent)
	telemetry.Add(ctx, telemetry.KeyTool, toolLabel(c.Name))
	answer, err := s.config.Backend.Call(ctx, c)
	if err == nil {
		err = answer.check()
	}
	if err != nil {
		return &Answer{IsError: true, Text: s.public(ctx, err)}
	}
	return answer
}

// placeholder is the call's result as the library sees it: marks in place of
// the text, which may be large and is put in once, at the end. The library
// adds to the result's _meta, so it gets a copy.
func (x *exchange) placeholder() *library.CallToolResult {
	result := &library.CallToolResult{
		Content: []library.Content{library.TextContent{Type: "text", Text: x.textMark()}},
		IsError: x.answer.IsError,
	}
	if !x.answer.IsError {
		result.RawStructuredContent = []byte(`"` + x.dataMark() + `"`)
	}
	if len(x.answer.Meta) > 0 {
		result.Meta = &library.Meta{AdditionalFields: maps.Clone(x.answer.Meta)}
	}
	return result
}

func (x *exchange) textMark() string { return x.id + ".text" }

func (x *exchange) dataMark() string { return x.id + ".data" }
