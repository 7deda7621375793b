package tools

import (
	"context"
	"encoding/json"
	"fmt"

	"vault/modules/tool"
	"vault/modules/vaultdir"
	"vault/platform/mcp"
)

// handlers runs each basic tool.
var handlers = map[string]tool.Handler{
	"read_note":    readNote,
	"list_notes":   listNotes,
	"tree":         tree,
	"search_notes": searchNotes,
}

// Set is the basic tools, ready to be listed and run.
type Set struct {
	specs  []mcp.Tool
	byName map[string]*tool.Compiled
}

// NewSet reads the shapes of the basic tools. An error is a fault of the
// build.
func NewSet() (*Set, error) {
	specs, err := Specs()
	if err != nil {
		return nil, err
	}
	s := &Set{specs: specs, byName: map[string]*tool.Compiled{}}
	for _, spec := range specs {
		compiled, err := tool.Compile(tool.Tool{Spec: spec, Handler: handlers[spec.Name]})
		if err != nil {
			return nil, fmt.Errorf("basic tool %s: %w", spec.Name, err)
		}
		s.byName[spec.Name] = compiled
	}
	return s, nil
}

// Tools lists the basic tools for a caller who reads repos.
func (s *Set) Tools(repos []*vaultdir.Repo) ([]mcp.Tool, error) {
	choices := make([]tool.RepoChoice, len(repos))
	for i, r := range repos {
		choices[i] = tool.RepoChoice{Name: r.RepoName(), Summary: r.Summary()}
	}
	list := make([]mcp.Tool, len(s.specs))
	for i, spec := range s.specs {
		var err error
		if list[i], err = tool.WithRepos(spec, choices); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Instructions is the text that a caller who reads repos is sent first.
func (s *Set) Instructions(repos []*vaultdir.Repo) string {
	list := make([]RepoInstructions, len(repos))
	for i, r := range repos {
		list[i] = RepoInstructions{Name: r.RepoName(), Text: r.Instructions()}
	}
	return Instructions(list)
}

// Run runs a basic tool; ok is false when there is none of that name.
func (s *Set) Run(ctx context.Context, name string, call tool.Call, arguments json.RawMessage) (answer *mcp.Answer, ok bool, err error) {
	compiled, ok := s.byName[name]
	if !ok {
		return nil, false, nil
	}
	answer, err = compiled.Run(ctx, call, arguments, repoNames(&call))
	return answer, true, err
}
