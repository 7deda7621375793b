package tools

import (
	"context"

	"vault/modules/notes"
)

// The bounds of the look at a note's links: how many broken ones are named,
// and how many links are looked at.
const (
	maxBroken    = 5
	maxLinksRead = 2_000
)

// broken lists the links in the lines given that lead to nothing the caller
// could open.
func (r *reading) broken(ctx context.Context) ([]string, error) {
	links := r.links()
	if len(links) == 0 {
		return nil, nil
	}
	resolved, err := r.call.Index.Resolve(ctx, r.place.repo.Name, r.text.Path, links)
	if err != nil {
		return nil, err
	}
	var list []string
	for i, to := range resolved {
		if to.Path != "" {
			continue
		}
		if list = appendNew(list, links[i].Dest); len(list) == maxBroken {
			break
		}
	}
	return list, nil
}

// links gives the links in the lines given that name a file here.
func (r *reading) links() []notes.Link {
	if !r.text.IsNote {
		return nil
	}
	var links []notes.Link
	for _, l := range notes.Parse(r.text.Body).Links() {
		if l.Line < r.from || l.Line > r.to || l.External() || l.Self() || l.Target == "" {
			continue
		}
		if links = append(links, l); len(links) == maxLinksRead {
			break
		}
	}
	return links
}
