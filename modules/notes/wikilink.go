package notes

import "strings"

// wikilinkAt reads the wikilink or embed that starts at offset i and gives it
// with the offset behind it. It stays on one line, ends at the first ]] and
// holds no other wikilink.
func wikilinkAt(s string, i int) (Link, int, bool) {
	link := Link{Form: FormWiki, Start: i}
	if i < len(s) && s[i] == '!' {
		link.Embed = true
		i++
	}
	if !strings.HasPrefix(s[i:], "[[") {
		return Link{}, 0, false
	}
	start := i + len("[[")
	end := wikilinkEnd(s, start)
	if end < 0 {
		return Link{}, 0, false
	}
	link.End = end + len("]]")
	destEnd := end
	if pipe := strings.IndexByte(s[start:end], '|'); pipe >= 0 {
		destEnd = start + pipe
		link.Label = s[destEnd+1 : end]
		// In a table the pipe is written \|; the backslash is part of it.
		if destEnd > start && s[destEnd-1] == '\\' {
			destEnd--
		}
	}
	link.DestStart, link.DestEnd = trimSpan(s, start, destEnd)
	link.Dest = s[link.DestStart:link.DestEnd]
	path, sub, _ := strings.Cut(link.Dest, "#")
	link.PathEnd = link.DestStart + len(path)
	link.Target = strings.TrimRight(path, " \t")
	link.Sub = sub
	return link, link.End, link.Target != "" || link.Sub != ""
}

// wikilinkEnd gives the offset of the ]] that closes what was opened before
// start. Each search stops at the next [[, so that many openings cost no more
// than their length.
func wikilinkEnd(s string, start int) int {
	if start < len(s) && s[start] == '[' { // of [[[ the last two open
		return -1
	}
	for i := start; i+1 < len(s); i++ {
		switch c := s[i]; {
		case c == '\n' || c == '\r', c == '[' && s[i+1] == '[':
			return -1
		case c == ']' && s[i+1] == ']':
			return i
		}
	}
	return -1
}

func trimSpan(s string, start, end int) (int, int) {
	for start < end && isSpace(s[start]) {
		start++
	}
	for start < end && isSpace(s[end-1]) {
		end--
	}
	return start, end
}
