package front

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"vault/modules/auth"
	"vault/modules/catalogue"
	"vault/platform/fault"
	"vault/platform/mcp"
	"vault/platform/telemetry"
	"vault/platform/web"
)

// Config is what a front needs.
type Config struct {
	// Issuer is the service's own address, without a path or final slash.
	Issuer  string
	Picture *Picture
	Sealer  *auth.Sealer
	Access  *auth.Service
	Views   *catalogue.Views
	// Instances reaches the instance of an installation.
	Instances *Instances
	// MCP carries hosts, origins and the body limit for the gate.
	MCP mcp.Config
	Log *slog.Logger
}

// Front answers the public addresses.
type Front struct {
	Config
	gate func(http.Handler) http.Handler
}

// New makes a front.
func New(c Config) *Front {
	return &Front{Config: c, gate: mcp.Gate(c.MCP)}
}

// Register mounts the address of every installation, `/{name}`.
func (f *Front) Register(mux *http.ServeMux) {
	mux.HandleFunc("/{name}", f.address)
}

// address answers one installation's address: first whether there is one,
// then who calls, and only then what is asked. A client that probes with GET
// has to meet the challenge before it is told that GET is not for it: several
// take anything but 401 for "no sign-in needed".
func (f *Front) address(w http.ResponseWriter, r *http.Request) {
	installation, ok := f.Picture.Named(r.PathValue("name"))
	if !ok {
		w.Header().Set("Cache-Control", "no-store")
		http.Error(w, "There is no such address here.", http.StatusNotFound)
		return
	}
	if r.Method == http.MethodOptions {
		f.gate(http.NotFoundHandler()).ServeHTTP(w, r)
		return
	}
	c, err := f.caller(r, installation)
	if err != nil {
		f.refuse(w, r, err)
		return
	}
	f.Instances.Wake(r.Context(), installation)
	f.gate(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.message(w, r, c)
	})).ServeHTTP(w, r)
}

// caller is who calls, after every check.
type caller struct {
	installation *Installation
	token        string
	access       auth.Access
}

// caller opens the token and asks which repositories it reads.
func (f *Front) caller(r *http.Request, installation *Installation) (caller, error) {
	sealed, _ := auth.BearerToken(r.Header)
	token, err := f.Sealer.OpenAccess(sealed, installation.ID)
	if err != nil {
		return caller{}, err
	}
	access, err := f.Access.Access(r.Context(), auth.Request{
		Token:        token.GitHub,
		Installation: installation.ID,
		Epoch:        installation.Epoch,
		Repositories: installation.Known,
	})
	if err != nil {
		return caller{}, err
	}
	telemetry.Add(r.Context(), "installation", installation.ID)
	telemetry.Add(r.Context(), "person", access.Person.ID)
	return caller{installation: installation, token: token.GitHub.Reveal(), access: access}, nil
}

// message answers one MCP message, from the store when it can be.
func (f *Front) message(w http.ResponseWriter, r *http.Request, c caller) {
	body, err := mcp.ReadBody(r)
	if err != nil {
		mcp.WriteError(w, err)
		return
	}
	q, err := mcp.ParseRequest(r, body)
	if err != nil {
		telemetry.Add(r.Context(), telemetry.KeyOutcome, "bad_request")
		mcp.WriteError(w, err)
		return
	}
	telemetry.Add(r.Context(), "method", q.MethodLabel())
	if q.Acknowledged() {
		mcp.WriteAccepted(w)
		return
	}
	if q.Key == "" {
		f.forward(w, r, c, body)
		return
	}
	f.stored(w, r, c, q, body)
}

// forward leaves a message to the instance.
func (f *Front) forward(w http.ResponseWriter, r *http.Request, c caller, body []byte) {
	if err := f.Instances.Forward(w, r, c, body); err != nil {
		f.refuse(w, r, err)
	}
}

// stored answers a list method from finished bytes.
func (f *Front) stored(w http.ResponseWriter, r *http.Request, c caller, q mcp.Request, body []byte) {
	key := c.installation.key(c.access.Readable)
	finished, err := f.Views.Finished(r.Context(), key, c.access.Readable, func(ctx context.Context) (catalogue.Built, error) {
		return f.Instances.View(ctx, c.installation, c.access.Readable)
	})
	if err != nil {
		f.refuse(w, r, fmt.Errorf("find the view: %w", err))
		return
	}
	result, ok := finished.Result(q)
	if !ok {
		f.forward(w, r, c, body)
		return
	}
	_ = mcp.WriteResult(w, q, result) // the client is gone; there is nobody to tell
}

// refuse answers an error before MCP: a challenge for callers who have to
// sign in, a sentence for everything else.
func (f *Front) refuse(w http.ResponseWriter, r *http.Request, err error) {
	kind, gone := fault.KindOf(err), r.Context().Err() != nil
	outcome := string(kind)
	if gone { // what failed because the caller left is no fault
		outcome = "canceled"
	}
	telemetry.Add(r.Context(), telemetry.KeyOutcome, outcome)
	reference := fault.NewReference()
	if !gone && (kind == fault.KindInternal || kind == fault.KindUnavailable) {
		f.Log.Error("request refused", "reference", reference, "error", err)
	}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", auth.ChallengeHeader+", Retry-After")
	if kind == fault.KindUnauthenticated {
		_, sent := auth.BearerToken(r.Header)
		h.Set(auth.ChallengeHeader, auth.Challenge(f.Issuer, r.PathValue("name"), sent))
	}
	if fe, ok := fault.As(err); ok && fe.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(fe.RetryAfter.Seconds()+0.999)))
	}
	writeError(w, web.Status(kind), fault.Public(err, reference))
}

// writeError answers a JSON-RPC error without an id, which MCP clients show
// and others can read.
func writeError(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":%s}}`+"\n", quoteJSON(message))
}

func quoteJSON(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
