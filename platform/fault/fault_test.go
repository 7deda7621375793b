package fault_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"vault/platform/fault"
)

func TestPublicShowsFaultsAndHidesTheRest(t *testing.T) {
	t.Parallel()
	secret := errors.New("dsn=postgres://user:secret@db")
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"sentence and fixes", fault.Invalid("no such field").Fix("use %s", "name"), "No such field. Use name."},
		{"cause stays inside", fault.Unavailable("the index is asleep").Because(secret).After(90 * time.Second), "The index is asleep. Try again in 90 seconds."},
		{"wrapped fault", fmt.Errorf("read: %w", fault.NotFound("there is no note %s", fault.Quote("a"))), `There is no note "a".`},
		{"minutes", fault.Limited("too many").After(3 * time.Minute), "Too many. Try again in 3 minutes."},
		{"internal has the reference", fault.Internal("the index is broken"), "The index is broken. Reference: ref1."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := fault.Public(tt.err, "ref1"); got != tt.want {
				t.Errorf("Public = %q, want %q", got, tt.want)
			}
		})
	}
	got := fault.Public(secret, "ref1")
	if strings.Contains(got, "secret") || !strings.Contains(got, "ref1") {
		t.Errorf("Public of an inner error = %q", got)
	}
}

func TestKindOf(t *testing.T) {
	t.Parallel()
	if k := fault.KindOf(nil); k != "" {
		t.Errorf("nil: %q", k)
	}
	if k := fault.KindOf(errors.New("x")); k != fault.KindInternal {
		t.Errorf("plain: %q", k)
	}
	if k := fault.KindOf(fmt.Errorf("w: %w", fault.Conflict("moved"))); k != fault.KindConflict {
		t.Errorf("wrapped: %q", k)
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"plan.md":             `"plan.md"`,
		"a\nb\tc":             "\"a\uFFFDb\uFFFDc\"",
		`say "hi"`:            `"say ”hi”"`,
		"evil\u202Etxt":       "\"evil\uFFFDtxt\"",
		"a\u00A0b":            `"a b"`,
		"bad\xff":             "\"bad\uFFFD\"",
		"sep\u2028arated":     "\"sep\uFFFDarated\"",
		"grüße/日本.md":         `"grüße/日本.md"`,
		"tag\U000E0041hidden": "\"tag\uFFFDhidden\"",
	}
	for in, want := range tests {
		if got := fault.Quote(in); got != want {
			t.Errorf("Quote(%q) = %q, want %q", in, got, want)
		}
	}
	long := fault.Quote(strings.Repeat("ä", 500))
	if n := utf8.RuneCountInString(long); n != fault.QuoteLimit+3 {
		t.Errorf("long quote has %d characters", n)
	}
}

func FuzzQuoteStaysOnOneLine(f *testing.F) {
	f.Add("a\"b\r\nc\u2029")
	f.Fuzz(func(t *testing.T, s string) {
		q := fault.Quote(s)
		inner := q[1 : len(q)-1]
		if strings.ContainsAny(inner, "\"\n\r\u2028\u2029") || !utf8.ValidString(q) {
			t.Errorf("Quote(%q) = %q", s, q)
		}
	})
}

func TestReferencesDiffer(t *testing.T) {
	t.Parallel()
	a, b := fault.NewReference(), fault.NewReference()
	if a == b || len(a) != 13 {
		t.Errorf("references %q and %q", a, b)
	}
}
