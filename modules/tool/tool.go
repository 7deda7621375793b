package tool

import (
	"context"

	"vault/modules/index"
	"vault/platform/mcp"
)

// Tool is one tool: how it is listed, before the repositories of a caller are
// filled in, and what runs it.
type Tool struct {
	Spec    mcp.Tool
	Handler Handler
}

// Handler runs one call. What it gives is encoded as the structured content,
// directly or wrapped in a Result. What the model can act on is returned as a
// *fault.Error; any other error is told to nobody but the operator.
type Handler func(ctx context.Context, call *Call) (any, error)

// Call is one call of a tool by one person.
type Call struct {
	// Index is one state of the index, as the caller may see it.
	Index *index.Snapshot
	// ClientName and ClientVersion are what the client says of itself; never a
	// ground for a decision.
	ClientName    string
	ClientVersion string
	// Input is the checked arguments; Decode reads them.
	Input Input
}

// Result is an answer with _meta.
type Result struct {
	// Data is encoded as the structured content.
	Data any
	// Meta is the result's _meta.
	Meta map[string]any
}
