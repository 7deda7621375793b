package github

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// MaxEvent is the largest delivery in bytes: GitHub sends no larger one.
const MaxEvent = 25 << 20

// EventKind is the name of a webhook event that vault knows.
type EventKind string

// The events vault acts on, or answers.
const (
	KindPing                     EventKind = "ping"
	KindPush                     EventKind = "push"
	KindInstallation             EventKind = "installation"
	KindInstallationRepositories EventKind = "installation_repositories"
	KindInstallationTarget       EventKind = "installation_target"
	KindRepository               EventKind = "repository"
	KindAuthorization            EventKind = "github_app_authorization"
	// KindOther is every event vault has no use for; nothing of it is read.
	KindOther EventKind = ""
)

// Event is one delivery. Only what the kind of event carries is set.
type Event struct {
	Kind EventKind
	// Action is what happened: created, deleted, renamed, revoked and so on.
	Action string
	// Installation is the number of the installation; 0 for events that
	// belong to none.
	Installation int64
	// Account is the account the installation or the repository belongs to.
	Account EventAccount
	// Sender is who did it.
	Sender EventAccount
	// Repository is what a push or a repository event is about.
	Repository EventRepository

	// Ref, Before and After are the full ref name and the commits a push
	// moved it between, zeros for none.
	Ref    string
	Before string
	After  string
	// Created, Deleted and Forced say how a push moved the ref.
	Created bool
	Deleted bool
	Forced  bool

	// AddedRepos and RemovedRepos are the repositories an installation gained
	// and lost.
	AddedRepos   []EventRepository
	RemovedRepos []EventRepository

	// OldName is the repository's or the account's name before a rename.
	OldName string
	// OldDefaultBranch is the default branch before it was changed.
	OldDefaultBranch string
}

// Branch gives the branch a push moved, "" for a tag.
func (e Event) Branch() string {
	branch, ok := strings.CutPrefix(e.Ref, "refs/heads/")
	if !ok {
		return ""
	}
	return branch
}

// EventAccount is an organisation or a person.
type EventAccount struct {
	ID     int64  `json:"id"`
	NodeID string `json:"node_id"`
	Login  string `json:"login"`
}

// EventRepository is a repository as deliveries name it; DefaultBranch is
// absent from the lists of installations.
type EventRepository struct {
	ID            int64  `json:"id"`
	NodeID        string `json:"node_id"`
	Name          string `json:"name"`
	FullName      string `json:"full_name"`
	DefaultBranch string `json:"default_branch"`
	Private       bool   `json:"private"`
	Archived      bool   `json:"archived"`
}

// errEvent says that a delivery cannot be what its header says.
var errEvent = errors.New("the delivery is not the event it claims to be")

// payload is what we read of a delivery. It is our own, not go-github's: that
// one would build all commits of a push, up to 2,048 with 3,000 files each,
// of which vault needs nothing.
type payload struct {
	Action       string `json:"action"`
	Installation *struct {
		ID      int64         `json:"id"`
		Account *EventAccount `json:"account"`
	} `json:"installation"`
	Account    *EventAccount `json:"account"`
	Sender     *EventAccount `json:"sender"`
	Repository *struct {
		EventRepository
		Owner *EventAccount `json:"owner"`
	} `json:"repository"`

	Ref     string `json:"ref"`
	Before  string `json:"before"`
	After   string `json:"after"`
	Created bool   `json:"created"`
	Deleted bool   `json:"deleted"`
	Forced  bool   `json:"forced"`

	Repositories        []EventRepository `json:"repositories"`
	RepositoriesAdded   []EventRepository `json:"repositories_added"`
	RepositoriesRemoved []EventRepository `json:"repositories_removed"`

	Changes struct {
		Repository struct {
			Name changed `json:"name"`
		} `json:"repository"`
		DefaultBranch changed `json:"default_branch"`
		Login         changed `json:"login"`
	} `json:"changes"`
}

type changed struct {
	From string `json:"from"`
}

// ParseEvent reads a delivery whose signature has been checked. name is the
// value of X-GitHub-Event; an event vault has no use for is KindOther and no
// error.
func ParseEvent(name string, body []byte) (Event, error) {
	kind := kindOf(name)
	if kind == KindOther {
		return Event{Kind: KindOther}, nil
	}
	if len(body) > MaxEvent {
		return Event{}, fmt.Errorf("delivery of %d bytes: %w", len(body), ErrTooLarge)
	}
	var p payload
	if err := json.Unmarshal(body, &p); err != nil {
		return Event{}, fmt.Errorf("%w: decode %s: %w", errEvent, kind, err)
	}
	e := p.event(kind)
	if !e.complete() {
		return Event{}, fmt.Errorf("%w: %s lacks what names its subject", errEvent, kind)
	}
	return e, nil
}

func kindOf(name string) EventKind {
	switch kind := EventKind(name); kind {
	case KindPing, KindPush, KindInstallation, KindInstallationRepositories,
		KindInstallationTarget, KindRepository, KindAuthorization:
		return kind
	}
	return KindOther
}

func (p *payload) event(kind EventKind) Event {
	e := Event{
		Kind:             kind,
		Action:           p.Action,
		OldDefaultBranch: p.Changes.DefaultBranch.From,
		OldName:          p.Changes.Repository.Name.From + p.Changes.Login.From,
	}
	if p.Sender != nil {
		e.Sender = *p.Sender
	}
	p.addOwner(&e)
	switch kind {
	case KindPush:
		e.Ref, e.Before, e.After = p.Ref, p.Before, p.After
		e.Created, e.Deleted, e.Forced = p.Created, p.Deleted, p.Forced
	case KindInstallation:
		if p.Action == "deleted" {
			e.RemovedRepos = p.Repositories
		} else {
			e.AddedRepos = p.Repositories
		}
	case KindInstallationRepositories:
		e.AddedRepos, e.RemovedRepos = p.RepositoriesAdded, p.RepositoriesRemoved
	}
	return e
}

// addOwner finds the account where the kinds of events put it.
func (p *payload) addOwner(e *Event) {
	if p.Repository != nil {
		e.Repository = p.Repository.EventRepository
		if p.Repository.Owner != nil {
			e.Account = *p.Repository.Owner
		}
	}
	if p.Installation != nil {
		e.Installation = p.Installation.ID
		if p.Installation.Account != nil {
			e.Account = *p.Installation.Account
		}
	}
	if p.Account != nil {
		e.Account = *p.Account
	}
}

// complete tells whether the event names what it is about.
func (e Event) complete() bool {
	switch e.Kind {
	case KindPush:
		return e.Repository.ID != 0 && e.Ref != "" && isOID(e.Before) && isOID(e.After)
	case KindRepository:
		return e.Repository.ID != 0 && e.Action != ""
	case KindInstallation, KindInstallationRepositories, KindInstallationTarget:
		return e.Installation != 0 && e.Action != ""
	case KindAuthorization:
		return e.Sender.ID != 0 && e.Action != ""
	}
	return true
}
