package notes_test

import (
	"strings"
	"testing"
	"time"

	"vault/modules/notes"
)

// TestHostileTexts reads a megabyte of what makes careless scanners slow.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	units := []string{
		"[", "]", "[[", "]]", "![", "[[a", "[[a|", "[a](", "](](", "[](a", "[](<a", "[](a \"", "[](a 'b", "[](a (",
		"![[", "![](", "[a][", "[a][b]", "[a]: b\n", "[a]: b\n\n", "[a]:\n", "[a", "a](b)", "[![",
		"<", "<a", "<a ", "<a b=\"", "<a b='", "<a b=c ", "<!--", "<!-- -", "-->", "<?", "<![CDATA[", "<!A", "<a:", "<a@",
		"`", "`a``b", "` `` ", "``` ", "$", "$a ", "$$", "$a$1", "\\", "\\[", "*", "**", "*a_", "_a", "~", "~~a",
		">", "> ", ">\n", "> > a\n", "- ", "-\n", "- a\n", "1. ", "1. a\n", " ", "  ", "    a\n", "\t", "\t- ", "  - a\n",
		"#", "# ", "# a\n", "# *a\n", "# [a\n", "# [[a\n", "a\n=\n", "=\n", "a\n-\n", "%%", "%%\n", "%% a\n", "[^1]: ", "[^1]:\n", "[^a\n",
		"|", "| ", "|a|\n|-|\n", "|-", "| [[a|b", "a|b\n-|-\n", "```\n", "~~~\n", "<div>\n", "<!--\n", "<script>\n", "<script><", "</", "<pre>",
		"\n", "\r", "\r\n", "\x00", "\xff", "\u0301", "e\u0301", "&", "&#", "&amp", "&a;", "%", "%2", "%25", "---\n", "--- \n", "\uFEFF", "a", "a\n", "a ",
		strings.Repeat("- ", 50) + "a\n", strings.Repeat(">", 50) + "a\n", strings.Repeat("> - ", 30) + "a\n",
		strings.Repeat(" ", 60) + "- a\n", strings.Repeat("1. ", 40) + "a\r\n", "# [a](", "| [[a](b|", "<div>[a]", "=\n# [a", "]: a\n[",
	}
	deep := strings.Repeat("- ", 60) + "a\n"
	for _, unit := range units {
		t.Run(unit, func(t *testing.T) {
			within(t, time.Second, strings.Repeat(unit, size/len(unit)))
			for _, prefix := range []string{"---\na: ", "# ", deep} {
				within(t, time.Second/4, prefix+strings.Repeat(unit, size/8/len(unit)))
			}
		})
	}
}

// within reads a text and fails when that takes too long. A busy machine gets
// a second and a third try.
func within(t *testing.T, limit time.Duration, text string) {
	t.Helper()
	var took time.Duration
	for range 3 {
		start := time.Now()
		notes.Parse(text).Links()
		if took = time.Since(start); took <= limit {
			return
		}
	}
	t.Errorf("%.40q… of %d bytes takes %v", text, len(text), took)
}
