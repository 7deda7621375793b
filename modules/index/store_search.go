package index

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

const (
	candidateHead = `
SELECT f.path, b.body
FROM file f
JOIN fold d ON d.repo = f.repo AND d.blob = f.blob AND d.format = $6
JOIN blob b ON b.id = f.blob
WHERE f.repo = $1 AND d.repo = $1 AND f.is_note AND f.open
  AND f.path >= $2 AND f.path <= $3
  AND (NOT $4 OR f.nfc > $5 || '/' AND f.nfc < $5 || '0' OR f.path > $5 || '/' AND f.path < $5 || '0')`
	candidateTail = `
ORDER BY f.path
LIMIT $7`

	candidates1SQL = candidateHead + ` AND d.text LIKE ANY($8)` + candidateTail
	candidates2SQL = candidateHead + ` AND d.text LIKE ANY($8) AND d.text LIKE ANY($9)` + candidateTail
	candidates3SQL = candidateHead +
		` AND d.text LIKE ANY($8) AND d.text LIKE ANY($9) AND d.text LIKE ANY($10)` + candidateTail
	candidates4SQL = candidateHead +
		` AND d.text LIKE ANY($8) AND d.text LIKE ANY($9) AND d.text LIKE ANY($10) AND d.text LIKE ANY($11)` + candidateTail

	// walkSQL gives every note in path order, with the text of those that
	// hold what every match holds.
	walkSQL = `
SELECT n.path, CASE WHEN $8 = '' OR d.text LIKE $8 THEN b.body END
FROM (
    SELECT f.path, f.blob FROM file f
    WHERE f.repo = $1 AND f.is_note AND f.open
      AND f.path >= $2 AND f.path <= $3
      AND (NOT $4 OR f.nfc > $5 || '/' AND f.nfc < $5 || '0' OR f.path > $5 || '/' AND f.path < $5 || '0')
    ORDER BY f.path
    LIMIT $7
) n
LEFT JOIN fold d ON d.repo = $1 AND d.blob = n.blob AND d.format = $6
LEFT JOIN blob b ON b.id = d.blob
ORDER BY n.path`
)

// candidateSQL gives the query for a number of clauses, from 1 on.
func candidateSQL(clauses int) string {
	return [clauseLimit]string{candidates1SQL, candidates2SQL, candidates3SQL, candidates4SQL}[clauses-1]
}

// searchRepo searches one repository.
func (s *Snapshot) searchRepo(ctx context.Context, r Repo, q SearchQuery, p pattern, c *collector) error {
	b, err := s.below(ctx, r, q.Folder)
	if err != nil {
		return err
	}
	reader := &noteReader{
		snapshot: s, repo: r, folder: q.Folder, forms: b.forms,
		from: b.from, to: b.to, need: p.need, like: p.like,
	}
	switch {
	case q.File != "":
		reader.from, reader.to = q.File, q.File
	case b.forms:
		reader.from, reader.to = "", maxPath
	}
	if !r.settled {
		reader.need = nil // the index is still to be made
	}
	return collect(ctx, reader, p, c, r.Name)
}

// noteReader reads the notes of one repository that may match.
type noteReader struct {
	snapshot *Snapshot
	repo     Repo
	folder   string
	forms    bool
	from, to string // from <= path <= to
	need     need
	like     string
	last     string
}

func (n *noteReader) walks() bool { return len(n.need) == 0 }

func (n *noteReader) at() string { return n.last }

func (n *noteReader) next(ctx context.Context, limit int) (list []candidate, more bool, err error) {
	args := []any{n.repo.ID, n.from, n.to, n.forms, n.folder, n.repo.format, limit}
	sql := walkSQL
	if n.walks() {
		args = append(args, likeOf(n.like))
	} else {
		sql = candidateSQL(len(n.need))
		for _, c := range n.need {
			args = append(args, likesOf(c))
		}
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

// likeOf makes a LIKE pattern for texts that hold s.
func likeOf(s string) string {
	if s == "" {
		return ""
	}
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s) + "%"
}

func likesOf(c clause) []string {
	likes := make([]string, len(c))
	for i, s := range c {
		likes[i] = likeOf(s)
	}
	return likes
}
