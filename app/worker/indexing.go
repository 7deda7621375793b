package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"vault/modules/index"
	"vault/modules/installations"
	"vault/platform/git"
	"vault/platform/github"
	"vault/platform/jobs"
	"vault/platform/telemetry"
)

// IndexerConfig is what the indexing jobs need.
type IndexerConfig struct {
	Control   *installations.Service
	Databases *Databases
	// App is the GitHub App; GitHub says how its clients are made.
	App    *github.App
	GitHub github.Config
	Git    *git.Runner
	// Mirrors is the folder of the bare copies that a push which cannot be
	// told by GitHub's API is read from. It may be lost at any time.
	Mirrors  string
	Recorder *telemetry.Recorder
	Log      *slog.Logger
	// Report is told how far a build is; it may be nil.
	Report func(repository string, p index.Progress)
}

// Indexer does the jobs of the index role.
type Indexer struct{ IndexerConfig }

// NewIndexer makes an indexer.
func NewIndexer(c IndexerConfig) *Indexer { return &Indexer{c} }

// Kinds are the jobs it does.
func (i *Indexer) Kinds() map[string]jobs.Handler {
	return map[string]jobs.Handler{
		installations.KindIndex: i.recorded("index", i.index),
		installations.KindSync:  i.recorded("sync", i.sync),
	}
}

// recorded makes an event of each run.
func (i *Indexer) recorded(name string, h jobs.Handler) jobs.Handler {
	return record(i.Recorder, name, h)
}

func record(r *telemetry.Recorder, name string, h jobs.Handler) jobs.Handler {
	return func(ctx context.Context, run *jobs.Run) error {
		ctx, event := r.Begin(ctx, name)
		defer event.End()
		telemetry.Add(ctx, "job", run.ID)
		telemetry.Add(ctx, "attempt", run.Attempt)
		err := h(ctx, run)
		if err != nil {
			telemetry.Add(ctx, telemetry.KeyOutcome, "again")
			telemetry.Add(ctx, "error", err.Error())
		}
		return err
	}
}

// sliceTime is how long one run works before it lets other jobs go first.
const sliceTime = 30 * time.Second

// index brings one repository to where its branch stands, or as far as a
// slice goes. What it works on was wanted before it reads where the branch
// stands, so a push during the run raises the wanted generation and is worked
// on by the next one.
func (i *Indexer) index(ctx context.Context, run *jobs.Run) error {
	var args installations.IndexArgs
	if err := json.Unmarshal(run.Args, &args); err != nil {
		return jobs.Cancel(fmt.Errorf("read the arguments: %w", err))
	}
	telemetry.Add(ctx, "repository", args.Repository)
	work, err := i.Control.Claim(ctx, args.Repository)
	if errors.Is(err, installations.ErrGone) {
		return nil
	}
	if err != nil {
		return err
	}
	progress, err := i.update(ctx, work)
	if err != nil {
		return errors.Join(err, i.Control.Fail(context.WithoutCancel(ctx), work, err.Error()))
	}
	telemetry.Add(ctx, "done", progress.Done)
	telemetry.Add(ctx, "total", progress.Total)
	if !progress.Complete {
		if err := i.Control.Progress(ctx, work, progress.Done, progress.Total); err != nil {
			return err
		}
		return jobs.Again(0)
	}
	again, err := i.Control.Complete(ctx, run, work, installations.Result{
		Head:     string(progress.Head),
		VaultRev: string(progress.VaultRev),
		Findings: progress.Findings,
		Complete: true,
		Done:     progress.Done,
		Total:    progress.Total,
	})
	if err == nil && again {
		return jobs.Again(0)
	}
	return err
}

// update works on one repository for one slice.
func (i *Indexer) update(ctx context.Context, work installations.Work) (index.Progress, error) {
	x, err := i.Databases.Index(ctx, work.Installation.ID)
	if err != nil {
		return index.Progress{}, err
	}
	mirror, err := i.mirror(ctx, work)
	if err != nil {
		return index.Progress{}, err
	}
	defer func() { _ = mirror.Close() }()
	in, err := i.input(ctx, work, mirror)
	if err != nil {
		return index.Progress{}, err
	}
	var p index.Progress
	for {
		p, err = x.Update(ctx, in)
		if err != nil || p.Complete || time.Now().After(in.Deadline) {
			break
		}
	}
	if errors.Is(err, index.ErrGone) {
		// The next sync finds out whether it is gone for good.
		return p, fmt.Errorf("read repository %d: %w", work.Repository.ID, err)
	}
	return p, err
}

// mirror opens the bare copy of a repository, which is made when it is not
// there.
func (i *Indexer) mirror(ctx context.Context, work installations.Work) (*git.Repo, error) {
	r := work.Repository
	dir := filepath.Join(i.Mirrors, fmt.Sprint(work.Installation.ID), fmt.Sprintf("%d.git", r.ID))
	mirror, err := i.Git.InitBare(ctx, dir, r.DefaultBranch)
	if err != nil {
		return nil, fmt.Errorf("open the mirror of repository %d: %w", r.ID, err)
	}
	return mirror, nil
}

// input says how to read one repository: through GitHub's API for small
// pushes, through a mirror for everything else.
func (i *Indexer) input(ctx context.Context, work installations.Work, mirror *git.Repo) (index.UpdateInput, error) {
	r := work.Repository
	token, err := i.App.InstallationToken(ctx, work.Installation.ID, r.ID)
	if err != nil {
		return index.UpdateInput{}, fmt.Errorf("get a token of installation %d: %w", work.Installation.ID, err)
	}
	client := github.NewInstallation(i.GitHub, token.Value)
	url, err := i.GitHub.Endpoints.CloneURL(r.FullName)
	if err != nil {
		return index.UpdateInput{}, fmt.Errorf("find the address of repository %d: %w", r.ID, err)
	}
	info := i.info(r)
	return index.UpdateInput{
		Repo: info,
		Mirror: index.MirrorSource(mirror, index.MirrorOptions{
			URL:   url,
			Token: token.Value,
			Blob: func(ctx context.Context, oid git.OID, max int64) ([]byte, error) {
				return client.Blob(ctx, r.FullName, string(oid), max)
			},
		}),
		Compare:  index.CompareSource(client, info),
		Deadline: time.Now().Add(sliceTime),
		Report: func(p index.Progress) {
			if i.Report != nil {
				i.Report(r.Name, p)
			}
		},
	}, nil
}

// info is what GitHub says about a repository, as an index keeps it.
func (i *Indexer) info(r installations.Repository) index.RepoInfo {
	return index.RepoInfo{
		ID: r.ID, NodeID: r.NodeID, Name: r.Name, FullName: r.FullName,
		WebURL:        i.GitHub.Endpoints.Web + "/" + r.FullName,
		DefaultBranch: r.DefaultBranch,
	}
}

// sync is the job of Sync.
func (i *Indexer) sync(ctx context.Context, run *jobs.Run) error {
	var args installations.SyncArgs
	if err := json.Unmarshal(run.Args, &args); err != nil {
		return jobs.Cancel(fmt.Errorf("read the arguments: %w", err))
	}
	telemetry.Add(ctx, "installation", args.Installation)
	return i.Sync(ctx, args.Installation)
}

// Sync brings the list of an installation's repositories up to date, in the
// index first: a repository that left must be unreadable before anything
// else is done.
func (i *Indexer) Sync(ctx context.Context, installation int64) error {
	token, err := i.App.InstallationToken(ctx, installation)
	if err != nil {
		return fmt.Errorf("get a token of installation %d: %w", installation, err)
	}
	found, err := github.NewInstallation(i.GitHub, token.Value).Repositories(ctx)
	if err != nil {
		return fmt.Errorf("list the repositories of installation %d: %w", installation, err)
	}
	var list []installations.Repository
	var infos []index.RepoInfo
	for _, f := range found {
		r := installations.Repository{
			ID: f.ID, Installation: installation, NodeID: f.NodeID, Name: f.Name,
			FullName: f.FullName, DefaultBranch: f.DefaultBranch, Active: true,
		}
		list = append(list, r)
		infos = append(infos, i.info(r))
	}
	x, err := i.Databases.Index(ctx, installation)
	if err != nil {
		return err
	}
	if err := x.SetRepositories(ctx, infos); err != nil {
		return fmt.Errorf("set the repositories of installation %d: %w", installation, err)
	}
	return i.Control.Sync(ctx, installation, list)
}
