package index

import (
	"context"
	"errors"
	"fmt"

	"vault/modules/vaultdir"
	"vault/platform/git"
	"vault/platform/postgres"
)

// Apply moves a repository's head from Delta.From to Delta.To in one
// transaction: its file rows are those of To afterwards. It is the only way a
// head moves. ErrHeadMoved says that the index stands somewhere else,
// ErrNoText that a text is wanted that neither Delta.Contents nor the index
// has, ErrUnknownRepo that the repository is not indexed here.
func (x *Index) Apply(ctx context.Context, d Delta) error {
	return x.move(ctx, d, contentsOf(d.Contents))
}

// contentsOf serves given contents as a fetchFunc.
func contentsOf(contents []Content) fetchFunc {
	byOID := make(map[git.OID][]byte, len(contents))
	for _, c := range contents {
		byOID[c.OID] = c.Data
	}
	return func(_ context.Context, oids []git.OID, fn func(git.Blob) error) error {
		for _, oid := range oids {
			data, ok := byOID[oid]
			if !ok {
				continue
			}
			if err := fn(git.Blob{OID: oid, Data: data, Size: int64(len(data))}); err != nil {
				return err
			}
		}
		return nil
	}
}

// move is Apply with a way to get texts that turn out to be missing, which
// happens when the removal of unused ones came in between.
func (x *Index) move(ctx context.Context, d Delta, fetch fetchFunc) error {
	for attempt := 1; ; attempt++ {
		m := &mover{index: x, delta: d}
		err := x.db.InTx(ctx, m.run)
		if !errors.Is(err, ErrNoText) || attempt == storeAttempts {
			if err != nil {
				return fmt.Errorf("move the index of repository %d: %w", d.Repo, err)
			}
			return nil
		}
		l := loader{index: x, repo: d.Repo, fetch: fetch, more: always, stored: ignore}
		left, err := l.load(ctx, m.lacking)
		if err != nil {
			return err
		}
		if left > 0 {
			return fmt.Errorf("move the index of repository %d: %w", d.Repo, ErrNoText)
		}
	}
}

func always() bool { return true }

func ignore(context.Context, int) error { return nil }

// mover is one run of the transaction that moves a head.
type mover struct {
	index *Index
	delta Delta
	// lacking are the wanted texts that are not stored.
	lacking []want

	repo repoRow
	dir  *vaultdir.Repo
}

// repoRow is what a move has to know of the table repo.
type repoRow struct {
	name     string
	head     git.OID
	complete bool
	format   int
	rev      vaultdir.Rev
	active   bool
	branch   string
	settled  bool
}

func (m *mover) run(ctx context.Context, tx postgres.Tx) error {
	m.lacking = nil
	if _, err := tx.Exec(ctx, lockBlobsSharedSQL, lockBlobs); err != nil {
		return err
	}
	var err error
	if m.repo, err = lockRepo(ctx, tx, m.delta.Repo); err != nil {
		return err
	}
	if m.repo.head != m.delta.From {
		return ErrHeadMoved
	}
	if err := m.settings(ctx, tx); err != nil {
		return err
	}
	if err := m.files(ctx, tx); err != nil {
		return err
	}
	if len(m.lacking) > 0 {
		return ErrNoText
	}
	return m.finish(ctx, tx)
}

// settings works out which .vault/ files are in force after the move.
func (m *mover) settings(ctx context.Context, tx postgres.Tx) error {
	if m.delta.Vault == nil {
		for _, f := range m.delta.Files {
			if inVault(f.Path) {
				return errors.New("a change of .vault/ came without the folder's new state")
			}
		}
		files, err := readVault(ctx, tx, m.delta.Repo)
		if err != nil {
			return err
		}
		m.dir, _ = dirOf(m.repo.name, files)
		return nil
	}
	m.dir, _ = dirOf(m.repo.name, *m.delta.Vault)
	return writeVault(ctx, tx, m.delta.Repo, *m.delta.Vault)
}

// files brings the rows of the tree to the new commit. Where the settings or
// the way of reading texts changed, the rows of files that did not change are
// made anew too.
func (m *mover) files(ctx context.Context, tx postgres.Tx) error {
	var removed []string
	var changed []FileChange
	for _, f := range m.delta.Files {
		if f.Removed {
			stored, _ := storedPath(f.Path)
			removed = append(removed, stored)
			continue
		}
		changed = append(changed, f)
	}
	if err := deleteFiles(ctx, tx, m.delta.Repo, removed); err != nil {
		return err
	}
	first := m.repo.head.IsZero()
	if first && len(changed) > rowChunk {
		if err := analyze(ctx, tx, m.delta.Repo); err != nil {
			return err
		}
	}
	for chunk := range chunks(changed, rowChunk) {
		rows, err := m.rows(ctx, tx, chunk)
		if err != nil {
			return err
		}
		if err := writeFiles(ctx, tx, m.delta.Repo, rows, first); err != nil {
			return err
		}
	}
	if first || m.repo.rev == m.dir.Rev() && m.repo.format == deriveFormat {
		return nil
	}
	return m.remake(ctx, tx)
}

// remake makes the rows of all files anew and writes those that differ.
func (m *mover) remake(ctx context.Context, tx postgres.Tx) error {
	after := ""
	for {
		old, err := pageOfFiles(ctx, tx, m.delta.Repo, after)
		if err != nil || len(old) == 0 {
			return err
		}
		after = old[len(old)-1].path
		files := make([]FileChange, len(old))
		for i, row := range old {
			files[i] = row.change()
		}
		rows, err := m.rows(ctx, tx, files)
		if err != nil {
			return err
		}
		var differing []fileRow
		for i, row := range rows {
			if !row.equal(old[i]) {
				differing = append(differing, row)
			}
		}
		if err := writeFiles(ctx, tx, m.delta.Repo, differing, false); err != nil {
			return err
		}
	}
}

// rows makes the rows of tree entries, in their order. Texts that are wanted
// and not stored are collected in lacking.
func (m *mover) rows(ctx context.Context, tx postgres.Tx, files []FileChange) ([]fileRow, error) {
	rows := make([]fileRow, len(files))
	wanted := make([]bool, len(files))
	var oids []git.OID
	for i, f := range files {
		if rows[i], wanted[i] = shape(m.dir, f); wanted[i] {
			oids = append(oids, f.OID)
		}
	}
	metas, err := readMetas(ctx, tx, m.delta.Repo, oids)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		if !wanted[i] {
			rows[i].complete(m.dir, nil)
			continue
		}
		known := metas[files[i].OID]
		if known == nil || rows[i].isNote && known.kind == KindText && !known.folded {
			m.lacking = append(m.lacking, want{oid: files[i].OID, size: files[i].Size, note: rows[i].isNote})
		}
		rows[i].complete(m.dir, known)
	}
	return rows, nil
}

// finish writes the commit and moves the head.
func (m *mover) finish(ctx context.Context, tx postgres.Tx) error {
	if err := writeCommit(ctx, tx, m.delta); err != nil {
		return err
	}
	return writeHead(ctx, tx, m.delta, m.dir.Rev())
}

// change gives a stored row back as a tree entry.
func (row fileRow) change() FileChange {
	path := row.path
	if row.rawPath != nil {
		path = string(row.rawPath)
	}
	return FileChange{Path: path, Mode: row.mode, OID: row.oid, Size: row.size}
}

// equal reports whether two rows of one path say the same.
func (row fileRow) equal(other fileRow) bool {
	same := func(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }
	return row.mode == other.mode && row.oid == other.oid && row.size == other.size &&
		(row.blob == nil) == (other.blob == nil) && (row.blob == nil || *row.blob == *other.blob) &&
		row.isNote == other.isNote && row.open == other.open && row.key == other.key &&
		same(row.nfc, other.nfc) && same(row.title, other.title) && same(row.kind, other.kind) &&
		same(row.status, other.status) && same(row.summary, other.summary)
}
