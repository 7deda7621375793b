package tools_test

import (
	"strings"
	"testing"

	"vault/modules/tools"
)

func TestInstructions(t *testing.T) {
	t.Parallel()
	alone := tools.Instructions(nil)
	got := tools.Instructions([]tools.RepoInstructions{
		{Name: "projects", Text: "\nEvery decision names who made it.\n"},
		{Name: "empty", Text: " \n"},
		{Name: "handbook", Text: "Quote policies."},
	})
	want := alone + "\n\n## handbook\n\nQuote policies.\n\n## projects\n\nEvery decision names who made it."
	if got != want {
		t.Errorf("got %q", got)
	}
	for _, fact := range []string{"evidence", "who took it and when", "data", `"repo"`, `"<prefix>__"`, `"<repo>/<path>"`} {
		if !strings.Contains(alone, fact) {
			t.Errorf("the paragraph lacks %s", fact)
		}
	}
	if strings.Contains(alone, "\n") {
		t.Error("the paragraph is more than one")
	}
}
