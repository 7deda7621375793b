// Package front is the public side: it lets a caller in, answers the list
// methods from stored bytes and forwards every other MCP message to the
// instance of the address.
package front

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"vault/modules/auth"
	"vault/modules/catalogue"
)

// Installation is one address as the front knows it.
type Installation struct {
	ID    int64
	Name  string
	Epoch int64
	// Known are its repositories, for the question to GitHub.
	Known []auth.KnownRepo
	// Repositories are the same, as views see them, by id.
	Repositories map[int64]catalogue.Repository

	// revs remembers the revision of each set of readable repositories by its
	// hash, since every call asks for it.
	revs sync.Map
}

// key gives the key of the view of a set of readable repositories.
func (i *Installation) key(ids []int64) catalogue.Key {
	key := catalogue.Key{Installation: i.ID, Set: catalogue.SetHash(ids)}
	if rev, ok := i.revs.Load(key.Set); ok {
		key.Rev, _ = rev.(string)
		return key
	}
	repos := make([]catalogue.Repository, 0, len(ids))
	for _, id := range ids {
		if r, ok := i.Repositories[id]; ok {
			repos = append(repos, r)
		}
	}
	key.Rev = catalogue.Rev(repos)
	i.revs.Store(key.Set, key.Rev)
	return key
}

// Source tells which installations there are; the control database does.
type Source interface {
	// Installations lists the enabled ones.
	Installations(ctx context.Context) ([]*Installation, error)
	// Watch calls changed whenever the list may differ, at least every 5 s,
	// until ctx ends.
	Watch(ctx context.Context, changed func(context.Context)) error
}

// Picture keeps the installations in memory, at most 5 s old.
type Picture struct {
	source Source
	log    *slog.Logger
	byName atomic.Pointer[map[string]*Installation]
}

// NewPicture makes an empty picture; Start fills it.
func NewPicture(source Source, log *slog.Logger) *Picture {
	p := &Picture{source: source, log: log}
	p.byName.Store(&map[string]*Installation{})
	return p
}

// Start loads the picture.
func (p *Picture) Start(ctx context.Context) error { return p.load(ctx) }

// Run keeps the picture fresh.
func (p *Picture) Run(ctx context.Context) error {
	return p.source.Watch(ctx, func(ctx context.Context) {
		if err := p.load(ctx); err != nil && ctx.Err() == nil {
			p.log.Warn("the list of installations could not be read; the last one stays in use", "error", err)
		}
	})
}

// Named finds the enabled installation of an address.
func (p *Picture) Named(name string) (*Installation, bool) {
	i, ok := (*p.byName.Load())[name]
	return i, ok
}

// load reads the list. An installation that did not change keeps its value
// and with it what was remembered about its reader sets.
func (p *Picture) load(ctx context.Context) error {
	list, err := p.source.Installations(ctx)
	if err != nil {
		return fmt.Errorf("list the installations: %w", err)
	}
	byName := make(map[string]*Installation, len(list))
	old := *p.byName.Load()
	for _, i := range list {
		if was, ok := old[i.Name]; ok && was.same(i) {
			i = was
		}
		byName[i.Name] = i
	}
	p.byName.Store(&byName)
	return nil
}

func (i *Installation) same(o *Installation) bool {
	if i.ID != o.ID || i.Epoch != o.Epoch || len(i.Repositories) != len(o.Repositories) {
		return false
	}
	for id, r := range i.Repositories {
		if o.Repositories[id] != r {
			return false
		}
	}
	return true
}
