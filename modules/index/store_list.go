package index

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// ListQuery says which notes List gives.
type ListQuery struct {
	// Repos names the repositories; none means every complete one.
	Repos []string
	// Folder keeps notes below a folder, a path in NFC without a final slash;
	// "" is the root.
	Folder string
	// Type and Status keep notes with exactly this value; "" keeps all.
	Type, Status string
	// Fields are further frontmatter fields to give.
	Fields []string
	// Offset notes are left out, and at most Limit are given.
	Offset, Limit int
}

// NoteItem is one note of a list.
type NoteItem struct {
	// Repo is the repository's name and Path the path in it.
	Repo, Path string
	// Title, Type, Status and Summary are as in File.
	Title, Type, Status, Summary string
	// Fields are those asked for that the note has, in the order asked.
	Fields []Field
}

// NotePage is a page of a list.
type NotePage struct {
	// Notes are by repository name, then by path.
	Notes []NoteItem
	// Total counts all the notes that match.
	Total int
	// HasMore says that more follow after this page.
	HasMore bool
}

// listFilter is the WHERE part all queries over lists share.
const listFilter = `
WHERE f.repo = $1 AND f.is_note AND f.open
  AND (NOT $6 AND f.path > $2 AND f.path < $3
       OR $6 AND coalesce(f.nfc, f.path) > $2 AND coalesce(f.nfc, f.path) < $3)
  AND ($4 = '' OR f.type = $4)
  AND ($5 = '' OR f.status = $5)`

const (
	countNotesSQL = `SELECT count(*) FROM file f` + listFilter

	listNotesSQL = `
SELECT f.path, coalesce(f.title, ''), coalesce(f.type, ''), coalesce(f.status, ''), coalesce(f.summary, ''), NULL::json
FROM file f` + listFilter + `
ORDER BY f.path
OFFSET $7
LIMIT $8`

	listFieldsSQL = `
SELECT n.path, n.title, n.type, n.status, n.summary, d.fields
FROM (
    SELECT f.path, coalesce(f.title, '') AS title, coalesce(f.type, '') AS type,
           coalesce(f.status, '') AS status, coalesce(f.summary, '') AS summary, f.blob
    FROM file f` + listFilter + `
    ORDER BY f.path
    OFFSET $7
    LIMIT $8
) n
LEFT JOIN doc d ON d.blob = n.blob AND d.format = $9
ORDER BY n.path`
)

// List gives a page of the notes that match, and how many there are.
func (s *Snapshot) List(ctx context.Context, q ListQuery) (NotePage, error) {
	repos, err := s.readable(q.Repos)
	if err != nil {
		return NotePage{}, err
	}
	var page NotePage
	skip := q.Offset
	for _, r := range repos {
		filter, err := s.filter(ctx, r, q)
		if err != nil {
			return NotePage{}, err
		}
		n, err := s.countNotes(ctx, filter)
		if err != nil {
			return NotePage{}, err
		}
		page.Total += n
		room := q.Limit - len(page.Notes)
		if skip >= n || room <= 0 {
			skip = max(skip-n, 0)
			continue
		}
		items, err := s.listNotes(ctx, listPart{repo: r, fields: q.Fields, args: append(filter, skip, room)})
		if err != nil {
			return NotePage{}, err
		}
		page.Notes = append(page.Notes, items...)
		skip = 0
	}
	page.HasMore = q.Offset+len(page.Notes) < page.Total && len(page.Notes) > 0
	return page, nil
}

// filter gives the arguments of listFilter.
func (s *Snapshot) filter(ctx context.Context, r Repo, q ListQuery) ([]any, error) {
	below, err := s.below(ctx, r, q.Folder)
	if err != nil {
		return nil, err
	}
	return []any{r.ID, below.from, below.to, indexed(q.Type), indexed(q.Status), below.forms}, nil
}

func (s *Snapshot) countNotes(ctx context.Context, filter []any) (n int, err error) {
	if err := s.tx.QueryRow(ctx, countNotesSQL, filter...).Scan(&n); err != nil {
		return 0, fmt.Errorf("count notes: %w", err)
	}
	return n, nil
}

// listPart is a page of one repository.
type listPart struct {
	repo   Repo
	fields []string
	args   []any
}

func (s *Snapshot) listNotes(ctx context.Context, part listPart) ([]NoteItem, error) {
	sql, args := listNotesSQL, part.args
	if len(part.fields) > 0 {
		sql, args = listFieldsSQL, append(args, part.repo.format)
	}
	rows, err := s.tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("list notes: %w", err)
	}
	items, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (NoteItem, error) {
		item := NoteItem{Repo: part.repo.Name}
		var fields []byte
		err := row.Scan(&item.Path, &item.Title, &item.Type, &item.Status, &item.Summary, &fields)
		item.Fields = pick(decodeFields(fields), part.fields)
		return item, err
	})
	if err != nil {
		return nil, fmt.Errorf("list notes: %w", err)
	}
	return items, nil
}

// pick gives the named fields that are there, in the order of names.
func pick(fields []Field, names []string) []Field {
	var out []Field
	for _, name := range names {
		for _, f := range fields {
			if f.Key == name {
				out = append(out, f)
				break
			}
		}
	}
	return out
}

// ValueCount is a value of a field and how many notes have it.
type ValueCount struct {
	Value string
	Count int
}

// ValuesOf names a field whose values Values counts.
type ValuesOf int

// The fields of Values.
const (
	ValuesOfType ValuesOf = iota
	ValuesOfStatus
)

const (
	typesSQL = `
SELECT f.type, count(*) FROM file f
WHERE f.repo = ANY($1) AND f.is_note AND f.open AND f.type IS NOT NULL
GROUP BY f.type
ORDER BY 2 DESC, 1
LIMIT $2`
	statusesSQL = `
SELECT f.status, count(*) FROM file f
WHERE f.repo = ANY($1) AND f.is_note AND f.open AND f.status IS NOT NULL
GROUP BY f.status
ORDER BY 2 DESC, 1
LIMIT $2`
)

// Values gives the values that a field has in the named repositories (none:
// every complete one), the most frequent first, at most limit.
func (s *Snapshot) Values(ctx context.Context, of ValuesOf, repos []string, limit int) ([]ValueCount, error) {
	in, err := s.readable(repos)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(in))
	for i, r := range in {
		ids[i] = r.ID
	}
	sql := typesSQL
	if of == ValuesOfStatus {
		sql = statusesSQL
	}
	rows, err := s.tx.Query(ctx, sql, ids, limit)
	if err != nil {
		return nil, fmt.Errorf("count values: %w", err)
	}
	values, err := pgx.CollectRows(rows, pgx.RowToStructByPos[ValueCount])
	if err != nil {
		return nil, fmt.Errorf("count values: %w", err)
	}
	return values, nil
}
