// Package index is the index of one installation: the tables that hold its
// repositories' notes, the one function that moves a repository's head, and
// every query that reads them.
//
// Index.Update brings a repository to the commit its branch stands at, in
// slices of bounded time: texts first, in batches that are kept when the work
// is interrupted, then one transaction (Index.Apply) that replaces the rows of
// the tree and sets the new head. A reader therefore sees either the old
// commit or the new one, never something between.
//
// Index.Snapshot opens a read-only transaction for one caller. All queries are
// its methods, and each of them works on the repositories of the caller's
// Scope alone: there is no way to run a query without rights, or across two
// states of the index.
package index
