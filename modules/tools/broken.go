package tools

import (
	"context"
	"slices"

	"vault/modules/notes"
)

// The bounds of the look at a note's links: how many broken ones are named,
// how many links are looked at, and how many at once, so that a note full of
// broken links costs no more than one with a few.
const (
	maxBroken    = 5
	maxLinksRead = 2_000
	linksAtOnce  = 64
)

// broken lists the links in the lines given that lead to nothing the caller
// could open.
func (r *reading) broken(ctx context.Context) ([]string, error) {
	var list []string
	for links := range slices.Chunk(r.links(), linksAtOnce) {
		resolved, err := r.call.Index.Resolve(ctx, r.place.repo.Name, r.text.Path, links)
		if err != nil {
			return nil, err
		}
		for i, to := range resolved {
			if to.Path != "" {
				continue
			}
			if list = appendNew(list, links[i].Dest); len(list) == maxBroken {
				return list, nil
			}
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
