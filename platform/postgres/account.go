package postgres

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
)

// account is the system user that the private server runs as.
type account struct {
	name     string
	uid, gid int
	// switched tells that this is another user than ours, because Postgres
	// refuses to run as root.
	switched bool
}

// serverAccount gives our own user, or for root an existing one without
// privileges.
func serverAccount() (account, error) {
	if os.Geteuid() != 0 {
		return account{uid: os.Geteuid(), gid: os.Getegid()}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		a, err := lookupAccount(name)
		if err == nil && a.uid != 0 {
			return a, nil
		}
	}
	return account{}, errors.New("a Postgres server does not run as root, and neither user postgres nor nobody " +
		"exists: run vault as an ordinary user, or create the system user postgres")
}

func lookupAccount(name string) (account, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return account{}, fmt.Errorf("look up user %s: %w", name, err)
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return account{}, fmt.Errorf("read the id of user %s: %w", name, err)
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return account{}, fmt.Errorf("read the group of user %s: %w", name, err)
	}
	return account{name: name, uid: uid, gid: gid, switched: true}, nil
}

// give makes the account own a file or folder.
func (a account) give(path string) error {
	if !a.switched {
		return nil
	}
	return os.Chown(path, a.uid, a.gid)
}
