package index

import (
	"context"
	"errors"
	"fmt"

	"vault/platform/git"
	"vault/platform/postgres"
)

// File is one file of the vault.
type File struct {
	// Path is the path as it stands in the tree.
	Path string
	// OID is its blob, Mode git's mode, Size its length in bytes or -1 when
	// that is not known.
	OID  git.OID
	Mode uint32
	Size int64
	// Kind says whether its text is kept.
	Kind Kind
	// IsNote says that it is a Markdown file. What follows is set for notes.
	IsNote bool
	// Title, Type, Status and Summary come from the frontmatter; a note
	// without a title has its file name.
	Title, Type, Status, Summary string
}

// Text is a file with its text and what was read out of it.
type Text struct {
	File
	// Body is the text as it stands in the file; "" unless Kind is KindText.
	Body string
	// LFS says that the text is a pointer of Git LFS.
	LFS bool
	// Lines counts the lines. It and what follows is set for notes.
	Lines int
	// Fields is the frontmatter in file order.
	Fields []Field
	// FrontLine and FrontError say why the frontmatter cannot be read; 0 and
	// "" when it can.
	FrontLine  int
	FrontError string
	// Headings are the headings in order.
	Headings []Heading
}

const fileSQL = `
SELECT f.path, f.oid, f.mode, f.size, coalesce(b.kind, -1), f.is_note,
       coalesce(f.title, ''), coalesce(f.type, ''), coalesce(f.status, ''), coalesce(f.summary, '')
FROM file f
LEFT JOIN blob b ON b.id = f.blob
WHERE f.repo = $1 AND f.path = $2 AND f.open`

const otherFormSQL = `
SELECT path FROM file
WHERE repo = $1 AND nfc = $2 AND open
ORDER BY path
LIMIT 1`

// otherForm gives the stored spelling of a path whose NFC is asked for; ok is
// false when there is none.
func (s *Snapshot) otherForm(ctx context.Context, r Repo, path string) (stored string, ok bool, err error) {
	err = s.tx.QueryRow(ctx, otherFormSQL, r.ID, path).Scan(&stored)
	if errors.Is(err, postgres.ErrNoRows) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("find a file: %w", err)
	}
	return stored, true, nil
}

// File gives the file at a path in NFC, which also finds a stored name in
// another Unicode form. ok is false when there is none that can be read.
func (s *Snapshot) File(ctx context.Context, repo, path string) (file File, ok bool, err error) {
	r, err := s.one(repo)
	if err != nil {
		return File{}, false, err
	}
	path = clean(path)
	if file, ok, err = s.fileAt(ctx, r, path); ok || err != nil {
		return file, ok, err
	}
	if path, ok, err = s.otherForm(ctx, r, path); !ok {
		return File{}, false, err
	}
	return s.fileAt(ctx, r, path)
}

func (s *Snapshot) fileAt(ctx context.Context, r Repo, path string) (file File, ok bool, err error) {
	var f File
	err = scanFile(s.tx.QueryRow(ctx, fileSQL, r.ID, path), &f)
	if errors.Is(err, postgres.ErrNoRows) {
		return File{}, false, nil
	}
	if err != nil {
		return File{}, false, fmt.Errorf("find a file: %w", err)
	}
	return f, true, nil
}

type scanner interface{ Scan(...any) error }

func scanFile(row scanner, f *File, more ...any) error {
	var oid []byte
	var mode int32
	into := append([]any{
		&f.Path, &oid, &mode, &f.Size, &f.Kind, &f.IsNote, &f.Title, &f.Type, &f.Status, &f.Summary,
	}, more...)
	if err := row.Scan(into...); err != nil {
		return err
	}
	f.OID, f.Mode = oidOf(oid), uint32(mode)
	return nil
}

const textSQL = `
SELECT f.path, f.oid, f.mode, f.size, coalesce(b.kind, -1), f.is_note,
       coalesce(f.title, ''), coalesce(f.type, ''), coalesce(f.status, ''), coalesce(f.summary, ''),
       coalesce(b.body, ''), coalesce(d.lines, 0), d.fields, coalesce(d.fm_error_line, 0), coalesce(d.fm_error, ''),
       d.headings, coalesce(d.lfs, false)
FROM file f
LEFT JOIN blob b ON b.id = f.blob
LEFT JOIN doc d ON d.blob = f.blob AND d.format = $3
WHERE f.repo = $1 AND f.path = $2 AND f.open`

// Text is File with the text.
func (s *Snapshot) Text(ctx context.Context, repo, path string) (text Text, ok bool, err error) {
	r, err := s.one(repo)
	if err != nil {
		return Text{}, false, err
	}
	path = clean(path)
	if text, ok, err = s.textAt(ctx, r, path); ok || err != nil {
		return text, ok, err
	}
	if path, ok, err = s.otherForm(ctx, r, path); !ok {
		return Text{}, false, err
	}
	return s.textAt(ctx, r, path)
}

func (s *Snapshot) textAt(ctx context.Context, r Repo, path string) (text Text, ok bool, err error) {
	var t Text
	var fields, headings []byte
	err = scanFile(s.tx.QueryRow(ctx, textSQL, r.ID, path, r.format), &t.File,
		&t.Body, &t.Lines, &fields, &t.FrontLine, &t.FrontError, &headings, &t.LFS)
	if errors.Is(err, postgres.ErrNoRows) {
		return Text{}, false, nil
	}
	if err != nil {
		return Text{}, false, fmt.Errorf("read a file: %w", err)
	}
	t.Fields, t.Headings = decodeFields(fields), decodeHeadings(headings)
	t.LFS = t.LFS || isLFS(t.Body)
	return t, true, nil
}
