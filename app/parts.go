package app

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"

	"vault/app/instance"
	"vault/app/settings"
	"vault/modules/catalogue"
	"vault/modules/installations"
	"vault/modules/tools"
	"vault/platform/container"
	"vault/platform/github"
	"vault/platform/jobs"
	"vault/platform/mcp"
	"vault/platform/postgres"
	"vault/platform/telemetry"
	"vault/platform/web"
)

// given is the build function of a part that the command sets.
func given[T any](name string) *container.Part[T] {
	return container.Declare(name, func(*container.Container) (T, error) {
		var zero T
		return zero, fmt.Errorf("%s was not given", name)
	})
}

// What the command line gives.
var (
	valuesPart = given[settings.Values]("settings")
	logPart    = given[*slog.Logger]("log")
)

var recorderPart = container.Declare("recorder", func(c *container.Container) (*telemetry.Recorder, error) {
	return telemetry.NewRecorder(container.Get(c, logPart)), nil
})

// adminPart is the operator's listener.
var adminPart = container.Declare("admin", func(c *container.Container) (*web.Server, error) {
	recorder, log := container.Get(c, recorderPart), container.Get(c, logPart)
	values := container.Get(c, valuesPart)
	if c.Err() != nil {
		return nil, nil
	}
	return web.Listen(web.ServerConfig{
		Name:    "the admin listener",
		Listen:  values[keyAdmin.Name],
		Handler: web.Admin(c.Check, recorder.Metrics()),
		Log:     log,
	})
})

var githubPart = container.Declare("github", func(c *container.Container) (github.Config, error) {
	values, log := container.Get(c, valuesPart), container.Get(c, logPart)
	endpoints, err := github.EndpointsFor(values[keyGitHub.Name])
	if err != nil {
		return github.Config{}, fmt.Errorf("the setting %s: %w", keyGitHub.Name, err)
	}
	return github.Config{Endpoints: endpoints, UserAgent: "vault", Transport: github.NewTransport(), Log: log}, nil
})

// control is the control database, whose readiness is the process's.
type control struct{ *postgres.DB }

// Check asks whether the database answers.
func (c control) Check(ctx context.Context) error { return c.Ping(ctx) }

var controlPart = container.Declare("control database", func(c *container.Container) (control, error) {
	values, log := container.Get(c, valuesPart), container.Get(c, logPart)
	if c.Err() == nil && values[keyControl.Name] == "" {
		return control{}, fmt.Errorf("the setting %s is missing", keyControl.Name)
	}
	db, err := postgres.Open(postgres.Config{
		DSN:        values[keyControl.Name],
		MaxConns:   controlConns,
		Parameters: map[string]string{"application_name": "vault"},
		Log:        log,
	})
	return control{db}, err
})

// controlConns leaves room for River, which listens and fetches on
// connections of its own.
const controlConns = 12

// inserterPart puts jobs into the queue and works on none.
var inserterPart = container.Declare("job inserter", func(c *container.Container) (*jobs.Queue, error) {
	db, log := container.Get(c, controlPart), container.Get(c, logPart)
	if c.Err() != nil {
		return nil, nil
	}
	return jobs.New(jobs.Config{DB: db.DB, Log: log})
})

var installationsPart = container.Declare("installations", func(c *container.Container) (*installations.Service, error) {
	db, queue, log := container.Get(c, controlPart), container.Get(c, inserterPart), container.Get(c, logPart)
	return installations.New(db.DB, queue, log), nil
})

// toolsPart is every tool there is.
var toolsPart = container.Declare("tools", func(*container.Container) (*tools.Set, error) {
	return tools.NewSet()
})

// mcpConfig is what every MCP server of this build says of itself.
func mcpConfig(log *slog.Logger) mcp.Config {
	return mcp.Config{Name: "vault", Version: version(), Log: log}
}

// rendererPart makes finished answers without serving calls.
var rendererPart = container.Declare("renderer", func(c *container.Container) (*mcp.Server, error) {
	log := container.Get(c, logPart)
	if c.Err() != nil {
		return nil, nil
	}
	return instance.NewRenderer(mcpConfig(log))
})

// viewsPart is the store of finished answers.
var viewsPart = container.Declare("views", func(c *container.Container) (*catalogue.Views, error) {
	set, renderer := container.Get(c, toolsPart), container.Get(c, rendererPart)
	records := container.Get(c, installationsPart)
	if c.Err() != nil {
		return nil, nil
	}
	contract, err := catalogue.Contract(context.Background(), set, renderer)
	if err != nil {
		return nil, err
	}
	return catalogue.NewViews(contract, records)
})

// recorded gives a handler its events and its recovery.
func recorded(c *container.Container, name string, h http.Handler) http.Handler {
	recorder, log := container.Get(c, recorderPart), container.Get(c, logPart)
	return web.Chain(h, web.Events(recorder, name), web.Recover(log))
}
