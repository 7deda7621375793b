// Package tooltest helps the tests of tools.
package tooltest

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/xeipuuv/gojsonschema"

	"vault/platform/mcp"
)

// ValidAnswer fails the test unless structured is valid against the output
// schema that spec lists.
func ValidAnswer(t testing.TB, spec mcp.Tool, structured json.RawMessage) {
	t.Helper()
	for _, problem := range Problems(t, spec, structured) {
		t.Errorf("answer of %s: %s", spec.Name, problem)
	}
}

// Problems gives what breaks the output schema that spec lists. It fails the
// test when either is not JSON.
func Problems(t testing.TB, spec mcp.Tool, structured json.RawMessage) []string {
	t.Helper()
	var schema map[string]any
	if err := json.Unmarshal(spec.Output, &schema); err != nil {
		t.Fatalf("output schema of %s: %v", spec.Name, err)
	}
	delete(schema, "$schema")
	loader := gojsonschema.NewSchemaLoader()
	loader.AutoDetect = false
	validator, err := loader.Compile(gojsonschema.NewRawLoader(schema))
	if err != nil {
		t.Fatalf("output schema of %s: %v", spec.Name, err)
	}
	decoder := json.NewDecoder(bytes.NewReader(structured))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Fatalf("answer of %s: %v", spec.Name, err)
	}
	result, err := validator.Validate(gojsonschema.NewRawLoader(value))
	if err != nil {
		t.Fatalf("answer of %s: %v", spec.Name, err)
	}
	problems := make([]string, 0, len(result.Errors()))
	for _, problem := range result.Errors() {
		problems = append(problems, problem.String())
	}
	return problems
}
