package index

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// The notes of one repository within a range of paths; $5 is the folder, for
// names stored in another Unicode form than the one asked for.
const inRange = `
    f.repo = $1 AND f.is_note AND f.open
    AND f.path >= $2 AND f.path <= $3
    AND (NOT $4 OR f.nfc > $5 || '/' AND f.nfc < $5 || '0' OR f.path > $5 || '/' AND f.path < $5 || '0')`

const (
	// walkSQL gives every note in path order, with the text of those that
	// hold one of the wanted texts.
	walkSQL = `
SELECT n.path, CASE WHEN d.text LIKE ANY($8) THEN b.body END
FROM (
    SELECT f.path, f.blob FROM file f
    WHERE ` + inRange + `
    ORDER BY f.path
    LIMIT $7
) n
LEFT JOIN fold d ON d.repo = $1 AND d.blob = n.blob AND d.format = $6
LEFT JOIN blob b ON b.id = d.blob
ORDER BY n.path`

	// readSQL gives every note in path order, with its text.
	readSQL = `
SELECT n.path, b.body
FROM (
    SELECT f.path, f.blob FROM file f
    WHERE ` + inRange + `
    ORDER BY f.path
    LIMIT $7
) n
LEFT JOIN blob b ON b.id = n.blob AND $6 > 0
ORDER BY n.path`

	// The notes that the search index finds. The list is made as a whole: the
	// planner knows little of how often a text occurs, and would rather walk.
	foundHead = `
WITH found AS MATERIALIZED (
    SELECT d.blob FROM fold d
    WHERE d.repo = $1 AND d.format = $6 AND d.text LIKE ANY($8)`
	foundTail = `
    LIMIT $7
)
SELECT f.path, found.blob
FROM found
LEFT JOIN file f ON f.blob = found.blob AND ` + inRange + `
ORDER BY f.path`

	found1SQL = foundHead + foundTail
	found2SQL = foundHead + ` AND d.text LIKE ANY($9)` + foundTail
	found3SQL = foundHead + ` AND d.text LIKE ANY($9) AND d.text LIKE ANY($10)` + foundTail
	found4SQL = foundHead + ` AND d.text LIKE ANY($9) AND d.text LIKE ANY($10) AND d.text LIKE ANY($11)` + foundTail
)

// foundSQL gives the query for a number of clauses, from 1 on.
func foundSQL(clauses int) string {
	return [clauseLimit]string{found1SQL, found2SQL, found3SQL, found4SQL}[clauses-1]
}

// searchRepo searches one repository.
func (s *Snapshot) searchRepo(ctx context.Context, r Repo, q SearchQuery, p pattern, c *collector) error {
	b, err := s.below(ctx, r, q.Folder)
	if err != nil {
		return err
	}
	reader := &noteReader{
		snapshot: s, repo: r, folder: q.Folder, forms: b.forms, from: b.from, to: b.to,
		need: p.need, clause: p.filter(), indexed: r.settled && len(p.need) > 0,
	}
	switch {
	case q.File != "":
		reader.from, reader.to = q.File, q.File
	case b.forms:
		reader.from, reader.to = "", maxPath
	}
	return collect(ctx, reader, p, c, r.Name)
}

// noteReader reads the notes of one repository that may match: the first ones
// by walking, which is all that a frequent text needs, then by the search
// index.
type noteReader struct {
	snapshot *Snapshot
	repo     Repo
	folder   string
	forms    bool
	from, to string // from <= path <= to
	need     need
	clause   clause // what a text must hold while walking
	indexed  bool
	last     string

	found  []foundNote // what the index found and was not read yet
	asked  bool        // found is complete
	probed bool
}

// foundNote is a note that the search index found.
type foundNote struct {
	path string
	blob int64
}

func (n *noteReader) walks() bool { return !n.indexed }

func (n *noteReader) at() string { return n.last }

func (n *noteReader) next(ctx context.Context, step step) (list []candidate, more bool, err error) {
	if n.indexed && !n.asked {
		if err := n.ask(ctx, step); err != nil {
			return nil, false, err
		}
	}
	if n.asked {
		return n.read(ctx, step.size)
	}
	return n.walk(ctx, step.size)
}

// ask goes over to the search index when that is the faster way. Each note
// that it finds is unpacked to be looked at, so that a frequent text is found
// sooner by walking: a first question is content with few notes.
func (n *noteReader) ask(ctx context.Context, step step) (err error) {
	switch {
	case step.far() || step.hits == 0 && step.notes >= walkNotes && !step.dense():
		n.found, _, err = n.lookUp(ctx, allNotes)
		n.asked = true
	case step.hits == 0 && step.notes > 0 && !n.probed:
		n.found, n.asked, err = n.lookUp(ctx, probeNotes)
		n.probed = true
	}
	return err
}

const (
	// probeNotes is how many notes a first question to the index may find.
	probeNotes = 32
	// allNotes is no limit.
	allNotes = 1 << 30
)

func (n *noteReader) args(more ...any) []any {
	return append([]any{n.repo.ID, n.from, n.to, n.forms, n.folder, n.repo.format}, more...)
}

// walk gives the next notes of all.
func (n *noteReader) walk(ctx context.Context, limit int) (list []candidate, more bool, err error) {
	sql, args := readSQL, n.args(limit)
	if len(n.clause) > 0 {
		sql, args = walkSQL, append(args, likesOf(n.clause))
	}
	rows, err := n.snapshot.tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, false, fmt.Errorf("search: %w", err)
	}
	seen := 0
	var path string
	var body *string
	_, err = pgx.ForEachRow(rows, []any{&path, &body}, func() error {
		seen++
		n.last = path
		if body != nil {
			list = append(list, candidate{path: path, text: *body})
		}
		return nil
	})
	if err != nil {
		return nil, false, fmt.Errorf("search: %w", err)
	}
	// No path holds NUL, so the next greater one starts with this at least.
	n.from = n.last + "\x01"
	return list, seen == limit, nil
}

// lookUp asks the search index for the notes behind those walked. complete
// says that it stayed below the limit.
func (n *noteReader) lookUp(ctx context.Context, limit int) (found []foundNote, complete bool, err error) {
	args := n.args(limit)
	for _, c := range n.need {
		args = append(args, likesOf(c))
	}
	rows, err := n.snapshot.tx.Query(ctx, foundSQL(len(n.need)), args...)
	if err != nil {
		return nil, false, fmt.Errorf("search: %w", err)
	}
	seen := 0
	var path *string
	var blob int64
	_, err = pgx.ForEachRow(rows, []any{&path, &blob}, func() error {
		seen++
		if path != nil { // one outside the range has none
			found = append(found, foundNote{path: *path, blob: blob})
		}
		return nil
	})
	if err != nil {
		return nil, false, fmt.Errorf("search: %w", err)
	}
	return found, seen < limit, nil
}

// read gives the next notes of those that the index found.
func (n *noteReader) read(ctx context.Context, limit int) (list []candidate, more bool, err error) {
	now := n.found[:min(limit, len(n.found))]
	n.found = n.found[len(now):]
	if len(now) == 0 {
		return nil, false, nil
	}
	ids := make([]int64, len(now))
	for i, f := range now {
		ids[i] = f.blob
	}
	rows, err := n.snapshot.tx.Query(ctx, `SELECT id, body FROM blob WHERE id = ANY($1)`, ids)
	if err != nil {
		return nil, false, fmt.Errorf("search: %w", err)
	}
	bodies := make(map[int64]string, len(now))
	var id int64
	var body string
	_, err = pgx.ForEachRow(rows, []any{&id, &body}, func() error {
		bodies[id] = body
		return nil
	})
	if err != nil {
		return nil, false, fmt.Errorf("search: %w", err)
	}
	for _, f := range now {
		list = append(list, candidate{path: f.path, text: bodies[f.blob]})
		n.last = f.path
	}
	return list, len(n.found) > 0, nil
}

// likeOf makes a LIKE pattern for texts that hold s.
func likeOf(s string) string {
	if s == "" {
		return ""
	}
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(clean(s)) + "%"
}

func likesOf(c clause) []string {
	likes := make([]string, len(c))
	for i, s := range c {
		likes[i] = likeOf(s)
	}
	return likes
}
