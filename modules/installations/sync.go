package installations

import (
	"slices"

	"vault/platform/fault"
)

// The bounds of a list of repositories.
const (
	maxRepositories = 100_000
	maxName         = 1000
)

// checkList judges the repositories that GitHub listed.
func checkList(repos []Repository) error {
	if len(repos) > maxRepositories {
		return fault.Limited("an installation has at most %d repositories", maxRepositories)
	}
	for _, r := range repos {
		for _, word := range []string{r.NodeID, r.Name, r.FullName, r.DefaultBranch} {
			if len(word) > maxName || storable(word) != word {
				return fault.Invalid("%s cannot name a repository or what belongs to it", fault.Quote(word))
			}
		}
		if r.ID <= 0 || r.Name == "" {
			return fault.Invalid("a repository needs an id and a name")
		}
	}
	return nil
}

// plan is what a sync has to write.
type plan struct {
	// put are the repositories that are new or differ from what is known.
	put []Repository
	// gone are those that the installation no longer has.
	gone []int64
	// robbed are the other installations that had some of put.
	robbed []int64
	// renamed says that a repository which readers may know has another name.
	renamed bool
}

func (p plan) empty() bool { return len(p.put) == 0 && len(p.gone) == 0 }

// compare finds what differs between the list of an installation's
// repositories and what is known of them; known may hold repositories of other
// installations. A repository listed twice counts once.
func compare(installation int64, list []Repository, known map[int64]Repository) plan {
	var p plan
	listed := make(map[int64]bool, len(list))
	for _, r := range list {
		if listed[r.ID] {
			continue
		}
		listed[r.ID] = true
		was, ok := known[r.ID]
		if ok && was.Installation == installation && was.Active && was.sameFacts(r) {
			continue
		}
		p.put = append(p.put, r)
		if ok && was.Installation != installation && was.Active {
			p.robbed = append(p.robbed, was.Installation)
		}
		p.renamed = p.renamed || ok && was.Active && was.Name != r.Name
	}
	for id, was := range known {
		if was.Installation == installation && was.Active && !listed[id] {
			p.gone = append(p.gone, id)
		}
	}
	slices.SortFunc(p.put, func(a, b Repository) int { return int(min(max(a.ID-b.ID, -1), 1)) })
	slices.Sort(p.gone)
	slices.Sort(p.robbed)
	p.robbed = slices.Compact(p.robbed)
	return p
}

// sameFacts tells whether GitHub says the same of both.
func (r Repository) sameFacts(o Repository) bool {
	return r.NodeID == o.NodeID && r.Name == o.Name && r.FullName == o.FullName && r.DefaultBranch == o.DefaultBranch
}
