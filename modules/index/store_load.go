package index

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"vault/platform/git"
	"vault/platform/postgres"
)

// queryChunk is how many ids one query takes.
const queryChunk = 5000

// Advisory locks of an installation's database.
const (
	// lockBlobs keeps blobs from being removed while somebody relies on them:
	// shared by all who store or move, exclusive for the removal.
	lockBlobs = 0x76626c6f62 // "vblob"
)

const lockBlobsSharedSQL = `SELECT pg_advisory_xact_lock_shared($1)`

// oidBytes and oidOf translate between ids and what the tables keep.
func oidBytes(oid git.OID) []byte {
	if oid.IsZero() || oid == "" {
		return nil
	}
	raw, err := hex.DecodeString(string(oid))
	if err != nil {
		return nil
	}
	return raw
}

func oidOf(raw []byte) git.OID {
	if len(raw) == 0 {
		return git.Zero
	}
	return git.OID(hex.EncodeToString(raw))
}

const missingSQL = `
SELECT w.at, b.id, b.kind, d.blob IS NOT NULL, f.blob IS NOT NULL
FROM unnest($1::bytea[]) WITH ORDINALITY AS w (oid, at)
LEFT JOIN blob b ON b.oid = w.oid
LEFT JOIN doc d ON d.blob = b.id AND d.format = $2
LEFT JOIN fold f ON f.blob = b.id AND f.format = $2 AND f.repo = $3`

// missing tells which of the wanted texts are not stored, or not read as
// notes yet, in the order of wants.
func (x *Index) missing(ctx context.Context, repo int64, wants []want) ([]item, error) {
	wants = uniqueWants(wants)
	var out []item
	for chunk := range slices.Chunk(wants, queryChunk) {
		oids := make([][]byte, len(chunk))
		for i, w := range chunk {
			oids[i] = oidBytes(w.oid)
		}
		rows, err := x.db.Query(ctx, missingSQL, oids, deriveFormat, repo)
		if err != nil {
			return nil, fmt.Errorf("look for stored texts: %w", err)
		}
		need := make(map[int]item)
		var at int
		var id *int64
		var kind *int16
		var hasDoc, hasFold bool
		_, err = pgx.ForEachRow(rows, []any{&at, &id, &kind, &hasDoc, &hasFold}, func() error {
			it := item{want: chunk[at-1], hasDoc: hasDoc}
			if id != nil {
				it.id, it.kind = *id, Kind(*kind)
				if !it.note || it.kind != KindText || hasFold {
					return nil
				}
			}
			need[at-1] = it
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("look for stored texts: %w", err)
		}
		for i := range chunk {
			if it, ok := need[i]; ok {
				out = append(out, it)
			}
		}
	}
	return out, nil
}

// bodies fills in the stored texts of items.
func (x *Index) bodies(ctx context.Context, items []item) error {
	ids := make([]int64, len(items))
	at := make(map[int64]int, len(items))
	for i, it := range items {
		ids[i] = it.id
		at[it.id] = i
	}
	rows, err := x.db.Query(ctx, `SELECT id, body FROM blob WHERE id = ANY($1)`, ids)
	if err != nil {
		return fmt.Errorf("read stored texts: %w", err)
	}
	var id int64
	var body *string
	_, err = pgx.ForEachRow(rows, []any{&id, &body}, func() error {
		if body != nil {
			items[at[id]].text = *body
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read stored texts: %w", err)
	}
	return nil
}

// insertBatch writes the rows of a batch in one transaction.
func (x *Index) insertBatch(ctx context.Context, repo int64, batch []item) error {
	err := x.db.InTx(ctx, func(ctx context.Context, tx postgres.Tx) error {
		if _, err := tx.Exec(ctx, lockBlobsSharedSQL, lockBlobs); err != nil {
			return err
		}
		items := slices.Clone(batch)
		if err := giveIDs(ctx, tx, items); err != nil {
			return err
		}
		for _, copyRows := range []func(context.Context, postgres.Tx, int64, []item) error{
			copyDocs, copyFolds, copyLinks,
		} {
			if err := copyRows(ctx, tx, repo, items); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("store texts: %w", err)
	}
	return nil
}

// giveIDs inserts the blobs that are new and sets their ids.
func giveIDs(ctx context.Context, tx postgres.Tx, items []item) error {
	var fresh []*item
	for i := range items {
		if items[i].id == 0 {
			fresh = append(fresh, &items[i])
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	rows, err := tx.Query(ctx, `SELECT nextval(pg_get_serial_sequence('blob', 'id')) FROM generate_series(1, $1)`, len(fresh))
	if err != nil {
		return err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	for i, it := range fresh {
		it.id = ids[i]
	}
	source := pgx.CopyFromSlice(len(fresh), func(i int) ([]any, error) {
		it := fresh[i]
		var body *string
		if it.kind == KindText {
			body = &it.text
		}
		return []any{it.id, oidBytes(it.oid), it.size, int16(it.kind), body}, nil
	})
	_, err = tx.CopyFrom(ctx, pgx.Identifier{"blob"}, []string{"id", "oid", "size", "kind", "body"}, source)
	return err
}

func copyDocs(ctx context.Context, tx postgres.Tx, _ int64, items []item) error {
	var rows [][]any
	for _, it := range items {
		if r := it.read; r != nil && !it.hasDoc {
			rows = append(rows, []any{
				it.id, deriveFormat, r.lines, jsonText(r.fields), r.errorLine, r.errorText, jsonText(r.headings), r.lfs,
			})
		}
	}
	return copyInto(ctx, tx, "doc", []string{
		"blob", "format", "lines", "fields", "fm_error_line", "fm_error", "headings", "lfs",
	}, rows)
}

// jsonText passes JSON on as it is; the driver would encode bytes otherwise.
func jsonText(data []byte) *string {
	if data == nil {
		return nil
	}
	s := string(data)
	return &s
}

func copyFolds(ctx context.Context, tx postgres.Tx, repo int64, items []item) error {
	var rows [][]any
	for _, it := range items {
		if it.read != nil {
			rows = append(rows, []any{repo, it.id, deriveFormat, it.read.fold})
		}
	}
	return copyInto(ctx, tx, "fold", []string{"repo", "blob", "format", "text"}, rows)
}

func copyLinks(ctx context.Context, tx postgres.Tx, repo int64, items []item) error {
	var rows [][]any
	for _, it := range items {
		if it.read == nil {
			continue
		}
		for ord, link := range it.read.links {
			rows = append(rows, []any{
				repo, it.id, deriveFormat, ord, string(link.Form), string(link.Place), link.Embed,
				link.Start, link.End, link.DestStart, link.DestEnd, link.Line,
				clean(link.Target), clean(link.Sub), indexed(link.Key()),
			})
		}
	}
	return copyInto(ctx, tx, "link", []string{
		"repo", "blob", "format", "ord", "form", "place", "embed",
		"start_at", "end_at", "dest_start", "dest_end", "line", "target", "sub", "key",
	}, rows)
}

func copyInto(ctx context.Context, tx postgres.Tx, table string, columns []string, rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	_, err := tx.CopyFrom(ctx, pgx.Identifier{table}, columns, pgx.CopyFromRows(rows))
	if err != nil {
		return fmt.Errorf("copy into %s: %w", table, err)
	}
	return nil
}
