// Package catalogue keeps the finished answers of the list methods: for each
// set of readable repositories the bytes that initialize, server/discover and
// tools/list answer, built by the code that the instance itself runs.
//
// A view is found by what it was made from: the set of repositories, the
// contract version (everything that every view shares) and the revision of
// the set (names and `.vault/` of each repository). So a stored view is right
// or it is not found; nothing has to be invalidated in time.
package catalogue
