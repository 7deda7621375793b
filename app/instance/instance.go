// Package instance is the private side of one installation: the MCP server
// over its index, reached only by a front that holds the right key.
package instance

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"

	"vault/app/link"
	"vault/modules/auth"
	"vault/modules/index"
	"vault/platform/fault"
	"vault/platform/github"
	"vault/platform/mcp"
	"vault/platform/telemetry"
	"vault/platform/web"
)

// Config is what an instance needs.
type Config struct {
	// Installation is GitHub's id of the installation it serves.
	Installation int64
	// Link knows the key of the private line.
	Link *auth.Link
	// Known lists the installation's repositories.
	Known *Known
	// Access asks GitHub what a caller may read.
	Access *auth.Service
	Index  *index.Index
	// Tools lists and runs the tools.
	Tools Tools
	// MCP carries name, version and body limit of the server.
	MCP mcp.Config
	Log *slog.Logger
}

// Instance answers a front.
type Instance struct {
	Config
	*Builder
	server *mcp.Server
}

// New makes an instance.
func New(c Config) (*Instance, error) {
	i := &Instance{Config: c}
	c.MCP.Backend = backend{i}
	c.MCP.Log = c.Log
	// The front's gate has judged hosts and origins; here the host is the
	// front's own idea of where this listener is.
	c.MCP.Hosts = []string{"*"}
	var err error
	if i.server, err = mcp.NewServer(c.MCP); err != nil {
		return nil, fmt.Errorf("make the MCP server: %w", err)
	}
	if i.Builder, err = NewBuilder(c.Index, c.Tools, i.server); err != nil {
		return nil, err
	}
	return i, nil
}

// Handler answers the private listener.
func (i *Instance) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+link.PathMCP, i.mcp)
	mux.HandleFunc("POST "+link.PathView, i.view)
	mux.HandleFunc("POST "+link.PathWake, i.wake)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !i.Link.Check(r.Header.Get(auth.LinkHeader)) {
			telemetry.Add(r.Context(), telemetry.KeyOutcome, "no_link")
			http.Error(w, "This listener is private to its front.", http.StatusForbidden)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// wake connects to the database, so that the first call finds it awake.
func (i *Instance) wake(w http.ResponseWriter, r *http.Request) {
	if _, err := i.Known.At(r.Context(), link.Epoch(r.Header)); err != nil {
		i.fail(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// mcp lets a caller in and leaves the message to the MCP server. Its snapshot
// of the index lives as long as the request.
func (i *Instance) mcp(w http.ResponseWriter, r *http.Request) {
	access, err := i.caller(r)
	if err != nil {
		i.fail(w, r, err)
		return
	}
	s := &session{instance: i, access: access}
	defer s.close()
	i.server.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), sessionKey{}, s)))
}

// caller asks GitHub, with the person's own token, what they may read here:
// the front's word is not enough.
func (i *Instance) caller(r *http.Request) (auth.Access, error) {
	token, _ := auth.BearerToken(r.Header)
	if token == "" {
		return auth.Access{}, fault.Unauthenticated("the request carries no token")
	}
	epoch := link.Epoch(r.Header)
	known, err := i.Known.At(r.Context(), epoch)
	if err != nil {
		return auth.Access{}, err
	}
	access, err := i.Access.Access(r.Context(), auth.Request{
		Token: github.Secret(token), Installation: i.Installation, Epoch: epoch, Repositories: known,
	})
	if err == nil {
		telemetry.Add(r.Context(), "person", access.Person.ID)
	}
	return access, err
}

// fail answers an error before MCP.
func (i *Instance) fail(w http.ResponseWriter, r *http.Request, err error) {
	kind, gone := fault.KindOf(err), r.Context().Err() != nil
	outcome := string(kind)
	if gone { // what failed because the front left is no fault
		outcome = "canceled"
	}
	telemetry.Add(r.Context(), telemetry.KeyOutcome, outcome)
	reference := fault.NewReference()
	if !gone && (kind == fault.KindInternal || kind == fault.KindUnavailable) {
		i.Log.Error("request failed", "reference", reference, "error", err)
	}
	if f, ok := fault.As(err); ok && f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(f.RetryAfter.Seconds()+0.999)))
	}
	http.Error(w, fault.Public(err, reference), web.Status(kind))
}

// maxViewRequest bounds a front's question for a view.
const maxViewRequest = 1 << 20

// view answers the finished view of a set of repositories, for the front to
// store. The front has checked the set with the caller's token.
func (i *Instance) view(w http.ResponseWriter, r *http.Request) {
	var in link.ViewRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxViewRequest)).Decode(&in); err != nil {
		http.Error(w, "The request is not a set of repositories.", http.StatusBadRequest)
		return
	}
	built, err := i.Build(r.Context(), in.Repositories)
	if err != nil {
		i.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false) // the finished bytes have to arrive as they are
	if err := encoder.Encode(built); err != nil {
		telemetry.Add(r.Context(), telemetry.KeyOutcome, "cut_off")
	}
}
