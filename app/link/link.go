// Package link is the private line between a front and the instances behind
// it: the paths, the headers and the messages both sides agree on. Who may
// speak on it is decided by auth.Link.
package link

import (
	"net/http"
	"strconv"
)

// The paths an instance answers.
const (
	// PathMCP takes forwarded MCP messages.
	PathMCP = "/mcp"
	// PathView gives the finished view of a set of repositories.
	PathView = "/view"
	// PathWake does nothing: asking for it wakes a sleeping instance.
	PathWake = "/wake"
)

// HeaderEpoch carries the installation's access epoch as the front knows it.
// A front never passes it on from a client.
const HeaderEpoch = "Vault-Epoch"

// SetEpoch puts the epoch on a request.
func SetEpoch(h http.Header, epoch int64) {
	h.Set(HeaderEpoch, strconv.FormatInt(epoch, 10))
}

// Epoch reads the epoch of a request; 0 when it is missing or malformed.
func Epoch(h http.Header) int64 {
	n, err := strconv.ParseInt(h.Get(HeaderEpoch), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// ViewRequest asks for the view of a set of repositories.
type ViewRequest struct {
	// Repositories are GitHub's ids of the readable repositories. The front
	// has checked them against GitHub with the caller's token.
	Repositories []int64 `json:"repositories"`
}
