// Package auth decides who a caller is and what the caller may read.
//
// A caller holds a sealed access token: a GitHub token of the person, closed
// with a key only this service has and bound to one address. Sealer closes
// and opens them. Service then asks GitHub, with the person's own token, which
// of an installation's repositories the person can read, remembers the answer
// for at most fifteen minutes and makes the index.Scope of it. No other
// package makes one.
//
// Errors for the caller are *fault.Error: unauthenticated means "sign in
// again" and is used for nothing else; denied means that the sign-in is good
// and opens nothing here; limited and unavailable are GitHub's state and go
// away by waiting.
package auth
