package localhub

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"

	"vault/platform/git"
)

// maxRequestBody bounds the JSON that a request may carry.
const maxRequestBody = 2 << 20

// noUserAgent is what GitHub says to a request without a User-Agent.
const noUserAgent = "Request forbidden by administrative rules. Please make sure your request has a User-Agent header (https://docs.github.com/en/rest/overview/resources-in-the-rest-api#user-agent-required). Check https://developer.github.com for other possible causes.\n"

// exchange is one request on its way through the hub.
type exchange struct {
	w    http.ResponseWriter
	r    *http.Request
	cred credential
}

// ServeHTTP answers everything below the base URL.
func (h *Hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, ok := strings.CutPrefix(r.URL.Path, h.base.Path)
	if !ok || path != "" && path[0] != '/' {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Server", "github.com")
	w.Header().Set("X-GitHub-Request-Id", requestID())
	w.Header().Set("X-Content-Type-Options", "nosniff")
	defer h.rescue(w, r)
	if r.Header.Get("User-Agent") == "" {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(noUserAgent))
		return
	}
	inner := r.Clone(r.Context())
	inner.URL.Path = path
	inner.URL.RawPath = strings.TrimPrefix(r.URL.RawPath, h.base.Path)
	h.dispatch(w, inner)
}

func (h *Hub) dispatch(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	switch {
	case strings.HasPrefix(path, "/admin/"):
		h.serveAdmin(w, r)
	case path == "/graphql" || path == "/api/graphql":
		h.serveGraphQL(w, r)
	case path == "/api/v3" || strings.HasPrefix(path, "/api/v3/"):
		r.URL.Path = strings.TrimPrefix(path, "/api/v3")
		r.URL.RawPath = strings.TrimPrefix(r.URL.RawPath, "/api/v3")
		h.serveREST(w, r)
	case isGitPath(path):
		h.serveGit(w, r)
	default:
		h.serveREST(w, r)
	}
}

// rescue answers a request whose handler broke.
func (h *Hub) rescue(w http.ResponseWriter, r *http.Request) {
	broken := recover()
	if broken == nil {
		return
	}
	if err, ok := broken.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(broken)
	}
	h.log.Error("a request broke the local GitHub", "method", r.Method, "panic", fmt.Sprint(broken), "stack", string(debug.Stack()))
	h.writeJSON(w, http.StatusInternalServerError, object{"message": "Server Error"})
}

// requestID has the form of GitHub's.
func requestID() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b)
	x := strings.ToUpper(hex.EncodeToString(b))
	return x[:4] + ":" + x[4:10] + ":" + x[10:16] + ":" + x[16:22] + ":" + x[22:30]
}

func (h *Hub) writeJSON(w http.ResponseWriter, status int, body any) {
	encoded, err := json.Marshal(body)
	if err != nil {
		h.log.Error("an answer cannot be encoded", "error", err)
		status, encoded = http.StatusInternalServerError, []byte(`{"message":"Server Error"}`)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(encoded)
}

// fail answers with an error: a restError as it is, anything else as a server
// error whose cause goes to the log.
func (h *Hub) fail(w http.ResponseWriter, r *http.Request, err error) {
	var e *restError
	if errors.Is(err, git.ErrClosed) { // the repository was taken away meanwhile
		err = errNotFound()
	}
	if !errors.As(err, &e) {
		if r.Context().Err() == nil {
			h.log.Error("a request failed inside the local GitHub", "method", r.Method, "error", err)
		}
		e = &restError{Status: http.StatusInternalServerError, Message: "Server Error"}
	}
	for name, value := range e.Header {
		w.Header().Set(name, value)
	}
	h.writeJSON(w, e.Status, e.body())
}

// readJSON reads a request's body into to, which stays as it is if the body
// is empty.
func readJSON(w http.ResponseWriter, r *http.Request, limit int64, to any) error {
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, limit))
	err := decoder.Decode(to)
	var large *http.MaxBytesError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &large):
		return &restError{Status: http.StatusRequestEntityTooLarge, Message: "Payload too large"}
	case errors.As(err, &kind):
		return errUnprocessable("Invalid request.\n\nFor '" + kind.Field + "', " + kind.Value + " is not of the expected type.")
	case err != nil && r.ContentLength != 0:
		return &restError{Status: http.StatusBadRequest, Message: "Problems parsing JSON"}
	}
	return nil
}
