package instance

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"vault/modules/auth"
	"vault/modules/catalogue"
	"vault/modules/index"
	"vault/modules/tool"
	"vault/modules/vaultdir"
	"vault/platform/fault"
	"vault/platform/mcp"
	"vault/platform/telemetry"
)

// Tools lists and runs tools: the basic ones, and those of engines.
type Tools interface {
	catalogue.ToolSet
	// Run runs a tool; ok is false when there is none of that name.
	Run(ctx context.Context, name string, call tool.Call, arguments json.RawMessage) (answer *mcp.Answer, ok bool, err error)
}

type sessionKey struct{}

// session is one request of one caller.
type session struct {
	instance *Instance
	access   auth.Access
	snapshot *index.Snapshot
}

// open gives the request's snapshot, which is opened when first asked for.
func (s *session) open(ctx context.Context) (*index.Snapshot, error) {
	if s.snapshot != nil {
		return s.snapshot, nil
	}
	snapshot, err := awake(ctx, func(ctx context.Context) (*index.Snapshot, error) {
		return s.instance.Index.Snapshot(ctx, s.access.Scope)
	})
	if err != nil {
		return nil, err
	}
	s.snapshot = snapshot
	return snapshot, nil
}

func (s *session) close() {
	if s.snapshot != nil {
		s.snapshot.Close()
	}
}

// backend is the instance as its MCP server sees it.
type backend struct{ instance *Instance }

var errNoSession = errors.New("a request without a session reached the MCP server")

func sessionOf(ctx context.Context) (*session, error) {
	s, ok := ctx.Value(sessionKey{}).(*session)
	if !ok {
		return nil, errNoSession
	}
	return s, nil
}

// View gives what the caller sees.
func (b backend) View(ctx context.Context, _ *http.Request) (*mcp.View, error) {
	s, err := sessionOf(ctx)
	if err != nil {
		return nil, err
	}
	snapshot, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	view, _, err := b.instance.views.of(snapshot.Repos())
	return view, err
}

// Call runs one tool on the caller's snapshot.
func (b backend) Call(ctx context.Context, c mcp.Call) (*mcp.Answer, error) {
	telemetry.Add(ctx, telemetry.KeyTool, c.Name)
	s, err := sessionOf(ctx)
	if err != nil {
		return nil, err
	}
	snapshot, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	call := tool.Call{Index: snapshot, ClientName: c.ClientName, ClientVersion: c.ClientVersion}
	answer, ok, err := b.instance.Tools.Run(ctx, c.Name, call, c.Arguments)
	if err == nil && !ok {
		err = fault.NotFound("there is no tool %s", fault.Quote(c.Name))
	}
	if err != nil {
		telemetry.Add(ctx, telemetry.KeyOutcome, string(fault.KindOf(err)))
	}
	return answer, err
}

// repositories gives the snapshot's repositories as views know them.
func repositories(repos []index.Repo) (dirs []*vaultdir.Repo, keys []catalogue.Repository) {
	for _, r := range repos {
		dirs = append(dirs, r.Dir)
		keys = append(keys, catalogue.Repository{ID: r.ID, Name: r.Name, Rev: r.Dir.Rev()})
	}
	return dirs, keys
}
