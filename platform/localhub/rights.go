package localhub

import "strings"

// permission is what somebody may do with a repository.
type permission int

const (
	permissionNone permission = iota
	permissionRead
	permissionTriage
	permissionWrite
	permissionMaintain
	permissionAdmin
)

// permissionNames are in the order of the constants.
var permissionNames = []string{"none", "read", "triage", "write", "maintain", "admin"}

func (p permission) String() string { return permissionNames[p] }

// graphQL is the name in the enum RepositoryPermission.
func (p permission) graphQL() string { return strings.ToUpper(p.String()) }

func parsePermission(name string) (permission, bool) {
	for i, n := range permissionNames {
		if n == name {
			return permission(i), true
		}
	}
	return permissionNone, false
}

// flags is the REST form: each right includes those below it.
func (p permission) flags() map[string]bool {
	return map[string]bool{
		"pull":     p >= permissionRead,
		"triage":   p >= permissionTriage,
		"push":     p >= permissionWrite,
		"maintain": p >= permissionMaintain,
		"admin":    p >= permissionAdmin,
	}
}

// role is a person's rights where nothing was set for a single repository.
type role string

const (
	roleOwner  role = "owner"  // admin of all
	roleReader role = "reader" // reads all
	roleGuest  role = "guest"  // reads the first
)

func (r role) permission(first bool) permission {
	switch {
	case r == roleOwner:
		return permissionAdmin
	case r == roleReader, r == roleGuest && first:
		return permissionRead
	}
	return permissionNone
}
