package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
)

// skipLimit is the most bytes that are read past to keep the process that
// reads objects; beyond it a new process is cheaper.
const skipLimit = 4 << 20

// object reads the beginning of one object, at most max bytes, through the
// repository's standing process, and gives its full size.
func (repo *Repo) object(ctx context.Context, oid OID, max int64) (kind string, data []byte, size int64, err error) {
	if err := check(oid); err != nil {
		return "", nil, 0, err
	}
	ask := func(in io.Writer, out *bufio.Reader) error {
		if _, err := io.WriteString(in, string(oid)+"\n"); err != nil {
			return broken(err)
		}
		h, err := readObjectHeader(out)
		if err != nil {
			return broken(err)
		}
		if kind, size = h.kind, h.size; kind == "" {
			return fmt.Errorf("object %s: %w", oid, ErrNotFound)
		}
		data, err = readStart(out, size, max)
		return err
	}
	c := repo.in(call{args: []string{"cat-file", "--batch"}})
	err = repo.objects.do(ctx, repo.run, c, ask, nil)
	if errors.Is(err, errAbandon) {
		err = nil
	}
	return kind, data, size, err
}

func readStart(out *bufio.Reader, size, max int64) ([]byte, error) {
	kept := min(size, max)
	data, err := readExactly(out, kept)
	switch {
	case err != nil:
		return nil, broken(err)
	case size-kept > skipLimit:
		return data, broken(errAbandon)
	}
	return data, broken(skip(out, size-kept+1))
}

func readExactly(r io.Reader, n int64) ([]byte, error) {
	data := make([]byte, n)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, errShort
	}
	return data, nil
}

// Blob reads one blob. ErrNotFound if the repository has none of that id,
// ErrTooLarge if it has more than max bytes.
func (repo *Repo) Blob(ctx context.Context, oid OID, max int64) ([]byte, error) {
	kind, data, size, err := repo.object(ctx, oid, max)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read blob %s: %w", oid, err)
	case kind != "blob":
		return nil, fmt.Errorf("read blob %s: it is a %s: %w", oid, kind, ErrNotFound)
	case size > max:
		return nil, fmt.Errorf("read blob %s: its %d bytes are %w", oid, size, ErrTooLarge)
	}
	return data, nil
}
