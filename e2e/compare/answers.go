package compare

import (
	"fmt"
	"strings"

	"vault/e2e/harness"
)

// Vault asks one repository of a running vault.
type Vault struct {
	Client *harness.Client
	Repo   string
}

// List pages through list_notes and gives all paths and the total that it
// states.
func (v Vault) List(pageSize int) (paths []string, total int, err error) {
	for {
		page, err := harness.Into[struct {
			Notes   []struct{ Path string }
			Total   int
			HasMore bool
		}](v.Client, "list_notes", map[string]any{"repo": v.Repo, "limit": pageSize, "offset": len(paths)})
		if err != nil {
			return nil, 0, err
		}
		for _, n := range page.Notes {
			paths = append(paths, n.Path)
		}
		if !page.HasMore {
			return paths, page.Total, nil
		}
		if len(page.Notes) == 0 {
			return nil, 0, fmt.Errorf("an empty page at %d says that there is more", len(paths))
		}
	}
}

// Folders pages through tree and gives the number of notes below each folder,
// in order.
func (v Vault) Folders(depth int) (paths []string, notes []int, err error) {
	for more := true; more; {
		page, err := harness.Into[struct {
			Entries []struct {
				Path  string
				Notes int
			}
			Total   int
			HasMore bool
		}](v.Client, "tree", map[string]any{"repo": v.Repo, "depth": depth, "limit": 200, "offset": len(paths)})
		if err != nil {
			return nil, nil, err
		}
		for _, e := range page.Entries {
			paths, notes = append(paths, e.Path), append(notes, e.Notes)
		}
		if more = page.HasMore; more && len(page.Entries) == 0 {
			return nil, nil, fmt.Errorf("an empty page at %d says that there is more", len(paths))
		}
		if !more && page.Total != len(paths) {
			return nil, nil, fmt.Errorf("total %d, and there are %d folders", page.Total, len(paths))
		}
	}
	return paths, notes, nil
}

// piece is one answer of read_note.
type piece struct {
	Path       string
	Content    string
	From       int `json:"from_line"`
	To         int `json:"to_line"`
	TotalLines int `json:"total_lines"`
	Truncated  bool
	NextSteps  string `json:"next_steps"`
}

// CheckText reads a note piece by piece and says how it differs from what it
// should be; "" is no difference. A line longer than one answer is compared as
// far as it is given.
func (v Vault) CheckText(path, want string) (difference string, err error) {
	lines := strings.SplitAfter(want, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	for from := 1; ; {
		args := map[string]any{"repo": v.Repo, "path": path}
		if from > 1 {
			args["from_line"] = from
		}
		p, err := harness.Into[piece](v.Client, "read_note", args)
		if err != nil {
			return "", err
		}
		if p.TotalLines != len(lines) || p.From != from || p.To > len(lines) {
			return fmt.Sprintf("lines %d to %d of %d, want from %d of %d", p.From, p.To, p.TotalLines, from, len(lines)), nil
		}
		whole := strings.Join(lines[from-1:p.To], "")
		switch {
		case p.Content == whole:
		case p.Truncated && p.To == from && p.Content != "" && strings.HasPrefix(whole, p.Content) && strings.Contains(p.NextSteps, "inside"):
		default:
			return fmt.Sprintf("lines %d to %d have another content", p.From, p.To), nil
		}
		if p.To == len(lines) {
			return "", nil
		}
		if !p.Truncated {
			return fmt.Sprintf("it ends at line %d of %d", p.To, len(lines)), nil
		}
		from = p.To + 1
	}
}

// Query is one search.
type Query struct {
	Text  string
	Regex bool
	// Case says that letter case counts in it, by the rule of smart case.
	Case bool
	// Ripgrep is the same expression for ripgrep, where it means something
	// else by its words; "" is Text.
	Ripgrep string
}

// Hit is one line that was found.
type Hit struct {
	Path string
	Line int
}

// pageHits is how many hits one call is asked for.
const pageHits = 100

// Search pages through search_notes until there are most hits. more says that
// there are more.
func (v Vault) Search(q Query, most int) (hits []Hit, more bool, err error) {
	for more = true; more && len(hits) < most; {
		page, err := harness.Into[struct {
			Matches []Hit
			HasMore bool
			Note    string
		}](v.Client, "search_notes", map[string]any{
			"repo": v.Repo, "query": q.Text, "regex": q.Regex, "limit": min(pageHits, most-len(hits)), "offset": len(hits),
		})
		if err != nil {
			return nil, false, err
		}
		hits = append(hits, page.Matches...)
		if more = page.HasMore; more && len(page.Matches) == 0 {
			return nil, false, fmt.Errorf("an empty page at %d says that there is more", len(hits))
		}
		if strings.Contains(page.Note, "stopped") {
			return nil, false, fmt.Errorf("the search did not come to its end: %s", page.Note)
		}
	}
	return hits, more, nil
}
