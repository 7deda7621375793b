package notes

import (
	"sort"
	"strings"

	"github.com/yuin/goldmark/text"
)

// view is a text to scan that knows where in the file its bytes stand: the
// lines of a block without the marks of the quotes and lists around it, or a
// quoted string without its escapes.
type view struct {
	text   string
	pieces []viewPiece // ascending
}

// viewPiece says that the view's bytes from offset to on, up to the next
// piece, stand for the file's bytes from..end.
type viewPiece struct{ to, from, end int }

// newView makes the view of a block's lines, whose offsets count from base in
// source.
func newView(source string, lines *text.Segments, base int) view {
	if start, end, ok := contiguous(lines); ok {
		return view{text: source[base+start : base+end], pieces: []viewPiece{{from: base + start, end: base + end}}}
	}
	var b viewBuilder
	for _, segment := range lines.Sliced(0, lines.Len()) {
		start, end := base+segment.Start, base+segment.Stop
		b.add(source[start:end], start, end)
	}
	return b.view()
}

func contiguous(lines *text.Segments) (start, end int, ok bool) {
	if lines.Len() == 0 {
		return 0, 0, true
	}
	end = lines.At(0).Start
	for _, segment := range lines.Sliced(0, lines.Len()) {
		if segment.Start != end {
			return 0, 0, false
		}
		end = segment.Stop
	}
	return lines.At(0).Start, end, true
}

// viewBuilder joins pieces of a file into a view.
type viewBuilder struct {
	out    strings.Builder
	pieces []viewPiece
}

// add appends text that stands for the file's bytes from..end.
func (b *viewBuilder) add(text string, from, end int) {
	if text == "" {
		return
	}
	b.pieces = append(b.pieces, viewPiece{to: b.out.Len(), from: from, end: end})
	b.out.WriteString(text)
}

func (b *viewBuilder) view() view { return view{text: b.out.String(), pieces: b.pieces} }

// at gives the piece that holds a byte of the view, and its number.
func (v view) at(offset int) (viewPiece, int) {
	i := sort.Search(len(v.pieces), func(i int) bool { return v.pieces[i].to > offset }) - 1
	if i < 0 {
		return viewPiece{}, i
	}
	return v.pieces[i], i
}

// offset gives the offset in the file of a byte of the view.
func (v view) offset(at int) int {
	p, _ := v.at(at)
	return min(p.from+at-p.to, p.end)
}

// end gives the offset in the file behind the byte of the view before at.
func (v view) end(at int) int {
	if at == 0 {
		return v.offset(0)
	}
	p, i := v.at(at - 1)
	if at == len(v.text) || i+1 < len(v.pieces) && v.pieces[i+1].to == at {
		return p.end
	}
	return min(p.from+at-p.to, p.end)
}

// toSource moves the spans of a link from the view to the file.
func (v view) toSource(l Link) Link {
	start, end := l.DestStart, l.DestEnd
	l.Start, l.End = v.offset(l.Start), v.end(l.End)
	l.DestStart = v.offset(start)
	l.DestEnd, l.PathEnd = l.DestStart, v.pathEnd(l.PathEnd, start)
	if end > start {
		l.DestEnd = v.end(end)
	}
	return l
}

func (v view) pathEnd(at, start int) int {
	if at > start {
		return v.end(at)
	}
	return v.offset(start)
}
