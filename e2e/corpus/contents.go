package corpus

import (
	"fmt"
	"strings"
)

// oddContents makes notes with ordinary names and odd contents.
func (w *writer) oddContents() []file {
	body := w.lines(3)
	contents := map[string]string{
		"empty":                 "",
		"one-newline":           "\n",
		"newlines":              "\n\n\n\n",
		"only-bom":              "\ufeff",
		"only-frontmatter":      "---\ntitle: Only\n---\n",
		"blank":                 " \t \n",
		"no-final-newline":      "# Last\n" + strings.TrimSuffix(body, "\n"),
		"crlf":                  "---\r\ntitle: Windows\r\n---\r\n# A\r\n\r\nline\r\n",
		"crlf-no-final":         "a\r\nb\r",
		"cr-only":               "a\rb\rc\r",
		"mixed-endings":         "a\nb\r\nc\rd\r\r\ne\n",
		"bom":                   "\ufeff# Behind a mark\n" + body,
		"bom-frontmatter":       "\ufeff---\ntitle: Behind a mark\ntype: note\n---\n" + body,
		"bom-twice":             "\ufeff\ufefftext\n",
		"bom-inside":            "a\ufeffb\n\ufeffc\n",
		"nul":                   "before\x00after\n" + body,
		"nul-at-end":            body + "\x00",
		"invalid-utf8":          "ok\n\xff\xfe broken \xc3\n" + body,
		"latin1":                "Gr\xfc\xdfe\n",
		"overlong":              "\xc0\xaf\n",
		"surrogate":             "\xed\xa0\x80\n",
		"utf16":                 "\xff\xfea\x00b\x00\n\x00",
		"noncharacter":          "\uffff \ufffe \U0010ffff \ufffd\n",
		"control":               "\x01\x02\x1b[31mred\x7f\n\u0080\u009f\n",
		"long-line":             strings.TrimSuffix(w.line(14_000), "\n") + " endoflongline\nshort\n",
		"long-line-only":        strings.Repeat("x", 300_000) + "needleinhay" + strings.Repeat("y", 1000),
		"long-line-wide":        strings.Repeat("漢字", 30_000) + "\n" + body,
		"many-lines":            strings.Repeat("z\n", 60_000),
		"many-headings":         strings.Repeat("# h\n\n", 1_500),
		"many-links":            strings.Repeat("[[a]] [b](b.md) ![[c.png]]\n", 5_000),
		"combining":             "a" + strings.Repeat("\u0301", 200) + " zalgo\n",
		"hangul":                "\u1112\u1161\u11ab\u1100\u1173\u11af is \ud55c\uae00\n",
		"line-separators":       "a\u2028b\u2029c\u0085d\fe\vf\n",
		"large":                 w.large(5 << 20),
		"lfs":                   "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("4d7a", 16) + "\nsize 12345\n",
		"copy-patterns":         "\\.\n\\N\n\\\\\n\t\n\\x00\n",
		"conflict-markers":      "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n",
		"nested-quotes":         strings.Repeat("> ", 3_000) + "deep\n",
		"nested-lists":          nested("- x\n", 400),
		"nested-brackets":       strings.Repeat("[", 20_000) + "\n" + strings.Repeat("*a_", 5_000) + "\n",
		"unclosed-fence":        "```\n# no heading\n" + body,
		"unclosed-comment":      "<!-- \n# no heading\n" + body + "%% \n",
		"html":                  "<div>\n# no heading\n</div>\n\n<script>\n## none\n</script>\n",
		"headings":              "# A #\nB\n===\n## C#\n####### seven\n#no\n\\# no\n~~~\n```\n# no\n~~~\n# yes\n    # code\n",
		"only-table":            "|a|b|\n|-|-|\n|[[x\\|y]]|`|`|\n",
		"ordinary-but-literal%": "100%25 %41 %%\n",
	}
	for name, yaml := range oddYAML() {
		contents["yaml-"+name] = "---\n" + yaml + "\n---\n# Body of " + name + "\n" + body
	}
	contents["yaml-unclosed"] = "---\ntitle: never closed\n" + body
	contents["yaml-late"] = "\n---\ntitle: not at the start\n---\n"
	contents["yaml-dots"] = "---\ntitle: closed by dots\n...\n" + body
	contents["yaml-spaces"] = "--- \ntitle: spaces\n---\t\n" + body
	contents["yaml-empty"] = "---\n---\n" + body
	return sortedFiles("contents/", contents)
}

// oddYAML gives frontmatter that is broken, hostile or only unusual.
func oddYAML() map[string]string {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'i'; c++ {
		bomb += fmt.Sprintf("%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", c, c, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1)
	}
	return map[string]string{
		"broken":      "title: [never closed\nother: }",
		"tabs":        "a:\n\t- b",
		"duplicate":   "title: one\ntitle: two",
		"bomb":        bomb,
		"self":        "a: &a [*a]",
		"deep":        "a: " + strings.Repeat("[", 300) + strings.Repeat("]", 300),
		"deep-map":    nested("k:\n", 60),
		"large":       "text: |\n" + strings.Repeat("  a line of text that fills\n", 4_000),
		"scalar":      "just text",
		"list":        "- a\n- b",
		"null":        "title:\nstatus: ~\ntype: null",
		"numbers":     "title: 1e999\ntype: .nan\nstatus: -.inf\nhuge: 123456789012345678901234567890\nhex: 0xff\noctal: 0o17",
		"dates":       "date: 2026-02-30\ntime: 2026-01-01T10:00:00+02:00\nold: 0000-00-00",
		"booleans":    "a: yes\nb: on\nc: TRUE\nd: False\ntitle: no",
		"tags":        "!!binary aGk=: x\na: !!set {b, c}\nb: !custom x",
		"merge":       "base: &b {x: 1}\nuse:\n  <<: *b\n  y: 2",
		"keys":        "? [a, b]\n: c\n1: one\ntrue: yes\n\"\": empty",
		"nul-escape":  `title: "a\0b\x00\u0000"`,
		"surrogates":  `title: "\ud83d\ude00 \udc00"`,
		"unicode":     "título: ñandú\n\"quo\\\"te\": x\n日本: 語",
		"long-key":    strings.Repeat("k", 3_000) + ": v",
		"long-value":  "title: " + strings.Repeat("t", 9_000) + "\ntype: " + strings.Repeat("y", 9_000) + "\nstatus: " + strings.Repeat("s", 9_000) + "\nsummary: " + strings.Repeat("u", 9_000),
		"multi":       "title: a\n--- \ntitle: b",
		"directive":   "%YAML 1.1\n---\ntitle: a",
		"comment":     "# only a comment",
		"block":       "title: >-\n  folded\n  text\nsummary: |\n  two\n  lines",
		"list-title":  "title: [a, b]\ntype: {x: 1}\nstatus: [draft]",
		"links":       "up: \"[[README]]\"\nrelated: [\"[[a]]\", '[[b|c]]']",
		"crlf-inside": "title: a\r\nstatus: draft\r",
	}
}

// nested repeats a line, each time one level deeper.
func nested(line string, depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat("  ", i) + line)
	}
	return b.String()
}

// large makes a note of many megabytes.
func (w *writer) large(size int) string {
	var b strings.Builder
	b.WriteString("# Large\n\n")
	for b.Len() < size {
		b.WriteString(w.lines(40))
	}
	return b.String() + "endoflargenote\n"
}
