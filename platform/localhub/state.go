package localhub

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// state is what survives a restart: one JSON file in the hub's folder.
type state struct {
	file string

	Version      int               `json:"version"`
	App          appState          `json:"app"`
	AccountID    int64             `json:"account_id"`
	Installation installationState `json:"installation"`
	People       []*personState    `json:"people"`
	Repositories []*repoState      `json:"repositories"`
	NextID       int64             `json:"next_id"`
	// Revoked lists installation tokens that ended early, by their id, until
	// they would have ended anyway.
	Revoked map[string]time.Time `json:"revoked"`
}

type appState struct {
	ID            int64     `json:"id"`
	BotID         int64     `json:"bot_id"`
	ClientID      string    `json:"client_id"`
	ClientSecret  string    `json:"client_secret"`
	WebhookSecret string    `json:"webhook_secret"`
	HookID        int64     `json:"hook_id"`
	PrivateKey    string    `json:"private_key"`
	TokenKey      []byte    `json:"token_key"`
	CreatedAt     time.Time `json:"created_at"`
}

type installationState struct {
	ID        int64     `json:"id"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	// Announced says that the App has been told of it.
	Announced bool `json:"announced"`
}

type personState struct {
	ID     int64    `json:"id"`
	Login  string   `json:"login"`
	Name   string   `json:"name"`
	Email  string   `json:"email"`
	Role   role     `json:"role"`
	Tokens []string `json:"tokens"`
	// Access holds what was set for single repositories, by their id; it
	// outranks Role.
	Access map[int64]permission `json:"access,omitempty"`
}

type repoState struct {
	ID     int64  `json:"id"`
	Name   string `json:"name"`
	Branch string `json:"branch"`
	// Folder is the user's folder that it is served from, "" for the hub's own.
	Folder   string    `json:"folder,omitempty"`
	Former   []string  `json:"former,omitempty"`
	Archived bool      `json:"archived,omitempty"`
	Created  time.Time `json:"created"`
	Updated  time.Time `json:"updated"`
	Pushed   time.Time `json:"pushed"`
	// Served says that the App was last told that it may see it.
	Served bool `json:"served"`
}

const stateVersion = 1

// openState reads the state of a folder or makes a new one.
func openState(c Config) (*state, error) {
	file := filepath.Join(c.Dir, "state.json")
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return newState(file, c)
	}
	if err != nil {
		return nil, fmt.Errorf("read the local GitHub's state: %w", err)
	}
	st := &state{}
	if err := json.Unmarshal(data, st); err != nil {
		return nil, fmt.Errorf("read the local GitHub's state in %s: %w", file, err)
	}
	if st.Version != stateVersion {
		return nil, fmt.Errorf("the local GitHub's state in %s has version %d, this program knows %d", file, st.Version, stateVersion)
	}
	st.file = file
	if st.Revoked == nil {
		st.Revoked = map[string]time.Time{}
	}
	return st, nil
}

func newState(file string, c Config) (*state, error) {
	key := c.PrivateKey
	if key == nil {
		var err error
		if key, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
			return nil, fmt.Errorf("make the App's key: %w", err)
		}
	}
	encoded := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	now := time.Now().UTC().Truncate(time.Second)
	st := &state{file: file, Version: stateVersion, NextID: firstID + randomNumber(idSpread), Revoked: map[string]time.Time{}}
	st.AccountID = st.id()
	st.App = appState{
		ID: st.id(), BotID: st.id(), ClientID: "Iv23li" + randomText(14), ClientSecret: randomHex(20),
		WebhookSecret: randomHex(20), HookID: st.id(), PrivateKey: string(encoded), TokenKey: randomBytes(32), CreatedAt: now,
	}
	st.Installation = installationState{ID: st.id(), CreatedAt: now, UpdatedAt: now}
	st.addPeople()
	return st, st.save()
}

// id gives the next database id. One counter serves all kinds, so that an id
// of one kind used as another never fits by chance.
func (s *state) id() int64 {
	s.NextID++
	return s.NextID
}

// save writes the state so that a crash leaves the old or the new one.
func (s *state) save() error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the local GitHub's state: %w", err)
	}
	if err := writeAtomically(s.file, data); err != nil {
		return fmt.Errorf("write the local GitHub's state: %w", err)
	}
	return nil
}

func writeAtomically(file string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".state-") // 0600 by itself
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

func (s *state) appInfo() (AppInfo, error) {
	block, _ := pem.Decode([]byte(s.App.PrivateKey))
	if block == nil {
		return AppInfo{}, fmt.Errorf("the App's key in %s is no PEM block", s.file)
	}
	key, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	if err != nil {
		return AppInfo{}, fmt.Errorf("read the App's key in %s: %w", s.file, err)
	}
	return AppInfo{
		ID: s.App.ID, ClientID: s.App.ClientID, ClientSecret: s.App.ClientSecret,
		WebhookSecret: s.App.WebhookSecret, PrivateKey: key,
	}, nil
}
