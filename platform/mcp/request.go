package mcp

import (
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"slices"

	library "github.com/mark3labs/mcp-go/mcp"
)

// Era tells the two ways to speak the protocol apart.
type Era string

// The eras: before 2026-07-28 a client opens with initialize; from then on
// every request carries its own version and capabilities.
const (
	EraLegacy Era = "legacy"
	EraModern Era = "modern"
)

// The methods that this package knows by name.
const (
	methodInitialize = "initialize"
	methodDiscover   = "server/discover"
	methodToolsList  = "tools/list"
	methodToolsCall  = "tools/call"
	methodPing       = "ping"
	methodListen     = "subscriptions/listen"
)

// Header names of the protocol in their canonical form.
const (
	headerVersion = library.HeaderProtocolVersion
	headerMethod  = library.HeaderMethod
)

// maxMethod is the longest method or tool name in bytes that is looked at.
const maxMethod = 256

// Request is one message from a client, read far enough to route it. Its
// slices point into the body it was parsed from.
type Request struct {
	Method string
	// ID is the id as it was sent, to be echoed byte for byte.
	ID json.RawMessage
	// Era is how the request is read by the server.
	Era Era
	// Version is the protocol version: for initialize the one that the answer
	// names, otherwise the one stated by the request, "" when it states none.
	Version string
	// Notification is set when the message has no id and gets no answer.
	Notification bool
	// Tool is the name of the tool in tools/call.
	Tool string
	// Key names the entry of Finished that answers this request. It is empty
	// when the request must be forwarded: every method that is not finished,
	// and every request that the server would refuse or answer otherwise.
	Key string

	message message
	sound   bool
}

// Acknowledged says that the message is a notification that the server accepts
// without doing anything: whoever sees it first may answer WriteAccepted.
func (q *Request) Acknowledged() bool { return q.Notification && q.sound }

// MethodLabel gives the method's name for logs and metrics: names of the
// protocol as they are, anything else, which may be any text, as "other".
func (q *Request) MethodLabel() string {
	switch q.Method {
	case methodInitialize, methodDiscover, methodToolsList, methodToolsCall, methodPing, methodListen:
		return q.Method
	}
	if q.Notification {
		return "notification"
	}
	return methodOther
}

// methodOther stands for all methods that the server does not know.
const methodOther = "other"

// ParseRequest reads one POST. The error is a *RequestError, which the server
// answers to the same request in the same words.
func ParseRequest(r *http.Request, body []byte) (Request, error) {
	if !isJSON(r.Header.Get("Content-Type")) {
		return Request{}, &RequestError{
			Status: http.StatusUnsupportedMediaType, Code: library.INVALID_REQUEST,
			Message: "the Content-Type must be application/json",
		}
	}
	m, err := parseMessage(body)
	if err != nil {
		return Request{}, bodyError(err)
	}
	q := Request{message: m, ID: m.raw(inID), Notification: !m.has(inID)}
	if err := q.readMethod(); err != nil {
		return Request{}, &RequestError{
			Status: http.StatusBadRequest, Code: library.INVALID_REQUEST,
			Message: err.Error(), ID: q.ID,
		}
	}
	q.judge(r.Header)
	return q, nil
}

func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && media == "application/json"
}

func bodyError(err error) *RequestError {
	code := library.INVALID_REQUEST
	if errors.Is(err, errSyntax) {
		code = library.PARSE_ERROR
	}
	return &RequestError{Status: http.StatusBadRequest, Code: code, Message: err.Error()}
}

var (
	errJSONRPC  = errors.New(`jsonrpc must be "2.0"`)
	errMethod   = errors.New("method is not a string of at most 256 bytes")
	errResponse = errors.New("this server sends no requests, so it takes no responses")
)

// readMethod checks the envelope and names the method and the tool.
func (q *Request) readMethod() error {
	m := &q.message
	if string(m.raw(inJSONRPC)) != `"2.0"` {
		return errJSONRPC
	}
	if m.has(inResult) || m.has(inError) {
		return errResponse
	}
	method, ok := m.text(inMethod)
	if !ok || method == "" || len(method) > maxMethod {
		return errMethod
	}
	q.Method = method
	if method == methodToolsCall {
		q.Tool, _ = m.text(inName)
	}
	return nil
}

// judge finds the era and whether a stored result answers the request. It
// follows the library's own rules (server/streamable_http_modern.go and
// server/protocol.go) and is stricter where they leave a choice.
func (q *Request) judge(h http.Header) {
	headers := h[headerVersion]
	header := ""
	if len(headers) > 0 {
		header = headers[0]
	}
	meta, isText := q.message.text(metaVersion)
	q.Version = meta
	if meta == "" {
		q.Version = header
	}
	plain := len(headers) <= 1 && (isText || !q.message.has(metaVersion)) && q.plainParams()
	q.Era = EraLegacy
	if library.IsModernProtocol(meta) || library.IsModernProtocol(header) {
		q.Era = EraModern
		q.sound = plain && header == meta && library.IsValidProtocolVersion(meta) && h.Get(library.HeaderLastEventID) == ""
	} else {
		q.sound = plain && (header == "" || library.IsValidProtocolVersion(header))
	}
	if q.sound && !q.Notification {
		q.Key = q.key(h)
	}
}

// plainParams says that params and _meta are objects where they are present.
func (q *Request) plainParams() bool {
	m := &q.message
	return (!m.has(inParams) || m.isObject(inParams)) && (!m.has(inMeta) || m.isObject(inMeta))
}

// key gives the name of the stored result for a sound request.
func (q *Request) key(h http.Header) string {
	switch {
	case q.hasCursor():
		return ""
	case q.Era == EraModern:
		return q.modernKey(h)
	case q.Method == methodInitialize:
		return q.initializeKey()
	case q.Method == methodToolsList:
		return keyToolsLegacy
	case q.Method == methodPing:
		return keyPing
	}
	return ""
}

func (q *Request) modernKey(h http.Header) string {
	if !q.headersMatch(h) {
		return ""
	}
	switch q.Method {
	case methodDiscover:
		return keyDiscover
	case methodToolsList:
		return keyToolsModern
	}
	return ""
}

// headersMatch says that a sound modern request passes the library's further
// checks: the mirrored headers and the required capabilities.
func (q *Request) headersMatch(h http.Header) bool {
	if methods := h[headerMethod]; len(methods) != 1 || methods[0] != q.Method {
		return false
	}
	raw := q.message.raw(metaCapabilities)
	if string(raw) == "{}" {
		return true
	}
	var capabilities library.ClientCapabilities
	return q.message.isObject(metaCapabilities) && json.Unmarshal(raw, &capabilities) == nil
}

// initializeKey negotiates the version as the server does.
func (q *Request) initializeKey() string {
	var params library.InitializeParams
	if q.message.has(inParams) && json.Unmarshal(q.message.raw(inParams), &params) != nil {
		return ""
	}
	q.Version = library.NegotiateLegacyVersion(params.ProtocolVersion)
	return initializeKeys[q.Version]
}

// hasCursor says whether a page other than the first is asked for.
func (q *Request) hasCursor() bool {
	raw := string(q.message.raw(inCursor))
	return raw != "" && raw != `""` && raw != "null"
}

// libraryID is the id under which the library sees every request. The true id
// is put back into the answer as it was sent, since the library reads numbers
// as floats.
const libraryID = "1"

// libraryBody is the message for the library: the same, with the id replaced
// and the arguments taken out, so that it neither rounds nor decodes them.
func (q *Request) libraryBody() []byte {
	type patch struct {
		at   span
		text string
	}
	var patches []patch
	if q.message.has(inID) {
		patches = append(patches, patch{q.message.at[inID], libraryID})
	}
	if q.message.isObject(inArguments) {
		patches = append(patches, patch{q.message.at[inArguments], "{}"})
	}
	slices.SortFunc(patches, func(a, b patch) int { return a.at.start - b.at.start })
	var out []byte
	from := 0
	for _, p := range patches {
		out = append(append(out, q.message.body[from:p.at.start]...), p.text...)
		from = p.at.end
	}
	return append(out, q.message.body[from:]...)
}
