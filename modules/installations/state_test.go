package installations_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault/modules/installations"
)

func TestStateShowsEnabledInstallationsWithTheirActiveRepositories(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	must(t, w.Register(ctx, 9, "Other"))
	w.acme(t, repo(2, "projects"), repo(1, "handbook"))
	must(t, w.Sync(ctx, 7, []installations.Repository{repo(1, "handbook"), repo(3, "archive")}))

	got := w.only(t)
	one, three := repo(1, "handbook"), repo(3, "archive")
	for _, r := range []*installations.Repository{&one, &three} {
		r.Installation, r.Active, r.WantedGen = 7, true, 1
	}
	want := installations.Installation{
		ID: 7, Account: "Acme", State: installations.StateEnabled, Name: "acme", Epoch: 4,
		Repositories: []installations.Repository{three, one},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
}
