package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

var (
	// ErrUnauthorized says that the other side did not accept the token, or
	// wants one.
	ErrUnauthorized = errors.New("not authorized")
	// ErrRedirected says that the other side has the repository under another
	// address, as GitHub does after a rename.
	ErrRedirected = errors.New("redirected to another address")
)

// fetch runs the transfer and tells what the other side refused. What git said
// about a transfer that worked are findings about its objects.
func (repo *Repo) fetch(ctx context.Context, c call, address string) error {
	var notes string
	c.notes = &notes
	err := repo.run.run(ctx, c)
	if said(err, "fsck error") {
		// A partial fetch does not tell the checks to let findings through.
		repo.run.log.WarnContext(ctx, "git fetch takes objects with errors", "remarks", notes)
		c.config = append(slices.Clone(c.config), setting{"transfer.fsckObjects", "false"}, setting{"fetch.fsckObjects", "false"})
		err = repo.run.run(ctx, c)
	}
	if err == nil {
		if notes != "" {
			repo.run.log.WarnContext(ctx, "git fetch has remarks", "remarks", notes)
		}
		return nil
	}
	if kind := fetchFailure(err); kind != nil {
		return fmt.Errorf("fetch from %s: %w: %w", address, kind, err)
	}
	return fmt.Errorf("fetch from %s: %w", address, err)
}

// fetchFailure recognises git's and curl's words; LC_ALL=C keeps them English.
func fetchFailure(err error) error {
	switch {
	case said(err, "error: 301", "error: 302", "error: 303", "error: 307", "error: 308"):
		return ErrRedirected
	case said(err, "error: 401", "error: 403", "could not read Username", "could not read Password", "Authentication failed"):
		return ErrUnauthorized
	case said(err, "error: 404", "couldn't find remote ref", "not our ref"):
		return ErrNotFound
	case isNotFoundURL(err):
		return ErrNotFound
	}
	return nil
}

// isNotFoundURL matches "repository '<url>' not found".
func isNotFoundURL(err error) bool {
	var e *Error
	return errors.As(err, &e) && strings.Contains(e.Text, "repository '") && strings.Contains(e.Text, "' not found")
}
