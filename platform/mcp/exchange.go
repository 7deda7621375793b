package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"strings"

	library "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"vault/platform/fault"
)

// exchange is one request on its way through the library. To the library it is
// a session of its own with an id that no other request has, so that neither a
// cancellation nor a notification can reach another caller's request.
type exchange struct {
	id      string
	request Request
	view    *View
	answer  *Answer
	handler server.ToolHandlerFunc
}

var _ server.SessionWithTools = (*exchange)(nil)

func newExchange(q Request, view *View) *exchange {
	return &exchange{id: rand.Text(), request: q, view: view}
}

type exchangeKey struct{}

func withExchange(ctx context.Context, x *exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// exchangeOf gives the request being served. It is always there: the library
// is only entered through Server.run.
func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// SessionID is unique among all requests.
func (x *exchange) SessionID() string { return x.id }

// Initialize does nothing: there is no handshake to remember.
func (x *exchange) Initialize() {}

// Initialized is always true.
func (x *exchange) Initialized() bool { return true }

// NotificationChannel is nil: nothing is ever pushed to a client.
func (x *exchange) NotificationChannel() chan<- library.JSONRPCNotification { return nil }

// GetSessionTools gives the one tool that a call names, when the caller's view
// lists it. The list itself is made by a hook, in the view's order. The tool
// carries no schema: arguments are checked by the backend, and a schema would
// only make the library look for header annotations in it.
func (x *exchange) GetSessionTools() map[string]server.ServerTool {
	name := x.request.Tool
	if x.request.Method != methodToolsCall || !x.view.lists(name) {
		return nil
	}
	return map[string]server.ServerTool{name: {Tool: library.Tool{Name: name}, Handler: x.handler}}
}

// SetSessionTools does nothing: a view does not change.
func (x *exchange) SetSessionTools(map[string]server.ServerTool) {}

// lists says whether the view has a tool of that name.
func (v *View) lists(name string) bool {
	for i := range v.Tools {
		if v.Tools[i].Name == name {
			return true
		}
	}
	return false
}

// refusal gives the error for a request that is refused in our words rather
// than the library's, which show what was sent as it is. Requests that the library
// refuses for their version or headers are left to it.
func (x *exchange) refusal(h http.Header) error {
	q := &x.request
	if raw := q.message.raw(inParams); !q.Notification && q.message.has(inParams) && !q.message.isObject(inParams) && string(raw) != "null" {
		return q.refused(library.INVALID_PARAMS, "params must be an object")
	}
	if !q.sound || (q.Era == EraModern && !q.mirrored(h)) {
		return nil
	}
	switch {
	case q.Method == methodListen && q.Era == EraModern:
		return q.refused(library.METHOD_NOT_FOUND, "there is nothing to subscribe to: this server sends no notifications")
	case q.Method == methodToolsList && q.hasCursor():
		return q.refused(library.INVALID_PARAMS, "there is one page only: leave cursor out")
	case q.Method == methodToolsCall && !x.view.lists(q.Tool):
		return q.refused(library.INVALID_PARAMS, "there is no tool "+fault.Quote(q.Tool)+": tools/list names the tools there are")
	case q.Method == methodToolsCall && q.message.has(inArguments) && !q.message.isObject(inArguments):
		return q.refused(library.INVALID_PARAMS, "arguments must be an object")
	case q.MethodLabel() == methodOther:
		return q.refused(library.METHOD_NOT_FOUND, "there is no method "+fault.Quote(q.Method)+" here")
	}
	return nil
}

// mirrored says that a modern request passes the library's own checks of
// headers and capabilities.
func (q *Request) mirrored(h http.Header) bool {
	return q.headersMatch(h) &&
		library.ValidateStandardHeaders(h.Get, q.Version, library.MCPMethod(q.Method), q.message.raw(inParams)) == nil
}

// refused makes a JSON-RPC error with the status that the era prescribes.
func (q *Request) refused(code int, sentence string) *RequestError {
	status := http.StatusOK
	switch {
	case q.Era == EraModern && code == library.METHOD_NOT_FOUND:
		status = http.StatusNotFound
	case q.Era == EraModern:
		status = http.StatusBadRequest
	}
	return &RequestError{Status: status, Code: code, Message: sentence, ID: q.ID}
}

// arguments gives the argument object as it was sent.
func (q *Request) arguments() json.RawMessage {
	if raw := q.message.raw(inArguments); raw != nil {
		return raw
	}
	return json.RawMessage("{}")
}

// client gives the client's name and version: from the request's own clientInfo,
// else the first product of the User-Agent.
func (q *Request) client(userAgent string) (name, version string) {
	var info struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	if q.message.isObject(metaClientInfo) && json.Unmarshal(q.message.raw(metaClientInfo), &info) == nil && info.Name != "" {
		return info.Name, info.Version
	}
	product, _, _ := strings.Cut(userAgent, " ")
	name, version, _ = strings.Cut(product, "/")
	return name, version
}
