package catalogue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"vault/modules/vaultdir"
	"vault/platform/mcp"
)

// ToolSet gives what a caller with these repositories sees. The basic tools
// and the engines fill it.
type ToolSet interface {
	// Tools lists the tools in listing order; repos are in the order of their
	// names.
	Tools(repos []*vaultdir.Repo) ([]mcp.Tool, error)
	// Instructions is the text sent at the start of a chat.
	Instructions(repos []*vaultdir.Repo) string
}

// Renderer makes the finished result bytes of a view.
type Renderer interface {
	Render(ctx context.Context, view *mcp.View) (mcp.Finished, error)
}

// Build makes the view of a caller who reads repos, given in any order.
func Build(set ToolSet, repos []*vaultdir.Repo) (*mcp.View, error) {
	sorted := slices.SortedFunc(slices.Values(repos), func(a, b *vaultdir.Repo) int {
		return strings.Compare(a.RepoName(), b.RepoName())
	})
	tools, err := set.Tools(sorted)
	if err != nil {
		return nil, fmt.Errorf("list the tools of %d repositories: %w", len(repos), err)
	}
	return &mcp.View{Instructions: set.Instructions(sorted), Tools: tools}, nil
}

// Contract is the version of everything that views share: tool shapes,
// descriptions, the service's paragraph, the server's name and version, and
// the protocol's envelopes. It is the hash of a view rendered for no
// repository, so that nobody has to remember to raise a number.
func Contract(ctx context.Context, set ToolSet, r Renderer) (string, error) {
	view, err := Build(set, nil)
	if err != nil {
		return "", err
	}
	finished, err := r.Render(ctx, view)
	if err != nil {
		return "", fmt.Errorf("render the contract: %w", err)
	}
	data, err := json.Marshal(finished)
	if err != nil {
		return "", fmt.Errorf("encode the contract: %w", err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:12]), nil
}
