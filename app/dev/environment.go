package dev

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"vault/modules/auth"
	"vault/platform/git"
	"vault/platform/github"
	"vault/platform/localhub"
	"vault/platform/postgres"
)

// Options are what the command line says.
type Options struct {
	Folders []Folder
	// Name is the name of the address.
	Name string
	// BaseURL is the address of the front, HubURL that of the local GitHub.
	BaseURL, HubURL string
	// Data is the data folder, which is locked.
	Data string
	// Postgres is the URL of a server to use; "" runs a private one.
	Postgres string
	Log      *slog.Logger
	// Sample makes the repositories that are served when no folder is given.
	Sample func(ctx context.Context, runner *git.Runner, hub *localhub.Hub) error
}

// Environment is what runs beneath the four roles.
type Environment struct {
	Hub    *localhub.Hub
	Git    *git.Runner
	Ring   *auth.Ring
	Sealer *auth.Sealer
	// RingText is the key ring as the front's settings want it.
	RingText string
	// Control and Installation are the addresses of the two databases.
	Control, Installation string
	// PostgresURL is the address of the server.
	PostgresURL string

	options Options
	server  *postgres.Server
}

// The names of the databases; {id} stands for the installation's id.
const (
	controlDatabase = "vault_control"
	indexDatabase   = "vault_index_{id}"
)

// Open starts what runs beneath. What it started is stopped by Close, also
// after an error.
func Open(ctx context.Context, o Options) (*Environment, error) {
	e := &Environment{options: o}
	for _, step := range []func(context.Context) error{e.openKeys, e.openHub, e.addRepositories, e.openDatabases} {
		if err := step(ctx); err != nil {
			return e, err
		}
	}
	return e, nil
}

// Close stops what Open started.
func (e *Environment) Close(ctx context.Context) error {
	var errs []error
	if e.Hub != nil {
		errs = append(errs, e.Hub.Close())
	}
	if e.Git != nil {
		errs = append(errs, e.Git.Close())
	}
	if e.server != nil {
		errs = append(errs, e.server.Stop(ctx))
	}
	return errors.Join(errs...)
}

// openDatabases starts the server and makes the two databases.
func (e *Environment) openDatabases(ctx context.Context) error {
	index := e.indexName()
	if url := e.options.Postgres; url != "" {
		return e.useServer(ctx, url, index)
	}
	var err error
	e.server, err = postgres.StartServer(ctx, postgres.ServerConfig{
		Data:     e.options.Data,
		Download: postgres.Download{Allowed: true, Source: os.Getenv("VAULT_POSTGRES_DOWNLOAD")},
		Log:      e.options.Log,
	})
	if err != nil {
		return fmt.Errorf("start Postgres: %w", err)
	}
	for _, name := range []string{controlDatabase, index} {
		if err := e.server.CreateDatabase(ctx, name); err != nil {
			return fmt.Errorf("make the database %s: %w", name, err)
		}
	}
	e.Control, e.Installation = e.server.DSN(controlDatabase), e.server.DSN(index)
	e.PostgresURL = e.server.DSN("postgres")
	return nil
}

// indexName is the name of the installation's database.
func (e *Environment) indexName() string {
	return strings.ReplaceAll(indexDatabase, "{id}", fmt.Sprint(e.Hub.InstallationID()))
}

// Installations is the address of an installation's database, with {id} for
// its id.
func (e *Environment) Installations() string {
	return strings.Replace(e.Installation, e.indexName(), indexDatabase, 1)
}

// useServer makes the databases on a server that runs already.
func (e *Environment) useServer(ctx context.Context, url, index string) error {
	e.PostgresURL = url
	for name, into := range map[string]*string{controlDatabase: &e.Control, index: &e.Installation} {
		if err := postgres.CreateDatabase(ctx, url, name); err != nil {
			return fmt.Errorf("make the database %s: %w", name, err)
		}
		dsn, err := postgres.WithDatabase(url, name)
		if err != nil {
			return fmt.Errorf("find the database %s: %w", name, err)
		}
		*into = dsn
	}
	return nil
}

// openKeys reads the key ring of this data folder, which is made once: what
// an assistant was given keeps working after a restart.
func (e *Environment) openKeys(context.Context) error {
	path := filepath.Join(e.options.Data, "keyring.yaml")
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		text, err = newRing()
		if err == nil {
			err = os.WriteFile(path, text, 0o600)
		}
	}
	if err != nil {
		return fmt.Errorf("open the key ring: %w", err)
	}
	e.RingText = string(text)
	if e.Ring, err = auth.ParseRing(text); err != nil {
		return fmt.Errorf("read the key ring %s: %w", path, err)
	}
	e.Sealer, err = auth.NewSealer(e.Ring, e.options.BaseURL, nil)
	return err
}

// newRing makes a ring of one random key.
func newRing() ([]byte, error) {
	var master [32]byte
	if _, err := rand.Read(master[:]); err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "- kid: dev1\n  master: %s\n", base64.StdEncoding.EncodeToString(master[:])), nil
}

// openHub starts the local GitHub.
func (e *Environment) openHub(ctx context.Context) error {
	var err error
	e.Git, err = git.New(ctx, git.Options{AllowHTTP: []string{e.options.HubURL}, Log: e.options.Log})
	if err != nil {
		return err
	}
	e.Hub, err = localhub.New(localhub.Config{
		Dir:        filepath.Join(e.options.Data, "hub"),
		Git:        e.Git,
		BaseURL:    e.options.HubURL,
		WebhookURL: e.options.BaseURL + "/webhook",
		Account:    e.options.Name,
		Faults:     os.Getenv("VAULT_HUB_FAULTS") == "1",
		Log:        e.options.Log,
	})
	if err != nil {
		return fmt.Errorf("start the local GitHub: %w", err)
	}
	return nil
}

// addRepositories serves the folders, or the sample.
func (e *Environment) addRepositories(ctx context.Context) error {
	if len(e.options.Folders) == 0 {
		return e.options.Sample(ctx, e.Git, e.Hub)
	}
	for _, f := range e.options.Folders {
		if _, err := e.Hub.AddRepository(ctx, localhub.RepositorySpec{Name: f.Name, Folder: f.Path}); err != nil {
			return err
		}
	}
	return nil
}

// AppKey is the App's private key in PEM.
func (e *Environment) AppKey() string {
	der := x509.MarshalPKCS1PrivateKey(e.Hub.App().PrivateKey)
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: der}))
}

// tokenLife is how long the printed tokens are good: as long as anyone keeps
// a data folder.
const tokenLife = 10 * 365 * 24 * time.Hour

// Tokens gives each person's sealed access token by login, and the first
// person's login.
func (e *Environment) Tokens() (first string, tokens map[string]string, err error) {
	tokens = map[string]string{}
	now := time.Now()
	for i, p := range e.Hub.People() {
		sealed, err := e.Sealer.SealAccess(auth.AccessToken{
			GitHub: github.Secret(p.Token), Installation: e.Hub.InstallationID(), ClientID: "vault-dev",
			Login: p.Login, IssuedAt: now, Expires: now.Add(tokenLife),
		})
		if err != nil {
			return "", nil, fmt.Errorf("make the token of %s: %w", p.Login, err)
		}
		if i == 0 {
			first = p.Login
		}
		tokens[p.Login] = sealed
	}
	return first, tokens, nil
}

// LinkKey is the key that this front and instance share.
func (e *Environment) LinkKey() (string, error) {
	key, err := e.Ring.DeriveInstanceKey(e.Hub.InstallationID())
	return key.Reveal(), err
}
