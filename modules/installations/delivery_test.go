package installations_test

import (
	"context"
	"strings"
	"testing"

	"vault/modules/installations"
	"vault/platform/fault"
)

func TestADeliveryCountsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.acme(t, repo(1, "handbook"))
	d := installations.Delivery{GUID: "one", Event: "push", Installation: 7, Repository: 1}
	for n, want := range []bool{true, false, false} {
		fresh, err := w.RecordDelivery(t.Context(), d)
		must(t, err)
		if fresh != want {
			t.Errorf("delivery %d: fresh is %v", n, fresh)
		}
	}
	if r := w.stored(t, 1); r.WantedGen != 2 {
		t.Errorf("the wanted generation is %d, want 2", r.WantedGen)
	}
}

// TestADeliveryThatFailedCountsWhenRepeated has the queue's table missing the
// first time.
func TestADeliveryThatFailedCountsWhenRepeated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.acme(t, repo(1, "handbook"))
	w.clearJobs(t)
	_, err := w.db.Exec(t.Context(), `ALTER TABLE river.river_job RENAME TO elsewhere`)
	must(t, err)
	d := installations.Delivery{GUID: "one", Event: "push", Installation: 7, Repository: 1}
	if fresh, err := w.RecordDelivery(t.Context(), d); err == nil || fresh {
		t.Fatalf("fresh %v, error %v without a queue", fresh, err)
	}
	if r := w.stored(t, 1); r.WantedGen != 1 {
		t.Errorf("half a delivery was recorded: %+v", r)
	}
	_, err = w.db.Exec(t.Context(), `ALTER TABLE river.elsewhere RENAME TO river_job`)
	must(t, err)
	if fresh, err := w.RecordDelivery(t.Context(), d); err != nil || !fresh {
		t.Fatalf("fresh %v, error %v", fresh, err)
	}
	if n := w.waiting(t, installations.KindIndex); n != 1 {
		t.Errorf("%d jobs, want 1", n)
	}
}

func TestWhatEventsDo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		d            installations.Delivery
		epoch        int64 // how far it rises
		wanted       int64 // how far repository 1's wanted generation rises
		index, syncs int
	}{
		{"push", installations.Delivery{Event: "push", Installation: 7, Repository: 1}, 0, 1, 1, 0},
		{"push to the default branch", installations.Delivery{Event: "push", Installation: 7, Repository: 1, Branch: "main"}, 0, 1, 1, 0},
		{"push to another branch", installations.Delivery{Event: "push", Installation: 7, Repository: 1, Branch: "draft"}, 0, 0, 0, 0},
		{"push of an unknown repository", installations.Delivery{Event: "push", Installation: 7, Repository: 99}, 0, 0, 0, 1},
		{"push of one that left", installations.Delivery{Event: "push", Installation: 7, Repository: 2}, 0, 0, 0, 1},
		{"push of another's repository", installations.Delivery{Event: "push", Installation: 8, Repository: 1}, 0, 0, 0, 0},
		{"ping", installations.Delivery{Event: "ping"}, 0, 0, 0, 0},
		{"repositories added", installations.Delivery{Event: "installation_repositories", Action: "added", Installation: 7}, 1, 0, 0, 1},
		{"new permissions", installations.Delivery{Event: "installation", Action: "new_permissions_accepted", Installation: 7}, 1, 0, 0, 1},
		{"unsuspended", installations.Delivery{Event: "installation", Action: "unsuspend", Installation: 7}, 1, 0, 0, 1},
		{"privatized", installations.Delivery{Event: "repository", Action: "privatized", Installation: 7, Repository: 1}, 1, 0, 0, 1},
		{"publicized", installations.Delivery{Event: "repository", Action: "publicized", Installation: 7, Repository: 1}, 1, 0, 0, 1},
		{"renamed", installations.Delivery{Event: "repository", Action: "renamed", Installation: 7, Repository: 1}, 1, 0, 0, 1},
		{"member", installations.Delivery{Event: "member", Action: "removed", Installation: 7, Repository: 1}, 1, 0, 0, 0},
		{"team", installations.Delivery{Event: "team", Action: "removed_from_repository", Installation: 7}, 1, 0, 0, 0},
		{"revoked", installations.Delivery{Event: "github_app_authorization", Action: "revoked"}, 1, 0, 0, 0},
		{"member of another", installations.Delivery{Event: "member", Action: "removed", Installation: 8}, 0, 0, 0, 0},
		{"unknown installation", installations.Delivery{Event: "installation_repositories", Action: "added", Installation: 99}, 0, 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			must(t, w.Register(t.Context(), 8, "Other"))
			w.acme(t, repo(1, "handbook"), repo(2, "left"))
			must(t, w.Sync(t.Context(), 7, []installations.Repository{repo(1, "handbook")}))
			w.clearJobs(t)
			before := w.only(t)
			w.deliver(t, c.d)
			after := w.only(t)
			if got := after.Epoch - before.Epoch; got != c.epoch {
				t.Errorf("the epoch rose by %d, want %d", got, c.epoch)
			}
			if got := after.Repositories[0].WantedGen - before.Repositories[0].WantedGen; got != c.wanted {
				t.Errorf("the wanted generation rose by %d, want %d", got, c.wanted)
			}
			if got := w.waiting(t, installations.KindIndex); got != c.index {
				t.Errorf("%d index jobs, want %d", got, c.index)
			}
			if got := w.waiting(t, installations.KindSync); got != c.syncs {
				t.Errorf("%d sync jobs, want %d", got, c.syncs)
			}
		})
	}
}

func TestAnInstallationComesAndGoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	event := func(action string) {
		w.deliver(t, installations.Delivery{Event: "installation", Action: action, Installation: 7, Account: "Acme"})
	}
	state := func() string {
		list, err := w.List(ctx)
		must(t, err)
		return list[0].State
	}
	event("created")
	if got := state(); got != installations.StatePending {
		t.Errorf("created: %s", got)
	}
	if n := w.waiting(t, installations.KindSync); n != 0 {
		t.Errorf("%d sync jobs before it is enabled", n)
	}
	_, err := w.Enable(ctx, "acme", "acme")
	must(t, err)
	must(t, w.Sync(ctx, 7, []installations.Repository{repo(1, "handbook")}))
	must(t, w.SaveReaderSet(ctx, 7, []byte("set"), []int64{1}))
	event("suspend")
	if got := state(); got != installations.StateSuspended {
		t.Errorf("suspended: %s", got)
	}
	if list, err := w.State(ctx); err != nil || len(list) != 0 {
		t.Errorf("a suspended installation is served: %+v, %v", list, err)
	}
	event("unsuspend")
	if got := state(); got != installations.StateEnabled {
		t.Errorf("unsuspended: %s", got)
	}
	event("deleted")
	if got := state(); got != installations.StateDeleted {
		t.Errorf("deleted: %s", got)
	}
	if r := w.stored(t, 1); r.Active {
		t.Error("a repository outlives its installation")
	}
	if sets, err := w.ReaderSets(ctx, 7); err != nil || len(sets) != 0 {
		t.Errorf("stored sets outlive the installation: %v, %v", sets, err)
	}
	if err := w.Sync(ctx, 7, []installations.Repository{repo(1, "handbook")}); err == nil {
		t.Error("a sync revives what was removed")
	}
	must(t, w.Register(ctx, 8, "Acme"))
	i, err := w.Enable(ctx, "acme", "acme")
	must(t, err)
	if i.ID != 8 {
		t.Errorf("installation %d got the name, want the new one", i.ID)
	}
}

func TestASuspendedInstallationThatIsPendingStaysPending(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must(t, w.Register(t.Context(), 7, "Acme"))
	w.deliver(t, installations.Delivery{Event: "installation", Action: "suspend", Installation: 7})
	w.deliver(t, installations.Delivery{Event: "installation", Action: "unsuspend", Installation: 7})
	list, err := w.List(t.Context())
	must(t, err)
	if list[0].State != installations.StatePending {
		t.Errorf("state %s", list[0].State)
	}
}

func TestWhatAnEventTakesAwayIsGoneAtOnce(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]installations.Delivery{
		"removed": {Event: "installation_repositories", Action: "removed", Installation: 7, Gone: []int64{2, 99}},
		"deleted": {Event: "repository", Action: "deleted", Installation: 7, Repository: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.acme(t, repo(1, "handbook"), repo(2, "projects"))
			for hash, ids := range map[string][]int64{"one": {1}, "both": {1, 2}, "two": {2}} {
				must(t, w.SaveReaderSet(t.Context(), 7, []byte(hash), ids))
				must(t, w.StoreView(t.Context(), 7, []byte(hash), "c", "r", []byte("body")))
			}
			w.deliver(t, d)
			if got := w.only(t).Repositories; len(got) != 1 || got[0].ID != 1 {
				t.Errorf("repositories %+v", got)
			}
			sets, err := w.ReaderSets(t.Context(), 7)
			must(t, err)
			if len(sets) != 1 || string(sets[0].Hash) != "one" {
				t.Errorf("sets %+v", sets)
			}
			if _, ok, err := w.View(t.Context(), 7, []byte("both"), "c", "r"); ok || err != nil {
				t.Errorf("a stored answer about it is left: %v", err)
			}
		})
	}
}

func TestAnEventOfOneInstallationTakesNothingFromAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.acme(t, repo(1, "handbook"))
	must(t, w.Register(t.Context(), 8, "Other"))
	w.deliver(t, installations.Delivery{Event: "installation_repositories", Action: "removed", Installation: 8, Gone: []int64{1}})
	w.deliver(t, installations.Delivery{Event: "repository", Action: "deleted", Installation: 8, Repository: 1})
	w.deliver(t, installations.Delivery{Event: "installation", Action: "deleted", Installation: 8})
	if got := w.only(t).Repositories; len(got) != 1 {
		t.Errorf("repositories %+v", got)
	}
}

func TestADeliveryIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	long := strings.Repeat("x", 301)
	for _, d := range []installations.Delivery{
		{Event: "push"},
		{GUID: "g"},
		{GUID: long, Event: "push"},
		{GUID: "g", Event: long},
		{GUID: "g", Event: "push", Action: long},
		{GUID: "g", Event: "push", Account: long},
		{GUID: "g", Event: "push", Branch: long},
		{GUID: "g\x00", Event: "push"},
		{GUID: "g", Event: "push\xff"},
		{GUID: "g", Event: "push", Gone: make([]int64, 100_001)},
	} {
		if _, err := w.RecordDelivery(t.Context(), d); fault.KindOf(err) != fault.KindInvalid {
			t.Errorf("%.40q %.40q: %v", d.GUID, d.Event, err)
		}
	}
}

func TestOldDeliveriesAndSetsAreForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.acme(t, repo(1, "handbook"))
	for _, guid := range []string{"old", "new"} {
		_, err := w.RecordDelivery(ctx, installations.Delivery{GUID: guid, Event: "ping"})
		must(t, err)
		must(t, w.SaveReaderSet(ctx, 7, []byte(guid), []int64{1}))
	}
	exec := func(sql string) {
		_, err := w.db.Exec(ctx, sql)
		must(t, err)
	}
	exec(`UPDATE delivery SET received_at = now() - interval '9 days' WHERE guid = 'old'`)
	exec(`UPDATE reader_set SET last_seen = now() - interval '31 days' WHERE hash = 'old'`)
	must(t, w.Sync(ctx, 7, []installations.Repository{repo(1, "handbook")}))
	count := func(sql string) (n int) {
		must(t, w.db.QueryRow(ctx, sql).Scan(&n))
		return n
	}
	if n := count(`SELECT count(*) FROM delivery`); n != 1 {
		t.Errorf("%d deliveries are kept, want 1", n)
	}
	if n := count(`SELECT count(*) FROM reader_set`); n != 1 {
		t.Errorf("%d sets are kept, want 1", n)
	}
}

// TestEventsAndRunsDoNotWaitForEachOther mixes everything that takes locks.
func TestEventsAndRunsDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must(t, w.Register(t.Context(), 8, "Other"))
	_, err := w.Enable(t.Context(), "8", "other")
	must(t, err)
	w.acme(t, repo(1, "handbook"), repo(2, "projects"))
	ways := []func(context.Context, int) error{
		func(ctx context.Context, _ int) error { return w.Push(ctx, 7, 1) },
		func(ctx context.Context, _ int) error { return w.Push(ctx, 7, 2) },
		func(ctx context.Context, n int) error {
			branch := repo(1, "handbook")
			branch.DefaultBranch = []string{"main", "trunk"}[n%2]
			return w.Sync(ctx, 7, []installations.Repository{branch, repo(2, "projects")})
		},
		func(ctx context.Context, n int) error {
			return w.Sync(ctx, 8, []installations.Repository{repo(2, "projects"), repo(3, "third")}[n%2:])
		},
		func(ctx context.Context, n int) error {
			work, err := w.Claim(ctx, 1)
			if err != nil {
				return err
			}
			_, err = w.Complete(ctx, ended{}, work, installations.Result{Head: "h", VaultRev: string(rune('a' + n%26)), Complete: true})
			return err
		},
	}
	errs := make(chan error, len(ways)+1)
	for _, way := range ways {
		go func() {
			for n := range 30 {
				if err := way(t.Context(), n); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	go func() {
		for range 30 {
			w.deliver(t, installations.Delivery{Event: "github_app_authorization", Action: "revoked"})
		}
		errs <- nil
	}()
	for range len(ways) + 1 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}
