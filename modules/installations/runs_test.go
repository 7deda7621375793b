package installations_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vault/modules/installations"
	"vault/platform/jobs"
	"vault/platform/postgres"
)

// indexer works on repositories as the product does, with the head of each
// kept in memory in place of GitHub's. Hooks run at the steps of its runs.
type indexer struct {
	world
	head atomic.Int64
	runs atomic.Int64
	// at is called at each step of each run, with the run's number from 1.
	at func(step string, run int64)
}

// The steps of a run, in their order.
var steps = []string{
	"before claim", "after claim", "before reading the head", "after reading the head", "during the work",
	"before complete", "in complete, before the job ends", "in complete, after the job ended", "after complete",
}

func (x *indexer) step(name string, run int64) {
	if x.at != nil {
		x.at(name, run)
	}
}

// handle is one run.
func (x *indexer) handle(ctx context.Context, run *jobs.Run) error {
	n := x.runs.Add(1)
	var args installations.IndexArgs
	if err := json.Unmarshal(run.Args, &args); err != nil {
		return jobs.Cancel(err)
	}
	x.step("before claim", n)
	work, err := x.Claim(ctx, args.Repository)
	if errors.Is(err, installations.ErrGone) {
		x.step("gone", n)
		return nil
	}
	if err != nil {
		return err
	}
	x.step("after claim", n)
	x.step("before reading the head", n)
	head := x.head.Load()
	x.step("after reading the head", n)
	if err := x.Progress(ctx, work, 1, 2); err != nil {
		return err
	}
	x.step("during the work", n)
	x.step("before complete", n)
	again, err := x.Complete(ctx, hooked{run: run, x: x, n: n}, work, installations.Result{
		Head: strconv.FormatInt(head, 10), VaultRev: "rev", Complete: true, Done: 2, Total: 2,
	})
	if err != nil {
		return err
	}
	x.step("after complete", n)
	if again {
		return jobs.Again(0)
	}
	return nil
}

// hooked is a run with a step on either side of its end.
type hooked struct {
	run installations.Completer
	x   *indexer
	n   int64
}

func (h hooked) CompleteTx(ctx context.Context, tx postgres.Tx) error {
	h.x.step("in complete, before the job ends", h.n)
	if err := h.run.CompleteTx(ctx, tx); err != nil {
		return err
	}
	h.x.step("in complete, after the job ended", h.n)
	return nil
}

// push moves the head and delivers that.
func (x *indexer) push(t *testing.T) {
	x.head.Add(1)
	x.deliver(t, installations.Delivery{Event: "push", Installation: 7, Repository: 1})
}

// settled waits until no job is left and gives the repository.
func (x *indexer) settled(t *testing.T) installations.Repository {
	t.Helper()
	await(t, "no job is left", func() bool { return x.waiting(t, installations.KindIndex) == 0 })
	return x.stored(t, 1)
}

// caughtUp holds a repository to what must be true once no job is left.
func (x *indexer) caughtUp(t *testing.T) installations.Repository {
	t.Helper()
	r := x.settled(t)
	if r.DoneGen != r.WantedGen {
		t.Errorf("generation %d is done, %d is wanted", r.DoneGen, r.WantedGen)
	}
	if want := strconv.FormatInt(x.head.Load(), 10); r.IndexedHead != want {
		t.Errorf("head %s was worked on last, want %s", r.IndexedHead, want)
	}
	if !r.Complete || r.Error != "" {
		t.Errorf("complete is %v, error %q", r.Complete, r.Error)
	}
	return r
}

func TestAPushAtAnyStepOfARunIsWorkedOff(t *testing.T) {
	t.Parallel()
	for _, step := range steps {
		for _, pushes := range []int{1, 3} {
			t.Run(fmt.Sprintf("%d %s", pushes, step), func(t *testing.T) {
				t.Parallel()
				x := &indexer{world: newWorld(t)}
				var pushed sync.WaitGroup
				injected := atomic.Bool{}
				x.at = func(at string, run int64) {
					if at != step || run != 1 {
						return
					}
					defer injected.Store(true)
					if held(step) {
						// The run holds the repository: a push has to wait for it.
						x.head.Add(1)
						pushed.Go(func() { x.deliver(t, installations.Delivery{Event: "push", Installation: 7, Repository: 1}) })
						x.awaitWaiter(t)
						return
					}
					for range pushes {
						x.push(t)
					}
				}
				x.acme(t, repo(1, "handbook"))
				x.work(t, map[string]jobs.Handler{installations.KindIndex: x.handle})
				await(t, "the push is made", injected.Load)
				pushed.Wait()
				r := x.caughtUp(t)
				if r.WantedGen < 2 {
					t.Errorf("the wanted generation is %d: no push was noted", r.WantedGen)
				}
				// Pushes during a run are one more run together; after it each may be its own.
				most := int64(2)
				if step == "after complete" {
					most = int64(1 + pushes)
				}
				if runs := x.runs.Load(); runs > most {
					t.Errorf("%d runs, want at most %d", runs, most)
				}
			})
		}
	}
}

// held tells whether a run holds the repository's row at a step.
func held(step string) bool {
	return step == "in complete, before the job ends" || step == "in complete, after the job ended"
}

// awaitWaiter waits until some session waits for a lock of another.
func (w world) awaitWaiter(t *testing.T) {
	await(t, "a session waits for a lock", func() bool {
		var n int
		err := w.db.QueryRow(t.Context(), `
SELECT count(*)
FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&n)
		return err == nil && n > 0
	})
}

func TestPushesFromAllSidesAreWorkedOff(t *testing.T) {
	t.Parallel()
	x := &indexer{world: newWorld(t)}
	x.acme(t, repo(1, "handbook"))
	for range 2 {
		x.work(t, map[string]jobs.Handler{installations.KindIndex: x.handle})
	}
	const sides, each = 4, 25
	var pushing sync.WaitGroup
	for range sides {
		pushing.Go(func() {
			for range each {
				x.push(t)
			}
		})
	}
	pushing.Wait()
	if r := x.caughtUp(t); r.WantedGen != 1+sides*each {
		t.Errorf("the wanted generation is %d after %d pushes", r.WantedGen, sides*each)
	}
	if runs := x.runs.Load(); runs > 1+sides*each {
		t.Errorf("%d runs for %d pushes", runs, sides*each)
	}
}

func TestAnInsertDuringARunMakesNoSecondJob(t *testing.T) {
	t.Parallel()
	x := &indexer{world: newWorld(t)}
	x.at = func(step string, run int64) {
		if step != "during the work" || run != 1 {
			return
		}
		for range 5 {
			x.push(t)
		}
		if n := x.waiting(t, installations.KindIndex); n != 1 {
			t.Errorf("%d jobs during the run, want the running one", n)
		}
	}
	x.acme(t, repo(1, "handbook"))
	x.work(t, map[string]jobs.Handler{installations.KindIndex: x.handle})
	await(t, "a run", func() bool { return x.runs.Load() > 0 })
	x.caughtUp(t)
	if runs := x.runs.Load(); runs != 2 {
		t.Errorf("%d runs, want one and one for all five pushes", runs)
	}
}

// TestTwoRunsAtOnceDoNoHarm has a run outlive its time: its job is given to a
// second run, which sees a newer head and ends first.
func TestTwoRunsAtOnceDoNoHarm(t *testing.T) {
	t.Parallel()
	x := &indexer{world: newWorld(t)}
	second := make(chan struct{})
	ended := make(chan struct{})
	x.at = func(step string, run int64) {
		switch {
		case run == 1 && step == "after reading the head":
			x.push(t)
			x.rescue(t)
			<-second
		case run == 1 && step == "after complete":
			close(ended)
		case run == 2 && step == "after complete":
			close(second)
		}
	}
	x.acme(t, repo(1, "handbook"))
	x.work(t, map[string]jobs.Handler{installations.KindIndex: x.handle})
	arrive(t, "the first run ends", ended)
	r := x.caughtUp(t)
	if r.IndexedHead != "1" {
		t.Errorf("the slow run put head %s back", r.IndexedHead)
	}
}

// TestASlowRunOfTheSameGenerationDoesNoHarm is the same without a push between.
func TestASlowRunOfTheSameGenerationDoesNoHarm(t *testing.T) {
	t.Parallel()
	x := &indexer{world: newWorld(t)}
	second := make(chan struct{})
	ended := make(chan struct{})
	x.at = func(step string, run int64) {
		switch {
		case run == 1 && step == "before complete":
			x.rescue(t)
			<-second
		case run == 1 && step == "after complete":
			close(ended)
		case run == 2 && step == "during the work":
			close(second)
			<-ended
		}
	}
	x.acme(t, repo(1, "handbook"))
	x.work(t, map[string]jobs.Handler{installations.KindIndex: x.handle})
	arrive(t, "the first run ends", ended)
	await(t, "the second run", func() bool { return x.runs.Load() >= 2 })
	x.caughtUp(t)
	x.push(t)
	x.caughtUp(t)
}

// TestARunWhoseJobWasTakenRecordsItsResult has the queue give a job back that
// ran for too long, and the run end before another takes it.
func TestARunWhoseJobWasTakenRecordsItsResult(t *testing.T) {
	t.Parallel()
	x := &indexer{world: newWorld(t)}
	ended := make(chan struct{})
	x.at = func(step string, run int64) {
		if run != 1 {
			return
		}
		switch step {
		case "before complete":
			x.alter(t, `UPDATE river.river_job SET state = 'scheduled', scheduled_at = now() + interval '1 hour' WHERE state = 'running'`)
		case "after complete":
			close(ended)
		}
	}
	x.acme(t, repo(1, "handbook"))
	x.work(t, map[string]jobs.Handler{installations.KindIndex: x.handle})
	arrive(t, "the first run ends", ended)
	if r := x.stored(t, 1); r.DoneGen != 1 || !r.Complete {
		t.Errorf("the result is not recorded: %+v", r)
	}
	if n := x.waiting(t, installations.KindIndex); n != 1 {
		t.Errorf("%d jobs wait, want the one that was taken", n)
	}
	x.alter(t, `UPDATE river.river_job SET state = 'available', scheduled_at = now() WHERE state = 'scheduled'`)
	x.caughtUp(t)
	if runs := x.runs.Load(); runs != 2 {
		t.Errorf("%d runs, want 2", runs)
	}
}

// rescue does what the queue does with a job that ran for too long.
func (w world) rescue(t *testing.T) {
	w.alter(t, `UPDATE river.river_job SET state = 'available', scheduled_at = now() WHERE state = 'running'`)
}

// alter changes rows behind the product's back. Handlers call it too.
func (w world) alter(t *testing.T, sql string) {
	if _, err := w.db.Exec(t.Context(), sql); err != nil {
		t.Errorf("%s: %v", sql, err)
	}
}

func TestTheJobOfAKilledWorkerComesBack(t *testing.T) {
	t.Parallel()
	x := &indexer{world: newWorld(t)}
	x.acme(t, repo(1, "handbook"))
	// A process took the job and died; a push came meanwhile.
	_, err := x.db.Exec(t.Context(), `
UPDATE river.river_job
SET state = 'running', attempt = 1, attempted_at = now(), attempted_by = ARRAY['dead']
WHERE kind = $1`, installations.KindIndex)
	must(t, err)
	x.push(t)
	must(t, jobs.FreeLeftovers(t.Context(), x.db))
	x.work(t, map[string]jobs.Handler{installations.KindIndex: x.handle})
	x.caughtUp(t)
	if runs := x.runs.Load(); runs != 1 {
		t.Errorf("%d runs, want 1", runs)
	}
}

func TestAnEndThatIsRolledBackIsDoneAgain(t *testing.T) {
	t.Parallel()
	x := &indexer{world: newWorld(t)}
	lost := errors.New("the connection was lost")
	var seen installations.Repository
	handle := func(ctx context.Context, run *jobs.Run) error {
		if run.Attempt > 1 {
			return x.handle(ctx, run)
		}
		work, err := x.Claim(ctx, 1)
		if err != nil {
			return err
		}
		_, err = x.Complete(ctx, failing{run: run, err: lost}, work, installations.Result{Head: "wrong", Complete: true})
		if !errors.Is(err, lost) {
			t.Errorf("complete: %v, want %v", err, lost)
		}
		seen = x.stored(t, 1)
		if n := x.waiting(t, installations.KindIndex); n != 1 {
			t.Errorf("%d jobs after the rollback, want the running one", n)
		}
		return errors.Join(err, x.Fail(ctx, work, err.Error()))
	}
	x.acme(t, repo(1, "handbook"))
	x.work(t, map[string]jobs.Handler{installations.KindIndex: handle})
	await(t, "the failure is recorded", func() bool { return x.stored(t, 1).Error != "" })
	x.caughtUp(t)
	if seen.DoneGen != 0 || seen.IndexedHead != "" {
		t.Errorf("after the rollback generation %d is done at head %q", seen.DoneGen, seen.IndexedHead)
	}
}

// failing ends the job and then fails the transaction.
type failing struct {
	run installations.Completer
	err error
}

func (f failing) CompleteTx(ctx context.Context, tx postgres.Tx) error {
	if err := f.run.CompleteTx(ctx, tx); err != nil {
		return err
	}
	return f.err
}

func TestADeadJobIsListedUntilItIsDone(t *testing.T) {
	t.Parallel()
	x := &indexer{world: newWorld(t)}
	x.acme(t, repo(1, "handbook"), repo(2, "projects"))
	must(t, x.Register(t.Context(), 8, "Other"))
	_, err := x.db.Exec(t.Context(), `
UPDATE river.river_job
SET max_attempts = 1
WHERE args->>'key' = '1'`)
	must(t, err)
	var broken atomic.Bool
	broken.Store(true)
	handle := func(ctx context.Context, run *jobs.Run) error {
		if broken.Load() && run.Key == "1" {
			return errors.New("the disk is full")
		}
		return x.handle(ctx, run)
	}
	x.work(t, map[string]jobs.Handler{installations.KindIndex: handle})
	dead := func() []installations.Dead {
		list, err := x.List(t.Context())
		must(t, err)
		if len(list) != 2 || len(list[1].Dead) != 0 {
			t.Fatalf("list: %+v", list)
		}
		return list[0].Dead
	}
	await(t, "the job is dead", func() bool { return len(dead()) == 1 })
	got := dead()[0]
	if got.Kind != installations.KindIndex || got.Repository != "Acme/handbook" || got.Error != "the disk is full" {
		t.Errorf("dead: %+v", got)
	}
	if age := time.Since(got.At); age < -time.Minute || age > time.Minute {
		t.Errorf("it died %v ago", age)
	}
	broken.Store(false)
	x.push(t)
	x.caughtUp(t)
	if list := dead(); len(list) != 0 {
		t.Errorf("still dead after it was done: %+v", list)
	}
}

// TestASyncRevivesDeadWork has the work of a dead job asked for again.
func TestASyncRevivesDeadWork(t *testing.T) {
	t.Parallel()
	x := &indexer{world: newWorld(t)}
	x.acme(t, repo(1, "handbook"))
	x.clearJobs(t)
	epoch := x.only(t).Epoch
	must(t, x.Sync(t.Context(), 7, []installations.Repository{repo(1, "handbook")}))
	if n := x.waiting(t, installations.KindIndex); n != 1 {
		t.Fatalf("%d jobs after the sync, want 1", n)
	}
	if got := x.only(t).Epoch; got != epoch {
		t.Errorf("the epoch rose from %d to %d although nothing changed", epoch, got)
	}
	x.work(t, map[string]jobs.Handler{installations.KindIndex: x.handle})
	x.caughtUp(t)
}

// TestARunThatFindsNothingToDoMissesNothing has an installation come back after
// a run saw that it was suspended and before its job ended.
func TestARunThatFindsNothingToDoMissesNothing(t *testing.T) {
	t.Parallel()
	x := &indexer{world: newWorld(t)}
	x.at = func(step string, run int64) {
		if step != "gone" || run != 1 {
			return
		}
		x.deliver(t, installations.Delivery{Event: "installation", Action: "unsuspend", Installation: 7})
		if err := x.Sync(t.Context(), 7, []installations.Repository{repo(1, "handbook")}); err != nil {
			t.Errorf("sync: %v", err)
		}
		x.push(t)
	}
	x.acme(t, repo(1, "handbook"))
	x.deliver(t, installations.Delivery{Event: "installation", Action: "suspend", Installation: 7})
	x.work(t, map[string]jobs.Handler{installations.KindIndex: x.handle})
	await(t, "a run", func() bool { return x.runs.Load() > 0 })
	x.caughtUp(t)
}

func TestCompleteTellsOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.acme(t, repo(1, "handbook"))
	for _, c := range []struct {
		name       string
		result     installations.Result
		catalogues int
	}{
		{"first revision", installations.Result{Head: "a", VaultRev: "1", Complete: true}, 1},
		{"other head", installations.Result{Head: "b", VaultRev: "1", Complete: true}, 0},
		{"other revision", installations.Result{Head: "c", VaultRev: "2", Complete: true}, 1},
		{"no more .vault", installations.Result{Head: "d", Complete: true, Findings: []string{"a\x00b"}}, 1},
	} {
		w.clearJobs(t)
		must(t, w.Push(t.Context(), 7, 1))
		work, err := w.Claim(t.Context(), 1)
		must(t, err)
		again, err := w.Complete(t.Context(), ended{}, work, c.result)
		must(t, err)
		if again {
			t.Errorf("%s: again", c.name)
		}
		if n := w.waiting(t, installations.KindCatalogue); n != c.catalogues {
			t.Errorf("%s: %d catalogue jobs, want %d", c.name, n, c.catalogues)
		}
		if r := w.stored(t, 1); r.IndexedHead != c.result.Head || r.VaultRev != c.result.VaultRev || r.DoneGen != r.WantedGen {
			t.Errorf("%s: stored %+v", c.name, r)
		}
	}
	if got := string(w.stored(t, 1).Findings); got != `["a\u0000b"]` {
		t.Errorf("findings %s", got)
	}
}

// ended is a run whose job needs no end.
type ended struct{}

func (ended) CompleteTx(context.Context, postgres.Tx) error { return nil }

func TestClaimRefusesWhatIsNotServed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	claim := func(id int64) error {
		_, err := w.Claim(ctx, id)
		return err
	}
	w.acme(t, repo(1, "handbook"), repo(2, "projects"))
	must(t, claim(1))
	must(t, w.Sync(ctx, 7, []installations.Repository{repo(1, "handbook")}))
	for _, c := range []struct {
		name   string
		before func() error
		id     int64
	}{
		{"unknown", func() error { return nil }, 3},
		{"left", func() error { return nil }, 2},
		{"disabled", func() error { return w.Disable(ctx, "7") }, 1},
	} {
		must(t, c.before())
		if err := claim(c.id); !errors.Is(err, installations.ErrGone) {
			t.Errorf("%s: %v, want ErrGone", c.name, err)
		}
	}
	_, err := w.Enable(ctx, "7", "")
	must(t, err)
	must(t, claim(1))
}

func TestClaimGivesWhatARunNeeds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.acme(t, repo(1, "handbook"))
	must(t, w.Push(t.Context(), 7, 1))
	work, err := w.Claim(t.Context(), 1)
	must(t, err)
	if work.Gen != 2 || work.Installation.ID != 7 || work.Installation.Name != "acme" {
		t.Errorf("work %+v", work)
	}
	if r := work.Repository; r.FullName != "Acme/handbook" || r.Installation != 7 || r.DefaultBranch != "main" || !r.Active {
		t.Errorf("repository %+v", r)
	}
}

func TestAFailureIsKeptAsTextThatCanBeStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.acme(t, repo(1, "handbook"))
	work, err := w.Claim(t.Context(), 1)
	must(t, err)
	for text, want := range map[string]string{
		"plain":        "plain",
		"nul \x00 in":  "nul \uFFFD in",
		"bad \xff\xfe": "bad \uFFFD",
	} {
		must(t, w.Fail(t.Context(), work, text))
		if got := w.stored(t, 1).Error; got != want {
			t.Errorf("%q is kept as %q, want %q", text, got, want)
		}
	}
	list, err := w.List(t.Context())
	must(t, err)
	if list[0].Failing != 1 || list[0].Complete != 0 {
		t.Errorf("list: %+v", list[0])
	}
	must(t, w.Progress(t.Context(), work, 3, 10))
	if r := w.stored(t, 1); r.Error != "" || r.Done != 3 || r.Total != 10 {
		t.Errorf("after progress: %+v", r)
	}
}
