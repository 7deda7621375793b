package instance

import (
	"fmt"

	"github.com/maypok86/otter/v2"

	"vault/modules/catalogue"
	"vault/modules/index"
	"vault/platform/mcp"
)

// views remembers the views of this instance by the revision of their set,
// which cannot change.
type views struct {
	tools catalogue.ToolSet
	cache *otter.Cache[string, *mcp.View]
}

// maxViews bounds the views in memory; each is some 30 KB.
const maxViews = 200

func newViews(tools catalogue.ToolSet) (*views, error) {
	cache, err := otter.New(&otter.Options[string, *mcp.View]{MaximumSize: maxViews})
	if err != nil {
		return nil, fmt.Errorf("make the cache of views: %w", err)
	}
	return &views{tools: tools, cache: cache}, nil
}

// of gives the view of a caller who reads repos, and the set's revision.
func (v *views) of(repos []index.Repo) (*mcp.View, string, error) {
	dirs, keys := repositories(repos)
	rev := catalogue.Rev(keys)
	if view, ok := v.cache.GetIfPresent(rev); ok {
		return view, rev, nil
	}
	view, err := catalogue.Build(v.tools, dirs)
	if err != nil {
		return nil, "", err
	}
	v.cache.Set(rev, view)
	return view, rev, nil
}
