package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

const headsPrefix = "refs/heads/"

// checkRef refuses names that are no full ref name. Git judges the rest; here
// only what would change the meaning of a request is kept out.
func checkRef(name string) error {
	bad := strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f })
	if bad || len(name) > 1024 || !strings.HasPrefix(name, "refs/") || strings.HasSuffix(name, "/") {
		return fmt.Errorf("ref name %.200q is malformed: %w", name, ErrRefused)
	}
	return nil
}

// Ref reads a ref by its full name, as in "refs/heads/main". A tag gives the
// tag object's id. ErrNotFound if there is none.
func (repo *Repo) Ref(ctx context.Context, name string) (OID, error) {
	if err := checkRef(name); err != nil {
		return "", err
	}
	return repo.ref(ctx, name)
}

// ref uses show-ref, which takes the name as it is: rev-parse would also try
// it below other folders and as an abbreviated id.
func (repo *Repo) ref(ctx context.Context, name string) (OID, error) {
	text, err := repo.answer(ctx, "show-ref", "--verify", "--hash", "--", name)
	switch {
	case exitCode(err) == 1, said(err, "not a valid ref"):
		return "", fmt.Errorf("ref %.200q: %w", name, ErrNotFound)
	case err != nil:
		return "", fmt.Errorf("read ref %.200q: %w", name, err)
	}
	return OID(text), check(OID(text))
}

// Head reads HEAD: the branch it names, without refs/heads/, and that branch's
// commit. An unborn branch has the id Zero; a detached HEAD has branch "".
func (repo *Repo) Head(ctx context.Context) (branch string, oid OID, err error) {
	name, err := repo.answer(ctx, "symbolic-ref", "--quiet", "HEAD")
	if err != nil && exitCode(err) != 1 {
		return "", "", fmt.Errorf("read HEAD: %w", err)
	}
	oid, err = repo.ref(ctx, "HEAD")
	if errors.Is(err, ErrNotFound) {
		oid, err = Zero, nil
	}
	if err != nil {
		return "", "", fmt.Errorf("read HEAD: %w", err)
	}
	if !strings.HasPrefix(name, headsPrefix) {
		return "", oid, nil
	}
	return name[len(headsPrefix):], oid, nil
}

// SetHead lets HEAD name a branch, which need not exist.
func (repo *Repo) SetHead(ctx context.Context, branch string) error {
	name := headsPrefix + branch
	if err := checkRef(name); err != nil {
		return err
	}
	if err := repo.do(ctx, call{args: []string{"symbolic-ref", "HEAD", name}}); err != nil {
		return fmt.Errorf("set HEAD to %.200q: %w", branch, err)
	}
	return nil
}

// RefUpdate moves one ref From a value To another. From Zero means that the
// ref must not exist, To Zero that it is deleted.
type RefUpdate struct {
	Name     string
	To, From OID
}

// UpdateRef moves one ref by compare-and-set: ErrRefMoved if its value is not
// from, ErrRefBusy if another process held it for longer than git waits.
func (repo *Repo) UpdateRef(ctx context.Context, name string, to, from OID) error {
	return repo.UpdateRefs(ctx, RefUpdate{Name: name, To: to, From: from})
}

// UpdateRefs moves several refs, all of them or none. One git process serves
// all calls, so that a move costs no start of a process.
func (repo *Repo) UpdateRefs(ctx context.Context, updates ...RefUpdate) error {
	request, err := refRequest(updates)
	if err != nil {
		return err
	}
	begin := func(in io.Writer, out *bufio.Reader) error {
		return say(in, out, "start\x00", "start: ok")
	}
	commit := func(in io.Writer, out *bufio.Reader) error {
		return say(in, out, request, "prepare: ok", "commit: ok")
	}
	c := repo.in(call{args: []string{"update-ref", "-z", "--stdin"}})
	err = repo.refs.do(ctx, repo.run, c, begin, commit)
	switch {
	case err == nil:
		return nil
	case said(err, "but expected", "reference already exists", "unable to resolve reference", "reference is missing"):
		return fmt.Errorf("%w: %w", ErrRefMoved, err)
	case said(err, ".lock': File exists"):
		return fmt.Errorf("%w: %w", ErrRefBusy, err)
	}
	return fmt.Errorf("move refs: %w", err)
}

// refRequest writes a transaction as git-update-ref(1) reads it with -z.
func refRequest(updates []RefUpdate) (string, error) {
	var b strings.Builder
	for _, u := range updates {
		if err := errors.Join(checkRef(u.Name), check(u.To, u.From)); err != nil {
			return "", err
		}
		switch {
		case !u.To.IsZero():
			fmt.Fprintf(&b, "update %s\x00%s\x00%s\x00", u.Name, u.To, u.From)
		case !u.From.IsZero():
			fmt.Fprintf(&b, "delete %s\x00%s\x00", u.Name, u.From)
		default:
			fmt.Fprintf(&b, "verify %s\x00%s\x00", u.Name, u.From)
		}
	}
	return b.String() + "prepare\x00commit\x00", nil
}

// say sends a request and expects lines in answer.
func say(in io.Writer, out *bufio.Reader, request string, answers ...string) error {
	if _, err := io.WriteString(in, request); err != nil {
		return broken(err)
	}
	for _, want := range answers {
		got, err := out.ReadString('\n')
		if err != nil {
			return broken(err)
		}
		if strings.TrimSuffix(got, "\n") != want {
			return broken(fmt.Errorf("unexpected answer %.80q", got))
		}
	}
	return nil
}
