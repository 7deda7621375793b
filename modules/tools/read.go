package tools

import (
	"context"
	"net/url"
	"strings"

	"vault/modules/index"
	"vault/modules/notes"
	"vault/modules/tool"
	"vault/modules/vaultdir"
	"vault/platform/fault"
)

// The bounds of one read_note answer.
const (
	// maxContent is the most characters of text.
	maxContent = 40_000
	// maxHeadings is the most headings of an outline, maxHeadingText the most
	// characters of one.
	maxHeadings    = 300
	maxHeadingText = 200
	// outlineRoom is the most bytes of the outline; together with them
	// otherRoom is kept of an answer for everything but the text.
	outlineRoom = 32_000
	otherRoom   = 8_000
)

type readInput struct {
	Path     string  `json:"path"`
	FromLine *int    `json:"from_line"`
	ToLine   *int    `json:"to_line"`
	Heading  *string `json:"heading"`
	Repo     string  `json:"repo"`
}

type readAnswer struct {
	Path       string        `json:"path"`
	Title      string        `json:"title"`
	Type       string        `json:"type,omitempty"`
	FromLine   int           `json:"from_line"`
	ToLine     int           `json:"to_line"`
	TotalLines int           `json:"total_lines"`
	Content    string        `json:"content"`
	Truncated  bool          `json:"truncated"`
	Headings   []readHeading `json:"headings,omitempty"`
	NextSteps  string        `json:"next_steps,omitempty"`
	Note       string        `json:"note,omitempty"`
	Repo       string        `json:"repo,omitempty"`
}

type readHeading struct {
	Line  int    `json:"line"`
	Level int    `json:"level"`
	Text  string `json:"text"`
}

// readNote reads a note, a range of its lines or the section of a heading.
func readNote(ctx context.Context, call *tool.Call) (any, error) {
	in, err := tool.Decode[readInput](call)
	if err != nil {
		return nil, err
	}
	if in.Heading != nil && (in.FromLine != nil || in.ToLine != nil) {
		return nil, fault.Invalid("\"heading\" and a range of lines exclude each other").
			Fix("leave out \"heading\", or leave out \"from_line\" and \"to_line\"").On("heading")
	}
	p, err := locate(ctx, call, in.Repo, in.Path, vaultdir.KindFile)
	if err != nil {
		return nil, err
	}
	text, err := findText(ctx, call, p)
	if err != nil {
		return nil, err
	}
	r := reading{call: call, place: p, text: text, lines: notes.LinesOf(text.Body)}
	if err := r.chooseRange(in); err != nil {
		return nil, err
	}
	r.cut()
	answer, err := r.answer(ctx)
	if err != nil {
		return nil, err
	}
	return tool.Result{Data: answer, Meta: meta(p.repo, text.Path)}, nil
}

// findText reads a file; a note's ending may be left off.
func findText(ctx context.Context, call *tool.Call, p place) (index.Text, error) {
	for _, path := range []string{p.sent, p.path, p.path + ".md", p.path + ".markdown"} {
		text, ok, err := call.Index.Text(ctx, p.repo.Name, path)
		if err != nil {
			return index.Text{}, err
		}
		if ok {
			return text, readable(text)
		}
	}
	return index.Text{}, missing(ctx, call, p)
}

// readable says why a file has no text to show.
func readable(t index.Text) error {
	path := fault.Quote(t.Path)
	switch t.Kind {
	case index.KindText:
		return nil
	case index.KindNUL:
		return fault.Invalid("%s holds a NUL byte, so it is not text and cannot be read here", path)
	case index.KindNotUTF8:
		return fault.Invalid("%s is not UTF-8 text and cannot be read here", path).Fix("save it as UTF-8 to make it readable")
	case index.KindTooLarge:
		if t.Size < 0 {
			return fault.Invalid("%s has more bytes than are kept for reading", path)
		}
		return fault.Invalid("%s has %d bytes, more than are kept for reading", path, t.Size)
	}
	return fault.Invalid("%s is not a text file and cannot be read here", path)
}

// missing says that there is no such file, with the nearest ones.
func missing(ctx context.Context, call *tool.Call, p place) error {
	f := fault.NotFound("there is no file %s in the repository %s", fault.Quote(p.path), fault.Quote(p.repo.Name)).On("path")
	near, err := call.Index.Near(ctx, p.repo.Name, p.path)
	if err != nil {
		return err
	}
	if len(near) > 0 {
		f.Fix("near paths are %s", fault.QuoteList(near))
	} else {
		f.Fix("the tools list_notes and tree show what there is")
	}
	return p.repo.Dir.NameFolders(f)
}

// reading is one read_note under way.
type reading struct {
	call  *tool.Call
	place place
	text  index.Text
	lines notes.Lines
	// from and to are the lines given.
	from, to int
	// content is what is given of them; inside says that it ends within line
	// to.
	content           string
	truncated, inside bool
	// wanted is the last line that was asked for.
	wanted int
}

// chooseRange sets the lines asked for.
func (r *reading) chooseRange(in readInput) error {
	total := r.lines.Count()
	r.from, r.to = 1, total
	if in.Heading != nil {
		return r.chooseSection(*in.Heading)
	}
	if in.FromLine != nil {
		r.from = *in.FromLine
	}
	if in.ToLine != nil {
		r.to = min(*in.ToLine, total)
	}
	if r.from > max(total, 1) {
		return fault.Invalid("\"from_line\" is %d and the note has %d lines (total_lines)", r.from, total).On("from_line")
	}
	if in.ToLine != nil && *in.ToLine < r.from {
		return fault.Invalid("\"to_line\" (%d) is before \"from_line\" (%d)", *in.ToLine, r.from).On("to_line")
	}
	return nil
}

// chooseSection sets the lines of a heading's section: down to the next
// heading of the same or a higher level.
func (r *reading) chooseSection(heading string) error {
	i, err := findHeading(r.text.Headings, heading)
	if err != nil {
		return err
	}
	h := r.text.Headings[i]
	r.from = h.Line
	for _, next := range r.text.Headings[i+1:] {
		if next.Level <= h.Level {
			r.to = next.Line - 1
			break
		}
	}
	return nil
}

// cut takes the text of the range, as far as one answer goes: whole lines, or
// a part of the first when that alone is too long.
func (r *reading) cut() {
	r.wanted = r.to
	whole := r.lines.Slice(r.from, r.to)
	end := fit(whole)
	if end == len(whole) {
		r.content = whole
		return
	}
	r.truncated = true
	if i := strings.LastIndexByte(whole[:end], '\n'); i >= 0 {
		r.content = whole[:i+1]
		r.to = r.from + strings.Count(r.content, "\n") - 1
		return
	}
	r.content, r.to, r.inside = whole[:end], r.from, true
}

// fit gives how many bytes of text one answer carries.
func fit(text string) int {
	n := 0
	for i := range text {
		if n == maxContent {
			text = text[:i]
			break
		}
		n++
	}
	return tool.FitText(text, tool.MaxStructured-outlineRoom-otherRoom)
}

// answer puts the answer together.
func (r *reading) answer(ctx context.Context) (readAnswer, error) {
	a := readAnswer{
		Path:       r.place.show(r.place.repo.Name, r.text.Path),
		Title:      title(r.text),
		Type:       r.text.Type,
		FromLine:   r.from,
		ToLine:     r.to,
		TotalLines: r.lines.Count(),
		Content:    r.content,
		Truncated:  r.truncated,
		Repo:       r.place.top(),
	}
	var note hints
	a.Headings = outline(r.text.Headings)
	if shown, all := len(a.Headings), len(r.text.Headings); shown < all {
		note.add("The outline shows the first %d of %d headings", shown, all)
	}
	noteProblems(&note, r.text)
	a.Note = note.text()
	broken, err := r.broken(ctx)
	if err != nil {
		return a, err
	}
	a.NextSteps = r.nextSteps(broken)
	return a, nil
}

// outline gives the headings as far as an answer carries them.
func outline(all []index.Heading) []readHeading {
	var list []readHeading
	room := outlineRoom
	for _, h := range all[:min(len(all), maxHeadings)] {
		text := shorten(h.Text, maxHeadingText)
		room -= tool.TextSize(text) + len(`{"line":,"level":6,"text":},`) + 8
		if room < 0 {
			break
		}
		list = append(list, readHeading{h.Line, h.Level, text})
	}
	return list
}

// title is the note's title; another file has its name.
func title(t index.Text) string {
	if t.Title != "" {
		return t.Title
	}
	return t.Path[strings.LastIndexByte(t.Path, '/')+1:]
}

// noteProblems says what is odd about a file.
func noteProblems(note *hints, t index.Text) {
	if t.FrontError != "" {
		note.add("The frontmatter cannot be read, line %d: %s", t.FrontLine, fault.Quote(t.FrontError))
	}
	if t.LFS {
		note.add("This file is a Git LFS pointer: it names content that is stored elsewhere and not readable here")
	}
	if otherReadme(t.Path) {
		note.add("Only a file named exactly README.md describes its folder; %s does not", fault.Quote(t.Path))
	}
}

// otherReadme reports a README in a spelling that is not used.
func otherReadme(path string) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	return name != "README.md" && strings.EqualFold(name, "README.md")
}

// nextSteps says how to go on after a cut, and names broken links.
func (r *reading) nextSteps(broken []string) string {
	var steps hints
	switch {
	case r.inside && r.to < r.wanted:
		steps.add("Line %d is longer than one answer and was cut inside; go on with from_line %d", r.to, r.to+1)
	case r.inside:
		steps.add("Line %d is longer than one answer and was cut inside; use search_notes to see other parts of it", r.to)
	case r.truncated:
		steps.add("The text goes on: read it with from_line %d", r.to+1)
	}
	if len(broken) > 0 {
		steps.add("These links lead nowhere: %s", fault.QuoteList(broken))
	}
	return steps.text()
}

// shorten cuts text to a number of characters.
func shorten(text string, limit int) string {
	n := 0
	for i := range text {
		if n == limit {
			return text[:i] + "…"
		}
		n++
	}
	return text
}

func escapePart(part string) string { return url.PathEscape(part) }
