// Package installations keeps what the service knows about the installations
// of its GitHub App: which are served and under what name, their repositories
// and how far each is indexed, the webhook deliveries, and the stored answers
// of the list methods.
//
// Work is coalesced by generations. A push raises a repository's wanted
// generation and inserts a job in one transaction; the insert is dropped while
// an equal job waits or runs. A run claims the wanted generation before it
// looks at the repository, and Complete ends the job only if no newer
// generation is wanted by then. So no push is lost, however it falls.
//
// Whatever may change who reads what raises the installation's epoch. Caches
// of access decisions are keyed by it.
//
// Locks are taken in one order: delivery, the advisory lock of syncs,
// installations by id, repositories by id, jobs.
package installations
