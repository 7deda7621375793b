package git

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// LogOptions say which commits Log lists.
type LogOptions struct {
	// Tip is where the history ends.
	Tip OID
	// Not are commits that are left out, with everything they descend from.
	Not []OID
	// Max is the most commits listed, 0 means two million.
	Max int
}

// Log lists commits in git's default order, newest first. An error of fn ends
// it and is returned, wrapped. ErrNotFound if Tip or a commit of Not is not
// there.
func (repo *Repo) Log(ctx context.Context, o LogOptions, fn func(Commit) error) error {
	if o.Tip.IsZero() {
		return nil
	}
	oids, err := repo.revList(ctx, o)
	if err != nil {
		return absent(err, "log of "+string(o.Tip))
	}
	return repo.commits(ctx, oids, fn)
}

func (repo *Repo) revList(ctx context.Context, o LogOptions) ([]OID, error) {
	if err := check(append([]OID{o.Tip}, o.Not...)...); err != nil {
		return nil, err
	}
	entries := repo.run.limits.entries
	max := o.Max
	if max <= 0 || max > entries {
		max = entries
	}
	var oids []OID
	err := repo.walk(ctx, call{
		args: []string{"rev-list", "--max-count=" + strconv.Itoa(max), "--stdin"},
		feed: func(in io.Writer) error { return writeRange(in, o) },
	}, func(out io.Reader) error {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			oids = append(oids, OID(lines.Text()))
		}
		return lines.Err()
	})
	return oids, err
}

func writeRange(in io.Writer, o LogOptions) error {
	w := bufio.NewWriter(in)
	fmt.Fprintln(w, o.Tip)
	for _, oid := range o.Not {
		if !oid.IsZero() {
			fmt.Fprintln(w, "^"+oid)
		}
	}
	return w.Flush()
}

// commits reads commit objects rather than git's rendering of them, so that
// nothing configured can change a text.
func (repo *Repo) commits(ctx context.Context, oids []OID, fn func(Commit) error) error {
	if len(oids) == 0 {
		return nil
	}
	err := repo.walk(ctx, call{
		args: []string{"cat-file", "--batch", "--buffer"},
		feed: func(in io.Writer) error { return writeOIDs(in, oids) },
	}, func(out io.Reader) error {
		r := bufio.NewReaderSize(out, 256<<10)
		for _, oid := range oids {
			data, err := readCommitData(r, repo.run.limits.commit)
			if err != nil {
				return err
			}
			if err := fn(parseCommit(oid, data)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read %d commits: %w", len(oids), err)
	}
	return nil
}

func readCommitData(r *bufio.Reader, max int64) ([]byte, error) {
	h, err := readObjectHeader(r)
	if err != nil {
		return nil, err
	}
	if h.kind != "commit" {
		return nil, fmt.Errorf("a commit of the history: %w", ErrNotFound)
	}
	data, err := readExactly(r, min(h.size, max))
	if err != nil {
		return nil, err
	}
	return data, skip(r, h.size-int64(len(data))+1)
}

// IsAncestor reports whether commit a is b or one of its ancestors.
// ErrNotFound if one of them is not there.
func (repo *Repo) IsAncestor(ctx context.Context, a, b OID) (bool, error) {
	if err := check(a, b); err != nil {
		return false, err
	}
	_, err := repo.answer(ctx, "merge-base", "--is-ancestor", "--end-of-options", string(a), string(b))
	if exitCode(err) == 1 {
		return false, nil
	}
	return err == nil, absent(err, fmt.Sprintf("ancestry of %s and %s", a, b))
}

// MergeBase finds a best common ancestor. ErrNotFound if there is none, or if
// one of the commits is not there.
func (repo *Repo) MergeBase(ctx context.Context, a, b OID) (OID, error) {
	if err := check(a, b); err != nil {
		return "", err
	}
	text, err := repo.answer(ctx, "merge-base", "--end-of-options", string(a), string(b))
	what := fmt.Sprintf("merge base of %s and %s", a, b)
	if exitCode(err) == 1 {
		return "", fmt.Errorf("%s: %w", what, ErrNotFound)
	}
	if err != nil {
		return "", absent(err, what)
	}
	base := OID(strings.TrimSpace(text))
	return base, check(base)
}
