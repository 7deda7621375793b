package index

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"vault/modules/notes"
)

// A need says which texts a note must hold so that a pattern can match one of
// its lines. All texts are folded. Notes that do not meet it cannot match;
// those that do still have to be looked at.
//
// A clause is met by any of its texts, the need by all of its clauses.
type need []clause

type clause []string

const (
	// setLimit bounds the texts that are followed at once while a pattern is
	// read.
	setLimit = 24
	// classLimit bounds how many characters of a class are told apart.
	classLimit = 12
	// textRunes is how long the ends of texts are remembered.
	textRunes = 16
	// clauseLimit bounds the clauses of a need: the database looks up each.
	clauseLimit = 4
	// trigram is the fewest letters and digits in a row that an index entry
	// is made of.
	trigram = 3
)

// hasTrigram reports whether the search index can look a text up.
func hasTrigram(text string) bool {
	run := 0
	for _, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			run = 0
			continue
		}
		if run++; run == trigram {
			return true
		}
	}
	return false
}

// usable reports whether every text of a clause can be looked up.
func (c clause) usable() bool {
	return len(c) > 0 && !slices.ContainsFunc(c, func(s string) bool { return !hasTrigram(s) })
}

// weight tells how much a clause narrows down: its shortest text, in
// characters, less for each alternative.
func (c clause) weight() int {
	shortest := 1 << 20
	for _, s := range c {
		shortest = min(shortest, utf8.RuneCountInString(s))
	}
	return shortest*4 - len(c)
}

// needOf works out what a regular expression needs.
func needOf(re *syntax.Regexp) need {
	f := follow(re.Simplify())
	n := append(f.need, f.whole()...)
	return n.best()
}

// best keeps the clauses that narrow down most, and of those that say nearly
// the same only one.
func (n need) best() need {
	usable := make(need, 0, len(n))
	for _, c := range n {
		if c.usable() {
			usable = append(usable, c.reduced())
		}
	}
	slices.SortStableFunc(usable, func(a, b clause) int { return b.weight() - a.weight() })
	var out need
	for _, c := range usable {
		known := slices.ContainsFunc(out, func(k clause) bool { return k.implies(c) || c.implies(k) })
		if !known && len(out) < clauseLimit {
			out = append(out, c)
		}
	}
	return out
}

// reduced leaves out texts that hold another one.
func (c clause) reduced() clause {
	var out clause
	for i, s := range c {
		holds := slices.ContainsFunc(c, func(o string) bool { return o != s && strings.Contains(s, o) })
		if !holds && !slices.Contains(c[:i], s) {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return out
}

// implies reports whether a note that meets c also meets o.
func (c clause) implies(o clause) bool {
	for _, s := range c {
		if !slices.ContainsFunc(o, func(t string) bool { return strings.Contains(s, t) }) {
			return false
		}
	}
	return true
}

// frag is what is known of the texts that a part of a pattern matches.
type frag struct {
	// exact lists all of them; nil when they are too many.
	exact []string
	// start and end list how they begin and end; "" among them when they may
	// begin or end with anything.
	start, end []string
	// need is what they hold besides.
	need need
}

func anything() frag { return frag{start: []string{""}, end: []string{""}} }

func exactly(texts ...string) frag { return frag{exact: texts, start: texts, end: texts} }

// whole gives the clause that the exact texts make, if they are known.
func (f frag) whole() need {
	if f.exact == nil {
		return nil
	}
	return need{clause(slices.Clone(f.exact))}
}

// loose forgets the exact texts and keeps what they say about needs.
func (f frag) loose() frag {
	if f.exact == nil {
		return f
	}
	var n need
	if c := clause(slices.Clone(f.exact)); c.usable() {
		n = need{c}
	}
	return frag{start: shorten(f.exact, true), end: shorten(f.exact, false), need: append(n, f.need...)}
}

func follow(re *syntax.Regexp) frag {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return exactly("")
	case syntax.OpLiteral:
		return exactly(foldRunes(re.Rune))
	case syntax.OpCharClass:
		return followClass(re.Rune)
	case syntax.OpCapture:
		return follow(re.Sub[0])
	case syntax.OpConcat:
		return followConcat(re.Sub)
	case syntax.OpAlternate:
		return followAlternate(re.Sub)
	case syntax.OpQuest:
		return either(follow(re.Sub[0]), exactly(""))
	case syntax.OpPlus:
		f := follow(re.Sub[0]).loose()
		return frag{start: f.start, end: f.end, need: f.need}
	}
	return anything()
}

// foldRunes folds characters one by one, as the folded column has them.
func foldRunes(runes []rune) string {
	var b strings.Builder
	for _, r := range runes {
		b.WriteRune(notes.FoldRune(r))
	}
	return b.String()
}

// followClass tells the characters of a small class apart.
func followClass(ranges []rune) frag {
	var texts []string
	for i := 0; i+1 < len(ranges); i += 2 {
		if ranges[i+1]-ranges[i] > 4*classLimit {
			return anything()
		}
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			text := string(notes.FoldRune(r))
			if slices.Contains(texts, text) {
				continue
			}
			if texts = append(texts, text); len(texts) > classLimit {
				return anything()
			}
		}
	}
	if len(texts) == 0 {
		return anything() // the class of nothing: no line matches anyway
	}
	return exactly(texts...)
}

func followConcat(subs []*syntax.Regexp) frag {
	f := exactly("")
	for _, sub := range subs {
		f = join(f, follow(sub))
	}
	return f
}

// join puts one part behind another.
func join(a, b frag) frag {
	if a.exact != nil && b.exact != nil {
		if both := cross(a.exact, b.exact); both != nil {
			return frag{exact: both, start: both, end: both, need: append(slices.Clone(a.need), b.need...)}
		}
	}
	la, lb := a.loose(), b.loose()
	out := frag{start: la.start, end: lb.end, need: append(slices.Clone(la.need), lb.need...)}
	// Where two parts meet, an end and a start make one text.
	if both := cross(la.end, lb.start); both != nil {
		out.need = append(out.need, both)
		out.need = out.need.trim()
	}
	if a.exact != nil {
		if s := cross(la.start, lb.start); s != nil && allWithin(a.exact) {
			out.start = shorten(s, true)
		}
	}
	if b.exact != nil {
		if e := cross(la.end, lb.end); e != nil && allWithin(b.exact) {
			out.end = shorten(e, false)
		}
	}
	return out
}

// allWithin reports whether no text is so long that only its ends are kept.
func allWithin(texts []string) bool {
	return !slices.ContainsFunc(texts, func(s string) bool { return utf8.RuneCountInString(s) > textRunes })
}

// trim drops clauses that cannot be looked up and keeps a need small while a
// pattern is read.
func (n need) trim() need {
	n = slices.DeleteFunc(n, func(c clause) bool { return !c.usable() })
	if len(n) > 4*clauseLimit {
		return n.best()
	}
	return n
}

func followAlternate(subs []*syntax.Regexp) frag {
	f := follow(subs[0])
	for _, sub := range subs[1:] {
		f = either(f, follow(sub))
	}
	return f
}

// either is one part or the other.
func either(a, b frag) frag {
	if a.exact != nil && b.exact != nil && len(a.need) == 0 && len(b.need) == 0 {
		if both := union(a.exact, b.exact); len(both) <= setLimit {
			return exactly(both...)
		}
	}
	na, nb := append(a.whole(), a.need...).best(), append(b.whole(), b.need...).best()
	la, lb := a.loose(), b.loose()
	out := frag{start: bounded(union(la.start, lb.start), true), end: bounded(union(la.end, lb.end), false)}
	// Each clause of the one with each of the other: both sides meet it.
	for _, ca := range na {
		for _, cb := range nb {
			if both := union(ca, cb); len(both) <= setLimit {
				out.need = append(out.need, both)
			}
		}
	}
	return out
}

// cross joins each text of a with each of b; nil when those are too many.
func cross(a, b []string) []string {
	if len(a)*len(b) > setLimit {
		return nil
	}
	out := make([]string, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			out = append(out, x+y)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func union(a, b []string) []string {
	out := append(slices.Clone(a), b...)
	slices.Sort(out)
	return slices.Compact(out)
}

// shorten keeps the beginnings or the ends of texts.
func shorten(texts []string, start bool) []string {
	out := make([]string, len(texts))
	for i, s := range texts {
		out[i] = ending(s, start, textRunes)
	}
	return bounded(union(out, nil), start)
}

// bounded makes a set small enough by cutting its texts shorter.
func bounded(texts []string, start bool) []string {
	for n := textRunes; len(texts) > setLimit && n > 0; n-- {
		cut := make([]string, len(texts))
		for i, s := range texts {
			cut[i] = ending(s, start, n-1)
		}
		texts = union(cut, nil)
	}
	return texts
}

// ending gives the first or last n characters of a text.
func ending(s string, start bool, n int) string {
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	if start {
		return string(runes[:n])
	}
	return string(runes[len(runes)-n:])
}
