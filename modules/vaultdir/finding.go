package vaultdir

import (
	"cmp"
	"slices"
	"strings"
)

// Severity grades a finding.
type Severity string

// The severities, mildest first. Only an error keeps a version of a file from
// coming into force.
const (
	Hint    Severity = "hint"
	Warning Severity = "warning"
	Error   Severity = "error"
)

// The rules that findings of this package name.
const (
	// RuleSyntax: a file is too large, not text, or not JSON with comments.
	RuleSyntax = "vault-syntax"
	// RuleKey: a key that the settings do not know.
	RuleKey = "settings-key"
	// RuleDuplicate: a key that stands twice in one object.
	RuleDuplicate = "settings-duplicate"
	// RuleValue: a key that is missing or has a value it may not have.
	RuleValue = "settings-value"
	// RulePath: a path in the settings that the path rule refuses.
	RulePath = "settings-path"
	// RuleName: the settings name another repository than GitHub does.
	RuleName = "settings-name"
	// RuleText: a summary or the instructions are shown changed, because
	// they are too long or hold characters that are taken out.
	RuleText = "vault-text"
	// RuleFile: a file of .vault/ that nothing reads, or one that is missing.
	RuleFile = "vault-file"
)

// Finding is one thing to mend in a repository's .vault/ folder.
type Finding struct {
	// Path is the file's path in the repository.
	Path string
	// Line and Column say where, counted from 1, the column in characters;
	// both are 0 where the finding is about the whole file.
	Line, Column int
	Severity     Severity
	// Rule is one of the Rule constants.
	Rule string
	// Message is one sentence without a final full stop. Text from the file
	// inside it is quoted.
	Message string
}

// good reports whether nothing in list is an error.
func good(list []Finding) bool {
	return !slices.ContainsFunc(list, func(f Finding) bool { return f.Severity == Error })
}

// sortFindings orders findings as they stand in the files.
func sortFindings(list []Finding) {
	slices.SortStableFunc(list, func(a, b Finding) int {
		return cmp.Or(
			strings.Compare(a.Path, b.Path),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column),
			strings.Compare(a.Message, b.Message),
		)
	})
}
