// Package vaultdir reads a repository's .vault/ folder into validated,
// immutable data and holds the one rule about paths.
//
// Load takes the folder's files as they are in force and gives a Repo: the
// settings with their defaults filled in, the summary and the instructions in
// the form a model may see, and the path rule (Open for stored paths, Check
// for paths that a caller sends). A repository without .vault/ is Plain: all
// of it is open.
//
// A .vault/ folder without settings.jsonc leaves the repository open and keeps
// its instructions, as its keeper who only wrote instructions would expect. A
// settings.jsonc that is there and not good closes the repository: what it was
// meant to keep closed is not known. The same holds for a file that was
// evidently meant to be the settings and is misnamed.
//
// Nothing here does I/O. Text that comes from the folder is bounded in size and
// depth before it is parsed, and cleaned before it is given on.
package vaultdir
