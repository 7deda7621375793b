package tools

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"

	"vault/platform/mcp"
)

// specFiles are the listed shapes, one file a tool. The argument repo stands
// there without its values, which tool.WithRepos fills in for each caller.
//
//go:embed specs/*.json
var specFiles embed.FS

// order is the listing order of the basic tools; those of repositories follow.
var order = [...]string{"read_note", "list_notes", "tree", "search_notes"}

// Specs gives the basic tools as they are listed, in listing order, before the
// repositories of a caller are filled in.
func Specs() ([]mcp.Tool, error) {
	specs := make([]mcp.Tool, 0, len(order))
	for _, name := range order {
		spec, err := Spec(name)
		if err != nil {
			return nil, err
		}
		specs = append(specs, spec)
	}
	return specs, nil
}

// Spec gives one basic tool as it is listed, before the repositories of a
// caller are filled in.
func Spec(name string) (mcp.Tool, error) {
	data, err := specFiles.ReadFile("specs/" + name + ".json")
	if err != nil {
		return mcp.Tool{}, fmt.Errorf("basic tool %s: %w", name, err)
	}
	spec, err := readSpec(data)
	if err != nil {
		return mcp.Tool{}, fmt.Errorf("basic tool %s: %w", name, err)
	}
	return spec, nil
}

// entry is one file: an entry of tools/list.
type entry struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Annotations annotations     `json:"annotations"`
	Meta        map[string]any  `json:"_meta"`
	Input       json.RawMessage `json:"inputSchema"`
	Output      json.RawMessage `json:"outputSchema"`
}

type annotations struct {
	ReadOnly    *bool `json:"readOnlyHint"`
	Destructive *bool `json:"destructiveHint"`
	Idempotent  *bool `json:"idempotentHint"`
	OpenWorld   *bool `json:"openWorldHint"`
}

func readSpec(data []byte) (mcp.Tool, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var e entry
	if err := decoder.Decode(&e); err != nil {
		return mcp.Tool{}, fmt.Errorf("decode: %w", err)
	}
	var input, output bytes.Buffer
	if err := json.Compact(&input, e.Input); err != nil {
		return mcp.Tool{}, fmt.Errorf("input schema: %w", err)
	}
	if err := json.Compact(&output, e.Output); err != nil {
		return mcp.Tool{}, fmt.Errorf("output schema: %w", err)
	}
	return mcp.Tool{
		Name: e.Name, Title: e.Title, Description: e.Description, Meta: e.Meta,
		Input: input.Bytes(), Output: output.Bytes(), Annotations: mcp.Annotations(e.Annotations),
	}, nil
}
