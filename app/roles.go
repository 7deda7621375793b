package app

import (
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"vault/app/settings"
	"vault/platform/container"
	"vault/platform/telemetry"
)

// role is one way to run: its settings and the parts it starts, in order.
type role struct {
	name, short string
	keys        []settings.Key
	roots       []container.Root
}

// roles lists the four roles.
func roles() []role {
	return []role{
		{
			name: "front", short: "Run the public side: sign-in, stored answers, forwarding, webhook",
			keys:  []settings.Key{keyListen, keyPublicURL, keyControl, keyRing, keyWebhook, keyInstances, keyHosts, keyOrigins, keyGitHub},
			roots: []container.Root{publicPart},
		},
		{
			name: "instance", short: "Run the MCP server of one installation",
			keys:  []settings.Key{keyListen, keyInstallation, keyDatabase, keyLink, keyGitHub},
			roots: []container.Root{privatePart},
		},
		{
			name: "index", short: "Run the jobs that bring indexes up to date",
			keys:  []settings.Key{keyControl, keyDatabases, keyAppID, keyAppKey, keyMirrors, keyWorkers, keyGitHub},
			roots: []container.Root{indexQueuePart, reconcilerPart},
		},
		{
			name: "catalogue", short: "Run the jobs that rebuild stored answers",
			keys:  []settings.Key{keyControl, keyDatabases, keyWorkers},
			roots: []container.Root{catalogueQueuePart},
		},
	}
}

// roleCommand makes the command of a role.
func roleCommand(r role, s Streams) *cobra.Command {
	keys := slices.Concat(common, r.keys)
	c := &cobra.Command{
		Use:   r.name,
		Short: r.short,
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			values, err := resolve(c, keys)
			if err != nil {
				return err
			}
			return runRole(c, s, r, values)
		},
	}
	withSettings(c, keys)
	return c
}

// withSettings gives a command the flags of its settings.
func withSettings(c *cobra.Command, keys []settings.Key) {
	c.Flags().String("config", "", "YAML file of settings")
	settings.Flags(c.Flags(), keys)
}

// resolve reads the settings of a command.
func resolve(c *cobra.Command, keys []settings.Key) (settings.Values, error) {
	file, err := c.Flags().GetString("config")
	if err != nil {
		return nil, err
	}
	return settings.Resolve(keys, c.Flags(), os.LookupEnv, file)
}

// runRole builds and serves a role until it is told to stop.
func runRole(c *cobra.Command, s Streams, r role, values settings.Values) error {
	log, err := telemetry.NewLogger(s.Err, telemetry.LogConfig{Format: values[keyLogFormat.Name], Level: values[keyLogLevel.Name]})
	if err != nil {
		return err
	}
	parts := container.New()
	container.Set(parts, valuesPart, values)
	container.Set(parts, logPart, log)
	if err := parts.Build(append(r.roots, adminPart)...); err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	return parts.Serve(c.Context(), stopGrace, func() { log.Info("ready", "role", r.name) })
}
