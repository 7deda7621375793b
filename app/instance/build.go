package instance

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"vault/modules/auth"
	"vault/modules/catalogue"
	"vault/modules/index"
	"vault/platform/fault"
	"vault/platform/mcp"
)

// Builder makes finished views from one index: in an instance when a front
// asks, in the catalogue role after a change.
type Builder struct {
	index    *index.Index
	views    *views
	renderer catalogue.Renderer
}

// NewBuilder makes a builder.
func NewBuilder(x *index.Index, tools catalogue.ToolSet, renderer catalogue.Renderer) (*Builder, error) {
	v, err := newViews(tools)
	if err != nil {
		return nil, err
	}
	return &Builder{index: x, views: v, renderer: renderer}, nil
}

// errUnindexed says that a set has a repository that this index does not
// know.
var errUnindexed = errors.New("the set has a repository that is not indexed here")

// Build makes the finished view of a set of repositories.
func (b *Builder) Build(ctx context.Context, ids []int64) (catalogue.Built, error) {
	var built catalogue.Built
	snapshot, err := b.index.Snapshot(ctx, auth.SetScope(ids))
	if err != nil {
		return built, err
	}
	defer snapshot.Close()
	repos := snapshot.Repos()
	if len(repos) != len(ids) {
		return built, fault.Unavailable("this installation's repositories are being taken in").Because(errUnindexed)
	}
	view, rev, err := b.views.of(repos)
	if err != nil {
		return built, err
	}
	built.Rev = rev
	built.Finished, err = b.renderer.Render(ctx, view)
	return built, err
}

// NewRenderer makes a server that only renders views, for processes that
// serve no calls.
func NewRenderer(c mcp.Config) (*mcp.Server, error) {
	c.Backend = noCalls{}
	s, err := mcp.NewServer(c)
	if err != nil {
		return nil, fmt.Errorf("make the renderer: %w", err)
	}
	return s, nil
}

// noCalls is the backend of a renderer.
type noCalls struct{}

// View refuses.
func (noCalls) View(context.Context, *http.Request) (*mcp.View, error) {
	return nil, fault.Unavailable("this process serves no calls")
}

// Call refuses.
func (noCalls) Call(context.Context, mcp.Call) (*mcp.Answer, error) {
	return nil, fault.Unavailable("this process serves no calls")
}
