// Package app is the only place that knows every module: it has the commands,
// the settings of each role, and the parts that a role is made of.
//
// A role is a list of root parts (roles.go). A part says in its build function
// which other parts it needs (parts*.go); nothing in modules asks which role
// it is in. To add a part, declare it beside its kin and name it as a need or
// as a root.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// Streams are where a command reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// The exit codes of every command.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// stopGrace is how long a role may take to stop.
const stopGrace = 15 * time.Second

// usageError marks a command line that cannot be run as it is.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// errUsage is what every usageError is.
var errUsage = errors.New("wrong usage")

func (usageError) Is(target error) bool { return target == errUsage }

// Main runs one command line and gives its exit code. SIGINT and SIGTERM stop
// what runs; a second one ends the process at once.
func Main(ctx context.Context, args []string, s Streams) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	root := command(s)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	_, _ = fmt.Fprintln(s.Err, "vault: "+err.Error())
	if errors.Is(err, errUsage) {
		return exitUsage
	}
	return exitFailed
}

// command builds the tree of commands.
func command(s Streams) *cobra.Command {
	root := &cobra.Command{
		Use:           "vault",
		Short:         "Connects AI assistants to the Markdown notes in GitHub repositories",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w (see %s --help)", err, c.CommandPath())}
	})
	root.AddCommand(devCommand(s), migrateCommand(s), installationsCommand(s), versionCommand(s))
	for _, r := range roles() {
		root.AddCommand(roleCommand(r, s))
	}
	return root
}

// versionCommand prints which build this is.
func versionCommand(s Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print which build this is",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(s.Out, "vault "+version())
			return err
		},
	}
}

// version names the build: its module version, else its commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			return setting.Value
		}
	}
	return "development"
}
