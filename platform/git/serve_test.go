package git

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// hub serves one repository at URL + "/hub/kb.git" to whoever has the token.
type hub struct {
	*httptest.Server
	repo   *Repo
	pushes atomic.Int32
	// seen holds the Authorization header of the last request.
	seen atomic.Value
}

const hubToken = "ghs_12345_secret"

func serve(t testing.TB, repo *Repo, o ServeOptions) *hub {
	t.Helper()
	h := &hub{repo: repo}
	if o.AfterPush == nil {
		o.AfterPush = func(context.Context) { h.pushes.Add(1) }
	}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.seen.Store(r.Header.Get("Authorization"))
		_, password, _ := r.BasicAuth()
		switch {
		case password != hubToken:
			w.Header().Set("WWW-Authenticate", `Basic realm="Hub"`)
			http.Error(w, "no", http.StatusUnauthorized)
		case strings.HasPrefix(r.URL.Path, "/hub/kb.git/"):
			repo.ServeHTTP(w, r, o)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *hub) address() string { return h.URL + "/hub/kb.git" }

// withToken is the address as an ordinary git client takes it.
func (h *hub) withToken() string {
	return strings.Replace(h.address(), "http://", "http://x-access-token:"+hubToken+"@", 1)
}

// filled makes a bare repository with a history of some commits.
func filled(t testing.TB, r *Runner) (*Repo, OID) {
	t.Helper()
	repo := bare(t, r)
	tip := Zero
	for _, text := range []string{"one", "two", "three"} {
		tip = writeCommit(t, repo, tip, text+"\n", []FileChange{
			{Path: text + ".md", Data: []byte(text)},
			{Path: "big-" + text, Data: bytes.Repeat([]byte(text), 10_000)},
		})
	}
	if err := repo.UpdateRef(t.Context(), "refs/heads/main", tip, Zero); err != nil {
		t.Fatal(err)
	}
	return repo, tip
}

func TestOrdinaryClient(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"0", "1", "2"} {
		t.Run("protocol "+protocol, func(t *testing.T) {
			t.Parallel()
			repo, tip := filled(t, newRunner(t))
			h := serve(t, repo, ServeOptions{Push: true})
			client := newPlain(t, filepath.Join(t.TempDir(), "clone"))
			if err := os.Mkdir(client.dir, 0o755); err != nil {
				t.Fatal(err)
			}
			set := "protocol.version=" + protocol
			client.run("-c", set, "clone", "-q", h.withToken(), ".")
			if got := client.run("rev-parse", "HEAD"); got != string(tip) {
				t.Errorf("cloned %s, want %s", got, tip)
			}
			client.write("new.md", strings.Repeat("new\n", 500_000))
			pushed := client.commit("push me")
			client.run("-c", set, "-c", "http.postBuffer=100000", "push", "-q", "origin", "main")
			if got, err := repo.Ref(t.Context(), "refs/heads/main"); err != nil || got != pushed {
				t.Errorf("after push main is %s (%v), want %s", got, err, pushed)
			}
			if n := h.pushes.Load(); n < 1 {
				t.Errorf("AfterPush ran %d times", n)
			}
			partial := newPlain(t, filepath.Dir(client.dir))
			partial.run("-c", set, "clone", "-q", "--bare", "--filter=blob:limit=1k", h.withToken(), "partial")
			if text := partial.run("-C", "partial", "rev-list", "--objects", "--all", "--missing=print"); !strings.Contains(text, "?"+string(BlobOID(bytes.Repeat([]byte("one"), 10_000)))) {
				t.Errorf("partial clone holds everything:\n%s", text)
			}
			lone := newPlain(t, t.TempDir())
			lone.run("init", "-q")
			lone.run("-c", set, "fetch", "-q", h.withToken(), string(BlobOID([]byte("one"))))
			newPlain(t, repo.Dir()).run("fsck", "--strict")
		})
	}
}

func TestPushNotAllowed(t *testing.T) {
	t.Parallel()
	repo, tip := filled(t, newRunner(t))
	h := serve(t, repo, ServeOptions{})
	client := newPlain(t, t.TempDir())
	client.run("clone", "-q", h.withToken(), ".")
	client.commit("mine")
	if text, err := client.try("", "push", "origin", "main"); err == nil || !strings.Contains(text, "403") {
		t.Errorf("push: %v %s", err, text)
	}
	if got, _ := repo.Ref(t.Context(), "refs/heads/main"); got != tip || h.pushes.Load() != 0 {
		t.Errorf("main is %s, %d pushes", got, h.pushes.Load())
	}
}

func TestServeStatus(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	repo, _ := filled(t, r)
	upload := map[string]string{"Content-Type": "application/x-git-upload-pack-request"}
	receive := map[string]string{"Content-Type": "application/x-git-receive-pack-request"}
	zipped := map[string]string{"Content-Type": receive["Content-Type"], "Content-Encoding": "gzip"}
	brotli := map[string]string{"Content-Type": receive["Content-Type"], "Content-Encoding": "br"}
	members := strings.Repeat(pack(""), 10_000)
	push := largePush(t)
	for name, c := range map[string]struct {
		method, path string
		header       map[string]string
		body         string
		want         int
	}{
		"refs":                {"GET", "/info/refs?service=git-upload-pack", nil, "", 200},
		"refs of a push":      {"GET", "/info/refs?service=git-receive-pack", nil, "", 200},
		"dumb protocol":       {"GET", "/info/refs", nil, "", 403},
		"other service":       {"GET", "/info/refs?service=git-upload-archive", nil, "", 403},
		"files":               {"GET", "/HEAD", nil, "", 404},
		"refs by POST":        {"POST", "/info/refs?service=git-upload-pack", nil, "", 405},
		"service by GET":      {"GET", "/git-upload-pack", nil, "", 405},
		"content type":        {"POST", "/git-upload-pack", nil, "0000", 415},
		"flush":               {"POST", "/git-receive-pack", receive, "0000", 200},
		"flush, zipped":       {"POST", "/git-receive-pack", zipped, pack("0000"), 200},
		"too large":           {"POST", "/git-receive-pack", receive, push, 413},
		"too large, inflated": {"POST", "/git-receive-pack", zipped, pack(push), 413},
		"endless members":     {"POST", "/git-receive-pack", zipped, members, 413},
		"no gzip":             {"POST", "/git-receive-pack", zipped, "00000000000000000", 400},
		"broken gzip":         {"POST", "/git-receive-pack", zipped, pack("00a0" + strings.Repeat("x", 50))[:30], 400},
		"other encoding":      {"POST", "/git-receive-pack", brotli, "0000", 400},
		"no packet line":      {"POST", "/git-upload-pack", upload, "zzzz", 500},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := httptest.NewRecorder()
			req := httptest.NewRequestWithContext(t.Context(), c.method, "/hub/kb.git"+c.path, strings.NewReader(c.body))
			if strings.HasPrefix(name, "too large") {
				req.ContentLength = -1
			}
			for k, v := range c.header {
				req.Header.Set(k, v)
			}
			repo.ServeHTTP(w, req, ServeOptions{Push: true, MaxBody: 100_000})
			if w.Code != c.want {
				t.Errorf("status %d, want %d: %.200q", w.Code, c.want, w.Body)
			}
		})
	}
}

// largePush is the body of a push of one file of a megabyte, stored without
// compression.
func largePush(t testing.TB) string {
	t.Helper()
	p := workTree(t)
	p.run("config", "core.compression", "0")
	p.write("zeros", strings.Repeat("0", 1<<20))
	c := p.commit("c")
	data := p.input(string(c)+"\n", "pack-objects", "--revs", "--stdout", "-q")
	return packetLine(string(Zero)+" "+string(c)+" refs/heads/large\x00report-status") + "0000" + data
}

func pack(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return b.String()
}

func TestServeHeaders(t *testing.T) {
	t.Parallel()
	repo, tip := filled(t, newRunner(t))
	for protocol, start := range map[string]string{
		"":              "001e# service=git-upload-pack\n0000",
		"version=2":     "000eversion 2\n",
		"x=y:version=2": "000eversion 2\n",
		"version=2\n":   "001e# service=git-upload-pack\n0000",
		"version=2;rm":  "001e# service=git-upload-pack\n0000",
		"version=1":     "001e# service=git-upload-pack\n0000000eversion 1\n",
	} {
		w := httptest.NewRecorder()
		req := httptest.NewRequestWithContext(t.Context(), "GET", "/x/info/refs?service=git-upload-pack", nil)
		req.Header["Git-Protocol"] = []string{protocol}
		repo.ServeHTTP(w, req, ServeOptions{})
		if got := w.Body.String(); !strings.HasPrefix(got, start) || !strings.HasSuffix(got, "0000") {
			t.Errorf("protocol %q: %q", protocol, got)
		}
		if got := w.Header().Get("Content-Type"); got != "application/x-git-upload-pack-advertisement" {
			t.Errorf("content type %q", got)
		}
		if got := w.Header().Get("Cache-Control"); !strings.HasPrefix(got, "no-cache") {
			t.Errorf("cache control %q", got)
		}
	}
	w := httptest.NewRecorder()
	req := httptest.NewRequestWithContext(t.Context(), "GET", "/x/info/refs?service=git-receive-pack", nil)
	req.Header.Set("Git-Protocol", "version=2")
	repo.ServeHTTP(w, req, ServeOptions{Push: true})
	if got := w.Body.String(); !strings.HasPrefix(got, "001f# service=git-receive-pack\n0000") || !strings.Contains(got, string(tip)) {
		t.Errorf("push with protocol 2: %q", got)
	}
}

// TestClientGone checks that a request whose client leaves ends its git.
func TestClientGone(t *testing.T) {
	t.Parallel()
	repo, _ := filled(t, newRunner(t))
	ended := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		repo.ServeHTTP(w, r, ServeOptions{Push: true})
	}))
	t.Cleanup(server.Close)
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.WriteString(conn, "POST /git-receive-pack HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n"+
		"Content-Type: application/x-git-receive-pack-request\r\n\r\n00a0") // a line that never comes
	if err := errors.Join(err, conn.Close()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("git outlived its client")
	}
}

func TestServeTimeout(t *testing.T) {
	t.Parallel()
	repo, _ := filled(t, newRunner(t))
	body, feed := io.Pipe()
	t.Cleanup(func() { _ = feed.Close() })
	w := httptest.NewRecorder()
	req := httptest.NewRequestWithContext(t.Context(), "POST", "/git-receive-pack", body)
	req.Header.Set("Content-Type", "application/x-git-receive-pack-request")
	repo.ServeHTTP(w, req, ServeOptions{Push: true, Timeout: 50 * time.Millisecond})
	if w.Code != http.StatusGatewayTimeout {
		t.Errorf("status %d", w.Code)
	}
}

// TestForeignOwner serves and reads a repository of another user, which git
// refuses unless its folder is named as safe.
func TestForeignOwner(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a folder away")
	}
	r := newRunner(t)
	repo, tip := filled(t, r)
	err := filepath.WalkDir(repo.Dir(), func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, 65534, 65534))
	})
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(repo.Dir(), link); err != nil {
		t.Fatal(err)
	}
	for _, repo := range []*Repo{repo, open(t, r, link, link, repo.Dir())} {
		if _, oid, err := repo.Head(t.Context()); err != nil || oid != tip {
			t.Errorf("Head = %q, %v", oid, err)
		}
		for _, service := range []string{uploadPack, receivePack} {
			w := httptest.NewRecorder()
			req := httptest.NewRequestWithContext(t.Context(), "GET", "/info/refs?service="+service, nil)
			repo.ServeHTTP(w, req, ServeOptions{Push: true})
			if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), string(tip)) {
				t.Errorf("%s of %s: status %d", service, repo.Dir(), w.Code)
			}
		}
	}
}

func TestServeRefusesNestedRepository(t *testing.T) {
	t.Parallel()
	p := workTree(t)
	p.commit("c")
	repo := open(t, newRunner(t), p.dir)
	w := httptest.NewRecorder()
	req := httptest.NewRequestWithContext(t.Context(), "GET", "/info/refs?service=git-upload-pack", nil)
	repo.ServeHTTP(w, req, ServeOptions{Push: true})
	if w.Code != http.StatusNotFound {
		t.Errorf("status %d: %.100q", w.Code, w.Body)
	}
}
