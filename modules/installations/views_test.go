package installations_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault/modules/installations"
)

func TestAViewIsKeptByteForByte(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.acme(t)
	ctx, set := t.Context(), []byte{0, 1, 0xff}
	must(t, w.SaveReaderSet(ctx, 7, set, []int64{1}))
	body := make([]byte, 300_000)
	random := rand.New(rand.NewPCG(1, 2))
	for n := range body {
		body[n] = byte(random.UintN(256))
	}
	for _, want := range [][]byte{body, {0}, []byte("{\"b\": 1,\n\"a\":2 }"), {}, nil} {
		must(t, w.StoreView(ctx, 7, set, "contract", "rev", want))
		got, ok, err := w.View(ctx, 7, set, "contract", "rev")
		must(t, err)
		if !ok || !bytes.Equal(got, want) {
			t.Errorf("%d bytes came back as %d, found %v", len(want), len(got), ok)
		}
	}
}

func TestAViewIsFoundByAllThatItWasMadeFrom(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.acme(t)
	must(t, w.Register(ctx, 8, "Other"))
	must(t, w.SaveReaderSet(ctx, 7, []byte("a"), []int64{1}))
	must(t, w.StoreView(ctx, 7, []byte("a"), "c1", "r1", []byte("body")))
	for _, c := range []struct {
		installation        int64
		hash, contract, rev string
		want                bool
	}{
		{7, "a", "c1", "r1", true},
		{8, "a", "c1", "r1", false},
		{7, "b", "c1", "r1", false},
		{7, "a", "c2", "r1", false},
		{7, "a", "c1", "r2", false},
	} {
		_, ok, err := w.View(ctx, c.installation, []byte(c.hash), c.contract, c.rev)
		must(t, err)
		if ok != c.want {
			t.Errorf("%+v: found %v", c, ok)
		}
	}
}

func TestStoreViewDropsOlderOnes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.acme(t)
	for _, set := range []string{"a", "b"} {
		must(t, w.SaveReaderSet(ctx, 7, []byte(set), []int64{1}))
	}
	has := func(set, contract, rev string) bool {
		t.Helper()
		_, ok, err := w.View(ctx, 7, []byte(set), contract, rev)
		must(t, err)
		return ok
	}
	store := func(set, contract, rev string) {
		t.Helper()
		must(t, w.StoreView(ctx, 7, []byte(set), contract, rev, []byte("body")))
	}
	store("a", "old", "r1")
	store("b", "old", "r1")
	store("a", "new", "r1")
	store("a", "new", "r2")
	if has("a", "new", "r1") || !has("a", "new", "r2") {
		t.Error("the older revision stays beside the new one")
	}
	if !has("a", "old", "r1") || !has("b", "old", "r1") {
		t.Error("another version of the contract or another set was dropped")
	}
	_, err := w.db.Exec(ctx, `UPDATE view SET built_at = now() - interval '8 days' WHERE contract = 'old'`)
	must(t, err)
	store("a", "new", "r3")
	if has("a", "old", "r1") {
		t.Error("a version of the contract that nobody serves is kept")
	}
	if !has("b", "old", "r1") {
		t.Error("another set's view was dropped")
	}
}

func TestAViewOfASetThatIsGoneIsNotKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.acme(t)
	must(t, w.StoreView(t.Context(), 7, []byte("gone"), "c", "r", []byte("body")))
	if _, ok, err := w.View(t.Context(), 7, []byte("gone"), "c", "r"); ok || err != nil {
		t.Errorf("found %v, %v", ok, err)
	}
}

func TestReaderSetsAreThoseSeenLately(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.acme(t)
	must(t, w.Register(ctx, 8, "Other"))
	must(t, w.SaveReaderSet(ctx, 7, []byte("a"), []int64{3, 1, 2}))
	must(t, w.SaveReaderSet(ctx, 7, []byte("b"), nil))
	must(t, w.SaveReaderSet(ctx, 7, []byte("old"), []int64{1}))
	must(t, w.SaveReaderSet(ctx, 8, []byte("a"), []int64{9}))
	age := func(hash, by string) {
		_, err := w.db.Exec(ctx, `
UPDATE reader_set
SET last_seen = now() - $2::interval
WHERE installation_id = 7 AND hash = $1`, []byte(hash), by)
		must(t, err)
	}
	age("old", "31 days")
	age("b", "2 days")
	want := []installations.ReaderSet{
		{Hash: []byte("a"), Repositories: []int64{1, 2, 3}},
		{Hash: []byte("b"), Repositories: []int64{}},
	}
	got, err := w.ReaderSets(ctx, 7)
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sets (-want +got):\n%s", diff)
	}
	must(t, w.SaveReaderSet(ctx, 7, []byte("old"), []int64{1}))
	if got, err = w.ReaderSets(ctx, 7); err != nil || len(got) != 3 {
		t.Errorf("a set seen again is not back: %+v, %v", got, err)
	}
	if err := w.SaveReaderSet(ctx, 99, []byte("a"), nil); err == nil {
		t.Error("a set of an unknown installation is taken")
	}
}
