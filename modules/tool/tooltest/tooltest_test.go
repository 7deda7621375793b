package tooltest_test

import (
	"encoding/json"
	"testing"

	"vault/modules/tool/tooltest"
	"vault/platform/mcp"
)

func TestProblems(t *testing.T) {
	t.Parallel()
	spec := mcp.Tool{Name: "t", Output: json.RawMessage(`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"fields":{"type":"object","propertyNames":{"type":"string"},"additionalProperties":{"type":"string"}},"n":{"type":"number"}},"required":["n"],"additionalProperties":false}`)}
	for answer, want := range map[string]int{
		`{"n":1}`:                    0,
		`{"n":1,"fields":{"a":"b"}}`: 0,
		`{"n":1,"fields":{"a":5}}`:   1,
		`{}`:                         1,
		`{"n":"1","x":2}`:            2,
	} {
		if got := tooltest.Problems(t, spec, json.RawMessage(answer)); len(got) != want {
			t.Errorf("%s: %q", answer, got)
		}
	}
	tooltest.ValidAnswer(t, spec, json.RawMessage(`{"n":1}`))
}
