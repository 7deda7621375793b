package localhub

import (
	"context"
	"crypto/rsa"
	_ "embed" // the schema
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"vault/platform/git"
	"vault/platform/localhub/graphql"
)

//go:embed schema.graphql
var schemaText string

// defaultHourlyLimit is far above GitHub's 5,000 an hour: nobody else shares
// this machine's API, but a client in a loop should still meet the refusal.
const defaultHourlyLimit = 100_000

// Config says where a hub lives. All fields but Dir, Git and BaseURL may be
// left empty.
type Config struct {
	// Dir holds the hub's state and its bare repositories; it is made if
	// needed, readable by this user only.
	Dir string
	Git *git.Runner
	// BaseURL is the address clients use, such as http://127.0.0.1:8484/hub.
	BaseURL string
	// WebhookURL receives the App's webhooks; "" sends none.
	WebhookURL string
	// Account is the login of the organisation that owns the repositories,
	// "local" by default.
	Account string
	// PrivateKey is the App's key for a new Dir; nil makes one.
	PrivateKey *rsa.PrivateKey
	// AdminToken opens /admin/; "" makes a random one for each start.
	AdminToken string
	// HourlyLimit is the requests, and the GraphQL points, that a person or
	// installation has in an hour.
	HourlyLimit int
	// Faults allows the hub to be told to misbehave.
	Faults bool
	// Log receives what goes wrong inside; nil discards it.
	Log *slog.Logger
}

// Hub is one local GitHub. It is safe for concurrent use.
type Hub struct {
	config   Config
	base     *url.URL
	log      *slog.Logger
	schema   *graphql.Schema
	rest     *http.ServeMux
	app      AppInfo
	tokenKey []byte
	limits   *rateLimits
	hooks    *hooks
	now      func() time.Time

	// mu guards state and repos. It is never held while git runs.
	mu    sync.RWMutex
	state *state
	repos []*repository // those served since New, in the order they came
	ran   bool          // Run has told the App what it may see
	// opening is the repository that was added first since New, which guests
	// read; it stays the same when that one goes.
	opening int64
	// dropped are identities that were forgotten before Run could tell of it.
	dropped []repoState
}

// AppInfo is what the owner of the GitHub App knows about it.
type AppInfo struct {
	ID            int64
	ClientID      string
	ClientSecret  string
	WebhookSecret string
	PrivateKey    *rsa.PrivateKey
}

// New opens the hub in a folder, made on first use. It serves nothing until
// AddRepository, and sends webhooks only while Run runs.
func New(c Config) (*Hub, error) {
	if c.Git == nil || c.Dir == "" {
		return nil, errors.New("a local GitHub needs a folder and a git runner")
	}
	base, err := parseBase(c.BaseURL)
	if err != nil {
		return nil, err
	}
	c = c.withDefaults()
	schema, err := graphql.Load("schema.graphql", schemaText)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(c.Dir, "repositories"), 0o700); err != nil {
		return nil, fmt.Errorf("make the local GitHub's folder: %w", err)
	}
	st, err := openState(c)
	if err != nil {
		return nil, err
	}
	h := &Hub{
		config: c, base: base, log: c.Log, schema: schema, state: st,
		limits: newRateLimits(c.HourlyLimit), now: time.Now,
	}
	if h.app, err = st.appInfo(); err != nil {
		return nil, err
	}
	h.tokenKey = st.App.TokenKey
	h.hooks = newHooks(c, h.app, st.App.HookID)
	h.rest = h.routes()
	return h, nil
}

func (c Config) withDefaults() Config {
	if c.Account == "" {
		c.Account = "local"
	}
	if c.HourlyLimit <= 0 {
		c.HourlyLimit = defaultHourlyLimit
	}
	if c.AdminToken == "" {
		c.AdminToken = randomText(40)
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

func parseBase(text string) (*url.URL, error) {
	base, err := url.Parse(strings.TrimSuffix(text, "/"))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("the local GitHub's base URL %q is no http address", text)
	}
	return base, nil
}

// App gives the App's credentials.
func (h *Hub) App() AppInfo { return h.app }

// AdminToken opens /admin/.
func (h *Hub) AdminToken() string { return h.config.AdminToken }

// InstallationID is the id of the App's one installation.
func (h *Hub) InstallationID() int64 {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.state.Installation.ID
}

// Account is the login that owns the repositories.
func (h *Hub) Account() string { return h.config.Account }

// Close ends the git processes that the repositories hold. The hub must not
// be used afterwards.
func (h *Hub) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var errs []error
	for _, r := range h.repos {
		errs = append(errs, r.close())
	}
	h.repos = nil
	return errors.Join(errs...)
}

// Run tells the App about repositories that came or went since the last time,
// then watches served folders and delivers webhooks until ctx ends. Add the
// repositories that are served from the start before it.
func (h *Hub) Run(ctx context.Context) error {
	if err := h.baseline(ctx); err != nil {
		return err
	}
	if err := h.announce(); err != nil {
		return err
	}
	var wait sync.WaitGroup
	wait.Go(func() { h.hooks.run(ctx) })
	wait.Go(func() { h.watch(ctx) })
	wait.Wait()
	return nil
}
