package index

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	// vaultFolder holds a repository's settings.
	vaultFolder = ".vault/"
	// settingsFile is the one file of it that decides what is open.
	settingsFile = vaultFolder + "settings.jsonc"
	// pathLimit is the longest path, in bytes, that is stored as it is: a key
	// of a B-tree holds 2,704 bytes, and a path shares it with other columns.
	pathLimit = 1500
	// keyLimit cuts other indexed text, in bytes.
	keyLimit = 500
)

// Modes of tree entries, as git writes them.
const (
	modeFile       = 0o100644
	modeExecutable = 0o100755
)

// regular reports whether a mode is that of an ordinary file. Symbolic links
// and submodules are not.
func regular(mode uint32) bool { return mode == modeFile || mode == modeExecutable }

// storedPath gives the text under which a path of git is kept. A path that is
// no text, or too long to be a key, is kept under a readable stand-in that is
// unique to it; raw then holds its bytes.
func storedPath(gitPath string) (stored string, raw []byte) {
	if utf8.ValidString(gitPath) && len(gitPath) <= pathLimit && len(norm.NFC.String(gitPath)) <= pathLimit {
		return gitPath, nil
	}
	sum := sha256.Sum256([]byte(gitPath))
	text := cut(strings.ToValidUTF8(gitPath, "\uFFFD"), pathLimit-64)
	return text + "\uFFFD" + hex.EncodeToString(sum[:16]), []byte(gitPath)
}

// nfcPath gives the NFC form of a path, or nil if the path is in NFC already.
func nfcPath(p string) *string {
	if norm.NFC.IsNormalString(p) {
		return nil
	}
	s := norm.NFC.String(p)
	return &s
}

// hidden reports whether a part of the path starts with a dot.
func hidden(p string) bool { return strings.HasPrefix(p, ".") || strings.Contains(p, "/.") }

// cut shortens s to at most n bytes without breaking a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// indexed gives the form in which a value is kept in an indexed column, and
// in which it is looked for there.
func indexed(s string) string { return cut(clean(s), keyLimit) }

// clean makes any string acceptable as Postgres text, which holds neither NUL
// nor bytes that are not UTF-8.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return strings.ReplaceAll(s, "\x00", "\uFFFD")
}

// belowRange gives the range of paths below a folder: from < path < to in
// byte order. The folder has no final slash; "" is the root.
func belowRange(folder string) (from, to string) {
	if folder == "" {
		return "", maxPath
	}
	return folder + "/", folder + "0"
}

// maxPath sorts after every path: U+10FFFF is no character and the greatest
// there can be in UTF-8.
const maxPath = "\U0010FFFF"

// parent gives the folder of a path, "" at the root.
func parent(p string) string {
	if dir := path.Dir(p); dir != "." {
		return dir
	}
	return ""
}

// neverText lists name endings of formats that are not text. Files with such
// an ending are not read to find that out.
var neverText = map[string]bool{
	".png": true, ".jpg": true, ".jpeg": true, ".gif": true, ".webp": true, ".bmp": true,
	".ico": true, ".tif": true, ".tiff": true, ".heic": true, ".avif": true, ".psd": true,
	".mp3": true, ".m4a": true, ".wav": true, ".ogg": true, ".flac": true, ".aac": true,
	".mp4": true, ".mov": true, ".mkv": true, ".webm": true, ".avi": true, ".m4v": true,
	".zip": true, ".gz": true, ".tgz": true, ".bz2": true, ".xz": true, ".7z": true,
	".rar": true, ".zst": true, ".tar": true, ".jar": true, ".iso": true, ".dmg": true,
	".pdf": true, ".doc": true, ".docx": true, ".xls": true, ".xlsx": true, ".ppt": true,
	".pptx": true, ".odt": true, ".ods": true, ".odp": true, ".epub": true, ".pages": true,
	".numbers": true, ".key": true, ".sqlite": true, ".db": true, ".parquet": true,
	".woff": true, ".woff2": true, ".ttf": true, ".otf": true, ".eot": true,
	".exe": true, ".dll": true, ".so": true, ".dylib": true, ".a": true, ".o": true,
	".class": true, ".pyc": true, ".wasm": true, ".bin": true,
}

// maybeText reports whether a file's name leaves open that it is text.
func maybeText(p string) bool { return !neverText[strings.ToLower(path.Ext(p))] }
