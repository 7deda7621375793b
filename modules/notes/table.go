package notes

import "strings"

// paragraph scans a paragraph: up to its first table as running text, then
// cell by cell, since nothing reaches across the border of a cell.
func (c *collector) paragraph(v view) {
	header, ok := tableStart(v.text)
	if !ok {
		c.inline(v, 0, len(v.text))
		return
	}
	c.inline(v, 0, header)
	for at := header; at < len(v.text); {
		end := lineEnd(v.text, at)
		for _, cell := range cells(v.text, at, end) {
			c.inline(v, cell.start, cell.end)
		}
		at = end
	}
}

// tableStart gives the offset of the header row of the first table in a
// paragraph: the line before a delimiter row with as many cells (GFM 0.29,
// 4.10).
func tableStart(s string) (int, bool) {
	if strings.IndexByte(s, '|') < 0 && strings.IndexByte(s, ':') < 0 {
		return 0, false
	}
	header := 0
	for header < len(s) {
		row := lineEnd(s, header)
		if row >= len(s) {
			return 0, false
		}
		if n := delimiterCells(s, row, lineEnd(s, row)); n > 0 && n == len(cells(s, header, row)) {
			return header, true
		}
		header = row
	}
	return 0, false
}

// delimiterCells counts the cells of a delimiter row, 0 when it is none.
func delimiterCells(s string, start, end int) int {
	row := strings.TrimSpace(s[start:end])
	if strings.Trim(row, "-|: \t") != "" || !strings.ContainsAny(row, "|:") {
		return 0 // dashes alone are no table: they underline a heading, or are text
	}
	row = strings.TrimSuffix(strings.TrimPrefix(row, "|"), "|")
	n := 0
	for cell := range strings.SplitSeq(row, "|") {
		dashes := strings.TrimSpace(cell)
		dashes = strings.TrimSuffix(strings.TrimPrefix(dashes, ":"), ":")
		if dashes == "" || strings.Trim(dashes, "-") != "" {
			return 0
		}
		n++
	}
	return n
}

type span struct{ start, end int }

// cells cuts a table row at its pipes. Escaped pipes cut nothing. Neither do
// those inside a wikilink: strictly they do, and the link is broken there, but
// whoever wrote it meant a link.
func cells(s string, start, end int) []span {
	start, end = trimSpan(s, start, end)
	if start < end && s[start] == '|' {
		start++
	}
	var out []span
	for i := start; i < end; i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == '[':
			if _, behind, ok := wikilinkAt(s[:end], i); ok {
				i = behind - 1
			}
		case s[i] == '|':
			out = append(out, span{start, i})
			start = i + 1
		}
	}
	if start < end {
		out = append(out, span{start, end})
	}
	return out
}
