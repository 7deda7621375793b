package tools

import (
	"context"

	"vault/modules/index"
	"vault/modules/tool"
	"vault/modules/vaultdir"
	"vault/platform/fault"
)

type searchInput struct {
	Query  string `json:"query"`
	Path   string `json:"path"`
	Regex  bool   `json:"regex"`
	Limit  int    `json:"limit"`
	Offset int    `json:"offset"`
	Repo   string `json:"repo"`
}

type searchAnswer struct {
	Query   string        `json:"query"`
	Matches []searchMatch `json:"matches"`
	Offset  int           `json:"offset"`
	HasMore bool          `json:"hasMore"`
	Note    string        `json:"note,omitempty"`
	Repo    string        `json:"repo,omitempty"`
}

type searchMatch struct {
	Path      string `json:"path"`
	Line      int    `json:"line"`
	Text      string `json:"text"`
	Shortened bool   `json:"shortened"`
	Repo      string `json:"repo,omitempty"`
}

// maxQuery is the longest text to look for, in bytes.
const maxQuery = 10_000

// searchNotes finds lines of notes.
func searchNotes(ctx context.Context, call *tool.Call) (any, error) {
	in, err := tool.Decode[searchInput](call)
	if err != nil {
		return nil, err
	}
	if len(in.Query) > maxQuery {
		return nil, fault.Invalid("\"query\" has %d bytes; at most %d are searched for", len(in.Query), maxQuery).On("query")
	}
	p, err := locate(ctx, call, in.Repo, in.Path, vaultdir.KindFolder)
	if err != nil {
		return nil, err
	}
	q := index.SearchQuery{Repos: p.repos(), Query: in.Query, Regex: in.Regex, Offset: in.Offset, Limit: in.Limit}
	if err := narrow(ctx, call, p, &q); err != nil {
		return nil, err
	}
	result, err := call.Index.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	a, err := found(call, p, in, result)
	if err != nil {
		return nil, err
	}
	return tool.Result{Data: a, Meta: meta(p.repo, "")}, nil
}

// narrow sets whether the path of a search is a file or a folder. A path that
// is neither is an error: an empty answer would say that the text is nowhere.
func narrow(ctx context.Context, call *tool.Call, p place, q *index.SearchQuery) error {
	if p.repo == nil || p.path == "" {
		return nil
	}
	for _, path := range []string{p.path, p.path + ".md", p.path + ".markdown"} {
		file, ok, err := call.Index.File(ctx, p.repo.Name, path)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if !file.IsNote {
			return fault.Invalid("%s is not a note, and search_notes looks into notes only", fault.Quote(file.Path)).
				Fix("read_note reads other text files").On("path")
		}
		q.File = file.Path
		return nil
	}
	q.Folder = p.path
	there, err := call.Index.HasFolder(ctx, p.repo.Name, p.path)
	if err != nil || there {
		return err
	}
	return missing(ctx, call, p)
}

// found makes the answer of a search, as far as one answer carries it.
func found(call *tool.Call, p place, in searchInput, result index.SearchResult) (searchAnswer, error) {
	a := searchAnswer{Query: in.Query, Matches: []searchMatch{}, Offset: in.Offset, HasMore: result.HasMore, Repo: p.top()}
	note := hints{}
	if p.repo == nil {
		note = others(call)
	}
	budget := tool.NewBudget(otherRoom + tool.TextSize(in.Query))
	for _, m := range result.Matches {
		match := searchMatch{Path: p.show(m.Repo, m.Path), Line: m.Line, Text: m.Text, Shortened: m.Shortened, Repo: p.item(m.Repo)}
		fits, err := budget.Take(match)
		if err != nil {
			return a, err
		}
		if !fits {
			a.HasMore = true
			note.add("The page was cut short to fit one answer")
			break
		}
		a.Matches = append(a.Matches, match)
	}
	if result.Stopped {
		note.add("The search stopped after 10 seconds at %s: no index helps with this query. Narrow it with \"path\" or \"repo\", or look for a longer word",
			fault.Quote(p.show(result.StoppedAt.Repo, result.StoppedAt.Path)))
	}
	note.next(a.HasMore, in.Offset+len(a.Matches))
	a.Note = note.text()
	return a, nil
}
