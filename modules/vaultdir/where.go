package vaultdir

import (
	"fmt"
	"strings"

	"vault/platform/fault"
)

// whereLimit is how many open folders one sentence names.
const whereLimit = 12

// Where says in a sentence, without a final full stop, which folders of the
// repository are open; "" when all of it is, or none because it is closed.
func (r *Repo) Where() string {
	if r.wholeOpen() || r.closed != "" {
		return ""
	}
	if len(r.set.open) == 1 {
		return "the only open folder of this repository is " + fault.Quote(r.set.open[0]+"/")
	}
	named := r.set.open[:min(len(r.set.open), whereLimit)]
	quoted := make([]string, len(named))
	for i, folder := range named {
		quoted[i] = fault.Quote(folder + "/")
	}
	list := strings.Join(quoted[:len(quoted)-1], ", ") + " and " + quoted[len(quoted)-1]
	if more := len(r.set.open) - len(named); more > 0 {
		list = fmt.Sprintf("%s and %d more", strings.Join(quoted, ", "), more)
	}
	return "the open folders of this repository are " + list
}

// NameFolders adds the open folders to a refusal or a message about something
// missing, where the settings name some, and gives the same error back.
func (r *Repo) NameFolders(err *fault.Error) *fault.Error {
	if where := r.Where(); where != "" {
		return err.Fix("%s", where)
	}
	return err
}

func (r *Repo) wholeOpen() bool {
	return len(r.set.open) == 1 && r.set.open[0] == ""
}
