package notes

import (
	"path"
	"strings"
)

// noteEndings are the endings of a note's file name, in the order in which a
// link without an ending tries them.
var noteEndings = [...]string{".md", ".markdown"}

// IsNote reports whether a path names a note: a .md or .markdown file. Letter
// case does not count, since neither GitHub nor Obsidian counts it.
func IsNote(p string) bool {
	return len(trimNoteEnding(p)) < len(p)
}

// BaseName gives the last segment of a path without the ending of a note;
// other endings stay, since they are part of how such a file is linked.
func BaseName(p string) string {
	return trimNoteEnding(lastSegment(p))
}

// maxDecodings bounds how often a name is percent-decoded for its key.
const maxDecodings = 8

// Key gives the name under which links to a path are looked up: the folded
// last segment without the ending of a note. Percent encoding is taken off
// first, to the last level, because a wikilink may spell a name either way;
// two different names may therefore share a key, and Resolve tells them apart.
// A folder's trailing slash does not count.
func Key(p string) string {
	for range maxDecodings {
		decoded := percentDecode(p)
		if decoded == p {
			break
		}
		p = decoded
	}
	return Fold(trimNoteEnding(lastSegment(strings.TrimRight(p, "/"))))
}

func lastSegment(p string) string {
	return p[strings.LastIndexByte(p, '/')+1:]
}

// trimNoteEnding takes a note's ending off. A name that is nothing but the
// ending is a hidden file and keeps it.
func trimNoteEnding(p string) string {
	for _, ending := range noteEndings {
		cut := len(p) - len(ending)
		if cut > 0 && p[cut-1] != '/' && strings.EqualFold(p[cut:], ending) {
			return p[:cut]
		}
	}
	return p
}

// fileTitle is the file name without its ending, whatever the ending is.
func fileTitle(p string) string {
	name := lastSegment(p)
	if bare := trimNoteEnding(name); bare != name {
		return bare
	}
	if bare := strings.TrimSuffix(name, path.Ext(name)); bare != "" {
		return bare
	}
	return name
}

// percentDecode takes one level of percent encoding off. A % that two hex
// digits do not follow stays, and so does an encoding of bytes that are not
// UTF-8 or of NUL, since no path holds either.
func percentDecode(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if c, ok := hexPair(s, i); ok {
			out = append(out, c)
			i += 2
			continue
		}
		out = append(out, s[i])
	}
	return validOr(string(out), s)
}
