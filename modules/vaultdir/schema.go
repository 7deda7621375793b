package vaultdir

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/xeipuuv/gojsonschema"

	"vault/platform/fault"
	"vault/schema"
)

// compiledSettings is the settings' JSON Schema, compiled when first needed.
var compiledSettings = sync.OnceValues(func() (*gojsonschema.Schema, error) {
	return gojsonschema.NewSchema(gojsonschema.NewBytesLoader(schema.Settings))
})

// knownKeys gives the keys of the settings and, by the name of the object that
// holds them, of the objects inside; made from the schema, so that the two
// cannot differ.
var knownKeys = sync.OnceValues(func() (map[string][]string, error) {
	var top schemaNode
	if err := json.Unmarshal(schema.Settings, &top); err != nil {
		return nil, fmt.Errorf("read the settings' schema: %w", err)
	}
	keys := map[string][]string{}
	top.collect("", keys)
	return keys, nil
})

// schemaNode is as much of a JSON Schema as knownKeys needs.
type schemaNode struct {
	Properties map[string]schemaNode `json:"properties"`
	Items      *schemaNode           `json:"items"`
}

func (n schemaNode) collect(name string, keys map[string][]string) {
	for key, property := range n.Properties {
		keys[name] = append(keys[name], key)
		property.collect(key, keys)
	}
	slices.Sort(keys[name])
	if n.Items != nil {
		n.Items.collect(name, keys)
	}
}

// checkSchema validates the document and puts each violation into a sentence
// at its place.
func (d *document) checkSchema() ([]Finding, error) {
	compiled, err := compiledSettings()
	if err != nil {
		return nil, fmt.Errorf("compile the settings' schema: %w", err)
	}
	result, err := compiled.Validate(gojsonschema.NewBytesLoader(d.standard()))
	if err != nil {
		return nil, fmt.Errorf("validate %s: %w", d.path, err)
	}
	var list []Finding
	for _, violation := range result.Errors() {
		f, err := d.explain(violation)
		if err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	return list, nil
}

// explain makes a finding of one violation.
func (d *document) explain(v gojsonschema.ResultError) (Finding, error) {
	pointer := pointerOf(v.Context())
	switch v.Type() {
	case "additional_property_not_allowed":
		return d.unknownKey(pointer, fmt.Sprint(v.Details()["property"]))
	case "required":
		key := fmt.Sprint(v.Details()["property"])
		return d.at(d.offset(pointer), RuleValue, "%s needs the key %q", subject(pointer), key), nil
	}
	f := d.at(d.offset(pointer), RuleValue, "%s %s", subject(pointer), demand(v, pointer))
	if v.Type() == "string_lte" && slices.Equal(pointer, []string{"summary"}) {
		// Too long a summary is cut, which is no reason to refuse the file.
		f.Severity, f.Rule = Warning, RuleText
		f.Message = fmt.Sprintf("the summary is longer than %d characters; what goes beyond them is not shown", SummaryLimit)
	}
	return f, nil
}

// unknownKey reports a key the settings do not have. One that is nearly a known
// key is an error, since what it was meant to say would silently not hold; any
// other is somebody else's and a warning.
func (d *document) unknownKey(pointer []string, key string) (Finding, error) {
	keys, err := knownKeys()
	if err != nil {
		return Finding{}, err
	}
	f := d.at(d.keyOffset(pointer, key), RuleKey, "there is no key %s here", fault.Quote(key))
	if near, ok := Nearest(key, keys[holder(pointer)]); ok {
		f.Message += fmt.Sprintf("; did you mean %q?", near)
	} else {
		f.Severity = Warning
		f.Message += "; the known ones are " + strings.Join(keys[holder(pointer)], ", ")
	}
	return f, nil
}

// holder is the name under which knownKeys has the object at pointer.
func holder(pointer []string) string {
	for _, key := range slices.Backward(pointer) {
		if strings.Trim(key, "0123456789") != "" {
			return key
		}
	}
	return ""
}

// pointerOf gives the keys and indexes that lead to a violation's value.
func pointerOf(c *gojsonschema.JsonContext) []string {
	const separator = "\x00" // cannot stand in a document that passed bounded
	return strings.Split(c.String(separator), separator)[1:]
}

// subject names the value at pointer for a sentence.
func subject(pointer []string) string {
	if len(pointer) == 0 {
		return "the settings object"
	}
	return fault.Quote(strings.Join(pointer, "."))
}

// forms puts the schema's patterns into words, by the key whose value has one.
var forms = map[string]string{
	"file": "must be a Markdown file directly in .vault/prompts/",
	"name": "may hold letters, digits, - and _, at most 64 of them",
}

// demand says what the schema asks for, after the name of the value.
func demand(v gojsonschema.ResultError, pointer []string) string {
	details := v.Details()
	switch v.Type() {
	case "invalid_type":
		return fmt.Sprintf("must be of type %v, not %v", details["expected"], details["given"])
	case "const", "enum":
		return fmt.Sprintf("must be %v", details["allowed"])
	case "string_gte":
		return "may not be empty"
	case "string_lte":
		return fmt.Sprintf("may have at most %v characters", details["max"])
	case "pattern":
		if form, ok := forms[pointer[len(pointer)-1]]; ok {
			return form
		}
		return "must be the name of a frontmatter field, without a colon"
	case "array_min_items":
		return "needs at least one entry; leave the key out for the default"
	case "array_max_items":
		return fmt.Sprintf("may have at most %v entries", details["max"])
	case "array_min_properties":
		return "may not be empty; leave the key out instead"
	default:
		return "does not fit the schema: " + unquoted(v.Description())
	}
}
