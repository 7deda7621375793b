package auth_test

import (
	"encoding/base64"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vault/modules/auth"
	"vault/platform/fault"
	"vault/platform/github"
)

const issuer = "https://notes.example"

var start = time.Unix(1_800_000_000, 0).UTC()

func at(t time.Time) func() time.Time { return func() time.Time { return t } }

func newKey(t testing.TB, id string) auth.Key {
	t.Helper()
	k, err := auth.NewKey(id)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func newRing(t testing.TB, keys ...auth.Key) *auth.Ring {
	t.Helper()
	r, err := auth.NewRing(keys...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func newSealer(t testing.TB, ring *auth.Ring, issuer string, now time.Time) *auth.Sealer {
	t.Helper()
	s, err := auth.NewSealer(ring, issuer, at(now))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func sample() auth.AccessToken {
	return auth.AccessToken{
		GitHub:       "ghu_" + github.Secret(strings.Repeat("x", 36)),
		Installation: 42,
		ClientID:     "https://claude.ai/oauth/claude-code-client-metadata",
		Login:        "ada",
		IssuedAt:     start,
		Expires:      start.Add(8 * time.Hour),
	}
}

func seal(t testing.TB, s *auth.Sealer, token auth.AccessToken) string {
	t.Helper()
	sealed, err := s.SealAccess(token)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func TestSealedTokensOpen(t *testing.T) {
	t.Parallel()
	s := newSealer(t, newRing(t, newKey(t, "k7")), issuer, start)
	long := sample()
	long.GitHub = github.Secret(strings.Repeat("y", 4<<10))
	long.Login, long.ClientID = "", ""
	for _, want := range []auth.AccessToken{sample(), long} {
		sealed := seal(t, s, want)
		if !strings.HasPrefix(sealed, "a1.k7.") || len(sealed) > auth.MaxSealed || strings.Contains(sealed, "ghu_") {
			t.Errorf("sealed %s", sealed)
		}
		got, err := s.OpenAccess(sealed, 42)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	}
	first, second := seal(t, s, sample()), seal(t, s, sample())
	if first == second {
		t.Error("two seals of one token are equal")
	}
}

func TestEveryFailureToOpenIsTheSame(t *testing.T) {
	t.Parallel()
	key := newKey(t, "k1")
	s := newSealer(t, newRing(t, key), issuer, start)
	good := seal(t, s, sample())
	body := strings.TrimPrefix(good, "a1.k1.")
	flip := func(n int) string {
		raw, err := base64.RawURLEncoding.DecodeString(body)
		if err != nil {
			t.Fatal(err)
		}
		raw[n] ^= 1
		return "a1.k1." + base64.RawURLEncoding.EncodeToString(raw)
	}
	raw, _ := base64.RawURLEncoding.DecodeString(body)
	other := newRing(t, newKey(t, "k1"))
	tests := map[string]struct {
		sealer       *auth.Sealer
		sealed       string
		installation int64
	}{
		"nothing":                {s, "", 42},
		"a raw token":            {s, "ghu_" + strings.Repeat("x", 36), 42},
		"another kind":           {s, "r" + good[1:], 42},
		"another version":        {s, "a2" + good[2:], 42},
		"no key id":              {s, "a1." + body, 42},
		"unknown key id":         {s, "a1.k2." + body, 42},
		"another key":            {newSealer(t, other, issuer, start), good, 42},
		"another issuer":         {newSealer(t, newRing(t, key), "https://other.example", start), good, 42},
		"another installation":   {s, good, 43},
		"no installation":        {s, good, 0},
		"ended":                  {newSealer(t, newRing(t, key), issuer, start.Add(8*time.Hour)), good, 42},
		"nonce changed":          {s, flip(0), 42},
		"text changed":           {s, flip(30), 42},
		"tag changed":            {s, flip(len(raw) - 1), 42},
		"cut":                    {s, good[:len(good)-4], 42},
		"longer":                 {s, good + "AAAA", 42},
		"padded":                 {s, good + "=", 42},
		"line end inside":        {s, good[:40] + "\n" + good[40:], 42},
		"another part":           {s, good + ".x", 42},
		"spaces":                 {s, " " + good, 42},
		"short of a nonce":       {s, "a1.k1.AAAA", 42},
		"empty body":             {s, "a1.k1.", 42},
		"9 KiB of junk":          {s, "a1.k1." + strings.Repeat("A", 9<<10), 42},
		"not base64":             {s, "a1.k1.!!!!", 42},
		"upper case of the kind": {s, "A" + good[1:], 42},
	}
	want := fault.Public(mustFail(t, s, "junk", 42), "")
	for name, tt := range tests {
		token, err := tt.sealer.OpenAccess(tt.sealed, tt.installation)
		if err == nil || fault.KindOf(err) != fault.KindUnauthenticated || fault.Public(err, "") != want ||
			err.Error() != mustFail(t, s, "junk", 42).Error() || !cmp.Equal(token, auth.AccessToken{}) {
			t.Errorf("%s: %v, %v", name, token, err)
		}
	}
	if _, err := newSealer(t, newRing(t, key), issuer, start.Add(8*time.Hour-time.Second)).OpenAccess(good, 42); err != nil {
		t.Errorf("a second before the end: %v", err)
	}
}

func TestASealedTokenHasOneSpelling(t *testing.T) {
	t.Parallel()
	s := newSealer(t, newRing(t, newKey(t, "k1")), issuer, start)
	for _, login := range []string{"a", "ab", "abc"} {
		token := sample()
		token.Login = login
		good := seal(t, s, token)
		for _, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_" {
			other := good[:len(good)-1] + string(c)
			if _, err := s.OpenAccess(other, 42); (err == nil) != (other == good) {
				t.Errorf("login %s, last letter %c for %s: %v", login, c, good[len(good)-1:], err)
			}
		}
	}
}

func mustFail(t *testing.T, s *auth.Sealer, sealed string, installation int64) error {
	t.Helper()
	_, err := s.OpenAccess(sealed, installation)
	if err == nil {
		t.Fatalf("%q opened", sealed)
	}
	return err
}

func TestTokensThatCannotBeSealed(t *testing.T) {
	t.Parallel()
	s := newSealer(t, newRing(t, newKey(t, "k1")), issuer, start)
	for name, change := range map[string]func(*auth.AccessToken){
		"no token":        func(a *auth.AccessToken) { a.GitHub = "" },
		"long token":      func(a *auth.AccessToken) { a.GitHub = github.Secret(strings.Repeat("x", 4<<10+1)) },
		"long client id":  func(a *auth.AccessToken) { a.ClientID = strings.Repeat("x", 513) },
		"long login":      func(a *auth.AccessToken) { a.Login = strings.Repeat("x", 101) },
		"no installation": func(a *auth.AccessToken) { a.Installation = 0 },
		"ended":           func(a *auth.AccessToken) { a.Expires = start },
	} {
		token := sample()
		change(&token)
		if sealed, err := s.SealAccess(token); err == nil || strings.Contains(err.Error(), "ghu_") {
			t.Errorf("%s: %q, %v", name, sealed, err)
		}
	}
	for _, bad := range []string{"", "https://notes.example/"} {
		if _, err := auth.NewSealer(newRing(t, newKey(t, "k1")), bad, nil); err == nil {
			t.Errorf("issuer %q was accepted", bad)
		}
	}
}

func TestTheNewestKeySealsAndAllOpen(t *testing.T) {
	t.Parallel()
	a, b, c := newKey(t, "a"), newKey(t, "b"), newKey(t, "c")
	a.NotAfterSeal = start.Add(time.Hour)
	b.NotAfterSeal = start.Add(2 * time.Hour)
	tests := map[string][]auth.Key{
		"a": {a}, "b": {b, a}, "c": {c, b, a}, "c of the end": {a, b, c}, "c, the last of equals": {newKey(t, "d"), c},
	}
	for name, keys := range tests {
		if got := seal(t, newSealer(t, newRing(t, keys...), issuer, start), sample()); !strings.HasPrefix(got, "a1."+name[:1]+".") {
			t.Errorf("%s: sealed by %s", name, got[:5])
		}
	}
	old := seal(t, newSealer(t, newRing(t, a), issuer, start), sample())
	if _, err := newSealer(t, newRing(t, a, c), issuer, start.Add(3*time.Hour)).OpenAccess(old, 42); err != nil {
		t.Errorf("an old key does not open: %v", err)
	}
	if _, err := newSealer(t, newRing(t, a, b), issuer, start.Add(3*time.Hour)).SealAccess(sample()); err == nil {
		t.Error("a key past its time sealed")
	}
}

func TestParseRing(t *testing.T) {
	t.Parallel()
	master := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\xfb", 33)))
	url := base64.RawURLEncoding.EncodeToString([]byte(strings.Repeat("\xfb", 33)))
	texts := map[string]string{
		"yaml":  "- kid: k1\n  master: " + master + "\n  not_after_seal: 2026-01-01\n- kid: k2\n  master: " + master + "\n",
		"json":  `[{"kid":"k1","master":"` + url + `","not_after_seal":"2026-01-01T00:00:00Z"},{"kid":"k2","master":"` + url + `"}]`,
		"order": "- {kid: k2, master: " + master + "}\n- {kid: k1, master: " + master + ", not_after_seal: 2026-01-01}",
	}
	for name, text := range texts {
		ring, err := auth.ParseRing([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := seal(t, newSealer(t, ring, issuer, start), sample()); !strings.HasPrefix(got, "a1.k2.") {
			t.Errorf("%s: sealed by %s", name, got[:6])
		}
	}
	bad := map[string]string{
		"empty":          "",
		"no keys":        "[]",
		"a map":          "kid: k1\nmaster: " + master,
		"short":          "- {kid: k1, master: c2hvcnQ=}",
		"not base64":     "- {kid: k1, master: '!!'}",
		"no master":      "- {kid: k1}",
		"kid":            "- {kid: K.1, master: " + master + "}",
		"kid twice":      "- {kid: k1, master: " + master + "}\n- {kid: k1, master: " + master + "}",
		"unknown field":  "- {kid: k1, master: " + master + ", extra: 1}",
		"bad day":        "- {kid: k1, master: " + master + ", not_after_seal: soon}",
		"two documents":  "- {kid: k1, master: " + master + "}\n---\n- {kid: k2, master: " + master + "}",
		"wrong type":     "- {kid: k1, master: [" + master + "]}",
		"much too large": strings.Repeat("#", 65<<10),
	}
	for name, text := range bad {
		if _, err := auth.ParseRing([]byte(text)); err == nil || strings.Contains(err.Error(), master[:8]) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestKeysDoNotPrint(t *testing.T) {
	t.Parallel()
	ring, err := auth.ParseRing([]byte("- {kid: k1, master: " + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("hush", 8))) + "}"))
	if err != nil {
		t.Fatal(err)
	}
	key := newKey(t, "k2")
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "key", key, "token", sample())
	text := log.String() + fmt.Sprintf("%v %+v %#v %v %+v", key, key, key, sample(), ring) + fmt.Sprintf("%+v", struct{ k auth.Key }{key})
	if strings.Contains(text, "hush") || strings.Contains(text, "104 117 115 104") || strings.Contains(text, "xxxx") {
		t.Errorf("printed %s", text)
	}
}

func TestInstanceKeysAndLink(t *testing.T) {
	t.Parallel()
	a, b := newKey(t, "a"), newKey(t, "b")
	ring := newRing(t, a, b)
	derive := func(r *auth.Ring, installation int64) github.Secret {
		t.Helper()
		k, err := r.DeriveInstanceKey(installation)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	key := derive(ring, 42)
	if key != derive(newRing(t, b), 42) || key == derive(newRing(t, a), 42) || key == derive(ring, 43) || len(key) < 32 {
		t.Error("instance keys do not follow ring and installation")
	}
	all, err := ring.DeriveInstanceKeys(42)
	if err != nil || len(all) != 2 || all[0] != key || all[1] != derive(newRing(t, a), 42) {
		t.Errorf("%d keys, %v", len(all), err)
	}
	link, err := auth.NewLink(all...)
	if err != nil {
		t.Fatal(err)
	}
	for presented, want := range map[string]bool{
		key.Reveal(): true, all[1].Reveal(): true, "": false, "redacted": false,
		key.Reveal() + "x": false, key.Reveal()[1:]: false, derive(ring, 43).Reveal(): false,
	} {
		if got := link.Check(presented); got != want {
			t.Errorf("%d bytes: %v", len(presented), got)
		}
	}
	if _, err := auth.NewLink(); err == nil {
		t.Error("a link without keys")
	}
	if _, err := auth.NewLink("short"); err == nil {
		t.Error("a link with a short key")
	}
}

func FuzzOpenAccess(f *testing.F) {
	s := newSealer(f, newRing(f, newKey(f, "k1")), issuer, start)
	good := seal(f, s, sample())
	f.Add(good)
	f.Add("a1.k1.AAAA")
	f.Fuzz(func(t *testing.T, sealed string) {
		if _, err := s.OpenAccess(sealed, 42); err == nil && sealed != good {
			t.Errorf("%q opened", sealed)
		}
	})
}

func BenchmarkOpenAccess(b *testing.B) {
	s := newSealer(b, newRing(b, newKey(b, "k1")), issuer, start)
	sealed := seal(b, s, sample())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.OpenAccess(sealed, 42); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpenJunk(b *testing.B) {
	s := newSealer(b, newRing(b, newKey(b, "k1")), issuer, start)
	sealed := "a1.zz." + strings.TrimPrefix(seal(b, s, sample()), "a1.k1.")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.OpenAccess(sealed, 42); err == nil {
			b.Fatal("opened")
		}
	}
}
