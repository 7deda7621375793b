package app

import (
	"vault/app/instance"
	"vault/app/worker"
	"vault/modules/auth"
	"vault/modules/index"
	"vault/platform/container"
	"vault/platform/github"
	"vault/platform/postgres"
	"vault/platform/web"
)

var instanceConfigPart = container.Declare("instance settings", func(c *container.Container) (instanceConfig, error) {
	return instanceConfigOf(container.Get(c, valuesPart))
})

// instanceDatabasePart is the installation's database. Its readiness is not
// the process's: asking for it would keep a sleeping database awake.
var instanceDatabasePart = container.Declare("installation database", func(c *container.Container) (*postgres.DB, error) {
	config, log := container.Get(c, instanceConfigPart), container.Get(c, logPart)
	if c.Err() != nil {
		return nil, nil
	}
	return postgres.Open(postgres.Config{
		DSN: config.Database, MaxConns: instanceConns, Parameters: worker.Parameters(), Log: log,
	})
})

// instanceConns bounds how many calls read the index at once.
const instanceConns = 8

var instanceIndexPart = container.Declare("index", func(c *container.Container) (*index.Index, error) {
	db, log := container.Get(c, instanceDatabasePart), container.Get(c, logPart)
	return index.New(db, log), nil
})

var instanceAccessPart = container.Declare("instance access", newAccess)

var instancePart = container.Declare("instance", func(c *container.Container) (*instance.Instance, error) {
	config, log := container.Get(c, instanceConfigPart), container.Get(c, logPart)
	x, access := container.Get(c, instanceIndexPart), container.Get(c, instanceAccessPart)
	set := container.Get(c, toolsPart)
	if c.Err() != nil {
		return nil, nil
	}
	keys := make([]github.Secret, len(config.Link))
	for i, key := range config.Link {
		keys[i] = github.Secret(key)
	}
	link, err := auth.NewLink(keys...)
	if err != nil {
		return nil, err
	}
	return instance.New(instance.Config{
		Installation: config.Installation,
		Link:         link,
		Known:        instance.NewKnown(x),
		Access:       access,
		Index:        x,
		Tools:        set,
		MCP:          mcpConfig(log),
		Log:          log,
	})
})

// privateSocketPart is the open port of the instance, as publicSocketPart.
var privateSocketPart = container.Declare("private socket", func(c *container.Container) (socket, error) {
	config, log := container.Get(c, instanceConfigPart), container.Get(c, logPart)
	if c.Err() != nil {
		return socket{}, nil
	}
	server, err := web.Listen(web.ServerConfig{Name: "the instance", Listen: config.Listen, Log: log})
	return socket{server}, err
})

var privatePart = container.Declare("private server", func(c *container.Container) (*web.Server, error) {
	i, open := container.Get(c, instancePart), container.Get(c, privateSocketPart)
	if c.Err() != nil {
		return nil, nil
	}
	open.server.Handle(recorded(c, "instance", i.Handler()))
	return open.server, nil
})
