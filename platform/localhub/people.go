package localhub

import (
	"fmt"
	"os/user"
	"regexp"
	"slices"
	"strings"
)

// Person is somebody whom the hub knows.
type Person struct {
	Login, Name, Email string
	// Token is a token of theirs that works, "" if all were revoked.
	Token string
}

// loginForm is what GitHub takes for a login: letters, digits and single
// hyphens.
var loginForm = regexp.MustCompile(`[^A-Za-z0-9]+`)

// addPeople makes the three persons of a new hub: the first, named after the
// user of this machine, writes everything, the second reads everything, the
// third reads only the first repository.
func (s *state) addPeople() {
	login, name := "dev", "Dev"
	if u, err := user.Current(); err == nil {
		if l := strings.Trim(loginForm.ReplaceAllString(u.Username, "-"), "-"); l != "" {
			login, name = strings.ToLower(l), l
		}
		if full, _, _ := strings.Cut(u.Name, ","); strings.TrimSpace(full) != "" {
			name = strings.TrimSpace(full)
		}
	}
	s.addPerson(login, name, roleOwner)
	s.addPerson(other(login, "robin"), "Robin Reader", roleReader)
	s.addPerson(other(login, "gale"), "Gale Guest", roleGuest)
}

// other gives a login that differs from the first person's.
func other(taken, login string) string {
	if taken == login {
		return login + "-2"
	}
	return login
}

func (s *state) addPerson(login, name string, r role) {
	id := s.id()
	s.People = append(s.People, &personState{
		ID: id, Login: login, Name: name, Role: r,
		Email:  fmt.Sprintf("%d+%s@users.noreply.github.com", id, login),
		Tokens: []string{newUserToken()},
	})
}

// newUserToken gives the form of a GitHub App's user access tokens.
func newUserToken() string { return "ghu_" + randomText(36) }

// People lists the persons; the first writes everything, the second reads
// everything, the third reads only the first repository.
func (h *Hub) People() []Person {
	h.mu.RLock()
	defer h.mu.RUnlock()
	people := make([]Person, len(h.state.People))
	for i, p := range h.state.People {
		people[i] = Person{Login: p.Login, Name: p.Name, Email: p.Email}
		if len(p.Tokens) > 0 {
			people[i].Token = p.Tokens[0]
		}
	}
	return people
}

// person finds somebody by login, without regard to case as on GitHub. The
// caller holds mu.
func (h *Hub) person(login string) (*personState, bool) {
	i := slices.IndexFunc(h.state.People, func(p *personState) bool { return strings.EqualFold(p.Login, login) })
	if i < 0 {
		return nil, false
	}
	return h.state.People[i], true
}

// adopt gives the first person the name and address that a served folder's
// own settings state, so that commits made through the hub look like theirs.
func (h *Hub) adopt(name, email string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	first := h.state.People[0]
	if name == "" || email == "" || first.Name == name && first.Email == email {
		return nil
	}
	first.Name, first.Email = name, email
	return h.state.save()
}
