package mcp

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"runtime/debug"

	library "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"vault/platform/fault"
	"vault/platform/telemetry"
)

const codeInternal = library.INTERNAL_ERROR

// Server is the MCP endpoint of one backend. It keeps nothing between two
// requests: no session, no stream, no list of clients.
type Server struct {
	config Config
	gate   *gate
	http   *server.StreamableHTTPServer
}

// NewServer makes the endpoint. It fails when the configuration lacks a part.
func NewServer(c Config) (*Server, error) {
	if c.Name == "" || c.Version == "" || c.Backend == nil || c.Log == nil {
		return nil, errors.New("an MCP server needs a name, a version, a backend and a log")
	}
	s := &Server{config: c, gate: newGate(c)}
	s.http = s.newLibrary()
	return s, nil
}

// ServeHTTP answers one request from start to end, the gate included.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.gate.admit(w, r) {
		return
	}
	body, err := ReadBody(r)
	if err != nil {
		WriteError(w, err)
		return
	}
	q, err := ParseRequest(r, body)
	if err != nil {
		WriteError(w, err)
		return
	}
	if q.Acknowledged() {
		WriteAccepted(w)
		return
	}
	s.answer(w, r, q)
}

// answer serves a parsed request. Whatever goes wrong on the way, the client
// learns no more than a reference.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, q Request) {
	defer func() {
		if v := recover(); v != nil {
			s.caught(w, r, q, v)
		}
	}()
	telemetry.Add(r.Context(), "method", q.MethodLabel())
	telemetry.Add(r.Context(), "era", string(q.Era))
	view, err := s.view(r, q.Method)
	if err != nil {
		WriteError(w, s.internal(r.Context(), q, err))
		return
	}
	x := newExchange(q, view)
	if err := x.refusal(r.Header); err != nil {
		WriteError(w, err)
		return
	}
	rec := s.run(r.Context(), r.Header, x)
	if err := rec.finish(w, x); err != nil {
		WriteError(w, s.internal(r.Context(), q, err))
	}
}

// view asks the backend for what the caller sees, for the methods whose answer
// depends on it.
func (s *Server) view(r *http.Request, method string) (*View, error) {
	switch method {
	case methodInitialize, methodDiscover, methodToolsList, methodToolsCall:
	default:
		return &View{}, nil
	}
	view, err := s.config.Backend.View(r.Context(), r)
	if err == nil && view == nil {
		err = errors.New("the backend gave no view")
	}
	return view, err
}

// internal turns an error into what the caller may see, and logs what the
// caller may not.
func (s *Server) internal(ctx context.Context, q Request, err error) *RequestError {
	return &RequestError{
		Status: http.StatusOK, Code: codeInternal, ID: q.ID,
		Message: s.public(ctx, err),
	}
}

// public gives the caller's text for err and logs it when that text hides the
// cause.
func (s *Server) public(ctx context.Context, err error) string {
	reference := fault.NewReference()
	kind := fault.KindOf(err)
	if ctx.Err() != nil { // what failed because the caller left is no fault
		telemetry.Add(ctx, telemetry.KeyOutcome, "canceled")
		return fault.Public(err, reference)
	}
	telemetry.Add(ctx, telemetry.KeyOutcome, string(kind))
	if kind == fault.KindInternal {
		telemetry.Add(ctx, "reference", reference)
		s.config.Log.LogAttrs(ctx, levelError, "mcp request failed", attr("reference", reference), attr("error", err.Error()))
	}
	return fault.Public(err, reference)
}

// caught answers a request whose handling panicked outside a tool.
func (s *Server) caught(w http.ResponseWriter, r *http.Request, q Request, v any) {
	if v == http.ErrAbortHandler {
		panic(v)
	}
	text := s.panicked(r.Context(), v)
	WriteError(w, &RequestError{Status: http.StatusInternalServerError, Code: codeInternal, Message: text, ID: q.ID})
}

// panicked logs a recovered panic and gives the caller's text. The panic's own
// text is logged only when the runtime wrote it, since any other may hold what
// a caller sent.
func (s *Server) panicked(ctx context.Context, v any) string {
	reference := fault.NewReference()
	telemetry.Add(ctx, telemetry.KeyOutcome, "panic")
	telemetry.Add(ctx, "reference", reference)
	s.config.Log.LogAttrs(ctx, levelError, "mcp request panicked",
		attr("reference", reference), attr("panic", panicText(v)), attr("stack", string(debug.Stack())))
	return fault.Public(errPanic, reference)
}

var errPanic = errors.New("panic")

func panicText(v any) string {
	if err, ok := v.(runtime.Error); ok {
		return err.Error()
	}
	return "a value that is not shown"
}
