package git

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// ServeOptions say what ServeHTTP allows one request.
type ServeOptions struct {
	// Push allows git-receive-pack; without it a push is answered with 403.
	Push bool
	// MaxBody caps a request's body in bytes after it is inflated; 0 is 512 MB.
	MaxBody int64
	// Timeout caps one request; 0 is fifteen minutes.
	Timeout time.Duration
	// AfterPush is called when a push has been processed, whatever became of
	// it and whether or not the client still listens, before the answer ends.
	AfterPush func(ctx context.Context)
}

const (
	defaultBody = 512 << 20
	// fetchBody caps the body of a fetch, which holds only ids.
	fetchBody = 64 << 20

	uploadPack  = "git-upload-pack"
	receivePack = "git-receive-pack"
)

// ServeHTTP answers a git client over smart HTTP (gitprotocol-http(5)) for one
// bare repository: info/refs, git-upload-pack and git-receive-pack, told apart
// by how the request's path ends. The caller has authenticated the request and
// chosen the repository. Partial clones and fetches of any object are allowed.
// The git process dies with the request.
func (repo *Repo) ServeHTTP(w http.ResponseWriter, r *http.Request, o ServeOptions) {
	if o.MaxBody <= 0 {
		o.MaxBody = defaultBody
	}
	if o.Timeout <= 0 {
		o.Timeout = repo.run.limits.long
	}
	path := r.URL.Path
	_, err := os.Lstat(filepath.Join(repo.dir, ".git"))
	switch {
	case err == nil:
		// receive-pack would enter that folder in the place of this one.
		http.Error(w, "not a bare repository", http.StatusNotFound)
	case strings.HasSuffix(path, "/info/refs"):
		repo.serveRefs(w, r, o)
	case strings.HasSuffix(path, "/"+uploadPack):
		repo.serveService(w, r, uploadPack, o)
	case strings.HasSuffix(path, "/"+receivePack):
		repo.serveService(w, r, receivePack, o)
	default:
		http.Error(w, "no such git service", http.StatusNotFound)
	}
}

// admit judges method and service. It answers the request when it says no.
func admit(w http.ResponseWriter, r *http.Request, method, service string, o ServeOptions) bool {
	switch {
	case r.Method != method:
		w.Header().Set("Allow", method)
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	case service != uploadPack && service != receivePack:
		http.Error(w, "only the smart protocol is served", http.StatusForbidden)
	case service == receivePack && !o.Push:
		http.Error(w, "pushing is not allowed", http.StatusForbidden)
	default:
		return true
	}
	return false
}

// serveRefs answers the first request of a fetch or push. The line that names
// the service is left out in protocol 2, as git's own server does.
func (repo *Repo) serveRefs(w http.ResponseWriter, r *http.Request, o ServeOptions) {
	service := r.URL.Query().Get("service")
	if !admit(w, r, http.MethodGet, service, o) {
		return
	}
	protocol := protocolOf(r, service)
	answer := &lazyWriter{to: w, kind: "application/x-" + service + "-advertisement"}
	if !isV2(protocol) {
		answer.prefix = packetLine("# service="+service+"\n") + "0000"
	}
	c := repo.serviceCall(service, protocol, o)
	c.args = append(c.args, "--http-backend-info-refs", repo.dir)
	c.read = answer.copy
	repo.finish(r.Context(), answer, c)
}

// serveService answers the second and later requests.
func (repo *Repo) serveService(w http.ResponseWriter, r *http.Request, service string, o ServeOptions) {
	if !admit(w, r, http.MethodPost, service, o) {
		return
	}
	if r.Header.Get("Content-Type") != "application/x-"+service+"-request" {
		http.Error(w, "unexpected content type", http.StatusUnsupportedMediaType)
		return
	}
	limit := o.MaxBody
	if service == uploadPack {
		limit = min(limit, fetchBody)
	}
	body, err := openBody(w, r, limit)
	if err != nil {
		http.Error(w, err.Error(), bodyStatus(err))
		return
	}
	// Git may begin to answer while it still reads.
	_ = http.NewResponseController(w).EnableFullDuplex()
	answer := &lazyWriter{to: w, kind: "application/x-" + service + "-result"}
	c := repo.serviceCall(service, protocolOf(r, service), o)
	c.args = append(c.args, repo.dir)
	c.feed = func(in io.Writer) error { return copyBody(in, body) }
	c.read = answer.copy
	if service == receivePack && o.AfterPush != nil {
		// The push may have moved refs, so this runs even for a client that
		// has gone.
		defer o.AfterPush(context.WithoutCancel(r.Context()))
	}
	repo.finish(r.Context(), answer, c)
}

func (repo *Repo) serviceCall(service, protocol string, o ServeOptions) call {
	c := repo.in(call{
		args:  []string{strings.TrimPrefix(service, "git-"), "--stateless-rpc"},
		limit: repo.run.limits.stream,
		time:  o.Timeout,
	})
	c.safe = append(slices.Clone(c.safe), repo.dir)
	if protocol != "" {
		c.env = []string{"GIT_PROTOCOL=" + protocol}
	}
	if service == uploadPack {
		c.args = append(c.args, "--strict")
		c.config = []setting{{"uploadpack.allowFilter", "true"}, {"uploadpack.allowAnySHA1InWant", "true"}}
		return c
	}
	c.config = append(fsckSettings("receive"),
		// The empty command of every other call makes git complain, and the
		// client would read it.
		setting{"core.alternateRefsCommand", "true"},
		setting{"receive.updateServerInfo", "false"},
		setting{"receive.advertisePushOptions", "false"},
		setting{"receive.certNonceSeed", ""},
		setting{"receive.denyNonFastForwards", "false"},
		setting{"receive.denyDeletes", "false"})
	return c
}

// finish runs git and answers with a status where git wrote nothing.
func (repo *Repo) finish(ctx context.Context, answer *lazyWriter, c call) {
	err := repo.run.run(ctx, c)
	if answer.started || err == nil && answer.start() == nil {
		if err != nil {
			repo.run.log.InfoContext(ctx, "git service ended early", "service", c.args[0], "error", err)
		}
		return
	}
	status := bodyStatus(err)
	http.Error(answer.to, http.StatusText(status), status)
	if status == http.StatusInternalServerError && ctx.Err() == nil {
		repo.run.log.ErrorContext(ctx, "git service gave no answer", "service", c.args[0], "error", err)
	}
}

// protocolForm is what a Git-Protocol header may hold: keys and values joined
// by colons.
var protocolForm = regexp.MustCompile(`^[a-z0-9=.:_-]{1,200}$`)

// protocolOf gives the wire protocol to speak; "" is the first. A push knows
// nothing above version 1.
func protocolOf(r *http.Request, service string) string {
	header := r.Header.Get("Git-Protocol")
	if !protocolForm.MatchString(header) || service == receivePack && isV2(header) {
		return ""
	}
	return header
}

func isV2(protocol string) bool { return slices.Contains(strings.Split(protocol, ":"), "version=2") }

// packetLine frames a text as gitprotocol-common(5) has it.
func packetLine(text string) string {
	const digits = "0123456789abcdef"
	n := len(text) + 4
	return string([]byte{digits[n>>12&15], digits[n>>8&15], digits[n>>4&15], digits[n&15]}) + text
}

// lazyWriter sends the headers of a good answer with the first byte of it.
type lazyWriter struct {
	to      http.ResponseWriter
	kind    string
	prefix  string
	started bool
}

func (l *lazyWriter) start() error {
	if l.started {
		return nil
	}
	l.started = true
	h := l.to.Header()
	h.Set("Content-Type", l.kind)
	h.Set("Cache-Control", "no-cache, max-age=0, must-revalidate")
	h.Set("Expires", "Fri, 01 Jan 1980 00:00:00 GMT")
	h.Set("Pragma", "no-cache")
	h.Set("X-Content-Type-Options", "nosniff")
	l.to.WriteHeader(http.StatusOK)
	_, err := io.WriteString(l.to, l.prefix)
	return err
}

// copy sends output on as it comes, since a client shows progress.
func (l *lazyWriter) copy(out io.Reader) error {
	flusher := http.NewResponseController(l.to)
	buf := make([]byte, 64<<10)
	for {
		n, err := out.Read(buf)
		if n > 0 {
			if err := l.start(); err != nil {
				return err
			}
			if _, err := l.to.Write(buf[:n]); err != nil {
				return err
			}
			if err := flusher.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
