package app

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v4"

	"vault/app/dev"
	"vault/app/settings"
	"vault/platform/container"
	"vault/platform/web"
)

// hubServerPart is the listener of `vault dev --hub-only`.
var hubServerPart = given[*web.Server]("local GitHub's server")

// freeAddress finds an address of this machine that nothing listens on.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer func() { _ = l.Close() }()
	return "http://" + l.Addr().String(), nil
}

// serveHub runs the local GitHub and Postgres alone, and writes the settings
// under which the four roles run on them apart.
func (d *devRun) serveHub(ctx context.Context) error {
	d.public.Handle(d.environment.Hub)
	parts := container.New()
	container.Set(parts, hubServerPart, d.public)
	container.Set(parts, hubPart, d.environment.Hub)
	if err := d.writeRoles(); err != nil {
		return err
	}
	announced := make(chan error, 1)
	err := parts.Serve(ctx, stopGrace, func() { announced <- d.announceHub() })
	select {
	case failed := <-announced:
		if failed != nil {
			return failed
		}
	default:
	}
	return err
}

// rolesFolder is where the settings of the roles are written.
func (d *devRun) rolesFolder() string { return filepath.Join(d.options.Data, "roles") }

// writeRoles writes a settings file for each role, and each secret into a file
// of its own.
func (d *devRun) writeRoles() error {
	instance, err := freeAddress()
	if err != nil {
		return err
	}
	values, err := d.values(strings.TrimPrefix(instance, "http://"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(d.rolesFolder(), 0o700); err != nil {
		return fmt.Errorf("make the folder of the roles' settings: %w", err)
	}
	for _, r := range roles() {
		own := map[string]string{keyAdmin.Name: "127.0.0.1:0", keyLogFormat.Name: "text"}
		for _, key := range r.keys {
			if err := d.writeKey(own, key, values); err != nil {
				return err
			}
		}
		switch r.name {
		case "front":
			own[keyListen.Name] = strings.TrimPrefix(d.options.BaseURL, "http://")
		case "instance":
			own[keyListen.Name] = strings.TrimPrefix(instance, "http://")
		}
		text, err := yaml.Marshal(own)
		if err != nil {
			return fmt.Errorf("write the settings of %s: %w", r.name, err)
		}
		if err := os.WriteFile(filepath.Join(d.rolesFolder(), r.name+".yaml"), text, 0o600); err != nil {
			return fmt.Errorf("write the settings of %s: %w", r.name, err)
		}
	}
	return nil
}

// writeKey puts one setting into a role's file, or a secret into its own.
func (d *devRun) writeKey(own map[string]string, key settings.Key, values settings.Values) error {
	value := values[key.Name]
	if !key.Secret {
		if value != "" {
			own[key.Name] = value
		}
		return nil
	}
	path := filepath.Join(d.rolesFolder(), key.Name)
	if err := os.WriteFile(path, []byte(value), 0o600); err != nil {
		return fmt.Errorf("write the secret %s: %w", key.Name, err)
	}
	own[key.Name+"_file"] = path
	return nil
}

// announceHub says where the local GitHub is, and how to start the roles.
func (d *devRun) announceHub() error {
	first, tokens, err := d.environment.Tokens()
	if err != nil {
		return err
	}
	folder := d.rolesFolder()
	_, _ = fmt.Fprintf(d.streams.Out, `the local GitHub answers at %[1]s

  vault migrate --control-dsn-file %[2]s/control_dsn
  vault front --config %[2]s/front.yaml          (and instance, index, catalogue)
  vault installations enable %[3]d --name %[4]s --control-dsn-file %[2]s/control_dsn

`, d.options.HubURL, folder, d.environment.Hub.InstallationID(), d.options.Name)
	if d.flags.readyFile == "" {
		return nil
	}
	return dev.WriteReady(d.flags.readyFile, dev.Ready{
		Address: d.options.BaseURL + "/" + d.options.Name, Token: tokens[first], People: tokens,
		Hub: d.options.HubURL, HubAdmin: d.environment.Hub.AdminToken(), Roles: folder,
		Installation: d.environment.Hub.InstallationID(), Postgres: d.environment.PostgresURL, Pid: os.Getpid(),
	})
}
