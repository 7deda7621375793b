package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"vault/modules/index"
	"vault/modules/tool"
	"vault/modules/vaultdir"
	"vault/platform/fault"
)

type listInput struct {
	Folder string   `json:"folder"`
	Type   string   `json:"type"`
	Status string   `json:"status"`
	Fields []string `json:"fields"`
	Limit  int      `json:"limit"`
	Offset int      `json:"offset"`
	Repo   string   `json:"repo"`
}

type listAnswer struct {
	Notes   []listItem `json:"notes"`
	Total   int        `json:"total"`
	Offset  int        `json:"offset"`
	HasMore bool       `json:"hasMore"`
	Note    string     `json:"note,omitempty"`
	Repo    string     `json:"repo,omitempty"`
}

type listItem struct {
	Path    string            `json:"path"`
	Title   string            `json:"title"`
	Type    string            `json:"type,omitempty"`
	Summary string            `json:"summary,omitempty"`
	Fields  map[string]string `json:"fields,omitempty"`
	Repo    string            `json:"repo,omitempty"`
}

// The bounds of a list: how many fields a note shows, and the most characters
// of one value, of a title and of a summary.
const (
	maxFields     = 10
	maxFieldValue = 500
)

// listNotes lists the notes below a folder.
func listNotes(ctx context.Context, call *tool.Call) (any, error) {
	in, err := tool.Decode[listInput](call)
	if err != nil {
		return nil, err
	}
	p, err := locate(ctx, call, in.Repo, in.Folder, vaultdir.KindFolder)
	if err != nil {
		return nil, err
	}
	if err := folderThere(ctx, call, p, "folder"); err != nil {
		return nil, err
	}
	page, err := call.Index.List(ctx, index.ListQuery{
		Repos:  p.repos(),
		Folder: p.path,
		Type:   in.Type,
		Status: in.Status,
		Fields: everyField(call, p, in.Fields),
		Offset: in.Offset,
		Limit:  in.Limit,
	})
	if err != nil {
		return nil, err
	}
	a, err := listed(call, p, in, page)
	if err != nil {
		return nil, err
	}
	if page.Total == 0 && in.Type+in.Status != "" {
		if err := existing(ctx, call, p, in, &a); err != nil {
			return nil, err
		}
	}
	return tool.Result{Data: a, Meta: meta(p.repo, "")}, nil
}

// folderThere reports a folder that holds nothing open, with near ones. The
// root is always there.
func folderThere(ctx context.Context, call *tool.Call, p place, field string) error {
	if p.repo == nil || p.path == "" {
		return nil
	}
	there, err := call.Index.HasFolder(ctx, p.repo.Name, p.path)
	if err != nil || there {
		return err
	}
	f := fault.NotFound("there is no folder %s in the repository %s", fault.Quote(p.path+"/"), fault.Quote(p.repo.Name)).On(field)
	near, err := call.Index.NearFolders(ctx, p.repo.Name, p.path)
	if err != nil {
		return err
	}
	if len(near) > 0 {
		f.Fix("near folders are %s", fault.QuoteList(near))
	} else {
		f.Fix("the tool tree shows the folders there are")
	}
	return p.repo.Dir.NameFolders(f)
}

// everyField gives the fields to read: those that the repositories' overview
// names, then those asked for, ten at most.
func everyField(call *tool.Call, p place, asked []string) []string {
	var names []string
	for _, r := range call.Index.Repos() {
		if p.repo == nil || r.ID == p.repo.ID {
			names = appendNew(names, overview(r.Dir)...)
		}
	}
	return appendNew(names, asked...)
}

// overview lists a repository's overview fields: the topic first.
func overview(dir *vaultdir.Repo) []string {
	o := dir.Overview()
	if o == nil {
		return nil
	}
	var names []string
	if o.Topic != "" {
		names = append(names, o.Topic)
	}
	return append(names, o.Fields...)
}

func appendNew(list []string, more ...string) []string {
	for _, name := range more {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// listed makes the answer of a page, as far as one answer carries it.
func listed(call *tool.Call, p place, in listInput, page index.NotePage) (listAnswer, error) {
	a := listAnswer{Notes: []listItem{}, Total: page.Total, Offset: in.Offset, HasMore: page.HasMore, Repo: p.top()}
	note := hints{}
	if p.repo == nil {
		note = others(call)
	}
	budget := tool.NewBudget(otherRoom)
	for _, n := range page.Notes {
		item := listedNote(call, p, in, n)
		fits, err := budget.Take(item)
		if err != nil {
			return a, err
		}
		if !fits {
			a.HasMore = true
			note.add("The page was cut short to fit one answer")
			break
		}
		a.Notes = append(a.Notes, item)
		if otherReadme(n.Path) {
			note.add("Only a file named exactly README.md describes its folder; %s does not", fault.Quote(item.Path))
		}
	}
	note.next(a.HasMore, in.Offset+len(a.Notes))
	a.Note = note.text()
	return a, nil
}

// listedNote shows one note.
func listedNote(call *tool.Call, p place, in listInput, n index.NoteItem) listItem {
	item := listItem{
		Path:    p.show(n.Repo, n.Path),
		Title:   shorten(n.Title, maxFieldValue),
		Type:    shorten(n.Type, maxFieldValue),
		Summary: shorten(n.Summary, maxFieldValue),
		Repo:    p.item(n.Repo),
	}
	r, _ := call.Index.Repo(n.Repo)
	wanted := appendNew(overview(r.Dir), in.Fields...)
	for _, name := range wanted[:min(len(wanted), maxFields)] {
		for _, f := range n.Fields {
			if f.Key == name && f.Shown != "" {
				if item.Fields == nil {
					item.Fields = map[string]string{}
				}
				item.Fields[name] = shorten(f.Shown, maxFieldValue)
			}
		}
	}
	return item
}

// existingValues is how many values a note about a filter without a match
// names.
const existingValues = 20

// existing adds to an empty answer which types or statuses there are.
func existing(ctx context.Context, call *tool.Call, p place, in listInput, a *listAnswer) error {
	var note hints
	if a.Note != "" {
		note = append(note, strings.TrimSuffix(a.Note, "."))
	}
	for _, filter := range []struct {
		name, value string
		of          index.ValuesOf
	}{{"type", in.Type, index.ValuesOfType}, {"status", in.Status, index.ValuesOfStatus}} {
		if filter.value == "" {
			continue
		}
		values, err := call.Index.Values(ctx, filter.of, p.repos(), existingValues)
		if err != nil {
			return err
		}
		note.add("No note matches %s %s here; %s", filter.name, fault.Quote(filter.value), counted(filter.name, values))
	}
	a.Note = note.text()
	return nil
}

func counted(name string, values []index.ValueCount) string {
	if len(values) == 0 {
		return "no note has a " + name
	}
	shown := make([]string, len(values))
	for i, v := range values {
		shown[i] = fmt.Sprintf("%s (%d)", fault.Quote(v.Value), v.Count)
	}
	return "the " + name + " values there are: " + strings.Join(shown, ", ")
}
