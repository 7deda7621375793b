// Package localhub is a local GitHub: a faithful subset of GitHub's REST,
// GraphQL, App, webhook and git-over-HTTP interfaces over real git
// repositories, for one account on one machine.
//
// Everything it says about content is read from git objects. It serves
// repositories of its own, which can be pushed to, and folders of the user,
// which it reads through a bare repository of its own that borrows the
// folder's objects: the folder's settings, hooks and attributes play no part.
//
// Below its base URL it answers:
//
//	/… and /api/v3/…             REST
//	/graphql and /api/graphql    GraphQL
//	/{owner}/{repo}.git/…        git's smart HTTP protocol
//	/admin/…                     acts that GitHub offers on its web pages, for
//	                             tests, behind a token of its own
//
// What GitHub would answer but this subset does not build is refused loudly,
// never answered with an empty value.
package localhub
