package index

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"vault/platform/git"
)

// findVault works out the .vault/ folder after the move: what stands there,
// and which version of each file is in force.
func (u *update) findVault(ctx context.Context) error {
	files, err := readVault(ctx, u.index.db, u.in.Repo.ID)
	if err != nil {
		return err
	}
	touched := slices.ContainsFunc(u.files, func(f FileChange) bool { return inVault(f.Path) })
	broken := slices.ContainsFunc(files, func(f VaultFile) bool { return f.broken() })
	if !touched && !broken {
		u.dir, _ = dirOf(u.in.Repo.Name, files)
		return nil
	}
	if touched {
		if files, err = u.changeVault(ctx, files); err != nil {
			return err
		}
	}
	for i := range files {
		if f := &files[i]; f.broken() || u.row.head.IsZero() {
			if err := u.lastGood(ctx, f); err != nil {
				return err
			}
		}
	}
	u.vault = &files
	u.dir, _ = dirOf(u.in.Repo.Name, files)
	return nil
}

// changeVault applies the move to the files of the folder and reads the texts
// of those that changed.
func (u *update) changeVault(ctx context.Context, files []VaultFile) ([]VaultFile, error) {
	var oids []git.OID
	for _, c := range u.files {
		path, raw := storedPath(c.Path)
		if !inVault(path) || raw != nil {
			continue
		}
		at := slices.IndexFunc(files, func(f VaultFile) bool { return f.Path == path })
		switch {
		case c.Removed || !regular(c.Mode):
			if at >= 0 {
				files = slices.Delete(files, at, at+1)
			}
			continue
		case at < 0:
			files = append(files, VaultFile{Path: path, OID: c.OID, UsedOID: git.Zero})
		default:
			files[at].OID = c.OID
		}
		oids = append(oids, c.OID)
	}
	slices.SortFunc(files, func(a, b VaultFile) int { return strings.Compare(a.Path, b.Path) })
	if len(oids) == 0 {
		return files, nil
	}
	return files, u.readVaultTexts(ctx, files, oids)
}

// readVaultTexts reads the current versions of changed files.
func (u *update) readVaultTexts(ctx context.Context, files []VaultFile, oids []git.OID) error {
	texts := make(map[git.OID]*string, len(oids))
	err := u.source.Blobs(ctx, oids, versionSize, func(b git.Blob) error {
		if b.Missing {
			return fmt.Errorf("read .vault/: %w", ErrNoText)
		}
		texts[b.OID] = nil
		if !b.TooLarge && kindOf(b.Data) == KindText {
			text := string(b.Data)
			texts[b.OID] = &text
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range files {
		if text, ok := texts[files[i].OID]; ok {
			files[i].Text = text
			files[i].settle()
		}
	}
	return nil
}

// lastGood puts the newest good version of a file into force, as the history
// of the first parents has it. That way it does not matter in how many steps
// the index came to a commit.
func (u *update) lastGood(ctx context.Context, f *VaultFile) error {
	if f.settle() {
		return nil
	}
	history := u.source
	if u.in.Mirror != nil {
		if !u.mirrored {
			if _, err := u.mirrorHead(ctx, u.head); err != nil {
				return err
			}
		}
		history = u.in.Mirror
	}
	before := *f
	f.forget()
	err := history.Versions(ctx, u.head.OID, f.Path, func(oid git.OID, data []byte) bool {
		if kindOf(data) != KindText {
			return true
		}
		text := string(data)
		old := VaultFile{Path: f.Path, OID: oid, Text: &text}
		if !old.settle() {
			return true
		}
		f.UsedOID, f.UsedText = oid, &text
		return false
	})
	if errors.Is(err, ErrNoDiff) {
		*f = before
		return nil
	}
	return err
}
