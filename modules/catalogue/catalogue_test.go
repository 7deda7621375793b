package catalogue_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"

	"vault/modules/catalogue"
	"vault/modules/installations"
	"vault/modules/vaultdir"
	"vault/platform/jobs"
	"vault/platform/mcp"
	"vault/platform/postgres"
	"vault/platform/postgres/pgtest"
	"vault/schema"
)

func TestKeys(t *testing.T) {
	t.Parallel()
	if catalogue.SetHash([]int64{3, 1, 2}) != catalogue.SetHash([]int64{1, 2, 3}) {
		t.Error("the order of the ids counts")
	}
	if catalogue.SetHash([]int64{1}) == catalogue.SetHash([]int64{1, 2}) {
		t.Error("two sets have one hash")
	}
	base := []catalogue.Repository{{ID: 1, Name: "a", Rev: "x"}, {ID: 2, Name: "b", Rev: "y"}}
	rev := catalogue.Rev(base)
	if catalogue.Rev([]catalogue.Repository{base[1], base[0]}) != rev {
		t.Error("the order of the repositories counts")
	}
	for name, other := range map[string][]catalogue.Repository{
		"renamed":        {{ID: 1, Name: "c", Rev: "x"}, base[1]},
		"settings moved": {{ID: 1, Name: "a", Rev: "z"}, base[1]},
		"one less":       {base[0]},
		"shifted text":   {{ID: 1, Name: "ax", Rev: ""}, base[1]},
	} {
		if catalogue.Rev(other) == rev {
			t.Errorf("%s: the same revision", name)
		}
	}
}

// records makes the real records, with an installation to hang sets on.
func records(t *testing.T) *installations.Service {
	t.Helper()
	ctx := t.Context()
	db, err := postgres.Open(postgres.Config{DSN: pgtest.Database(t, schema.Control), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	log := slog.New(slog.DiscardHandler)
	if err := jobs.Migrate(ctx, db, log); err != nil {
		t.Fatal(err)
	}
	queue, err := jobs.New(jobs.Config{DB: db, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	s := installations.New(db, queue, log)
	if err := s.Register(ctx, 7, "acme"); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestViewsAreBuiltOnceAndOutliveTheProcess(t *testing.T) {
	t.Parallel()
	r := records(t)
	ids := []int64{1, 2}
	key := catalogue.Key{Installation: 7, Set: catalogue.SetHash(ids), Rev: "r1"}
	// Bytes that a re-encoding would change have to come back as they are.
	want := mcp.Finished{"ping": json.RawMessage(`{"b":1,"a":"\u003c<"}`)}
	builds := 0
	build := func(context.Context) (catalogue.Built, error) {
		builds++
		return catalogue.Built{Rev: "r1", Finished: want}, nil
	}
	views := newViews(t, "c1", r)
	for range 3 {
		got, err := views.Finished(t.Context(), key, ids, build)
		if err != nil || string(got["ping"]) != string(want["ping"]) {
			t.Fatalf("%s, %v", got["ping"], err)
		}
	}
	never := func(context.Context) (catalogue.Built, error) { return catalogue.Built{}, errors.New("asked again") }
	got, err := newViews(t, "c1", r).Finished(t.Context(), key, ids, never)
	if err != nil || string(got["ping"]) != string(want["ping"]) || builds != 1 {
		t.Errorf("after a restart: %s, %v, %d builds", got["ping"], err, builds)
	}
	if _, err := newViews(t, "c2", r).Finished(t.Context(), key, ids, never); err == nil {
		t.Error("a view of another contract was answered")
	}
}

func TestABuilderAheadIsKeptUnderItsOwnRevision(t *testing.T) {
	t.Parallel()
	r := records(t)
	ids := []int64{1}
	key := catalogue.Key{Installation: 7, Set: catalogue.SetHash(ids), Rev: "old"}
	views := newViews(t, "c1", r)
	built := catalogue.Built{Rev: "new", Finished: mcp.Finished{"ping": json.RawMessage(`{}`)}}
	if _, err := views.Finished(t.Context(), key, ids, func(context.Context) (catalogue.Built, error) { return built, nil }); err != nil {
		t.Fatal(err)
	}
	failing := errors.New("no instance")
	fail := func(context.Context) (catalogue.Built, error) { return catalogue.Built{}, failing }
	if _, err := views.Finished(t.Context(), key, ids, fail); !errors.Is(err, failing) {
		t.Errorf("the older revision was answered: %v", err)
	}
	key.Rev = "new"
	if _, err := views.Finished(t.Context(), key, ids, fail); err != nil {
		t.Errorf("the newer revision: %v", err)
	}
}

func newViews(t *testing.T, contract string, r catalogue.Records) *catalogue.Views {
	t.Helper()
	v, err := catalogue.NewViews(contract, r)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// set is a tool set that says which repositories it was given.
type set struct{ fail error }

func (s set) Tools(repos []*vaultdir.Repo) ([]mcp.Tool, error) {
	var list []mcp.Tool
	for _, r := range repos {
		list = append(list, mcp.Tool{Name: r.RepoName()})
	}
	return list, s.fail
}

func (set) Instructions(repos []*vaultdir.Repo) string {
	text := ""
	for _, r := range repos {
		text += r.RepoName()
	}
	return text
}

func TestBuildOrdersByName(t *testing.T) {
	t.Parallel()
	view, err := catalogue.Build(set{}, []*vaultdir.Repo{vaultdir.Plain("b"), vaultdir.Plain("a")})
	if err != nil || view.Instructions != "ab" || view.Tools[0].Name != "a" {
		t.Errorf("%+v, %v", view, err)
	}
	if _, err := catalogue.Build(set{fail: errors.New("x")}, nil); err == nil {
		t.Error("a failing set was listed")
	}
}
