package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"vault/modules/vaultdir"
	"vault/platform/fault"
	"vault/platform/mcp"
)

// Above these numbers of readable repositories the list would cost more than
// it tells: constants lose their descriptions, then go altogether.
const (
	maxDescribed = 40
	maxConstants = 200
)

// nearRepos is how many near names an error gives when there are too many
// repositories to list.
const nearRepos = 5

// RepoChoice is one value of the argument repo.
type RepoChoice struct {
	Name string
	// Summary is the repository's one line; it is left out when empty.
	Summary string
}

// WithRepos gives spec as one caller sees it: repo takes the names of the
// repositories that the caller may read, in the order of their names. A spec
// without that argument stays as it is. Nothing else of the schema changes.
func WithRepos(spec mcp.Tool, repos []RepoChoice) (mcp.Tool, error) {
	start, end, err := findProperty(spec.Input, repoArgument)
	if err != nil {
		return mcp.Tool{}, fmt.Errorf("input schema of %s: %w", spec.Name, err)
	}
	if end == 0 {
		return spec, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(spec.Input[start:end], &members); err != nil {
		return mcp.Tool{}, fmt.Errorf("property repo of %s: %w", spec.Name, err)
	}
	delete(members, "anyOf")
	if constants := repoConstants(repos); constants != nil {
		if members["anyOf"], err = encode(constants); err != nil {
			return mcp.Tool{}, fmt.Errorf("encode the repositories: %w", err)
		}
	}
	property, err := encode(members)
	if err != nil {
		return mcp.Tool{}, fmt.Errorf("encode repo: %w", err)
	}
	spec.Input = slices.Concat(spec.Input[:start], property, spec.Input[end:])
	return spec, nil
}

type repoConstant struct {
	Const       string `json:"const"`
	Description string `json:"description,omitempty"`
}

// repoConstants gives the constants in order, nil when there are none to list.
func repoConstants(repos []RepoChoice) []repoConstant {
	if len(repos) == 0 || len(repos) > maxConstants {
		return nil
	}
	constants := make([]repoConstant, 0, len(repos))
	for _, repo := range repos {
		c := repoConstant{Const: repo.Name}
		if len(repos) <= maxDescribed {
			c.Description = repo.Summary
		}
		constants = append(constants, c)
	}
	slices.SortFunc(constants, func(a, b repoConstant) int { return strings.Compare(a.Const, b.Const) })
	return constants
}

var errSchemaShape = errors.New("it is not an object with properties")

// findProperty gives where the schema of a property stands in an object
// schema; end is 0 when there is none. The rest of the schema is left as it
// is, so that a caller's list differs from another's in nothing else.
func findProperty(schema json.RawMessage, name string) (start, end int, err error) {
	decoder := json.NewDecoder(bytes.NewReader(schema))
	for _, key := range []string{"properties", name} {
		found, err := enterMember(decoder, key)
		if err != nil {
			return 0, 0, errSchemaShape
		}
		if !found {
			return 0, 0, nil
		}
	}
	var value json.RawMessage
	if err := decoder.Decode(&value); err != nil {
		return 0, 0, errSchemaShape
	}
	end = int(decoder.InputOffset())
	return end - len(value), end, nil
}

// enterMember reads into the object at the decoder up to the value of key.
func enterMember(decoder *json.Decoder, key string) (bool, error) {
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return false, errSchemaShape
	}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return false, err
		}
		if token == key {
			return true, nil
		}
		var skipped json.RawMessage
		if err := decoder.Decode(&skipped); err != nil {
			return false, err
		}
	}
	return false, nil
}

// checkRepo judges the argument repo. What it says is the same for a
// repository that does not exist and for one that the caller may not read.
func (c *Compiled) checkRepo(found *problems, values map[string]any, repos []string) {
	value, there := values[repoArgument]
	name, isText := value.(string)
	switch {
	case !there && !slices.Contains(c.schema.root.Required, repoArgument):
	case !there:
		found.add(repoArgument, "%s is missing: %s", fault.Quote(repoArgument), readable("", repos))
	case !isText:
		found.add(repoArgument, "%s is %s: %s", fault.Quote(repoArgument), c.schema.root.Properties[repoArgument].show(value), readable("", repos))
	case !slices.Contains(repos, name):
		found.add(repoArgument, "%s is %s: %s", fault.Quote(repoArgument), fault.Quote(name), readable(name, repos))
	}
}

// readable says which repositories there are for the caller.
func readable(name string, repos []string) string {
	switch {
	case len(repos) == 0:
		return "there is no repository here that you can read"
	case len(repos) == 1:
		return "the repository that you can read is " + fault.Quote(repos[0])
	case len(repos) <= maxConstants:
		return "the repositories that you can read are " + fault.QuoteList(repos)
	}
	near := nearNames(name, repos)
	if len(near) == 0 {
		return fmt.Sprintf("none of the %d repositories that you can read has a name like it", len(repos))
	}
	return fmt.Sprintf("of the %d repositories that you can read, these have names like it: %s", len(repos), fault.QuoteList(near))
}

// nearNames gives the nearest names, nearest first.
func nearNames(name string, names []string) []string {
	var near []string
	rest := slices.Clone(names)
	for len(near) < nearRepos {
		next, ok := vaultdir.Nearest(name, rest)
		if !ok {
			break
		}
		near = append(near, next)
		rest = slices.DeleteFunc(rest, func(s string) bool { return s == next })
	}
	return near
}
