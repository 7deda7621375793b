package main

import (
	"fmt"
	"path/filepath"

	"vault/e2e/compare"
)

// queries are searches that mean something in most repositories of notes.
var queries = []compare.Query{
	{Text: "the"}, {Text: "function"}, {Text: "example"}, {Text: "]("}, {Text: "](../"}, {Text: "c#"}, {Text: "---"}, {Text: "=>"},
	{Text: "deprecated"}, {Text: "of the"}, {Text: "and that the"}, {Text: "http://"}, {Text: "zzqqxx"}, {Text: "é"}, {Text: "100%"},
	{Text: "title:"}, {Text: "|"}, {Text: "“"}, {Text: "a_b"}, {Text: `\`}, {Text: "plugin"}, {Text: "[["}, {Text: "straße"},
	{Text: "The", Case: true}, {Text: "TODO", Case: true}, {Text: "Example of", Case: true}, {Text: "C++", Case: true}, {Text: "Obsidian", Case: true},
	{Text: `[A-Z]{6,}`, Regex: true, Case: true},
	{Text: `^## .*s$`, Regex: true},
	{Text: `\d{4}-\d{2}-\d{2}`, Regex: true, Ripgrep: `[0-9]{4}-[0-9]{2}-[0-9]{2}`},
	{Text: `(foo|bar)[a-z]+`, Regex: true},
	{Text: `\[\[[^\]]+\]\]`, Regex: true},
	{Text: `std::[a-z]+_ptr`, Regex: true},
	{Text: `^ *- +\[ \]`, Regex: true},
	{Text: `warning C4\d{3}`, Regex: true, Case: true, Ripgrep: `warning C4[0-9]{3}`},
	{Text: `^title: "?[a-m]`, Regex: true},
	{Text: `(note|tip|warning)\]`, Regex: true},
	{Text: `[^ -~\t]{2}`, Regex: true},
	{Text: `^$`, Regex: true},
	{Text: `\bfile\b.*\bfolder\b`, Regex: true, Ripgrep: `(?-u)\bfile\b.*\bfolder\b`},
	{Text: `^.{400}`, Regex: true},
}

// most is how many hits of one search are compared.
const most = 300

// search compares search_notes with a scan of git's blobs.
func (c *comparison) search() (string, error) {
	scanner := compare.NewScanner(c.notes)
	lines := 0
	for _, q := range queries {
		got, more, err := c.Search(q, most)
		if err != nil {
			return "", fmt.Errorf("%q: %w", q.Text, err)
		}
		want, err := scanner.Find(q)
		if err != nil {
			return "", fmt.Errorf("%q: %w", q.Text, err)
		}
		if more != (len(want) > most) {
			c.differ("search for %q: more is %t, and there are %d lines", q.Text, more, len(want))
		}
		if d := compare.Difference(got, want[:min(len(want), most)]); d != "" {
			c.differ("search for %q: %s", q.Text, d)
		}
		lines += len(got)
	}
	return fmt.Sprintf("a scan: %d queries, %d lines", len(queries), lines), nil
}

// ripgrep compares search_notes with ripgrep over the same notes, where both
// mean the same.
func (c *comparison) ripgrep() (string, error) {
	dir := filepath.Join(c.dir, "notes")
	if err := compare.Export(dir, c.notes); err != nil {
		return "", err
	}
	same := compare.ByBytes(c.notes)
	lines := 0
	for _, q := range queries {
		got, _, err := c.Search(q, most)
		if err != nil {
			return "", fmt.Errorf("%q: %w", q.Text, err)
		}
		want, err := compare.Ripgrep(dir, q)
		if err != nil {
			return "", fmt.Errorf("%q: %w", q.Text, err)
		}
		full := len(got) == most
		got, want = compare.Keep(got, same), compare.Keep(want, same)
		if full && len(got) < len(want) {
			want = want[:len(got)]
		}
		if d := compare.Difference(got, want); d != "" {
			c.differ("search for %q, against ripgrep: %s", q.Text, d)
		}
		lines += len(got)
	}
	return fmt.Sprintf("ripgrep: %d queries, %d lines", len(queries), lines), nil
}
