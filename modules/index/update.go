package index

import (
	"context"
	"errors"
	"fmt"
	"time"

	"vault/modules/vaultdir"
	"vault/platform/git"
)

const (
	// sliceTime bounds one call of Update.
	sliceTime = 30 * time.Second
	// planAttempts bounds how often a move is planned when the head of the
	// index moves under it.
	planAttempts = 5
	// lateIndexBytes is how much text a first build may have for the search
	// index to be made in one go behind it. Above, that would take longer
	// than a slice, so the index is kept from the start.
	lateIndexBytes = 120 << 20
)

// UpdateInput says what Update works on.
type UpdateInput struct {
	// Repo is the repository as GitHub describes it.
	Repo RepoInfo
	// Mirror can tell everything. Compare tells where the branch stands and
	// what a small push changed, without a mirror; nil leaves it out.
	Mirror, Compare Source
	// Deadline ends the slice; the zero value and anything later than 30 s
	// from now mean 30 s from now.
	Deadline time.Time
	// Report is told how far the work is, after each batch; it may be nil.
	Report func(Progress)
}

// Update does one slice of work that brings a repository to where its branch
// stands: of a large repository it loads a part of the texts, and the slice
// that finds all of them loaded moves the head. What is loaded stays, so that
// an interrupted build goes on where it was. It is called again until
// Progress.Complete; two callers at once do no harm. ErrUnknownRepo says that
// the repository left the installation, ErrGone that GitHub does not have it.
func (x *Index) Update(ctx context.Context, in UpdateInput) (Progress, error) {
	if end := time.Now().Add(sliceTime); in.Deadline.IsZero() || in.Deadline.After(end) {
		in.Deadline = end
	}
	if err := x.ensureRepo(ctx, in.Repo); err != nil {
		return Progress{}, err
	}
	for attempt := 1; ; attempt++ {
		u := &update{index: x, in: in}
		p, err := u.run(ctx)
		moved := errors.Is(err, ErrHeadMoved) || errors.Is(err, errBranchMoved)
		if !moved || attempt == planAttempts {
			return p, err
		}
	}
}

// update is one plan for one slice.
type update struct {
	index *Index
	in    UpdateInput

	row    repoRow
	source Source
	// mirrored says that source is the mirror.
	mirrored bool
	head     Head
	files    []FileChange
	vault    *[]VaultFile
	dir      *vaultdir.Repo
	total    int
	done     int
}

// run plans and carries out one slice. The head of the index is read before
// that of the branch, so that a write that lands in between makes the move
// fail instead of being undone.
func (u *update) run(ctx context.Context) (Progress, error) {
	var err error
	if u.row, err = readRepo(ctx, u.index.db, u.in.Repo.ID); err != nil {
		return Progress{}, err
	}
	if err := u.findHead(ctx); err != nil {
		return Progress{}, err
	}
	if u.row.complete && u.head.OID == u.row.head && u.row.format == deriveFormat {
		return u.rest(ctx)
	}
	if err := u.findChanges(ctx); err != nil {
		return Progress{}, err
	}
	if err := u.findVault(ctx); err != nil {
		return Progress{}, err
	}
	left, err := u.load(ctx)
	if err != nil || left > 0 {
		return u.progress(false), err
	}
	if err := u.move(ctx); err != nil {
		return Progress{}, err
	}
	return u.after(ctx)
}

// findHead reads where the branch stands, from whoever tells it more cheaply.
func (u *update) findHead(ctx context.Context) (err error) {
	at := Head{Branch: u.in.Repo.DefaultBranch}
	if u.in.Compare != nil {
		if at, err = u.in.Compare.Head(ctx, at); err != nil {
			return err
		}
		u.source = u.in.Compare
		// Nothing to read, or a state that only a mirror can give.
		if at.OID.IsZero() || u.row.complete {
			u.head = at
			return nil
		}
	}
	u.source, u.mirrored = u.in.Mirror, true
	u.head, err = u.mirrorHead(ctx, at)
	return err
}

// errBranchMoved says that two sources saw different states of the branch.
var errBranchMoved = errors.New("the branch moved while it was read")

// mirrorHead brings the mirror up to date. A branch that has a commit does not
// turn into one without: such an answer must not empty the index.
func (u *update) mirrorHead(ctx context.Context, at Head) (Head, error) {
	head, err := u.in.Mirror.Head(ctx, at)
	if err == nil && head.OID.IsZero() && at.OID != "" && !at.OID.IsZero() {
		return Head{}, errBranchMoved
	}
	return head, err
}

// useMirror goes over to the mirror, at the head it has.
func (u *update) useMirror(ctx context.Context) (err error) {
	if u.mirrored {
		return nil
	}
	u.source, u.mirrored = u.in.Mirror, true
	u.head, err = u.mirrorHead(ctx, u.head)
	return err
}

// findChanges lists the paths that differ between the index and the head.
func (u *update) findChanges(ctx context.Context) error {
	from := u.row.head
	if u.head.OID.IsZero() {
		return u.compareTree(ctx, nil)
	}
	if !from.IsZero() {
		if u.head.OID == from {
			return nil // the way of reading texts changed, nothing else
		}
		files, err := u.source.Diff(ctx, from, u.head.OID)
		if errors.Is(err, ErrNoDiff) && !u.mirrored {
			if err = u.useMirror(ctx); err != nil {
				return err
			}
			files, err = u.source.Diff(ctx, from, u.head.OID)
		}
		if err == nil {
			u.files = files
			return nil
		}
		if !errors.Is(err, ErrNoDiff) {
			return err
		}
	}
	if err := u.useMirror(ctx); err != nil {
		return err
	}
	tree, err := u.source.Tree(ctx, u.head.OID)
	if err != nil {
		return err
	}
	return u.compareTree(ctx, tree)
}

// compareTree finds the changes by comparing a whole tree with the rows of
// the index, for when the commit that the index stands at is not known.
func (u *update) compareTree(ctx context.Context, tree []FileChange) error {
	if u.row.head.IsZero() {
		u.files = tree
		return nil
	}
	old, err := u.index.allFiles(ctx, u.in.Repo.ID)
	if err != nil {
		return err
	}
	byPath := make(map[string]FileChange, len(old))
	for _, f := range old {
		byPath[f.Path] = f
	}
	for _, f := range tree {
		was, ok := byPath[f.Path]
		delete(byPath, f.Path)
		if !ok || was.Mode != f.Mode || was.OID != f.OID {
			u.files = append(u.files, f)
		}
	}
	for path := range byPath {
		u.files = append(u.files, FileChange{Path: path, Removed: true})
	}
	return nil
}

// load stores the texts that the new state needs. left is how many are
// missing when the time is up.
func (u *update) load(ctx context.Context) (left int, err error) {
	wants := wantsOf(u.dir, u.files)
	if !u.row.head.IsZero() && (u.dir.Rev() != u.row.rev || u.row.format != deriveFormat) {
		if err := u.useMirrorFor(ctx); err != nil {
			return 0, err
		}
		old, err := u.index.allFiles(ctx, u.in.Repo.ID)
		if err != nil {
			return 0, err
		}
		wants = append(wants, wantsOf(u.dir, u.untouched(old))...)
	}
	wants = uniqueWants(wants)
	if err := u.begin(ctx, wants); err != nil {
		return 0, err
	}
	l := loader{
		index: u.index, repo: u.in.Repo.ID, fetch: u.fetch, stored: u.report,
		more: func() bool { return time.Now().Before(u.in.Deadline) },
	}
	left, err = l.load(ctx, wants)
	if err == nil && left > 0 && time.Now().Before(u.in.Deadline) {
		err = fmt.Errorf("%d texts could not be had: %w", left, ErrNoText)
	}
	return left, err
}

// useMirrorFor lets texts come from the mirror where many may be needed, with
// the head staying what it is.
func (u *update) useMirrorFor(ctx context.Context) error {
	if u.mirrored || u.in.Mirror == nil {
		return nil
	}
	if _, err := u.mirrorHead(ctx, u.head); err != nil {
		return err
	}
	u.source, u.mirrored = u.in.Mirror, true
	return nil
}

// untouched leaves out of the old files those that the move touches.
func (u *update) untouched(old []FileChange) []FileChange {
	touched := make(map[string]bool, len(u.files))
	for _, f := range u.files {
		touched[f.Path] = true
	}
	var out []FileChange
	for _, f := range old {
		if !touched[f.Path] {
			out = append(out, f)
		}
	}
	return out
}

func (u *update) fetch(ctx context.Context, oids []git.OID, fn func(git.Blob) error) error {
	return u.source.Blobs(ctx, oids, textLimit, fn)
}

// begin counts the work and, at the start of a first build, decides when the
// search index is made.
func (u *update) begin(ctx context.Context, wants []want) error {
	u.total = len(wants)
	missing, err := u.index.missing(ctx, u.in.Repo.ID, wants)
	if err != nil {
		return err
	}
	u.done = u.total - len(missing)
	if u.row.complete {
		return nil
	}
	var size int64
	for _, w := range wants {
		if w.note {
			size += max(w.size, 0)
		}
	}
	return u.index.beginBuild(ctx, u.in.Repo.ID, buildStart{done: u.done, total: u.total, late: size <= u.index.lateIndex})
}

func (u *update) report(ctx context.Context, n int) error {
	u.done += n
	if u.in.Report != nil {
		u.in.Report(u.progress(false))
	}
	if u.row.complete {
		return nil
	}
	return u.index.setDone(ctx, u.in.Repo.ID, u.done)
}

func (u *update) progress(visible bool) Progress {
	return Progress{Visible: visible, Done: u.done, Total: u.total, Head: u.head.OID, Branch: u.head.Branch}
}

// move hands the plan to the one function that moves heads.
func (u *update) move(ctx context.Context) error {
	d := Delta{
		Repo: u.in.Repo.ID, From: u.row.head, To: u.head.OID, Branch: u.head.Branch,
		Files: u.files, Vault: u.vault,
	}
	if !u.head.OID.IsZero() {
		commit, err := u.source.Commit(ctx, u.head.OID)
		if err != nil {
			return err
		}
		d.Commit = &commit
	}
	return u.index.move(ctx, d, u.fetch)
}

// after tidies up behind a move. A first build leaves the rest to the next
// slice, so that it is seen at once.
func (u *update) after(ctx context.Context) (Progress, error) {
	if !u.row.complete {
		p := u.progress(true)
		return u.describe(ctx, p)
	}
	return u.rest(ctx)
}

// rest does what makes an index that stands at the head faster.
func (u *update) rest(ctx context.Context) (Progress, error) {
	if err := u.index.settle(ctx, u.in.Repo.ID, u.row.settled, len(u.files)); err != nil {
		return Progress{}, err
	}
	p := u.progress(true)
	p.Complete = true
	return u.describe(ctx, p)
}

// describe adds what the .vault/ folder says to a progress.
func (u *update) describe(ctx context.Context, p Progress) (Progress, error) {
	files, err := readVault(ctx, u.index.db, u.in.Repo.ID)
	if err != nil {
		return Progress{}, err
	}
	dir, _ := dirOf(u.in.Repo.Name, files)
	p.VaultRev = dir.Rev()
	p.Findings = findingsOf(u.in.Repo.Name, files)
	return p, nil
}
