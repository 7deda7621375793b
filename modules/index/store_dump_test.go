package index

import (
	"fmt"
	"sort"
	"strings"

	"github.com/jackc/pgx/v5"
)

// dump writes down everything the index holds of a repository, without ids
// that depend on the order of work.
func (w *world) dump(name string) string {
	w.t.Helper()
	id := w.repos[name].info.ID
	var out []string
	for _, sql := range []string{
		`SELECT 'repo', encode(head, 'hex'), head_at, branch, complete, vault_rev, format FROM repo WHERE id = $1`,
		`SELECT 'commit', encode(oid, 'hex'), encode(tree, 'hex'), parents::text, author_name, authored_at,
		        authored_zone, committer_email, committed_at, subject FROM commit WHERE repo = $1`,
		`SELECT 'vault', path, encode(oid, 'hex'), text, encode(used_oid, 'hex'), used_text FROM vaultfile WHERE repo = $1`,
		`SELECT 'file', f.path, f.raw_path, f.mode, encode(f.oid, 'hex'), f.size, encode(b.oid, 'hex'), b.kind, b.body,
		        f.is_note, f.open, f.nfc, f.key, f.title, f.type, f.status, f.summary
		 FROM file f LEFT JOIN blob b ON b.id = f.blob WHERE f.repo = $1`,
		`SELECT 'doc', f.path, d.format, d.lines, d.fields, d.fm_error_line, d.fm_error, d.headings, d.lfs, o.text
		 FROM file f JOIN doc d ON d.blob = f.blob JOIN fold o ON o.repo = f.repo AND o.blob = f.blob
		 WHERE f.repo = $1 AND f.is_note`,
		`SELECT 'link', f.path, l.ord, l.form, l.start_at, l.end_at, l.target, l.sub, l.key, l.line
		 FROM file f JOIN link l ON l.repo = f.repo AND l.blob = f.blob WHERE f.repo = $1`,
	} {
		rows, err := w.db.Query(w.t.Context(), sql, id)
		must(w.t, err)
		lines, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
			values, err := row.Values()
			return strings.TrimSuffix(fmt.Sprintln(values...), "\n"), err
		})
		must(w.t, err)
		out = append(out, lines...)
	}
	sort.Strings(out)
	return strings.Join(out, "\n")
}
