package index

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"vault/modules/vaultdir"
	"vault/platform/git"
	"vault/platform/postgres"
)

// rowChunk is how many file rows are made and written at once.
const rowChunk = 2000

func chunks[T any](list []T, n int) iter.Seq[[]T] { return slices.Chunk(list, n) }

const lockRepoSQL = `
SELECT name, head, complete, format, vault_rev, active, branch, settled
FROM repo
WHERE id = $1
FOR UPDATE`

const readRepoSQL = `
SELECT name, head, complete, format, vault_rev, active, branch, settled
FROM repo
WHERE id = $1`

// lockRepo reads a repository's row and keeps it from others until the
// transaction ends.
func lockRepo(ctx context.Context, q postgres.Querier, id int64) (repoRow, error) {
	return scanRepo(q.QueryRow(ctx, lockRepoSQL, id))
}

func readRepo(ctx context.Context, q postgres.Querier, id int64) (repoRow, error) {
	return scanRepo(q.QueryRow(ctx, readRepoSQL, id))
}

func scanRepo(row pgx.Row) (repoRow, error) {
	var r repoRow
	var head []byte
	err := row.Scan(&r.name, &head, &r.complete, &r.format, &r.rev, &r.active, &r.branch, &r.settled)
	if errors.Is(err, postgres.ErrNoRows) || err == nil && !r.active {
		return repoRow{}, ErrUnknownRepo
	}
	if err != nil {
		return repoRow{}, fmt.Errorf("read the repository: %w", err)
	}
	r.head = oidOf(head)
	return r, nil
}

const readVaultSQL = `
SELECT path, oid, text, used_oid, used_text
FROM vaultfile
WHERE repo = $1
ORDER BY path`

// readVault reads the .vault/ folder of a repository at its head.
func readVault(ctx context.Context, q postgres.Querier, repo int64) ([]VaultFile, error) {
	rows, err := q.Query(ctx, readVaultSQL, repo)
	if err != nil {
		return nil, fmt.Errorf("read the .vault/ folder: %w", err)
	}
	files, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (VaultFile, error) {
		var f VaultFile
		var oid, used []byte
		err := row.Scan(&f.Path, &oid, &f.Text, &used, &f.UsedText)
		f.OID, f.UsedOID = oidOf(oid), oidOf(used)
		return f, err
	})
	if err != nil {
		return nil, fmt.Errorf("read the .vault/ folder: %w", err)
	}
	return files, nil
}

// writeVault replaces the .vault/ folder of a repository.
func writeVault(ctx context.Context, tx postgres.Tx, repo int64, files []VaultFile) error {
	if _, err := tx.Exec(ctx, `DELETE FROM vaultfile WHERE repo = $1`, repo); err != nil {
		return fmt.Errorf("replace the .vault/ folder: %w", err)
	}
	rows := make([][]any, len(files))
	for i, f := range files {
		rows[i] = []any{repo, f.Path, oidBytes(f.OID), f.Text, oidBytes(f.UsedOID), f.UsedText}
	}
	return copyInto(ctx, tx, "vaultfile", []string{"repo", "path", "oid", "text", "used_oid", "used_text"}, rows)
}

// analyze keeps the planner from taking the texts of a first build for a few.
func analyze(ctx context.Context, tx postgres.Tx, repo int64) error {
	if _, err := tx.Exec(ctx, `SELECT fold_analyze($1)`, repo); err != nil {
		return fmt.Errorf("analyze the texts: %w", err)
	}
	return nil
}

const readMetasSQL = `
SELECT b.oid, b.id, b.size, b.kind, f.blob IS NOT NULL, d.fields
FROM blob b
LEFT JOIN doc d ON d.blob = b.id AND d.format = $2
LEFT JOIN fold f ON f.blob = b.id AND f.format = $2 AND f.repo = $3
WHERE b.oid = ANY($1)`

// readMetas reads what rows need to know of stored blobs.
func readMetas(ctx context.Context, q postgres.Querier, repo int64, oids []git.OID) (map[git.OID]*meta, error) {
	metas := make(map[git.OID]*meta, len(oids))
	if len(oids) == 0 {
		return metas, nil
	}
	ids := make([][]byte, len(oids))
	for i, oid := range oids {
		ids[i] = oidBytes(oid)
	}
	rows, err := q.Query(ctx, readMetasSQL, ids, deriveFormat, repo)
	if err != nil {
		return nil, fmt.Errorf("read stored texts: %w", err)
	}
	var oid, fields []byte
	var m meta
	_, err = pgx.ForEachRow(rows, []any{&oid, &m.id, &m.size, &m.kind, &m.folded, &fields}, func() error {
		found := m
		found.fields = decodeFields(fields)
		metas[oidOf(oid)] = &found
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read stored texts: %w", err)
	}
	return metas, nil
}

func deleteFiles(ctx context.Context, tx postgres.Tx, repo int64, paths []string) error {
	for chunk := range chunks(paths, queryChunk) {
		if _, err := tx.Exec(ctx, `DELETE FROM file WHERE repo = $1 AND path = ANY($2)`, repo, chunk); err != nil {
			return fmt.Errorf("delete file rows: %w", err)
		}
	}
	return nil
}

func fileColumns() []string {
	return []string{
		"repo", "path", "raw_path", "mode", "oid", "size", "blob", "is_note", "open",
		"nfc", "key", "title", "type", "status", "summary",
	}
}

const upsertFilesSQL = `
INSERT INTO file (
    repo, path, raw_path, mode, oid, size, blob, is_note, open,
    nfc, key, title, type, status, summary
)
SELECT $1, path, raw_path, mode, oid, size, blob, is_note, open, nfc, key, title, type, status, summary
FROM unnest(
    $2::text[], $3::bytea[], $4::integer[], $5::bytea[], $6::bigint[], $7::bigint[], $8::boolean[], $9::boolean[],
    $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[]
) AS n (path, raw_path, mode, oid, size, blob, is_note, open, nfc, key, title, type, status, summary)
ON CONFLICT (repo, path) DO UPDATE SET
    raw_path = EXCLUDED.raw_path,
    mode     = EXCLUDED.mode,
    oid      = EXCLUDED.oid,
    size     = EXCLUDED.size,
    blob     = EXCLUDED.blob,
    is_note  = EXCLUDED.is_note,
    open     = EXCLUDED.open,
    nfc      = EXCLUDED.nfc,
    key      = EXCLUDED.key,
    title    = EXCLUDED.title,
    type     = EXCLUDED.type,
    status   = EXCLUDED.status,
    summary  = EXCLUDED.summary`

// writeFiles inserts file rows or replaces them. first says that the
// repository has no rows yet, which is written faster.
func writeFiles(ctx context.Context, tx postgres.Tx, repo int64, rows []fileRow, first bool) error {
	if len(rows) == 0 {
		return nil
	}
	if first {
		source := make([][]any, len(rows))
		for i, r := range rows {
			source[i] = []any{
				repo, r.path, r.rawPath, int32(r.mode), oidBytes(r.oid), r.size, r.blob, r.isNote, r.open,
				r.nfc, r.key, r.title, r.kind, r.status, r.summary,
			}
		}
		return copyInto(ctx, tx, "file", fileColumns(), source)
	}
	if _, err := tx.Exec(ctx, upsertFilesSQL, columnsOf(repo, rows)...); err != nil {
		return fmt.Errorf("write file rows: %w", err)
	}
	return nil
}

// columnsOf turns rows into the arrays that upsertFilesSQL takes.
func columnsOf(repo int64, rows []fileRow) []any {
	n := len(rows)
	path, raw, mode, oid := make([]string, n), make([][]byte, n), make([]int32, n), make([][]byte, n)
	size, blob := make([]int64, n), make([]*int64, n)
	isNote, open := make([]bool, n), make([]bool, n)
	nfc, key := make([]*string, n), make([]string, n)
	title, kind, status, summary := make([]*string, n), make([]*string, n), make([]*string, n), make([]*string, n)
	for i, r := range rows {
		path[i], raw[i], mode[i], oid[i] = r.path, r.rawPath, int32(r.mode), oidBytes(r.oid)
		size[i], blob[i] = r.size, r.blob
		isNote[i], open[i] = r.isNote, r.open
		nfc[i], key[i] = r.nfc, r.key
		title[i], kind[i], status[i], summary[i] = r.title, r.kind, r.status, r.summary
	}
	return []any{repo, path, raw, mode, oid, size, blob, isNote, open, nfc, key, title, kind, status, summary}
}

const pageOfFilesSQL = `
SELECT path, raw_path, mode, oid, size, blob, is_note, open, nfc, key, title, type, status, summary
FROM file
WHERE repo = $1 AND path > $2
ORDER BY path
LIMIT $3`

// pageOfFiles reads the next file rows of a repository in path order.
func pageOfFiles(ctx context.Context, q postgres.Querier, repo int64, after string) ([]fileRow, error) {
	rows, err := q.Query(ctx, pageOfFilesSQL, repo, after, rowChunk)
	if err != nil {
		return nil, fmt.Errorf("read file rows: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (fileRow, error) {
		var r fileRow
		var oid []byte
		var mode int32
		err := row.Scan(&r.path, &r.rawPath, &mode, &oid, &r.size, &r.blob, &r.isNote, &r.open,
			&r.nfc, &r.key, &r.title, &r.kind, &r.status, &r.summary)
		r.oid, r.mode = oidOf(oid), uint32(mode)
		return r, err
	})
	if err != nil {
		return nil, fmt.Errorf("read file rows: %w", err)
	}
	return list, nil
}

const insertCommitSQL = `
INSERT INTO commit (
    repo, ord, oid, tree, parents,
    author_name, author_email, authored_at, authored_zone,
    committer_name, committer_email, committed_at, committed_zone, subject
) VALUES ($1, 1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`

// writeCommit keeps the commit of the new head, and only that.
func writeCommit(ctx context.Context, tx postgres.Tx, d Delta) error {
	if _, err := tx.Exec(ctx, `DELETE FROM commit WHERE repo = $1`, d.Repo); err != nil {
		return fmt.Errorf("replace the commit: %w", err)
	}
	c := d.Commit
	if c == nil {
		return nil
	}
	parents := make([][]byte, len(c.Parents))
	for i, p := range c.Parents {
		parents[i] = oidBytes(p)
	}
	_, err := tx.Exec(ctx, insertCommitSQL, d.Repo, oidBytes(c.OID), oidBytes(c.Tree), parents,
		clean(c.Author.Name), clean(c.Author.Email), c.Author.When, zoneOf(c.Author.When),
		clean(c.Committer.Name), clean(c.Committer.Email), c.Committer.When, zoneOf(c.Committer.When),
		clean(c.Subject))
	if err != nil {
		return fmt.Errorf("write the commit: %w", err)
	}
	return nil
}

// zoneOf gives a time's zone in seconds east of UTC.
func zoneOf(t time.Time) int {
	_, seconds := t.Zone()
	return seconds
}

const writeHeadSQL = `
UPDATE repo
SET head       = $2,
    head_at    = $3,
    branch     = CASE WHEN $4 = '' THEN branch ELSE $4 END,
    vault_rev  = $5,
    format     = $6,
    complete   = true,
    done       = 0,
    total      = 0,
    started_at = NULL,
    moved_at   = now()
WHERE id = $1`

func writeHead(ctx context.Context, tx postgres.Tx, d Delta, rev vaultdir.Rev) error {
	_, err := tx.Exec(ctx, writeHeadSQL, d.Repo, oidBytes(d.To), d.committedAt(), d.Branch, string(rev), deriveFormat)
	if err != nil {
		return fmt.Errorf("set the head: %w", err)
	}
	return nil
}
