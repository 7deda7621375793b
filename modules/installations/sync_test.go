package installations_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"vault/modules/installations"
)

// finish works off what is wanted of a repository.
func (w world) finish(t *testing.T, id int64) {
	t.Helper()
	work, err := w.Claim(t.Context(), id)
	must(t, err)
	again, err := w.Complete(t.Context(), ended{}, work, installations.Result{
		Head: "head", VaultRev: "rev", Complete: true, Done: 4, Total: 4, Findings: []string{"finding"},
	})
	must(t, err)
	if again {
		t.Fatal("again")
	}
}

func TestSyncFollowsTheList(t *testing.T) {
	t.Parallel()
	changed := func(r installations.Repository, change func(*installations.Repository)) installations.Repository {
		change(&r)
		return r
	}
	one, two := repo(1, "handbook"), repo(2, "projects")
	for _, c := range []struct {
		name string
		list []installations.Repository
		// want is repository 1 afterwards, as far as a sync changes it.
		want              installations.Repository
		rises             bool
		index, catalogues int
	}{
		{
			"nothing changed", []installations.Repository{one, two},
			installations.Repository{Name: "handbook", DefaultBranch: "main", Active: true, WantedGen: 1, DoneGen: 1}, false, 0, 0,
		},
		{
			"listed twice", []installations.Repository{two, one, two, one},
			installations.Repository{Name: "handbook", DefaultBranch: "main", Active: true, WantedGen: 1, DoneGen: 1}, false, 0, 0,
		},
		{
			"new", []installations.Repository{one, two, repo(3, "third")},
			installations.Repository{Name: "handbook", DefaultBranch: "main", Active: true, WantedGen: 1, DoneGen: 1}, true, 1, 0,
		},
		{
			"gone", []installations.Repository{two},
			installations.Repository{Name: "handbook", DefaultBranch: "main", WantedGen: 1, DoneGen: 1}, true, 0, 0,
		},
		{
			"all gone", nil,
			installations.Repository{Name: "handbook", DefaultBranch: "main", WantedGen: 1, DoneGen: 1}, true, 0, 0,
		},
		{
			"renamed", []installations.Repository{two, changed(one, func(r *installations.Repository) { r.Name, r.FullName = "manual", "Acme/manual" })},
			installations.Repository{Name: "manual", DefaultBranch: "main", Active: true, WantedGen: 1, DoneGen: 1}, true, 0, 1,
		},
		{
			"other branch", []installations.Repository{two, changed(one, func(r *installations.Repository) { r.DefaultBranch = "trunk" })},
			installations.Repository{Name: "handbook", DefaultBranch: "trunk", Active: true, WantedGen: 2, DoneGen: 1}, true, 1, 0,
		},
		{
			"other owner", []installations.Repository{two, changed(one, func(r *installations.Repository) { r.FullName = "Acme-Inc/handbook" })},
			installations.Repository{Name: "handbook", DefaultBranch: "main", Active: true, WantedGen: 1, DoneGen: 1}, true, 0, 0,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.acme(t, one, two)
			w.finish(t, 1)
			w.finish(t, 2)
			w.clearJobs(t)
			before := w.only(t).Epoch
			must(t, w.Sync(t.Context(), 7, c.list))
			if rose := w.only(t).Epoch > before; rose != c.rises {
				t.Errorf("the epoch rose: %v", rose)
			}
			compared := cmp.FilterPath(func(p cmp.Path) bool {
				switch p.Last().String() {
				case ".Name", ".DefaultBranch", ".Active", ".WantedGen", ".DoneGen":
					return false
				}
				return len(p) > 1
			}, cmp.Ignore())
			if diff := cmp.Diff(c.want, w.stored(t, 1), compared); diff != "" {
				t.Errorf("repository 1 (-want +got):\n%s", diff)
			}
			if n := w.waiting(t, installations.KindIndex); n != c.index {
				t.Errorf("%d index jobs, want %d", n, c.index)
			}
			if n := w.waiting(t, installations.KindCatalogue); n != c.catalogues {
				t.Errorf("%d catalogue jobs, want %d", n, c.catalogues)
			}
			// A second sync with the same list finds nothing to do.
			before = w.only(t).Epoch
			must(t, w.Sync(t.Context(), 7, c.list))
			if after := w.only(t).Epoch; after != before {
				t.Errorf("the second sync raised the epoch from %d to %d", before, after)
			}
		})
	}
}

func TestARepositoryThatComesBackStartsAfresh(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.acme(t, repo(1, "handbook"))
	w.finish(t, 1)
	must(t, w.Sync(t.Context(), 7, nil))
	w.clearJobs(t)
	must(t, w.Sync(t.Context(), 7, []installations.Repository{repo(1, "handbook")}))
	r := w.stored(t, 1)
	if !r.Active || r.WantedGen != 2 || r.DoneGen != 1 || r.Complete || r.IndexedHead != "" || r.VaultRev != "" || string(r.Findings) != "[]" {
		t.Errorf("%+v", r)
	}
	if n := w.waiting(t, installations.KindIndex); n != 1 {
		t.Errorf("%d index jobs, want 1", n)
	}
}

func TestARepositoryThatMovesToAnotherInstallation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.acme(t, repo(1, "handbook"), repo(2, "projects"))
	w.finish(t, 1)
	must(t, w.SaveReaderSet(ctx, 7, []byte("both"), []int64{1, 2}))
	must(t, w.Register(ctx, 8, "Other"))
	_, err := w.Enable(ctx, "8", "other")
	must(t, err)
	work, err := w.Claim(ctx, 1)
	must(t, err)
	w.clearJobs(t)
	epoch := w.only7(t).Epoch

	must(t, w.Sync(ctx, 8, []installations.Repository{repo(1, "handbook")}))
	if after := w.only7(t); after.Epoch <= epoch || len(after.Repositories) != 1 {
		t.Errorf("the old installation: %+v", after)
	}
	if sets, err := w.ReaderSets(ctx, 7); err != nil || len(sets) != 0 {
		t.Errorf("stored sets of the old installation: %+v, %v", sets, err)
	}
	moved, err := w.Repositories(ctx, 8)
	must(t, err)
	want := []installations.Repository{{
		ID: 1, Installation: 8, NodeID: "R_1", Name: "handbook", FullName: "Acme/handbook", DefaultBranch: "main",
		Active: true, WantedGen: 2, DoneGen: 1, Done: 4, Total: 4,
	}}
	if diff := cmp.Diff(want, moved, cmpopts.IgnoreFields(installations.Repository{}, "Findings")); diff != "" {
		t.Errorf("the moved repository (-want +got):\n%s", diff)
	}
	// The other side is asked again, in case its list is the newer one.
	if n := w.waiting(t, installations.KindSync); n != 1 {
		t.Errorf("%d sync jobs, want one of the old installation", n)
	}
	// A run that began under the old installation worked on another index.
	again, err := w.Complete(ctx, ended{}, work, installations.Result{Head: "stale", Complete: true})
	must(t, err)
	if !again {
		t.Error("the run under the old installation ends the work of the new one")
	}
	if moved, err = w.Repositories(ctx, 8); err != nil || moved[0].IndexedHead != "" || moved[0].DoneGen != 1 {
		t.Errorf("the run under the old installation is recorded: %+v, %v", moved, err)
	}
}

// only7 gives installation 7.
func (w world) only7(t *testing.T) installations.Installation {
	t.Helper()
	list, err := w.State(t.Context())
	must(t, err)
	for _, i := range list {
		if i.ID == 7 {
			return i
		}
	}
	t.Fatal("installation 7 is not enabled")
	return installations.Installation{}
}

func TestSyncRefusesWhatCannotBe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.acme(t)
	bad := func(change func(*installations.Repository)) []installations.Repository {
		r := repo(1, "handbook")
		change(&r)
		return []installations.Repository{r}
	}
	for name, list := range map[string][]installations.Repository{
		"no id":       bad(func(r *installations.Repository) { r.ID = 0 }),
		"no name":     bad(func(r *installations.Repository) { r.Name = "" }),
		"NUL":         bad(func(r *installations.Repository) { r.DefaultBranch = "a\x00b" }),
		"invalid":     bad(func(r *installations.Repository) { r.FullName = "a\xffb" }),
		"too long":    bad(func(r *installations.Repository) { r.Name = strings.Repeat("x", 1001) }),
		"too many":    make([]installations.Repository, 100_001),
		"one of many": append([]installations.Repository{repo(2, "fine")}, bad(func(r *installations.Repository) { r.Name = "" })...),
	} {
		if err := w.Sync(t.Context(), 7, list); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if got := w.only(t).Repositories; len(got) != 0 {
		t.Errorf("repositories %+v", got)
	}
	if err := w.Sync(t.Context(), 99, nil); !errors.Is(err, installations.ErrGone) {
		t.Errorf("unknown installation: %v", err)
	}
}

func TestSyncOfManyRepositories(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	list := make([]installations.Repository, 300)
	for n := range list {
		list[n] = repo(int64(n+1), "r"+strings.Repeat("x", n%7))
	}
	w.acme(t, list...)
	if n := len(w.only(t).Repositories); n != len(list) {
		t.Errorf("%d repositories, want %d", n, len(list))
	}
	if n := w.waiting(t, installations.KindIndex); n != len(list) {
		t.Errorf("%d index jobs, want %d", n, len(list))
	}
}

// TestSyncWhileNotServed keeps the list right and asks for no work.
func TestSyncWhileNotServed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must(t, w.Register(t.Context(), 7, "Acme"))
	must(t, w.Sync(t.Context(), 7, []installations.Repository{repo(1, "handbook")}))
	if r := w.stored(t, 1); !r.Active {
		t.Errorf("%+v", r)
	}
	if n := w.waiting(t, installations.KindIndex); n != 0 {
		t.Errorf("%d index jobs", n)
	}
}
