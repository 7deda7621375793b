// Package mcp speaks the Model Context Protocol over HTTP: it is the only
// place that knows the protocol library, and it closes what the library leaves
// open.
//
// One Server serves both protocol eras on one address. What a caller sees is a
// View made per request by a Backend, so that two callers never share more
// than code. The Server also renders a View into the finished result bytes of
// its list methods, and ParseRequest and WriteResult let another process
// answer those methods from the stored bytes exactly as the Server would.
package mcp

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
)

// DefaultMaxBody is the largest request body in bytes unless Config says
// otherwise: room for a long note with every character escaped.
const DefaultMaxBody = 4 << 20

// Tool is one entry of tools/list. Input and Output are JSON Schemas that are
// listed byte for byte as they stand, apart from insignificant white space.
type Tool struct {
	Name        string
	Title       string
	Description string
	Input       json.RawMessage
	Output      json.RawMessage
	Annotations Annotations
	// Meta is the entry's _meta; it is left out when empty.
	Meta map[string]any
}

// Annotations are the behaviour hints of a tool. A nil hint is not listed,
// which clients read as the specification's default for it.
type Annotations struct {
	ReadOnly    *bool
	Destructive *bool
	Idempotent  *bool
	OpenWorld   *bool
}

// View is what one caller sees: the instructions sent at the start, and the
// tools in listing order. It must not change once it was handed over.
type View struct {
	Instructions string
	Tools        []Tool
}

// Call is one tools/call of a tool that the caller's View lists.
type Call struct {
	Name string
	// Arguments is the argument object as the client sent it, or "{}". Keys
	// may repeat and nothing was checked against the tool's schema.
	Arguments json.RawMessage
	// ClientName and ClientVersion are what the client says of itself, in the
	// request or else in its User-Agent; never a ground for a decision.
	ClientName    string
	ClientVersion string
}

// Answer is the outcome of a Call.
type Answer struct {
	// Structured is one JSON object, encoded without HTML escaping. It goes
	// out as structuredContent and, the same bytes, as the text block.
	Structured json.RawMessage
	// IsError says that the call could not be done; then only Text goes out.
	IsError bool
	// Text is the sentence for the model when IsError is set.
	Text string
	// Meta is the result's _meta; it is left out when empty.
	Meta map[string]any
}

// Backend is what the Server serves. Both methods get the request's context
// with everything that middleware in front of the Server put there.
//
// An error from either is told to the caller through fault.Public: the
// sentences of a fault, or for anything else a reference under which the error
// was logged.
type Backend interface {
	// View gives what this request's caller sees. It is asked once for each
	// request and should be cheap.
	View(ctx context.Context, r *http.Request) (*View, error)
	// Call runs one tool. It is called only for tools in the View.
	Call(ctx context.Context, call Call) (*Answer, error)
}

// Config says what a Server or a Gate needs.
type Config struct {
	// Name and Version identify the server to clients.
	Name    string
	Version string
	// Backend gives views and runs tools; a Gate needs none.
	Backend Backend
	// MaxBody is the largest request body in bytes; 0 means DefaultMaxBody.
	MaxBody int64
	// Hosts are the Host headers that are answered: "name" allows any port,
	// "name:port" that one, "*" every host. Empty allows loopback names only.
	Hosts []string
	// Origins are the web origins that may call from a browser, as
	// "scheme://host" or "scheme://host:port"; a loopback host without a port
	// allows any port. The request's own host is always allowed.
	Origins []string
	// Log receives failures with their references. It must be set.
	Log *slog.Logger
}

// limit is the body limit in force.
func (c Config) limit() int64 {
	if c.MaxBody > 0 {
		return c.MaxBody
	}
	return DefaultMaxBody
}
