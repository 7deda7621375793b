package index

import "slices"

// Person is who asks, as GitHub knows them.
type Person struct {
	// ID is GitHub's number of the account.
	ID int64
	// NodeID is GitHub's opaque id of the account.
	NodeID string
	// Login is the account's name.
	Login string
}

// Readable is one repository that a person may read.
type Readable struct {
	// ID is GitHub's number of the repository.
	ID int64
	// Name is the repository's name without its owner.
	Name string
	// CanWrite says whether the person may also change it.
	CanWrite bool
}

// Scope is what one caller may read. Its zero value reads nothing. It can
// only be made by NewScope and never changes.
type Scope struct {
	person Person
	repos  map[int64]Readable
}

// NewScope makes the scope of a person. Only modules/auth calls it, after
// GitHub has said which repositories the person can read.
func NewScope(person Person, readable []Readable) Scope {
	repos := make(map[int64]Readable, len(readable))
	for _, r := range readable {
		repos[r.ID] = r
	}
	return Scope{person: person, repos: repos}
}

// Person gives who the scope belongs to.
func (s Scope) Person() Person { return s.person }

// IDs gives the numbers of the readable repositories, ascending.
func (s Scope) IDs() []int64 {
	ids := make([]int64, 0, len(s.repos))
	for id := range s.repos {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// CanWrite reports whether the person may change a repository.
func (s Scope) CanWrite(id int64) bool { return s.repos[id].CanWrite }
