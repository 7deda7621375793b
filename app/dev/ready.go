package dev

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Ready is what `--ready-file` says once vault answers.
type Ready struct {
	// Address is the MCP address.
	Address string `json:"address"`
	// Token works for the first person.
	Token string `json:"token"`
	// People are the tokens of all persons, by login.
	People map[string]string `json:"people"`
	// Hub is the base URL of the local GitHub.
	Hub string `json:"hub"`
	// HubAdmin opens the local GitHub's /admin/ paths.
	HubAdmin string `json:"hub_admin"`
	// Postgres is the URL of the server that holds the databases.
	Postgres string `json:"postgres"`
	// Installation is the local GitHub's id of the installation.
	Installation int64 `json:"installation"`
	// Roles is the folder with the settings of the four roles, where they run
	// apart.
	Roles string `json:"roles,omitempty"`
	// Pid is this process.
	Pid int `json:"pid"`
}

// WriteReady writes the file in one step, readable by its owner only: it holds
// tokens, and a reader must never see half of it.
func WriteReady(path string, r Ready) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the ready file: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".ready-*")
	if err != nil {
		return fmt.Errorf("write the ready file: %w", err)
	}
	defer func() { _ = os.Remove(tmp.Name()) }()
	if _, err := tmp.Write(append(data, '\n')); err != nil {
		_ = tmp.Close()
		return fmt.Errorf("write the ready file: %w", err)
	}
	if err := tmp.Close(); err != nil {
		return fmt.Errorf("write the ready file: %w", err)
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return fmt.Errorf("write the ready file: %w", err)
	}
	return nil
}
