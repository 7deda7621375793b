package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	gogithub "github.com/google/go-github/v66/github"
	"github.com/shurcooL/githubv4"
)

// client is what the three kinds of clients share.
type client struct {
	cfg        Config
	credential func() (string, error)
	http       *http.Client
}

func newClient(cfg Config, credential func() (string, error)) *client {
	cfg = cfg.withDefaults()
	return &client{
		cfg:        cfg,
		credential: credential,
		http: &http.Client{
			Transport:     &transport{cfg: cfg, credential: credential},
			CheckRedirect: sameHost,
		},
	}
}

// fixed is the credential of a client that holds a token.
func fixed(token string) func() (string, error) {
	return func() (string, error) { return token, nil }
}

// run sends one call: send uses a library over the client's transport, and
// the record of what went over the wire is given back.
func (c *client) run(ctx context.Context, what call, send func(context.Context) error) (*exchange, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	x := &exchange{call: what}
	begun := c.cfg.Clock()
	err := send(withExchange(ctx, x))
	x.duration = c.cfg.Clock().Sub(begun)
	c.cfg.Log.DebugContext(ctx, "github call",
		"op", x.op,
		"status", x.status,
		"attempts", x.attempts,
		"bytes", x.size,
		"duration", x.duration,
		"request_id", clip(x.header.Get("X-GitHub-Request-Id")),
		"remaining", clip(x.header.Get("X-RateLimit-Remaining")))
	return x, err
}

// rest sends one REST call through a go-github client of its own.
func (c *client) rest(ctx context.Context, what call, send func(context.Context, *gogithub.Client) error) error {
	base, err := url.Parse(c.cfg.API + "/")
	if err != nil {
		return fmt.Errorf("parse the REST base: %w", err)
	}
	library := gogithub.NewClient(c.http)
	library.BaseURL = base
	library.UserAgent = c.cfg.UserAgent
	x, err := c.run(ctx, what, func(ctx context.Context) error { return send(ctx, library) })
	return c.judge(x, err)
}

// question is one GraphQL query.
type question struct {
	op string
	// text is the query itself, for rawQuery only.
	text string
	vars map[string]any
	// limit is the most bytes of the answer; 0 means answerLimit.
	limit int64
	// tolerated says which entries of "errors" belong to a normal answer;
	// nil tolerates none.
	tolerated func(apiError) bool
}

func (q question) call() call { return call{op: q.op, read: true, limit: q.limit} }

// query sends a fixed query, described by the struct q as githubv4 wants it.
// The tolerated entries of "errors" stand beside the data in the
// exchange that is given back.
func (c *client) query(ctx context.Context, what question, q any) (*exchange, error) {
	library := githubv4.NewEnterpriseClient(c.cfg.GraphQL, c.http)
	x, err := c.run(ctx, what.call(), func(ctx context.Context) error { return library.Query(ctx, q, what.vars) })
	if err != nil && len(x.body.Errors) > 0 && err.Error() == x.body.Errors[0].Message {
		// The library's word for the errors we have recorded in full.
		err = nil
	}
	return x, c.judgeQuery(x, err, what.tolerated)
}
