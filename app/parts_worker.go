package app

import (
	"context"

	"vault/app/worker"
	"vault/modules/index"
	"vault/modules/installations"
	"vault/platform/container"
	"vault/platform/git"
	"vault/platform/github"
	"vault/platform/jobs"
)

var workerConfigPart = container.Declare("worker settings", func(c *container.Container) (workerConfig, error) {
	return workerConfigOf(container.Get(c, valuesPart))
})

var appConfigPart = container.Declare("app settings", func(c *container.Container) (appConfig, error) {
	return appConfigOf(container.Get(c, valuesPart))
})

var databasesPart = container.Declare("index databases", func(c *container.Container) (*worker.Databases, error) {
	config, log := container.Get(c, workerConfigPart), container.Get(c, logPart)
	return &worker.Databases{DSN: config.Databases, Log: log}, nil
})

var gitPart = container.Declare("git", func(c *container.Container) (*git.Runner, error) {
	config, log := container.Get(c, githubPart), container.Get(c, logPart)
	if c.Err() != nil {
		return nil, nil
	}
	return git.New(context.Background(), git.Options{AllowHTTP: plainHTTP(config), Log: log})
})

// plainHTTP gives the address that git may speak to without TLS: that of a
// local GitHub, when the settings name one.
func plainHTTP(config github.Config) []string {
	const scheme = "http://"
	if len(config.Git) > len(scheme) && config.Git[:len(scheme)] == scheme {
		return []string{config.Git}
	}
	return nil
}

// report is told how far the build of a repository is.
type report func(repository string, p index.Progress)

var reportPart = container.Declare("progress", func(*container.Container) (report, error) { return nil, nil })

var indexerPart = container.Declare("indexer", func(c *container.Container) (*worker.Indexer, error) {
	config, gh, log := container.Get(c, appConfigPart), container.Get(c, githubPart), container.Get(c, logPart)
	service, databases := container.Get(c, installationsPart), container.Get(c, databasesPart)
	runner, recorder := container.Get(c, gitPart), container.Get(c, recorderPart)
	progress := container.Get(c, reportPart)
	if c.Err() != nil {
		return nil, nil
	}
	return worker.NewIndexer(worker.IndexerConfig{
		Control:   service,
		Databases: databases,
		App:       github.NewApp(gh, config.ID, config.Key),
		GitHub:    gh,
		Git:       runner,
		Mirrors:   config.Mirrors,
		Recorder:  recorder,
		Log:       log,
		Report:    progress,
	}), nil
})

var indexQueuePart = container.Declare("index jobs", func(c *container.Container) (*jobs.Queue, error) {
	indexer := container.Get(c, indexerPart)
	return newQueue(c, indexer.Kinds)
})

var cataloguerPart = container.Declare("cataloguer", func(c *container.Container) (*worker.Cataloguer, error) {
	return worker.NewCataloguer(worker.CataloguerConfig{
		Control:   container.Get(c, installationsPart),
		Databases: container.Get(c, databasesPart),
		Tools:     container.Get(c, toolsPart),
		Renderer:  container.Get(c, rendererPart),
		Views:     container.Get(c, viewsPart),
		Recorder:  container.Get(c, recorderPart),
	}), nil
})

var catalogueQueuePart = container.Declare("catalogue jobs", func(c *container.Container) (*jobs.Queue, error) {
	cataloguer := container.Get(c, cataloguerPart)
	return newQueue(c, cataloguer.Kinds)
})

// newQueue makes a queue that works on kinds.
func newQueue(c *container.Container, kinds func() map[string]jobs.Handler) (*jobs.Queue, error) {
	db, log, config := container.Get(c, controlPart), container.Get(c, logPart), container.Get(c, workerConfigPart)
	if c.Err() != nil {
		return nil, nil
	}
	return jobs.New(jobs.Config{
		DB: db.DB, Log: log, Kinds: kinds(), Workers: config.Workers,
		Others: []string{installations.KindIndex, installations.KindSync, installations.KindCatalogue},
	})
}

// reconcilerPart asks GitHub again now and then which repositories there are.
var reconcilerPart = container.Declare("reconciler", func(c *container.Container) (*worker.Reconciler, error) {
	service, log := container.Get(c, installationsPart), container.Get(c, logPart)
	return &worker.Reconciler{Control: service, Log: log}, nil
})
