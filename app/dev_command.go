package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"vault/app/acme"
	"vault/app/dev"
	"vault/app/settings"
	"vault/modules/auth"
	"vault/modules/installations"
	"vault/platform/container"
	"vault/platform/git"
	"vault/platform/localhub"
	"vault/platform/telemetry"
	"vault/platform/web"
)

// devFlags are the flags of `vault dev`.
type devFlags struct {
	name, listen, data, postgres, readyFile, logLevel string
	allowRemote, hubOnly                              bool
}

// devCommand runs everything on this machine.
func devCommand(s Streams) *cobra.Command {
	var f devFlags
	c := &cobra.Command{
		Use:   "dev [FOLDER…]",
		Short: "Run all of vault on this machine, over your folders or the sample organisation",
		Long: "Runs the four roles in one process, with a private Postgres and a local GitHub over real git repositories.\n" +
			"Each FOLDER is a git repository, bare or with a work tree. Without one, the sample organisation Acme is served.",
		RunE: func(c *cobra.Command, args []string) error { return runDev(c.Context(), s, f, args) },
	}
	flags := c.Flags()
	flags.StringVar(&f.name, "name", "", `name of the address (default "acme" for the sample, else "local")`)
	flags.StringVar(&f.listen, "listen", "127.0.0.1:8484", "address to listen on; port 0 takes a free one")
	flags.StringVar(&f.data, "data", "", "folder for everything that is kept (default in the user's cache folder)")
	flags.StringVar(&f.postgres, "postgres", "", "URL of a Postgres server to use instead of a private one")
	flags.StringVar(&f.readyFile, "ready-file", "", "file to write address and tokens to once vault answers")
	flags.StringVar(&f.logLevel, "log-level", "warn", "least level that is logged: debug, info, warn or error")
	flags.BoolVar(&f.allowRemote, "allow-remote", false, "allow an address that other machines can reach, though anyone there can act as any of the local persons")
	flags.BoolVar(&f.hubOnly, "hub-only", false, "run only the local GitHub and Postgres, for roles that run apart")
	return c
}

// options turns the flags into what dev.Open wants.
func (f devFlags) options(args []string) (dev.Options, error) {
	folders, err := dev.Folders(args)
	if err != nil {
		return dev.Options{}, usageError{err}
	}
	o := dev.Options{Folders: folders, Name: f.name, Data: f.data, Postgres: f.postgres, Sample: sample}
	if o.Name == "" {
		o.Name = "acme"
		if len(folders) > 0 {
			o.Name = "local"
		}
	}
	if err := installations.CheckName(o.Name); err != nil {
		return o, usageError{err}
	}
	if o.Data == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return o, fmt.Errorf("find a folder for data: %w; give one with --data", err)
		}
		o.Data = filepath.Join(cache, "vault-dev")
	}
	if o.Data, err = filepath.Abs(o.Data); err != nil {
		return o, fmt.Errorf("find the data folder: %w", err)
	}
	if _, _, err := net.SplitHostPort(web.Address(f.listen)); err != nil {
		return o, usageError{fmt.Errorf("--listen is %q, but must be HOST:PORT, such as 127.0.0.1:8484", f.listen)}
	}
	if !web.Loopback(f.listen) && !f.allowRemote {
		return o, usageError{fmt.Errorf("%s can be reached from other machines, and anyone there could act as any of the local persons; add --allow-remote if that is meant", f.listen)}
	}
	return o, nil
}

// sample makes the sample organisation's repositories in the hub.
func sample(ctx context.Context, runner *git.Runner, hub *localhub.Hub) error {
	repositories, err := acme.Repositories()
	if err != nil {
		return err
	}
	for _, r := range repositories {
		added, err := hub.AddRepository(ctx, localhub.RepositorySpec{Name: r.Name})
		if err != nil {
			return err
		}
		if err := r.Fill(ctx, runner.Open(added.GitDir)); err != nil {
			return fmt.Errorf("make the sample repository %s: %w", r.Name, err)
		}
	}
	return nil
}

// runDev serves until it is told to stop.
func runDev(ctx context.Context, s Streams, f devFlags, args []string) (err error) {
	o, err := f.options(args)
	if err != nil {
		return err
	}
	if o.Log, err = telemetry.NewLogger(s.Err, telemetry.LogConfig{Format: "text", Level: f.logLevel}); err != nil {
		return err
	}
	lock, err := dev.LockFolder(o.Data)
	if err != nil {
		return err
	}
	defer lock.Release()
	public, err := web.Listen(web.ServerConfig{Name: "vault dev", Listen: f.listen, Log: o.Log})
	if err != nil {
		return err
	}
	defer public.Close()
	o.BaseURL = "http://" + reachableAddress(public.Addr())
	o.HubURL = o.BaseURL + "/hub"
	if f.hubOnly {
		if o.BaseURL, err = freeAddress(); err != nil {
			return err
		}
	}
	environment, err := dev.Open(ctx, o)
	defer func() {
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
		defer cancel()
		err = errors.Join(err, environment.Close(stop))
	}()
	if err != nil {
		return err
	}
	d := &devRun{streams: s, flags: f, options: o, environment: environment, public: public}
	if f.hubOnly {
		return d.serveHub(ctx)
	}
	return d.serve(ctx)
}

// reachableAddress gives the address under which this machine itself reaches
// a listener: one on every address is reached on the loopback.
func reachableAddress(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return addr
}

// values are the settings of the four roles on this environment.
func (d *devRun) values(instance string) (settings.Values, error) {
	e := d.environment
	link, err := e.LinkKey()
	if err != nil {
		return nil, err
	}
	app := e.Hub.App()
	hosts := ""
	if !web.Loopback(d.flags.listen) {
		hosts = "*"
	}
	return settings.Values{
		keyHosts.Name:        hosts,
		keyOrigins.Name:      "http://127.0.0.1,http://localhost,http://[::1]",
		keyAdmin.Name:        "127.0.0.1:0",
		keyGitHub.Name:       d.options.HubURL,
		keyControl.Name:      e.Control,
		keyListen.Name:       d.public.Addr(),
		keyPublicURL.Name:    d.options.BaseURL,
		keyRing.Name:         e.RingText,
		keyWebhook.Name:      app.WebhookSecret,
		keyInstances.Name:    "http://" + instance,
		keyInstallation.Name: fmt.Sprint(e.Hub.InstallationID()),
		keyDatabase.Name:     e.Installation,
		keyLink.Name:         link,
		keyDatabases.Name:    e.Installations(),
		keyAppID.Name:        fmt.Sprint(app.ID),
		keyAppKey.Name:       e.AppKey(),
		keyMirrors.Name:      filepath.Join(d.options.Data, "mirrors"),
		keyWorkers.Name:      "2",
	}, nil
}

// devRun is one `vault dev` under way.
type devRun struct {
	streams     Streams
	flags       devFlags
	options     dev.Options
	environment *dev.Environment
	public      *web.Server
}

// hubPart runs the local GitHub's background work.
var hubPart = given[*localhub.Hub]("local GitHub")

// serve runs the four roles in one process.
func (d *devRun) serve(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if err := migrateControl(ctx, d.environment.Control, d.options.Log); err != nil {
		return err
	}
	if err := freeLeftovers(ctx, d.environment.Control, d.options.Log); err != nil {
		return err
	}
	private, err := web.Listen(web.ServerConfig{Name: "the instance", Listen: "127.0.0.1:0", Log: d.options.Log})
	if err != nil {
		return err
	}
	defer private.Close()
	values, err := d.values(private.Addr())
	if err != nil {
		return err
	}
	parts := container.New()
	container.Set(parts, valuesPart, values)
	container.Set(parts, logPart, d.options.Log)
	container.Set(parts, publicSocketPart, socket{d.public})
	container.Set(parts, privateSocketPart, socket{private})
	container.Set(parts, hubPart, d.environment.Hub)
	container.Set(parts, mountsPart, mounts{"/hub/": d.environment.Hub})
	container.Set(parts, gitPart, d.environment.Git)
	progress := dev.NewProgress(d.streams.Err)
	container.Set(parts, reportPart, progress.Report)
	if err := parts.Build(publicPart, privatePart, indexQueuePart, catalogueQueuePart); err != nil {
		return err
	}
	b := bringUp{devRun: d, parts: parts, progress: progress}
	err = parts.Serve(ctx, stopGrace, func() {
		go func() {
			if err := b.run(ctx); err != nil && ctx.Err() == nil {
				cancel(err)
			}
		}()
	})
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		err = errors.Join(cause, err)
	}
	return err
}

// bringUp takes the installation in and waits until everything is indexed.
type bringUp struct {
	*devRun
	parts    *container.Container
	progress *dev.Progress
}

// pollPause is how often the state of the first build is looked at.
const pollPause = 15 * time.Millisecond

func (b bringUp) run(ctx context.Context) error {
	service := container.Get(b.parts, installationsPart)
	hub := b.environment.Hub
	id := hub.InstallationID()
	if err := service.Register(ctx, id, hub.Account()); err != nil {
		return fmt.Errorf("register the installation: %w", err)
	}
	if _, err := service.Enable(ctx, fmt.Sprint(id), b.options.Name); err != nil {
		return fmt.Errorf("enable the installation: %w", err)
	}
	before, err := b.visibleNow(ctx, id)
	if err != nil {
		return err
	}
	indexer := container.Get(b.parts, indexerPart)
	if err := indexer.Sync(ctx, id); err != nil {
		return fmt.Errorf("take the repositories in: %w", err)
	}
	// What happened while vault was not running sent its webhook nowhere.
	for _, r := range hub.Repositories() {
		if err := service.Push(ctx, id, r.ID); err != nil {
			return fmt.Errorf("look for changes: %w", err)
		}
	}
	if err := b.awaitIndex(ctx, id, before); err != nil {
		return err
	}
	b.progress.Done()
	return b.announce()
}

// visibleNow lists the repositories that an earlier run has made visible.
func (b bringUp) visibleNow(ctx context.Context, id int64) (map[int64]bool, error) {
	state, err := container.Get(b.parts, installationsPart).State(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the state of the build: %w", err)
	}
	for _, i := range state {
		if i.ID == id && len(i.Repositories) > 0 {
			return b.visible(ctx, i.Repositories)
		}
	}
	return nil, nil
}

// visible lists the repositories whose head the index shows. The first build
// of one goes on behind that with what makes searches faster.
func (b bringUp) visible(ctx context.Context, list []installations.Repository) (map[int64]bool, error) {
	ids := make([]int64, len(list))
	for i, r := range list {
		ids[i] = r.ID
	}
	snapshot, err := container.Get(b.parts, instanceIndexPart).Snapshot(ctx, auth.SetScope(ids))
	if err != nil {
		return nil, fmt.Errorf("look at the index: %w", err)
	}
	defer snapshot.Close()
	seen := map[int64]bool{}
	for _, r := range snapshot.Repos() {
		seen[r.ID] = r.Complete
	}
	return seen, nil
}

// awaitIndex waits until the head of every repository is indexed. One that was
// visible before has to be brought up to date, also when an earlier run was
// killed in its first build; of a new one the first head to be seen is the
// newest.
func (b bringUp) awaitIndex(ctx context.Context, id int64, before map[int64]bool) error {
	service, picture := container.Get(b.parts, installationsPart), container.Get(b.parts, picturePart)
	tick := time.NewTicker(pollPause)
	defer tick.Stop()
	for {
		state, err := service.State(ctx)
		if err != nil {
			return fmt.Errorf("read the state of the build: %w", err)
		}
		ready := false
		for _, i := range state {
			if i.ID != id {
				continue
			}
			seen, err := b.visible(ctx, i.Repositories)
			if err != nil {
				return err
			}
			ready = true
			for _, r := range i.Repositories {
				ready = ready && (r.Complete && r.DoneGen == r.WantedGen || !r.Complete && seen[r.ID] && !before[r.ID])
			}
		}
		if ready {
			return picture.Start(ctx)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// announce says how to use it.
func (b bringUp) announce() error {
	first, tokens, err := b.environment.Tokens()
	if err != nil {
		return err
	}
	address := b.options.BaseURL + "/" + b.options.Name
	token := tokens[first]
	_, _ = fmt.Fprintf(b.streams.Out, `vault answers at %[1]s

  Claude Code:
    claude mcp add --transport http %[2]s %[1]s --header "Authorization: Bearer %[3]s"

  by hand:
    curl -s %[1]s -H "Authorization: Bearer %[3]s" -H "Content-Type: application/json" \
      -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tree","arguments":{}}}'

`, address, b.options.Name, token)
	if b.flags.readyFile == "" {
		return nil
	}
	return dev.WriteReady(b.flags.readyFile, dev.Ready{
		Address: address, Token: token, People: tokens, Hub: b.options.HubURL,
		HubAdmin: b.environment.Hub.AdminToken(), Postgres: b.environment.PostgresURL,
		Installation: b.environment.Hub.InstallationID(), Pid: os.Getpid(),
	})
}
