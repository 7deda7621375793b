package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	library "github.com/mark3labs/mcp-go/mcp"
)

// Finished holds the result bytes of the methods that can be answered without
// the server, by Request.Key. It survives a round trip through encoding/json
// byte for byte.
type Finished map[string]json.RawMessage

// The keys of Finished besides those of initialize, which has one for each
// version it can agree on.
const (
	keyDiscover    = "server/discover"
	keyToolsLegacy = "tools/list legacy"
	keyToolsModern = "tools/list modern"
	keyPing        = "ping"
)

// initializeKeys names the results of initialize by the version agreed on.
var initializeKeys = map[string]string{
	library.ProtocolVersion20251125: "initialize " + library.ProtocolVersion20251125,
	library.ProtocolVersion20250618: "initialize " + library.ProtocolVersion20250618,
	library.ProtocolVersion20250326: "initialize " + library.ProtocolVersion20250326,
	library.ProtocolVersion20241105: "initialize " + library.ProtocolVersion20241105,
}

// Result gives the stored result that answers q; ok is false when q must be
// forwarded.
func (f Finished) Result(q Request) (result []byte, ok bool) {
	if q.Key == "" {
		return nil, false
	}
	result, ok = f[q.Key]
	return result, ok
}

// Render answers every list method for view in this process, through the same
// path as any request, and keeps the results. It fails for a view that clients
// could not use.
func (s *Server) Render(ctx context.Context, view *View) (Finished, error) {
	if err := view.check(); err != nil {
		return nil, err
	}
	finished := Finished{}
	for _, version := range library.LegacyProtocolVersions() {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"","version":""}}}`, version)
		if err := s.render(ctx, view, finished, body); err != nil {
			return nil, err
		}
	}
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		modernBody(methodToolsList),
		modernBody(methodDiscover),
	} {
		if err := s.render(ctx, view, finished, body); err != nil {
			return nil, err
		}
	}
	return finished, nil
}

func modernBody(method string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"_meta":{%q:%q,%q:{}}}}`,
		method, library.MetaKeyProtocolVersion, library.LATEST_PROTOCOL_VERSION, library.MetaKeyClientCapabilities)
}

// render adds the result of one request.
func (s *Server) render(ctx context.Context, view *View, finished Finished, body string) error {
	r, q, err := renderRequest(ctx, []byte(body))
	if err != nil {
		return fmt.Errorf("render %s: %w", q.Method, err)
	}
	rec := s.run(ctx, r.Header, newExchange(q, view))
	result, ok := bytes.CutPrefix(rec.body.Bytes(), []byte(libraryPrefix+`"result":`))
	result, closed := bytes.CutSuffix(result, []byte("}\n"))
	if q.Key == "" || rec.status != http.StatusOK || !ok || !closed {
		return fmt.Errorf("render %s: %w", q.Method, errNoAnswer)
	}
	finished[q.Key] = bytes.Clone(result)
	return nil
}

// renderRequest makes the request that a well-behaved client would send.
func renderRequest(ctx context.Context, body []byte) (*http.Request, Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "/", bytes.NewReader(body))
	if err != nil {
		return nil, Request{}, err
	}
	r.Header.Set("Content-Type", contentJSON)
	q, err := ParseRequest(r, body)
	if err != nil {
		return nil, q, err
	}
	if q.Era == EraModern {
		r.Header.Set(headerVersion, library.LATEST_PROTOCOL_VERSION)
		r.Header.Set(headerMethod, q.Method)
		q, err = ParseRequest(r, body)
	}
	return r, q, err
}

// maxToolName is the longest name that the specification recommends.
const maxToolName = 128

// check refuses tools that clients would refuse or read in two ways. The
// member x-mcp-header makes clients copy arguments into headers, where logs
// and proxies see them, so no schema may carry it.
func (v *View) check() error {
	seen := make(map[string]bool, len(v.Tools))
	for _, t := range v.Tools {
		switch {
		case !toolName(t.Name):
			return fmt.Errorf("tool %q: the name is not 1 to %d letters, digits and characters of \"_-.\" long", t.Name, maxToolName)
		case seen[t.Name]:
			return fmt.Errorf("tool %q is listed twice", t.Name)
		}
		seen[t.Name] = true
		if err := checkSchema(t.Input, true); err != nil {
			return fmt.Errorf("tool %q: input schema: %w", t.Name, err)
		}
		if err := checkSchema(t.Output, false); err != nil {
			return fmt.Errorf("tool %q: output schema: %w", t.Name, err)
		}
	}
	return nil
}

func toolName(name string) bool {
	for _, c := range []byte(name) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && !isDigit(c) && c != '_' && c != '-' && c != '.' {
			return false
		}
	}
	return name != "" && len(name) <= maxToolName
}

var (
	errSchema       = errors.New("it is not a JSON object")
	errSchemaHeader = errors.New("x-mcp-header is reserved")
)

func checkSchema(schema json.RawMessage, required bool) error {
	if len(schema) == 0 && !required {
		return nil
	}
	var members map[string]any
	if err := json.Unmarshal(schema, &members); err != nil || members == nil {
		return errSchema
	}
	if hasHeaderMember(members) {
		return errSchemaHeader
	}
	return nil
}

func hasHeaderMember(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if key == "x-mcp-header" || hasHeaderMember(value) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, hasHeaderMember)
	}
	return false
}
