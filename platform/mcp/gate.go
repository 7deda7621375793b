package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	library "github.com/mark3labs/mcp-go/mcp"
)

// Gate refuses what no MCP handler should see: a Host that is not ours (421), a
// foreign Origin (403), anything but POST (405), and bodies over the limit
// (413). A browser page from an allowed origin gets its preflight and the
// headers that let it read the answer. The handler behind reads the body with
// ReadBody.
func Gate(c Config) func(http.Handler) http.Handler {
	g := newGate(c)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if g.admit(w, r) {
				next.ServeHTTP(w, r)
			}
		})
	}
}

type gate struct {
	limit   int64
	hosts   map[string]bool
	origins map[string]bool
}

func newGate(c Config) *gate {
	return &gate{limit: c.limit(), hosts: lowerSet(c.Hosts), origins: lowerSet(c.Origins)}
}

func lowerSet(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[strings.ToLower(name)] = true
	}
	return set
}

// admit answers r itself and gives false when r must not go on.
func (g *gate) admit(w http.ResponseWriter, r *http.Request) bool {
	if !g.hostAllowed(r.Host) {
		refuse(w, http.StatusMisdirectedRequest, "this server does not answer for that host")
		return false
	}
	if origin := r.Header.Values("Origin"); len(origin) > 0 {
		if len(origin) > 1 || !g.originAllowed(origin[0], r.Host) {
			refuse(w, http.StatusForbidden, "pages of that origin may not call this server")
			return false
		}
		allowOrigin(w.Header(), origin[0])
		if r.Method == http.MethodOptions {
			preflight(w)
			return false
		}
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		refuse(w, http.StatusMethodNotAllowed, "only POST is answered here")
		return false
	}
	if r.ContentLength > g.limit {
		w.Header().Set("Connection", "close")
		WriteError(w, tooLarge(g.limit))
		return false
	}
	r.Body = http.MaxBytesReader(w, r.Body, g.limit)
	return true
}

func refuse(w http.ResponseWriter, status int, sentence string) {
	WriteError(w, &RequestError{Status: status, Code: library.INVALID_REQUEST, Message: sentence})
}

func tooLarge(limit int64) *RequestError {
	return &RequestError{
		Status: http.StatusRequestEntityTooLarge, Code: library.INVALID_REQUEST,
		Message: fmt.Sprintf("the body is larger than %d bytes", limit),
	}
}

// hostAllowed judges a Host header.
func (g *gate) hostAllowed(host string) bool {
	host = strings.ToLower(host)
	name := hostName(host)
	if len(g.hosts) == 0 {
		return isLoopback(name)
	}
	return g.hosts["*"] || g.hosts[host] || g.hosts[name] || g.hosts["["+name+"]"]
}

// originAllowed judges an Origin header of a request for an allowed host.
func (g *gate) originAllowed(origin, host string) bool {
	u, err := url.Parse(origin)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return false
	}
	if strings.EqualFold(u.Host, host) || g.origins[strings.ToLower(origin)] {
		return true
	}
	name := hostName(strings.ToLower(u.Host))
	return isLoopback(name) && (g.origins[u.Scheme+"://"+name] || g.origins[u.Scheme+"://["+name+"]"])
}

// hostName takes the port and the brackets off a host.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

func isLoopback(name string) bool {
	if name == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.IsLoopback()
}

const (
	corsRequestHeaders = "Content-Type, Authorization, MCP-Protocol-Version, Accept, Mcp-Session-Id, Mcp-Method, Mcp-Name, Last-Event-ID"
	corsAnswerHeaders  = "WWW-Authenticate, Retry-After, Mcp-Session-Id, MCP-Protocol-Version"
)

func allowOrigin(h http.Header, origin string) {
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", corsAnswerHeaders)
}

func preflight(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", http.MethodPost)
	h.Set("Access-Control-Allow-Headers", corsRequestHeaders)
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
}

// firstRead is the most that is allocated for a body before any of it came.
const firstRead = 64 << 10

// ReadBody reads the whole body of a request that passed the gate. The error
// is a *RequestError for WriteError.
func ReadBody(r *http.Request) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(int(min(max(r.ContentLength, 0), firstRead)) + bytes.MinRead)
	_, err := io.Copy(&b, r.Body)
	if err == nil {
		return b.Bytes(), nil
	}
	var over *http.MaxBytesError
	if errors.As(err, &over) {
		return nil, tooLarge(over.Limit)
	}
	return nil, &RequestError{
		Status: http.StatusBadRequest, Code: library.PARSE_ERROR,
		Message: "the body could not be read to its end",
	}
}
