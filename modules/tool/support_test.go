package tool_test

import (
	"context"
	"encoding/json"
	"testing"

	"vault/modules/tool"
	"vault/platform/mcp"
)

// wide is a schema with every shape that arguments can have.
const wide = `{
 "type": "object",
 "$schema": "https://json-schema.org/draft/2020-12/schema",
 "properties": {
  "path": {"type": "string"},
  "heading": {"type": "string", "minLength": 1},
  "text": {"type": "string", "maxLength": 5},
  "from_line": {"type": "integer", "minimum": 1, "maximum": 9007199254740991},
  "limit": {"default": 50, "type": "integer", "minimum": 1, "maximum": 200},
  "ratio": {"type": "number", "maximum": 1.5},
  "regex": {"default": false, "type": "boolean"},
  "mode": {"type": "string", "enum": ["all", "one"]},
  "fields": {"maxItems": 3, "type": "array", "items": {"type": "string", "pattern": "^[a-z]+$"}},
  "frontmatter": {"type": "object", "propertyNames": {"type": "string"}, "additionalProperties": {}},
  "more_edits": {"minItems": 1, "maxItems": 30, "type": "array", "items": {"type": "object", "properties": {
    "path": {"type": "string"}, "old_text": {"type": "string"}}, "required": ["path", "old_text"]}},
  "any": {"type": ["string", "array"]},
  "repo": {"type": "string", "description": "Which.", "anyOf": [{"const": "x"}]}
 },
 "required": ["path", "repo"]
}`

func compile(t testing.TB, schema string, h tool.Handler) *tool.Compiled {
	t.Helper()
	if h == nil {
		h = func(context.Context, *tool.Call) (any, error) { return struct{}{}, nil }
	}
	c, err := tool.Compile(tool.Tool{Spec: mcp.Tool{Name: "wide", Input: json.RawMessage(schema)}, Handler: h})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
