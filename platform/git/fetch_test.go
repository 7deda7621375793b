package git

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const mainSpec = "+refs/heads/main:refs/heads/main"

// mirrors makes a hub with a history and an empty repository to fetch into.
func mirrors(t testing.TB) (h *hub, to *Repo, tip OID) {
	t.Helper()
	source, tip := filled(t, newRunner(t))
	h = serve(t, source, ServeOptions{})
	return h, bare(t, newRunner(t, h.URL+"/hub")), tip
}

func TestFetch(t *testing.T) {
	t.Parallel()
	h, to, tip := mirrors(t)
	o := FetchOptions{URL: h.address(), Token: hubToken, Refspecs: []string{mainSpec}}
	if err := to.Fetch(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if oid, err := to.Ref(t.Context(), "refs/heads/main"); err != nil || oid != tip {
		t.Errorf("main = %s, %v", oid, err)
	}
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte("x-access-token:"+hubToken))
	if got := h.seen.Load(); got != want {
		t.Errorf("Authorization = %q", got)
	}
	if diff := cmp.Diff(listTree(t, h.repo, tip), listTree(t, to, tip)); diff != "" {
		t.Error(diff)
	}
	next := writeCommit(t, h.repo, tip, "next\n", []FileChange{{Path: "one.md", Data: []byte("next")}})
	if err := h.repo.UpdateRef(t.Context(), "refs/heads/main", next, tip); err != nil {
		t.Fatal(err)
	}
	if data, err := to.Blob(t.Context(), BlobOID([]byte("next")), 10); !errors.Is(err, ErrNotFound) {
		t.Errorf("before the fetch: %q, %v", data, err)
	}
	if err := to.Fetch(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	// The standing process sees what a fetch brought.
	if data, err := to.Blob(t.Context(), BlobOID([]byte("next")), 10); err != nil || string(data) != "next" {
		t.Errorf("after the fetch: %q, %v", data, err)
	}
	text, err := os.ReadFile(filepath.Join(to.Dir(), "config"))
	if err != nil || strings.Contains(string(text), "ghs_") || strings.Contains(string(text), "extraheader") {
		t.Errorf("the token was kept: %s %v", text, err)
	}
}

func TestFetchForcePushAndPrune(t *testing.T) {
	t.Parallel()
	h, to, tip := mirrors(t)
	o := FetchOptions{URL: h.address(), Token: hubToken, Refspecs: []string{"+refs/heads/*:refs/heads/*"}, Prune: true}
	if err := h.repo.UpdateRef(t.Context(), "refs/heads/gone", tip, Zero); err != nil {
		t.Fatal(err)
	}
	if err := to.Fetch(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	other := writeCommit(t, h.repo, Zero, "other root\n", []FileChange{{Path: "x", Data: []byte("x")}})
	err := h.repo.UpdateRefs(t.Context(),
		RefUpdate{Name: "refs/heads/main", To: other, From: tip}, RefUpdate{Name: "refs/heads/gone", To: Zero, From: tip})
	if err != nil {
		t.Fatal(err)
	}
	if err := to.Fetch(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if oid, err := to.Ref(t.Context(), "refs/heads/main"); err != nil || oid != other {
		t.Errorf("main = %s, %v", oid, err)
	}
	if _, err := to.Ref(t.Context(), "refs/heads/gone"); !errors.Is(err, ErrNotFound) {
		t.Errorf("gone: %v", err)
	}
}

func TestFetchPartialAndShallow(t *testing.T) {
	t.Parallel()
	h, to, tip := mirrors(t)
	o := FetchOptions{URL: h.address(), Token: hubToken, Refspecs: []string{mainSpec}, Filter: "blob:limit=1k", Depth: 1}
	for range 2 { // the second time the repository knows that it is partial
		if err := to.Fetch(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	big := BlobOID(bytes.Repeat([]byte("one"), 10_000))
	if _, err := to.Blob(t.Context(), big, 1<<20); !errors.Is(err, ErrNotFound) {
		t.Errorf("left out blob: %v", err)
	}
	sizes := map[string]int64{}
	for _, e := range listTree(t, to, tip) {
		sizes[e.Path] = e.Size
	}
	if sizes["one.md"] != 3 || sizes["big-one"] != -1 {
		t.Errorf("sizes = %v", sizes)
	}
	err := to.Blobs(t.Context(), []OID{big, BlobOID([]byte("one"))}, 100, func(b Blob) error {
		if b.Missing != (b.OID == big) {
			t.Errorf("blob %+v", b)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	n := 0
	if err := to.Log(t.Context(), LogOptions{Tip: tip}, func(Commit) error { n++; return nil }); err != nil || n != 1 {
		t.Errorf("%d commits, %v", n, err)
	}
	o.Filter, o.Depth, o.Refspecs = "", 0, []string{string(big)}
	if err := to.Fetch(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if data, err := to.Blob(t.Context(), big, 1<<20); err != nil || len(data) != 30_000 {
		t.Errorf("fetched by id: %d bytes, %v", len(data), err)
	}
}

// TestFetchFromCutOffHistory fetches from a repository without the parents of
// its first commit, then from the same one made whole.
func TestFetchFromCutOffHistory(t *testing.T) {
	t.Parallel()
	h, to, tip := mirrors(t)
	next := writeCommit(t, h.repo, tip, "next\n", []FileChange{{Path: "one.md", Data: []byte("next")}})
	if err := h.repo.UpdateRef(t.Context(), "refs/heads/main", next, tip); err != nil {
		t.Fatal(err)
	}
	shallow, object := filepath.Join(h.repo.Dir(), "shallow"), filepath.Join(h.repo.Dir(), "objects", string(tip[:2]), string(tip[2:]))
	if err := errors.Join(os.WriteFile(shallow, []byte(next+"\n"), 0o600), os.Rename(object, object+".away")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	o := FetchOptions{URL: h.address(), Token: hubToken, Refspecs: []string{mainSpec}, Filter: "blob:limit=1m"}
	commits := func() (n int) {
		if err := to.Fetch(ctx, o); err != nil {
			t.Fatal(err)
		}
		if err := to.Log(ctx, LogOptions{Tip: next}, func(Commit) error { n++; return nil }); err != nil {
			t.Error(err)
		}
		return n
	}
	if n := commits(); n != 1 {
		t.Errorf("%d commits of a history cut off behind the first", n)
	}
	if err := errors.Join(os.Remove(shallow), os.Rename(object+".away", object)); err != nil {
		t.Fatal(err)
	}
	if n := commits(); n < 2 {
		t.Errorf("%d commits of a whole history", n)
	}
}

func TestFetchFailures(t *testing.T) {
	t.Parallel()
	h, to, _ := mirrors(t)
	good := FetchOptions{URL: h.address(), Token: hubToken, Refspecs: []string{mainSpec}}
	for name, c := range map[string]struct {
		change func(*FetchOptions)
		want   error
	}{
		"wrong token":       {func(o *FetchOptions) { o.Token = "wrong_secret" }, ErrUnauthorized},
		"no token":          {func(o *FetchOptions) { o.Token = "" }, ErrUnauthorized},
		"absent repository": {func(o *FetchOptions) { o.URL = h.URL + "/hub/none.git" }, ErrNotFound},
		"absent branch":     {func(o *FetchOptions) { o.Refspecs = []string{"refs/heads/none"} }, ErrNotFound},
		"absent object":     {func(o *FetchOptions) { o.Refspecs = []string{strings.Repeat("1", 40)} }, ErrNotFound},
	} {
		o := good
		c.change(&o)
		err := to.Fetch(t.Context(), o)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && (strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), basic(o.Token))) {
			t.Errorf("%s: the error shows the token: %v", name, err)
		}
	}
}

func TestFetchRefusesAddresses(t *testing.T) {
	t.Parallel()
	source, _ := filled(t, newRunner(t))
	to := bare(t, newRunner(t, "http://127.0.0.1:1/hub", "http://[::1]:1"))
	canary := filepath.Join(t.TempDir(), "canary")
	for _, address := range []string{
		"", "kb", source.Dir(), "file://" + source.Dir(), "ext::touch " + canary, "ext::sh -c 'touch%20" + canary + "'",
		"ssh://git@github.com/a/b", "git@github.com:a/b", "git://github.com/a/b", "ftp://github.com/a/b",
		"--upload-pack=touch " + canary, "http://github.com/a/b", "http://127.0.0.1:2/hub/kb", "http://127.0.0.1/hub/kb",
		"http://127.0.0.1:1/other/kb", "http://127.0.0.1:1/hub", "http://127.0.0.1:1/hubs/kb", "http://127.0.0.1:1/hub/../x",
		"http://127.0.0.1:1/hub/%2e%2e/x", "http://127.0.0.1:1/hub/a%2fb", "http://u:p@127.0.0.1:1/hub/kb",
		"http://127.0.0.1:1@evil.example/hub/kb", "http://evil.example/hub/kb#http://127.0.0.1:1/hub/kb",
		"https://", "https:///a", "https:github.com/a", "https://github.com/a?x=y", "https://github.com/a\nb", "HTTPS ://x/y",
		"https://t@github.com/a/b",
	} {
		err := to.Fetch(t.Context(), FetchOptions{URL: address, Token: "t", Refspecs: []string{mainSpec}})
		if !errors.Is(err, ErrRefused) {
			t.Errorf("%q: %v", address, err)
		}
		if err != nil && strings.Contains(err.Error(), ":p@") {
			t.Errorf("%q: the error shows the password: %v", address, err)
		}
	}
	if _, err := os.Stat(canary); err == nil {
		t.Error("an address ran something")
	}
	for _, good := range []string{"http://127.0.0.1:1/hub/kb.git", "http://[::1]:1/x/y", "https://github.com/a/b.git"} {
		if _, err := to.run.checkURL(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
}

func TestFetchRefusesOptions(t *testing.T) {
	t.Parallel()
	h, to, _ := mirrors(t)
	for name, change := range map[string]func(*FetchOptions){
		"no refspec":        func(o *FetchOptions) { o.Refspecs = nil },
		"option":            func(o *FetchOptions) { o.Refspecs = []string{"--upload-pack=x"} },
		"newline":           func(o *FetchOptions) { o.Refspecs = []string{"refs/heads/a\nrefs/heads/b"} },
		"short name":        func(o *FetchOptions) { o.Refspecs = []string{"main"} },
		"filter":            func(o *FetchOptions) { o.Filter = "sparse:oid=main:x" },
		"token with header": func(o *FetchOptions) { o.Token = "a\r\nHost: x" },
	} {
		o := FetchOptions{URL: h.address(), Token: hubToken, Refspecs: []string{mainSpec}}
		change(&o)
		if err := to.Fetch(t.Context(), o); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFetchFollowsNoRedirect checks that a redirect, to the same host or
// another, ends the fetch before anybody else sees the token.
func TestFetchFollowsNoRedirect(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 303, 307, 308} {
		var seen []string
		var mu sync.Mutex
		thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, r.URL.String()+" "+r.Header.Get("Authorization"))
		}))
		t.Cleanup(thief.Close)
		origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, thief.URL+r.URL.String(), status)
		}))
		t.Cleanup(origin.Close)
		to := bare(t, newRunner(t, origin.URL, thief.URL))
		err := to.Fetch(t.Context(), FetchOptions{URL: origin.URL + "/a/b", Token: hubToken, Refspecs: []string{mainSpec}})
		if !errors.Is(err, ErrRedirected) {
			t.Errorf("%d: %v", status, err)
		}
		mu.Lock()
		if len(seen) != 0 {
			t.Errorf("%d: the other host saw %q", status, seen)
		}
		mu.Unlock()
	}
}

// TestFetchRefusesForeignSettings lets a repository's settings try to send the
// token elsewhere or to run something.
func TestFetchRefusesForeignSettings(t *testing.T) {
	t.Parallel()
	h, _, _ := mirrors(t)
	stolen := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s was asked with %q", r.URL, r.Header.Get("Authorization"))
	}))
	t.Cleanup(stolen.Close)
	canary := filepath.Join(t.TempDir(), "canary")
	for key, value := range map[string]string{
		"url." + stolen.URL + "/.insteadOf":    h.URL + "/",
		"http.proxy":                           stolen.URL,
		"http." + h.URL + ".proxy":             stolen.URL,
		"remote.origin.url":                    stolen.URL,
		"remote.origin.vcs":                    "ext",
		"remote.origin.uploadpack":             "touch " + canary,
		"remote.origin.proxy":                  stolen.URL,
		"credential.helper":                    "!touch " + canary,
		"credential." + h.URL + ".helper":      "!touch " + canary,
		"core.askPass":                         "touch " + canary,
		"core.gitProxy":                        "touch " + canary,
		"include.path":                         "/nowhere",
		"includeIf.gitdir:/.path":              "/nowhere",
		"extensions.worktreeConfig":            "true",
		"core.worktree":                        "/",
		"submodule.x.update":                   "!touch " + canary,
		"fetch.bundleURI":                      stolen.URL,
		"remote.origin.partialclonefilter.x.y": "z",
	} {
		to := bare(t, newRunner(t, h.URL+"/hub"))
		newPlain(t, to.Dir()).run("config", key, value)
		err := to.Fetch(t.Context(), FetchOptions{URL: h.address(), Token: hubToken, Refspecs: []string{mainSpec}})
		if !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", key, err)
		}
	}
	if _, err := os.Stat(canary); err == nil {
		t.Error("a setting ran something")
	}
}

// TestFetchHostileServer lets a server echo the token and stall.
func TestFetchHostileServer(t *testing.T) {
	t.Parallel()
	stall := make(chan struct{})
	t.Cleanup(func() { close(stall) })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/stall") {
			select {
			case <-stall:
			case <-r.Context().Done():
			}
			return
		}
		secret, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(r.Header.Get("Authorization"), "Basic "))
		w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
		text := "ERR \x1b[31myou said " + r.Header.Get("Authorization") + " " + string(secret) + "\n"
		_, _ = io.WriteString(w, packetLine("# service=git-upload-pack\n")+"0000"+packetLine(text))
	}))
	t.Cleanup(server.Close)
	to := bare(t, newRunner(t, server.URL))
	o := FetchOptions{URL: server.URL + "/echo/kb", Token: hubToken, Refspecs: []string{mainSpec}}
	err := to.Fetch(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "you said") || strings.Contains(err.Error(), hubToken) ||
		strings.Contains(err.Error(), basic(hubToken)) || strings.ContainsAny(err.Error(), "\x1b\n") {
		t.Errorf("echo: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	o.URL = server.URL + "/stall/kb"
	start := time.Now()
	if err := to.Fetch(ctx, o); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("stall: %v", err)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("the end of a stalled fetch took %s", took)
	}
}

// TestFetchTakesOldHistories transfers objects that git's checks find fault
// with: they come, and the log says so.
func TestFetchTakesOldHistories(t *testing.T) {
	t.Parallel()
	source := bare(t, newRunner(t))
	blob, err := source.WriteBlob(t.Context(), []byte("[submodule \"../x\"]\n\tpath = -x\n\turl = -y\n"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := encodeTree([]TreeEntry{{Mode: 0o100664, OID: blob, Path: ".."}, {Mode: ModeFile, OID: blob, Path: ".GIT"}, {Mode: ModeFile, OID: blob, Path: ".gitmodules"}})
	if err != nil {
		t.Fatal(err)
	}
	tree, err := source.writeObject(t.Context(), "tree", data)
	if err != nil {
		t.Fatal(err)
	}
	text := "tree " + string(tree) + "\nauthor no address 1 +0000\ncommitter A <a> 01 +051800\n\nm\n"
	tip, err := source.writeObject(t.Context(), "commit", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := source.UpdateRef(t.Context(), "refs/heads/main", tip, Zero); err != nil {
		t.Fatal(err)
	}
	h := serve(t, source, ServeOptions{})
	var log bytes.Buffer
	r, err := New(t.Context(), Options{AllowHTTP: []string{h.URL}, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	for _, filter := range []string{"", "blob:none"} {
		to := bare(t, r)
		log.Reset()
		o := FetchOptions{URL: h.address(), Token: hubToken, Refspecs: []string{mainSpec}, Filter: filter}
		if err := to.Fetch(t.Context(), o); err != nil {
			t.Errorf("filter %q: %v", filter, err)
		}
		if len(listTree(t, to, tip)) != 3 || !strings.Contains(log.String(), "missingEmail") {
			t.Errorf("filter %q: log %s", filter, log.String())
		}
	}
}
