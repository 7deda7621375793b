package vaultdir

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"vault/platform/fault"
)

// MaxPath is the longest path that is accepted, in bytes of UTF-8.
const MaxPath = 4096

// PathKind says what a path argument may name.
type PathKind int

const (
	// KindFile is a note or another file: no root, no slash at the end.
	KindFile PathKind = iota
	// KindFolder is a folder to look into: "" and "/" are the root, and one slash
	// at the end is dropped. A folder above an open folder may be looked into,
	// since what is open below it can be shown.
	KindFolder
	// KindAny is a file or a folder, as where something is moved or
	// referred to: one slash at the end is dropped, the root is refused.
	KindAny
)

// CleanPath brings a path argument into the form in which paths are compared:
// Unicode NFC, without the slash at a folder's end, "" for the root. It refuses
// with an outward error what no path of a vault can be: absolute, with an
// empty part, "." or "..", a backslash, NUL, control or bidirectional
// characters, a part that starts with a dot, over MaxPath bytes. The answer
// depends on the spelling alone. Percent signs mean themselves.
//
// Open folders are not looked at; Repo.Check does that too.
func CleanPath(arg string, kind PathKind) (string, error) {
	clean, problem := normalise(arg, kind)
	if problem != nil {
		return "", problem
	}
	return clean, nil
}

// normalise is CleanPath with its error's own type.
func normalise(arg string, kind PathKind) (string, *fault.Error) {
	if kind == KindFolder && (arg == "" || arg == "/") {
		return "", nil
	}
	if arg == "" || arg == "/" {
		return "", fault.Invalid("the path is empty or the root, and a %s is needed", kind.word()).
			Fix("give a path from the repository's root, such as %s", fault.Quote(kind.example()))
	}
	if len(arg) > MaxPath {
		return "", fault.Invalid("the path is longer than %d bytes", MaxPath)
	}
	path := norm.NFC.String(arg)
	if kind != KindFile {
		path = strings.TrimSuffix(path, "/")
	} else if strings.HasSuffix(path, "/") {
		return "", fault.Invalid("the path %s ends with a slash, as a folder's does, and a file is needed", fault.Quote(arg))
	}
	if fix := judge(path); fix != "" {
		return "", fault.Invalid("the path %s cannot be used: %s", fault.Quote(arg), fix)
	}
	return path, nil
}

func (k PathKind) word() string {
	switch k {
	case KindFile:
		return "file"
	case KindFolder:
		return "folder"
	default:
		return "file or folder"
	}
}

func (k PathKind) example() string {
	if k == KindFolder {
		return "plans/2026"
	}
	return "plans/2026/launch.md"
}

// judge gives the reason why a path in normal form is refused, "" if it is not.
// It is the whole of the spelling rule, for arguments, stored names, settings
// and link targets alike.
func judge(path string) string {
	switch {
	case path == "":
		return "it is empty"
	case len(path) > MaxPath:
		return "it is too long"
	case !utf8.ValidString(path):
		return "it is not UTF-8"
	case path[0] == '/':
		return "it starts with a slash; paths are counted from the repository's root, without one"
	case strings.Contains(path, `\`):
		return "it has a backslash; folders are separated by /"
	case strings.ContainsFunc(path, unspeakable):
		return "it has a control, line separator or bidirectional character"
	}
	for part := range strings.SplitSeq(path, "/") {
		if reason := judgePart(part); reason != "" {
			return reason
		}
	}
	return ""
}

func judgePart(part string) string {
	switch {
	case part == "":
		return "a part between its slashes is empty"
	case part == "." || part == "..":
		return `"." and ".." have no meaning in it; write the path out from the repository's root`
	case part[0] == '.':
		return "files and folders whose name starts with a dot are hidden, and no tool reads or writes them"
	}
	return ""
}

// unspeakable reports the characters that no path may hold: they cannot be
// shown, or change how the text around them is shown. Joiners and tags stay
// allowed, since emoji in real names need them.
func unspeakable(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r)
}
