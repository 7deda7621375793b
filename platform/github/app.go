package github

import (
	"context"
	"crypto/rsa"
	"errors"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"
	gogithub "github.com/google/go-github/v66/github"
)

// errNoKey says that the App cannot sign itself in.
var errNoKey = errors.New("the App has no private key")

// GitHub takes an App's word for at most 10 minutes and its clock may lag
// ours: a minute back, and a minute short of the limit.
const (
	jwtBackdate = 60 * time.Second
	jwtLife     = 9 * time.Minute
)

// maxPages bounds every list read page by page; a page has 100 entries.
const (
	pageSize = 100
	maxPages = 100
)

// App speaks as the GitHub App itself: about its installations, and to get
// tokens for them.
type App struct {
	client *client
	tokens *tokenCache
}

// NewApp makes the client of the App. id is its client id or its App id in
// digits; key is its private key.
func NewApp(cfg Config, id string, key *rsa.PrivateKey) *App {
	cfg = cfg.withDefaults()
	a := &App{client: newClient(cfg, func() (string, error) { return appJWT(id, key, cfg.Clock()) })}
	a.tokens = newTokenCache(cfg.Clock, a.makeToken)
	return a
}

// appJWT signs the short-lived statement that stands for the App.
func appJWT(id string, key *rsa.PrivateKey, now time.Time) (string, error) {
	if key == nil {
		return "", errNoKey
	}
	claims := jwt.RegisteredClaims{
		Issuer:    id,
		IssuedAt:  jwt.NewNumericDate(now.Add(-jwtBackdate)),
		ExpiresAt: jwt.NewNumericDate(now.Add(jwtLife)),
	}
	signed, err := jwt.NewWithClaims(jwt.SigningMethodRS256, claims).SignedString(key)
	if err != nil {
		return "", fmt.Errorf("sign as the App: %w", err)
	}
	return signed, nil
}

// Installation is one account that installed the App.
type Installation struct {
	ID int64
	// Account is the login of the organisation or person.
	Account   string
	AccountID int64
	// AccountType is "Organization" or "User".
	AccountType string
	// AllRepositories tells whether the account chose all of them.
	AllRepositories bool
	// Suspended installations give out no tokens.
	Suspended bool
	// ContentsPermission is "read", "write" or "" for none.
	ContentsPermission string
}

// Installations lists every account that installed the App, at most 10,000.
func (a *App) Installations(ctx context.Context) ([]Installation, error) {
	const op = "list installations"
	var out []Installation
	err := pages(op, func(options *gogithub.ListOptions) (int, error) {
		var next int
		err := a.client.rest(ctx, call{op: op, read: true}, func(ctx context.Context, gh *gogithub.Client) error {
			list, resp, err := gh.Apps.ListInstallations(ctx, options)
			if err != nil {
				return err
			}
			for _, i := range list {
				out = append(out, installationOf(i))
			}
			next = resp.NextPage
			return nil
		})
		return next, err
	})
	return out, err
}

// Installation reads one installation; IsNotFound when it is gone.
func (a *App) Installation(ctx context.Context, id int64) (Installation, error) {
	var out Installation
	err := a.client.rest(ctx, call{op: "read installation", read: true}, func(ctx context.Context, gh *gogithub.Client) error {
		i, _, err := gh.Apps.GetInstallation(ctx, id)
		out = installationOf(i)
		return err
	})
	return out, err
}

func installationOf(i *gogithub.Installation) Installation {
	return Installation{
		ID:                 i.GetID(),
		Account:            i.GetAccount().GetLogin(),
		AccountID:          i.GetAccount().GetID(),
		AccountType:        i.GetAccount().GetType(),
		AllRepositories:    i.GetRepositorySelection() == "all",
		Suspended:          !i.GetSuspendedAt().IsZero(),
		ContentsPermission: i.GetPermissions().GetContents(),
	}
}

// pages reads a list to its end: get reads one page and gives the number of
// the next, 0 after the last.
func pages(op string, get func(*gogithub.ListOptions) (next int, err error)) error {
	page := 1
	for range maxPages {
		next, err := get(&gogithub.ListOptions{Page: page, PerPage: pageSize})
		if err != nil || next == 0 {
			return err
		}
		if next <= page {
			return &Error{Op: op, Status: 200, Message: "the pages go in a circle", class: classUnavailable}
		}
		page = next
	}
	return &Error{Op: op, Status: 200, Message: "the list has more than 10000 entries"}
}
