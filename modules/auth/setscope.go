package auth

import "vault/modules/index"

// SetScope gives the scope of nobody in particular over a set of
// repositories: for building what everyone with exactly this set is shown,
// never for answering a call.
func SetScope(ids []int64) index.Scope {
	readable := make([]index.Readable, len(ids))
	for i, id := range ids {
		readable[i] = index.Readable{ID: id}
	}
	return index.NewScope(index.Person{}, readable)
}
