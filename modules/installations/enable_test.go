package installations_test

import (
	"strings"
	"testing"

	"vault/modules/installations"
	"vault/platform/fault"
)

func TestEnableTakesAnIDOrAnAccountInAnyCase(t *testing.T) {
	t.Parallel()
	for _, who := range []string{"7", "Acme", "ACME"} {
		w := newWorld(t)
		must(t, w.Register(t.Context(), 7, "Acme"))
		got, err := w.Enable(t.Context(), who, "acme")
		must(t, err)
		if got.ID != 7 || got.Account != "Acme" || got.Name != "acme" || got.State != installations.StateEnabled || got.Epoch != 2 {
			t.Errorf("%s: %+v", who, got)
		}
		if n := w.waiting(t, installations.KindSync); n != 1 {
			t.Errorf("%s: %d sync jobs, want 1", who, n)
		}
	}
}

func TestEnablePrefersAnIDToALoginOfDigits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must(t, w.Register(t.Context(), 7, "8"))
	must(t, w.Register(t.Context(), 8, "Acme"))
	got, err := w.Enable(t.Context(), "8", "acme")
	must(t, err)
	if got.ID != 8 {
		t.Errorf("installation %d, want 8", got.ID)
	}
	got, err = w.Enable(t.Context(), "7", "digits")
	must(t, err)
	if got.ID != 7 {
		t.Errorf("installation %d, want 7", got.ID)
	}
}

func TestEnableRefusesWithASentence(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.acme(t)
	must(t, w.Register(ctx, 8, "Other"))
	must(t, w.Register(ctx, 9, "Past"))
	w.deliver(t, installations.Delivery{Event: "installation", Action: "deleted", Installation: 9})
	for _, c := range []struct {
		who, name string
		kind      fault.Kind
		says      string
	}{
		{"nobody", "nobody", fault.KindNotFound, `there is no installation "nobody"`},
		{"8", "", fault.KindInvalid, "has no name yet"},
		{"8", "acme", fault.KindConflict, `the name "acme" is in use`},
		{"9", "past", fault.KindConflict, "was removed at GitHub"},
		{"8", "webhook", fault.KindInvalid, `the name "webhook"`},
		{"8", "Other", fault.KindInvalid, `"Other" cannot be a name`},
		{"8", "-other", fault.KindInvalid, "cannot be a name"},
		{"8", "other-", fault.KindInvalid, "cannot be a name"},
		{"8", "o/ther", fault.KindInvalid, "cannot be a name"},
		{"8", "other\n", fault.KindInvalid, "cannot be a name"},
		{"8", strings.Repeat("a", 41), fault.KindInvalid, "cannot be a name"},
		{"8", "Well-Known", fault.KindInvalid, "cannot be a name"},
		{"8", ".well-known", fault.KindInvalid, "uses itself"},
		{"8", "ADMIN", fault.KindInvalid, "uses itself"},
	} {
		_, err := w.Enable(ctx, c.who, c.name)
		f, ok := fault.As(err)
		if !ok || f.Kind != c.kind || !strings.Contains(f.Msg, c.says) || len(f.Fixes) == 0 {
			t.Errorf("enable %q as %q: %v, want %s with %q and a fix", c.who, c.name, err, c.kind, c.says)
		}
	}
	for _, name := range []string{"a", "0", "a-b", strings.Repeat("a", 40)} {
		if _, err := w.Enable(ctx, "8", name); err != nil {
			t.Errorf("enable as %q: %v", name, err)
		}
	}
	if got := w.only7And8(t); got != "acme,"+strings.Repeat("a", 40) {
		t.Errorf("names %s", got)
	}
}

// only7And8 gives the names of installations 7 and 8.
func (w world) only7And8(t *testing.T) string {
	t.Helper()
	list, err := w.List(t.Context())
	must(t, err)
	var names []string
	for _, m := range list {
		if m.ID == 7 || m.ID == 8 {
			names = append(names, m.Name)
		}
	}
	return strings.Join(names, ",")
}

func TestDisableAndEnableAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.acme(t, repo(1, "handbook"))
	before := w.only(t).Epoch
	must(t, w.Disable(ctx, "Acme"))
	must(t, w.Disable(ctx, "Acme"))
	if list, err := w.State(ctx); err != nil || len(list) != 0 {
		t.Fatalf("state %+v, %v", list, err)
	}
	w.clearJobs(t)
	// What is pushed meanwhile waits for the installation to come back.
	w.deliver(t, installations.Delivery{Event: "push", Installation: 7, Repository: 1})
	must(t, w.RequestSync(ctx, 7))
	if n := w.waiting(t, installations.KindIndex) + w.waiting(t, installations.KindSync); n != 0 {
		t.Errorf("%d jobs for a disabled installation", n)
	}
	must(t, w.Register(ctx, 8, "Other"))
	if _, err := w.Enable(ctx, "8", "acme"); fault.KindOf(err) != fault.KindConflict {
		t.Errorf("a disabled installation's name is given away: %v", err)
	}
	if _, err := w.Enable(ctx, "Acme", ""); err != nil {
		t.Fatal(err)
	}
	must(t, w.Sync(ctx, 7, []installations.Repository{repo(1, "handbook")}))
	if n := w.waiting(t, installations.KindIndex); n != 1 {
		t.Errorf("%d index jobs after it came back, want 1", n)
	}
	if got := w.only(t); got.Epoch != before+2 || got.Repositories[0].WantedGen != 2 {
		t.Errorf("epoch %d, want %d; %+v", got.Epoch, before+2, got.Repositories)
	}
	if err := w.Disable(ctx, "nobody"); fault.KindOf(err) != fault.KindNotFound {
		t.Errorf("disable nobody: %v", err)
	}
}

func TestRegisterKeepsTheState(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.acme(t)
	must(t, w.Register(t.Context(), 7, "Acme-Inc"))
	if got := w.only(t); got.Account != "Acme-Inc" || got.Name != "acme" {
		t.Errorf("%+v", got)
	}
}

func TestListCountsWhatIsDone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.acme(t, repo(1, "handbook"), repo(2, "projects"), repo(3, "old"))
	must(t, w.Sync(t.Context(), 7, []installations.Repository{repo(1, "handbook"), repo(2, "projects")}))
	work, err := w.Claim(t.Context(), 1)
	must(t, err)
	_, err = w.Complete(t.Context(), ended{}, work, installations.Result{Head: "a", Complete: true, Done: 15, Total: 15})
	must(t, err)
	work, err = w.Claim(t.Context(), 2)
	must(t, err)
	must(t, w.Progress(t.Context(), work, 10, 40))
	list, err := w.List(t.Context())
	must(t, err)
	m := list[0]
	if m.Repositories != 2 || m.Complete != 1 || m.Done != 25 || m.Total != 55 || m.State != installations.StateEnabled {
		t.Errorf("summary %+v", m)
	}
	must(t, w.Push(t.Context(), 7, 1))
	if list, err = w.List(t.Context()); err != nil || list[0].Complete != 0 {
		t.Errorf("after a push %d are complete, %v", list[0].Complete, err)
	}
}
