package index

import (
	"strings"

	"vault/modules/notes"
	"vault/modules/vaultdir"
	"vault/platform/git"
)

// fileRow is one row of the table file.
type fileRow struct {
	path    string
	rawPath []byte
	mode    uint32
	oid     git.OID
	size    int64
	blob    *int64
	isNote  bool
	open    bool
	nfc     *string
	key     string
	title   *string
	kind    *string // the note's type
	status  *string
	summary *string
}

// meta is what is known about a stored blob when rows are made of it.
type meta struct {
	id     int64
	size   int64
	kind   Kind
	folded bool
	fields []Field
}

// isNotePath reports whether a path names a Markdown file outside hidden
// folders: such a file is read, in an open folder or not.
func isNotePath(stored string, raw []byte) bool {
	return raw == nil && notes.IsNote(stored) && !hidden(stored)
}

// shape gives what a tree entry's row says without looking at its text, and
// whether that text is wanted.
func shape(dir *vaultdir.Repo, c FileChange) (row fileRow, wanted bool) {
	row = fileRow{mode: c.Mode, oid: c.OID, size: c.Size}
	row.path, row.rawPath = storedPath(c.Path)
	ordinary := regular(c.Mode)
	row.isNote = ordinary && isNotePath(row.path, row.rawPath)
	row.open = ordinary && row.rawPath == nil && dir.Open(row.path)
	if row.rawPath == nil {
		row.nfc = nfcPath(row.path)
		row.key = indexed(notes.Key(row.path))
	}
	return row, row.isNote || row.open && maybeText(row.path)
}

// complete fills in what comes from the stored text.
func (row *fileRow) complete(dir *vaultdir.Repo, m *meta) {
	if m != nil {
		row.blob, row.size = &m.id, m.size
	}
	if !row.isNote {
		return
	}
	var fields []Field
	if m != nil {
		fields = m.fields
	}
	title := strings.TrimSpace(shownField(fields, "title"))
	if title == "" {
		title = notes.BaseName(row.path)
	}
	row.title = &title
	row.kind = optional(indexed(shownField(fields, dir.TypeField())))
	row.status = optional(indexed(shownField(fields, "status")))
	row.summary = optional(shownField(fields, dir.SummaryField()))
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// wantsOf lists the texts that a set of files needs under the given settings.
func wantsOf(dir *vaultdir.Repo, files []FileChange) []want {
	var wants []want
	for _, f := range files {
		if f.Removed {
			continue
		}
		if row, wanted := shape(dir, f); wanted {
			wants = append(wants, want{oid: f.OID, size: f.Size, note: row.isNote})
		}
	}
	return wants
}
