package localhub_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"vault/platform/git"
	"vault/platform/localhub"
)

// sharedKey is one App key for all tests, since making one takes long.
var sharedKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

// world is a hub that listens, with what a test needs around it.
type world struct {
	t      testing.TB
	hub    *localhub.Hub
	config localhub.Config
	base   string
	server *httptest.Server
	hooks  *receiver
	logs   *logBuffer
}

type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newWorld(t testing.TB, change ...func(*localhub.Config)) *world {
	t.Helper()
	w := &world{t: t, hooks: newReceiver(t), logs: &logBuffer{}}
	w.server = httptest.NewUnstartedServer(nil)
	w.base = "http://" + w.server.Listener.Addr().String() + "/hub"
	runner, err := git.New(t.Context(), git.Options{AllowHTTP: []string{w.base}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = runner.Close() })
	key, err := sharedKey()
	if err != nil {
		t.Fatal(err)
	}
	w.config = localhub.Config{
		Dir: filepath.Join(t.TempDir(), "hub"), Git: runner, BaseURL: w.base, WebhookURL: w.hooks.server.URL,
		Account: "acme", PrivateKey: key, Log: slog.New(slog.NewTextHandler(w.logs, nil)),
	}
	for _, c := range change {
		c(&w.config)
	}
	w.open()
	w.server.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { w.hub.ServeHTTP(rw, r) })
	w.server.Start()
	t.Cleanup(func() {
		w.server.Close()
		if err := w.hub.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func (w *world) open() {
	w.t.Helper()
	hub, err := localhub.New(w.config)
	if err != nil {
		w.t.Fatal(err)
	}
	w.hub = hub
}

// run starts the hub's background work and ends it with the test.
func (w *world) run() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	hub := w.hub
	go func() { done <- hub.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Error(err)
		}
	})
	w.t.Cleanup(stop)
	return stop
}

func (w *world) add(name, folder string) localhub.Repository {
	w.t.Helper()
	r, err := w.hub.AddRepository(w.t.Context(), localhub.RepositorySpec{Name: name, Folder: folder})
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *world) token(i int) string { return w.hub.People()[i].Token }

// answer is a response with its body read.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) json(t testing.TB) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal(a.body, &out); err != nil {
		t.Fatalf("answer %d is no JSON object: %v: %s", a.status, err, a.body)
	}
	return out
}

// call makes one request below the base URL.
func (w *world) call(method, path, token string, body any, header ...string) answer {
	w.t.Helper()
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(b)
	default:
		encoded, err := json.Marshal(b)
		if err != nil {
			w.t.Fatal(err)
		}
		reader = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.base+path, reader)
	if err != nil {
		w.t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, data}
}

func (w *world) get(path, token string, header ...string) answer {
	w.t.Helper()
	return w.call("GET", path, token, nil, header...)
}

// query asks GraphQL and gives data and errors.
func (w *world) query(token, query string, variables map[string]any) (data map[string]any, errs []any) {
	w.t.Helper()
	a := w.call("POST", "/graphql", token, map[string]any{"query": query, "variables": variables})
	if a.status != 200 {
		w.t.Fatalf("GraphQL answered %d: %s", a.status, a.body)
	}
	out := a.json(w.t)
	data, _ = out["data"].(map[string]any)
	errs, _ = out["errors"].([]any)
	return data, errs
}

// at follows keys and indexes into decoded JSON.
func at(v any, path ...any) any {
	for _, step := range path {
		switch s := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[s]
		case int:
			l, _ := v.([]any)
			if s >= len(l) {
				return nil
			}
			v = l[s]
		}
	}
	return v
}

// until waits for a condition.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// work is a git repository of the user, made with git itself.
type work struct {
	t   testing.TB
	dir string
	env []string
}

func newWork(t testing.TB) *work {
	t.Helper()
	k := &work{t: t, dir: filepath.Join(t.TempDir(), "kb")}
	home := t.TempDir()
	k.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C",
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.org", "GIT_COMMITTER_NAME=Carl", "GIT_COMMITTER_EMAIL=carl@example.org",
	}
	if err := os.MkdirAll(k.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	k.git("init", "-q", "-b", "main")
	return k
}

// try runs git in the work tree.
func (k *work) try(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = k.dir, k.env
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (k *work) git(args ...string) string {
	k.t.Helper()
	out, err := k.try(args...)
	if err != nil {
		k.t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return out
}

func (k *work) write(path, text string) {
	k.t.Helper()
	file := filepath.Join(k.dir, path)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		k.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		k.t.Fatal(err)
	}
}

// commit writes files (path and text in turn) and commits all.
func (k *work) commit(message string, files ...string) string {
	k.t.Helper()
	for i := 0; i+1 < len(files); i += 2 {
		k.write(files[i], files[i+1])
	}
	k.git("add", "--all")
	k.git("commit", "-q", "--allow-empty", "-m", message)
	return k.git("rev-parse", "HEAD")
}

// remote is the address of a repository with a token in it.
func (w *world) remote(name, token string) string {
	return strings.Replace(w.base, "http://", "http://x-access-token:"+token+"@", 1) + "/acme/" + name + ".git"
}

// event is one webhook that arrived.
type event struct {
	name   string
	header http.Header
	raw    []byte
	body   map[string]any
}

// receiver takes webhooks.
type receiver struct {
	server *httptest.Server
	mu     sync.Mutex
	events []event
	status int
}

func newReceiver(t testing.TB) *receiver {
	r := &receiver{status: 200}
	r.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		raw, err := io.ReadAll(req.Body)
		e := event{name: req.Header.Get("X-GitHub-Event"), header: req.Header, raw: raw}
		if err != nil || json.Unmarshal(raw, &e.body) != nil {
			w.WriteHeader(400)
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, e)
		w.WriteHeader(r.status)
	}))
	t.Cleanup(r.server.Close)
	return r
}

// of lists the events of a name that arrived so far.
func (r *receiver) of(name string) []event {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []event
	for _, e := range r.events {
		if e.name == name {
			out = append(out, e)
		}
	}
	return out
}

// wait waits for the nth event of a name, counted from 1.
func (r *receiver) wait(t testing.TB, name string, n int) event {
	t.Helper()
	until(t, fmt.Sprintf("event %d of %s", n, name), func() bool { return len(r.of(name)) >= n })
	return r.of(name)[n-1]
}

// stdin runs git with an input.
func (k *work) stdin(input string, args ...string) {
	k.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = k.dir, k.env, strings.NewReader(input)
	if out, err := cmd.CombinedOutput(); err != nil {
		k.t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// link makes a symbolic link in the work tree.
func (k *work) link(target, name string) error { return os.Symlink(target, filepath.Join(k.dir, name)) }
