// Package github is vault's only way to talk to GitHub, or to anything that
// speaks its interfaces: github.com, a GitHub Enterprise host, the local hub.
//
// There is one client per kind of credential: App signs itself in with the
// App's private key, InstallationClient carries an installation token and
// UserClient a person's token. All of them share one RoundTripper, which sends
// a credential to the configured endpoints only, bounds what is read, repeats
// reads that met a passing failure, and records of every answer what the
// libraries above it lose: status, headers, request id and the types of
// GraphQL errors. Every failure therefore comes back as an *Error.
//
// Clients keep no memory of rate limits, since one process speaks for many
// people: go-github's client, which does, is made anew for each request.
package github
