package app

import (
	"context"
	"net/http"

	"vault/app/front"
	"vault/modules/auth"
	"vault/modules/catalogue"
	"vault/modules/installations"
	"vault/modules/vaultdir"
	"vault/platform/container"
	"vault/platform/github"
	"vault/platform/mcp"
	"vault/platform/web"
)

var frontConfigPart = container.Declare("front settings", func(c *container.Container) (frontConfig, error) {
	return frontConfigOf(container.Get(c, valuesPart))
})

var ringPart = container.Declare("key ring", func(c *container.Container) (*auth.Ring, error) {
	config := container.Get(c, frontConfigPart)
	if c.Err() != nil {
		return nil, nil
	}
	return auth.ParseRing([]byte(config.Ring))
})

var sealerPart = container.Declare("sealer", func(c *container.Container) (*auth.Sealer, error) {
	ring, config := container.Get(c, ringPart), container.Get(c, frontConfigPart)
	if c.Err() != nil {
		return nil, nil
	}
	return auth.NewSealer(ring, config.PublicURL, nil)
})

// source reads the picture of a front from the control database.
type source struct{ service *installations.Service }

// Installations lists the enabled installations.
func (s source) Installations(ctx context.Context) ([]*front.Installation, error) {
	state, err := s.service.State(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]*front.Installation, 0, len(state))
	for _, i := range state {
		f := &front.Installation{ID: i.ID, Name: i.Name, Epoch: i.Epoch, Repositories: map[int64]catalogue.Repository{}}
		for _, r := range i.Repositories {
			f.Known = append(f.Known, auth.KnownRepo{ID: r.ID, NodeID: r.NodeID, Name: r.Name})
			f.Repositories[r.ID] = catalogue.Repository{ID: r.ID, Name: r.Name, Rev: vaultdir.Rev(r.VaultRev)}
		}
		list = append(list, f)
	}
	return list, nil
}

// Watch follows changes.
func (s source) Watch(ctx context.Context, changed func(context.Context)) error {
	return s.service.Watch(ctx, changed)
}

var picturePart = container.Declare("picture", func(c *container.Container) (*front.Picture, error) {
	service, log := container.Get(c, installationsPart), container.Get(c, logPart)
	return front.NewPicture(source{service}, log), nil
})

var frontAccessPart = container.Declare("front access", newAccess)

func newAccess(c *container.Container) (*auth.Service, error) {
	config, log := container.Get(c, githubPart), container.Get(c, logPart)
	if c.Err() != nil {
		return nil, nil
	}
	return auth.New(auth.Config{GitHub: config, Log: log})
}

var lineToInstancesPart = container.Declare("line to instances", func(c *container.Container) (*front.Instances, error) {
	config, ring, log := container.Get(c, frontConfigPart), container.Get(c, ringPart), container.Get(c, logPart)
	return front.NewInstances(front.InstancesConfig{URL: config.InstanceURL, Ring: ring, Log: log}), nil
})

var frontPart = container.Declare("front", func(c *container.Container) (*front.Front, error) {
	config, log := container.Get(c, frontConfigPart), container.Get(c, logPart)
	gate := mcp.Config{Hosts: config.Hosts, Origins: config.Origins, Log: log}
	return front.New(front.Config{
		Issuer:    config.PublicURL,
		Picture:   container.Get(c, picturePart),
		Sealer:    container.Get(c, sealerPart),
		Access:    container.Get(c, frontAccessPart),
		Views:     container.Get(c, viewsPart),
		Instances: container.Get(c, lineToInstancesPart),
		MCP:       gate,
		Log:       log,
	}), nil
})

// mounts are further handlers on the public listener, by pattern: `vault dev`
// puts its local GitHub there.
type mounts map[string]http.Handler

var mountsPart = container.Declare("mounts", func(*container.Container) (mounts, error) { return nil, nil })

// socket is an open port that nothing answers yet.
type socket struct{ server *web.Server }

// publicSocketPart is the open port of the front. `vault dev` sets it, since
// its address has to be known before anything else is built.
var publicSocketPart = container.Declare("public socket", func(c *container.Container) (socket, error) {
	config, log := container.Get(c, frontConfigPart), container.Get(c, logPart)
	if c.Err() != nil {
		return socket{}, nil
	}
	server, err := web.Listen(web.ServerConfig{Name: "the front", Listen: config.Listen, Log: log})
	return socket{server}, err
})

// publicPart is the front's whole face.
var publicPart = container.Declare("public server", func(c *container.Container) (*web.Server, error) {
	f, config, log := container.Get(c, frontPart), container.Get(c, frontConfigPart), container.Get(c, logPart)
	service, more := container.Get(c, installationsPart), container.Get(c, mountsPart)
	open := container.Get(c, publicSocketPart)
	if c.Err() != nil {
		return nil, nil
	}
	api, mux := http.NewServeMux(), http.NewServeMux()
	f.Register(api)
	mux.Handle("/", recorded(c, "front", api))
	mux.Handle("/webhook", recorded(c, "webhook", front.PostOnly(&front.Webhook{
		Secret: github.Secret(config.Webhook), Deliveries: service, Log: log,
	})))
	for pattern, h := range more {
		mux.Handle(pattern, h)
	}
	open.server.Handle(mux)
	return open.server, nil
})
