// Package notes reads one note: its frontmatter, headings, lines and links,
// each with the bytes it stands on. It also says when two spellings count as
// the same (Fold, Key) and which file a link means (Resolve).
//
// Everything here is a pure function of the text and paths it is given.
// Parsing never fails: what cannot be read is reported in the Doc and the rest
// is still there. Every offset is a byte offset into the text as it stands in
// the file, a byte order mark included, so that an edit can be written as
// (start, end, new bytes) without anything being rendered anew.
//
// The block structure is CommonMark's, as goldmark reads it, with two
// additions: frontmatter, and the `%%` comments of Obsidian, which hide what
// looks like a heading inside them.
package notes
