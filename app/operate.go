package app

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"vault/app/settings"
	"vault/modules/auth"
	"vault/modules/installations"
	"vault/platform/fault"
	"vault/platform/jobs"
	"vault/platform/postgres"
	"vault/schema"
)

// migrateCommand brings the control database's tables up to date. Those of
// installations follow when they are next indexed.
func migrateCommand(s Streams) *cobra.Command {
	keys := []settings.Key{keyControl}
	c := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the control database up to date",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			values, err := resolve(c, keys)
			if err != nil {
				return err
			}
			log := slog.New(slog.NewTextHandler(s.Err, nil))
			return migrateControl(c.Context(), values[keyControl.Name], log)
		},
	}
	withSettings(c, keys)
	return c
}

// migrateControl migrates the control database and the job queue in it.
func migrateControl(ctx context.Context, dsn string, log *slog.Logger) error {
	if dsn == "" {
		return fmt.Errorf("the setting %s is missing", keyControl.Name)
	}
	if err := postgres.Migrate(ctx, dsn, schema.Control, log); err != nil {
		return fmt.Errorf("migrate the control database: %w", err)
	}
	db, err := postgres.Open(postgres.Config{DSN: dsn, Log: log})
	if err != nil {
		return err
	}
	defer db.Close()
	return jobs.Migrate(ctx, db, log)
}

// freeLeftovers makes the jobs of a process that died available at once: in
// `vault dev` no other process works on them.
func freeLeftovers(ctx context.Context, dsn string, log *slog.Logger) error {
	db, err := postgres.Open(postgres.Config{DSN: dsn, Log: log})
	if err != nil {
		return err
	}
	defer db.Close()
	return jobs.FreeLeftovers(ctx, db)
}

// installationsCommand is the operator's view of installations.
func installationsCommand(s Streams) *cobra.Command {
	c := &cobra.Command{Use: "installations", Short: "See and switch installations"}
	c.AddCommand(
		operatorCommand("list", "List the installations with their state, progress and dead jobs", cobra.NoArgs,
			func(ctx context.Context, service *installations.Service, _ *cobra.Command, _ []string) error {
				return listInstallations(ctx, service, s)
			}),
		operatorCommand("show ID|ACCOUNT", "Show one installation and its repositories", cobra.ExactArgs(1),
			func(ctx context.Context, service *installations.Service, _ *cobra.Command, args []string) error {
				return showInstallation(ctx, service, s, args[0])
			}),
		enableCommand(s),
		linkKeyCommand(s),
		operatorCommand("disable ID|ACCOUNT", "Switch an installation off", cobra.ExactArgs(1),
			func(ctx context.Context, service *installations.Service, _ *cobra.Command, args []string) error {
				return service.Disable(ctx, args[0])
			}),
	)
	return c
}

// operatorCommand makes a command over the control database.
func operatorCommand(use, short string, args cobra.PositionalArgs,
	run func(context.Context, *installations.Service, *cobra.Command, []string) error,
) *cobra.Command {
	keys := []settings.Key{keyControl}
	c := &cobra.Command{
		Use: use, Short: short, Args: args,
		RunE: func(c *cobra.Command, args []string) error {
			values, err := resolve(c, keys)
			if err != nil {
				return err
			}
			log := slog.New(slog.DiscardHandler)
			db, err := postgres.Open(postgres.Config{DSN: values[keyControl.Name], Log: log})
			if err != nil {
				return err
			}
			defer db.Close()
			queue, err := jobs.New(jobs.Config{DB: db, Log: log})
			if err != nil {
				return err
			}
			return run(c.Context(), installations.New(db, queue, log), c, args)
		},
	}
	withSettings(c, keys)
	return c
}

func enableCommand(s Streams) *cobra.Command {
	var name string
	c := operatorCommand("enable ID|ACCOUNT", "Switch an installation on, under a name", cobra.ExactArgs(1),
		func(ctx context.Context, service *installations.Service, _ *cobra.Command, args []string) error {
			i, err := service.Enable(ctx, args[0], name)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(s.Out, "installation %d of %s is on as %s\n", i.ID, i.Account, i.Name)
			return err
		})
	c.Flags().StringVar(&name, "name", "", "the name of its address")
	_ = c.MarkFlagRequired("name") // fails only for a flag that does not exist
	return c
}

// linkKeyCommand derives the keys that an instance is given, so that it never
// sees the ring itself.
func linkKeyCommand(s Streams) *cobra.Command {
	keys := []settings.Key{keyRing}
	c := &cobra.Command{
		Use:   "link-key ID",
		Short: "Print the link_key setting of an installation's instance",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil || id <= 0 {
				return usageError{fmt.Errorf("%s is not the id of an installation", fault.Quote(args[0]))}
			}
			values, err := resolve(c, keys)
			if err != nil {
				return err
			}
			ring, err := auth.ParseRing([]byte(values[keyRing.Name]))
			if err != nil {
				return fmt.Errorf("the setting %s: %w", keyRing.Name, err)
			}
			derived, err := ring.DeriveInstanceKeys(id)
			if err != nil {
				return err
			}
			list := make([]string, len(derived))
			for i, key := range derived {
				list[i] = key.Reveal()
			}
			_, err = fmt.Fprintln(s.Out, strings.Join(list, ","))
			return err
		},
	}
	withSettings(c, keys)
	return c
}

func listInstallations(ctx context.Context, service *installations.Service, s Streams) error {
	list, err := service.List(ctx)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(s.Out, 0, 4, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "ID\tACCOUNT\tSTATE\tNAME\tREPOSITORIES\tNOTES\tDEAD JOBS")
	for _, i := range list {
		_, _ = fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%d of %d\t%d of %d\t%d\n",
			i.ID, i.Account, i.State, i.Name, i.Complete, i.Repositories, i.Done, i.Total, len(i.Dead))
	}
	return w.Flush()
}

// findInstallation finds one installation of the list by id or account.
func findInstallation(ctx context.Context, service *installations.Service, which string) (installations.Summary, error) {
	list, err := service.List(ctx)
	if err != nil {
		return installations.Summary{}, err
	}
	for _, i := range list {
		if fmt.Sprint(i.ID) == which || strings.EqualFold(i.Account, which) {
			return i, nil
		}
	}
	return installations.Summary{}, fmt.Errorf("there is no installation %s; `vault installations list` shows them", fault.Quote(which))
}

func showInstallation(ctx context.Context, service *installations.Service, s Streams, which string) error {
	i, err := findInstallation(ctx, service, which)
	if err != nil {
		return err
	}
	repositories, err := service.Repositories(ctx, i.ID)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(s.Out, "%d  %s  %s  %s\n", i.ID, i.Account, i.State, i.Name)
	w := tabwriter.NewWriter(s.Out, 0, 4, 2, ' ', 0)
	for _, r := range repositories {
		state := "complete"
		if !r.Complete {
			state = fmt.Sprintf("%d of %d notes", r.Done, r.Total)
		}
		_, _ = fmt.Fprintf(w, "  %s\t%s\t%.12s\t%s\n", r.FullName, state, r.IndexedHead, strings.TrimSpace(r.Error))
	}
	return w.Flush()
}
