package notes_test

import (
	"regexp"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"vault/modules/notes"
)

// foldPairs are the pairs on which the usual ways of folding disagree.
var foldPairs = []struct {
	a, b string
	same bool
}{
	{"ß", "SS", false},
	{"ß", "ẞ", true},
	{"İ", "i", false},
	{"ı", "i", false},
	{"é", "É", true},
	{"é", "e\u0301", true},
	{"É", "e\u0301", true},
	{"é", "e", false},
	{"ΣΊΣΥΦΟΣ", "σίσυφος", true},
	{"Σ", "ς", true},
	{"\u212A", "k", true},
	{"\u212A", "K", true},
	{"ſ", "S", true},
	{"Ǆ", "ǅ", true},
	{"漢字かなカナ", "漢字かなカナ", true},
	{"한글", norm.NFD.String("한글"), true},
	{"Ｆｕｌｌ", "ｆｕｌｌ", true},
	{"Ⓐ", "ⓐ", true},
	{"𐐀", "𐐨", true},
	{"Ω", "\u2126", true},
	{"å", "\u212B", true},
	{"ΐ", "\u1FD3", true},
	{"Ꭰ", "ꭰ", true},
}

func TestFoldPairs(t *testing.T) {
	t.Parallel()
	for _, pair := range foldPairs {
		if got := notes.Fold(pair.a) == notes.Fold(pair.b); got != pair.same {
			t.Errorf("Fold(%q) = %q, Fold(%q) = %q", pair.a, notes.Fold(pair.a), pair.b, notes.Fold(pair.b))
		}
		a, b := norm.NFC.String(pair.a), norm.NFC.String(pair.b)
		if got := regexp.MustCompile("^(?i:" + regexp.QuoteMeta(a) + ")$").MatchString(b); got != pair.same {
			t.Errorf("(?i)%q on %q is %v", a, b, got)
		}
	}
}

func TestFoldEveryRune(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= 0x10FFFF; r++ {
		if 0xD800 <= r && r < 0xE000 {
			continue
		}
		folded := notes.FoldRune(r)
		if notes.FoldRune(folded) != folded || r < 0x80 && string(folded) != strings.ToLower(string(r)) {
			t.Fatalf("FoldRune(%U) = %U, then %U", r, folded, notes.FoldRune(folded))
		}
	}
}

func TestFoldKeepsTheRest(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "abc", "a\nb\r\nc", "\xff\xfe", "a\x00b", "漢字\n", strings.Repeat("x", 2000)} {
		if got := notes.Fold(s); got != s {
			t.Errorf("Fold(%q) = %q", s, got)
		}
	}
	long := strings.Repeat("AbC ", 999)
	if got := notes.Fold(long); got != strings.ToLower(long) {
		t.Errorf("a long text folds to %.40q…", got)
	}
}

func TestHasUpper(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{"": false, "abc 1 ß": false, "aB": true, "é": false, "É": true, "E\u0301": true, "ǅ": true, "漢": false, "ⓐ": false} {
		if got := notes.HasUpper(s); got != want {
			t.Errorf("HasUpper(%q) = %v", s, got)
		}
	}
}

func TestFindFold(t *testing.T) {
	t.Parallel()
	tests := []struct {
		line, query string
		sensitive   bool
		want        string // the found part, "-" for none
	}{
		{"Hello World", "world", false, "World"},
		{"Hello World", "world", true, "-"},
		{"Hello World", "World", true, "World"},
		{"xx Cafe\u0301 yy", "café", false, "Cafe\u0301"},
		{"xx Cafe\u0301 yy", "Café", true, "Cafe\u0301"},
		{"xx Café yy", "CAFE\u0301", false, "Café"},
		{"Cafe\u0301", "cafe", false, "-"},
		{"\u212Aelvin", "kelvin", false, "\u212Aelvin"},
		{"é \u212A é", "k", false, "\u212A"},
		{"ΣΊΣΥΦΟΣ", "σίσυφος", false, "ΣΊΣΥΦΟΣ"},
		{"plain", "\u212A", false, "-"},
		{"back", "\u212A", false, "k"},
		{"漢字かな", "かな", false, "かな"},
		{"é", "", false, ""},
		{"ascii", "", true, ""},
		{"x", "xx", false, "-"},
	}
	for _, test := range tests {
		start, end, ok := notes.FindFold(test.line, test.query, test.sensitive)
		got := "-"
		if ok {
			got = test.line[start:end]
		}
		if got != test.want {
			t.Errorf("FindFold(%q, %q, %v) = %q, want %q", test.line, test.query, test.sensitive, got, test.want)
		}
		if !test.sensitive && notes.Contains(test.line, notes.Fold(test.query)) != (test.want != "-") {
			t.Errorf("Contains(%q, fold of %q) disagrees", test.line, test.query)
		}
	}
}

func BenchmarkFold(b *testing.B) {
	texts := map[string]string{
		"ascii lower": strings.Repeat("the quick brown fox jumps over it\n", 2000),
		"ascii mixed": strings.Repeat("The Quick brown fox Jumps over it\n", 2000),
		"german":      strings.Repeat("Grüße aus der schönen Stadt Köln, heißt es.\n", 2000),
		"cyrillic":    strings.Repeat("Быстрая Лиса прыгает через собаку\n", 2000),
		"cjk":         strings.Repeat("素早い茶色の狐は怠け者の犬を飛び越える\n", 2000),
	}
	for name, text := range texts {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				notes.Fold(text)
			}
		})
	}
}

// TestFoldNormalisesWhereItMust holds the glance that spares normalisation to
// the real thing, over pairs of runes that may compose.
func TestFoldNormalisesWhereItMust(t *testing.T) {
	t.Parallel()
	marks := []rune{0x300, 0x301, 0x307, 0x308, 0x323, 0x338, 0x345, 0x483, 0x653, 0x93C, 0x9BE, 0x1161, 0x11A8, 0x3099, 0x309A, 0x302A, 'a', 'é', 0x1D165}
	for r := rune(0x80); r < 0x12000; r++ {
		if 0xD800 <= r && r < 0xE000 {
			continue
		}
		for _, mark := range marks {
			s := string([]rune{r, mark})
			if got, want := notes.Fold(s), notes.Fold(norm.NFC.String(s)); got != want {
				t.Fatalf("Fold(%+q) = %+q, want %+q", s, got, want)
			}
		}
	}
}
