package tools

import (
	"context"

	"vault/modules/index"
	"vault/modules/tool"
	"vault/modules/vaultdir"
	"vault/platform/fault"
)

type treeInput struct {
	Folder *string `json:"folder"`
	Depth  int     `json:"depth"`
	Offset int     `json:"offset"`
	Limit  int     `json:"limit"`
	Repo   string  `json:"repo"`
}

type treeAnswer struct {
	Entries      []treeEntry `json:"entries"`
	Total        int         `json:"total"`
	Offset       int         `json:"offset"`
	HasMore      bool        `json:"hasMore"`
	Repo         string      `json:"repo,omitempty"`
	Repos        []treeRepo  `json:"repos,omitempty"`
	Instructions string      `json:"instructions,omitempty"`
}

type treeEntry struct {
	Path    string `json:"path"`
	Notes   int    `json:"notes"`
	Summary string `json:"summary,omitempty"`
	Readme  string `json:"readme,omitempty"`
	Repo    string `json:"repo,omitempty"`
}

type treeRepo struct {
	Repo    string `json:"repo"`
	Summary string `json:"summary,omitempty"`
}

// tree lists the folders of a repository, or the repositories.
func tree(ctx context.Context, call *tool.Call) (any, error) {
	in, err := tool.Decode[treeInput](call)
	if err != nil {
		return nil, err
	}
	if in.Repo == "" {
		return treeOfRepos(call, in)
	}
	folder := ""
	if in.Folder != nil {
		folder = *in.Folder
	}
	p, err := locate(ctx, call, in.Repo, folder, vaultdir.KindFolder)
	if err != nil {
		return nil, err
	}
	if err := folderThere(ctx, call, p, "folder"); err != nil {
		return nil, err
	}
	page, err := call.Index.Folders(ctx, index.FolderQuery{
		Repo: p.repo.Name, Folder: p.path, Depth: in.Depth, Offset: in.Offset, Limit: in.Limit,
	})
	if err != nil {
		return nil, err
	}
	a := treeAnswer{Entries: []treeEntry{}, Total: page.Total, Offset: in.Offset, HasMore: page.HasMore, Repo: p.repo.Name}
	if p.path == "" && in.Offset == 0 {
		a.Instructions = p.repo.Dir.Instructions()
	}
	if err := a.fill(page.Folders); err != nil {
		return nil, err
	}
	return tool.Result{Data: a, Meta: meta(p.repo, "")}, nil
}

// treeOfRepos answers which repositories there are. What only means something
// inside one is refused, not ignored.
func treeOfRepos(call *tool.Call, in treeInput) (any, error) {
	for _, name := range []string{"folder", "depth"} {
		if call.Input.Given(name) {
			return nil, fault.Invalid("\"%s\" needs \"repo\": without it, tree lists the repositories", name).
				Fix("send \"repo\" as well, one of %s", fault.QuoteList(repoNames(call))).
				Fix("or leave out \"%s\"", name).On(name)
		}
	}
	a := treeAnswer{Entries: []treeEntry{}, Offset: in.Offset, Repos: []treeRepo{}}
	for _, r := range call.Index.Repos() {
		a.Repos = append(a.Repos, treeRepo{Repo: r.Name, Summary: r.Dir.Summary()})
	}
	return a, nil
}

// fill adds the folders, as far as one answer carries them.
func (a *treeAnswer) fill(folders []index.FolderItem) error {
	budget := tool.NewBudget(otherRoom + tool.TextSize(a.Instructions))
	for _, f := range folders {
		entry := treeEntry{Path: f.Path, Notes: f.Notes, Readme: f.Readme, Summary: shorten(f.Summary, maxFieldValue)}
		fits, err := budget.Take(entry)
		if err != nil {
			return err
		}
		if !fits {
			a.HasMore = true
			return nil
		}
		a.Entries = append(a.Entries, entry)
	}
	return nil
}
