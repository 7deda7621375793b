package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/xeipuuv/gojsonschema"

	"vault/platform/mcp"
)

// repoArgument is the argument whose values depend on the caller.
const repoArgument = "repo"

// node is the part of an input schema that arguments are read and explained
// by. The validator works on the schema itself.
type node struct {
	Types      types            `json:"type"`
	Properties map[string]*node `json:"properties"`
	Required   []string         `json:"required"`
	Items      *node            `json:"items"`
	Default    json.RawMessage  `json:"default"`
	Const      json.RawMessage  `json:"const"`
	Enum       []any            `json:"enum"`
	AnyOf      []*node          `json:"anyOf"`
	Minimum    json.Number      `json:"minimum"`
	Maximum    json.Number      `json:"maximum"`
	MinLength  int              `json:"minLength"`
	MaxLength  int              `json:"maxLength"`
	MinItems   int              `json:"minItems"`
	MaxItems   int              `json:"maxItems"`
	Pattern    string           `json:"pattern"`
	Additional json.RawMessage  `json:"additionalProperties"`
}

// types is a schema's type: one name or several.
type types []string

// UnmarshalJSON reads both spellings.
func (t *types) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		*t = make(types, 1)
		return json.Unmarshal(data, &(*t)[0])
	}
	return json.Unmarshal(data, (*[]string)(t))
}

func (t types) has(name string) bool { return slices.Contains(t, name) }

// closed says that only the declared members may appear. A schema that says
// nothing about others means that there are none, except for an object below
// the arguments without any declared member, which is free.
func (n *node) closed(arguments bool) bool {
	switch string(bytes.TrimSpace(n.Additional)) {
	case "":
		return arguments || n.Properties != nil
	case "false":
		return true
	}
	return false
}

// names gives the declared members in the order of their names.
func (n *node) names() []string { return slices.Sorted(maps.Keys(n.Properties)) }

// keywords are those that both the validator and this package know. Any other
// is an error, never ignored.
var keywords = map[string]bool{
	"type": true, "properties": true, "required": true, "items": true, "default": true, "const": true,
	"enum": true, "anyOf": true, "oneOf": true, "allOf": true, "not": true, "minimum": true, "maximum": true,
	"exclusiveMinimum": true, "exclusiveMaximum": true, "multipleOf": true, "minLength": true, "maxLength": true,
	"minItems": true, "maxItems": true, "uniqueItems": true, "pattern": true, "additionalProperties": true,
	"propertyNames": true, "patternProperties": true, "minProperties": true, "maxProperties": true,
	"description": true, "title": true, "examples": true, "$schema": true,
}

// schema is an input schema made ready for use. It is immutable.
type schema struct {
	root      *node
	validator *gojsonschema.Schema
	// hasRepo says that repo is an argument, judged against the caller's
	// repositories rather than by the validator.
	hasRepo bool
}

var errNoObject = errors.New("it is not an object schema")

// compileSchema reads an input schema. The schema's own dialect is taken off,
// since the validator knows older ones; keywords that differ between them are
// not among those allowed.
func compileSchema(raw json.RawMessage) (*schema, error) {
	var members map[string]any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&members); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	if err := checkKeywords(members); err != nil {
		return nil, err
	}
	s := &schema{root: &node{}}
	if err := json.Unmarshal(raw, s.root); err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	if !s.root.Types.has("object") {
		return nil, errNoObject
	}
	delete(members, "$schema")
	if _, s.hasRepo = s.root.Properties[repoArgument]; s.hasRepo {
		s.freeRepo(members)
	}
	validator, err := compileValidator(members)
	if err != nil {
		return nil, err
	}
	s.validator = validator
	return s, nil
}

// freeRepo takes the constants of the listed schema off repo and its being
// required: checkRepo judges it.
func (s *schema) freeRepo(members map[string]any) {
	if properties, ok := members["properties"].(map[string]any); ok {
		properties[repoArgument] = map[string]any{"type": "string"}
	}
	if required, ok := members["required"].([]any); ok {
		members["required"] = slices.DeleteFunc(required, func(v any) bool { return v == repoArgument })
	}
}

func compileValidator(members map[string]any) (*gojsonschema.Schema, error) {
	loader := gojsonschema.NewSchemaLoader()
	loader.AutoDetect = false
	loader.Draft = gojsonschema.Hybrid
	validator, err := loader.Compile(gojsonschema.NewRawLoader(members))
	if err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	return validator, nil
}

// checkKeywords walks a schema. There is no $ref among the keywords, so the
// validator never loads anything.
func checkKeywords(members map[string]any) error {
	for key, value := range members {
		if !keywords[key] {
			return fmt.Errorf("the keyword %q is not supported", key)
		}
		if err := checkBelow(key, value); err != nil {
			return err
		}
	}
	return nil
}

func checkBelow(key string, value any) error {
	switch key {
	case "properties", "patternProperties":
		named, _ := value.(map[string]any)
		for name, sub := range named {
			if err := checkSub(sub); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	case "anyOf", "oneOf", "allOf":
		list, _ := value.([]any)
		for _, sub := range list {
			if err := checkSub(sub); err != nil {
				return err
			}
		}
	case "items", "not", "additionalProperties", "propertyNames":
		return checkSub(value)
	}
	return nil
}

func checkSub(value any) error {
	if members, ok := value.(map[string]any); ok {
		return checkKeywords(members)
	}
	if _, ok := value.(bool); ok {
		return nil
	}
	return errors.New("a schema is neither an object nor a boolean")
}

// Compiled is a tool made ready to run. It is safe for concurrent use.
type Compiled struct {
	spec    mcp.Tool
	handler Handler
	schema  *schema
}

// Compile makes a tool ready to run, once for all its calls.
func Compile(t Tool) (*Compiled, error) {
	if t.Spec.Name == "" || t.Handler == nil {
		return nil, errors.New("a tool needs a name and a handler")
	}
	s, err := compileSchema(t.Spec.Input)
	if err != nil {
		return nil, fmt.Errorf("input schema of %s: %w", t.Spec.Name, err)
	}
	return &Compiled{spec: t.Spec, handler: t.Handler, schema: s}, nil
}

// Name is the tool's name.
func (c *Compiled) Name() string { return c.spec.Name }

// Spec is how the tool is listed before WithRepos.
func (c *Compiled) Spec() mcp.Tool { return c.spec }

// join puts words together for a sentence: a, b or c.
func join(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + last + " " + words[len(words)-1]
}
