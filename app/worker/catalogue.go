package worker

import (
	"context"
	"encoding/json"
	"fmt"

	"vault/app/instance"
	"vault/modules/catalogue"
	"vault/modules/installations"
	"vault/platform/jobs"
	"vault/platform/telemetry"
)

// CataloguerConfig is what the catalogue jobs need.
type CataloguerConfig struct {
	Control   *installations.Service
	Databases *Databases
	Tools     catalogue.ToolSet
	Renderer  catalogue.Renderer
	Views     *catalogue.Views
	Recorder  *telemetry.Recorder
}

// Cataloguer does the jobs of the catalogue role.
type Cataloguer struct{ CataloguerConfig }

// NewCataloguer makes a cataloguer.
func NewCataloguer(c CataloguerConfig) *Cataloguer { return &Cataloguer{c} }

// Kinds are the jobs it does.
func (c *Cataloguer) Kinds() map[string]jobs.Handler {
	return map[string]jobs.Handler{
		installations.KindCatalogue: record(c.Recorder, "catalogue", c.build),
	}
}

// build makes the view of every set of repositories that callers were lately
// found to read, so that the next caller finds it.
func (c *Cataloguer) build(ctx context.Context, run *jobs.Run) error {
	var args installations.CatalogueArgs
	if err := json.Unmarshal(run.Args, &args); err != nil {
		return jobs.Cancel(fmt.Errorf("read the arguments: %w", err))
	}
	telemetry.Add(ctx, "installation", args.Installation)
	x, err := c.Databases.Index(ctx, args.Installation)
	if err != nil {
		return err
	}
	builder, err := instance.NewBuilder(x, c.Tools, c.Renderer)
	if err != nil {
		return err
	}
	sets, err := c.Control.ReaderSets(ctx, args.Installation)
	if err != nil {
		return err
	}
	built := 0
	for _, set := range sets {
		b, err := builder.Build(ctx, set.Repositories)
		if err != nil {
			// A set with a repository that left is nobody's any more.
			continue
		}
		key := catalogue.Key{Installation: args.Installation, Set: catalogue.SetHash(set.Repositories), Rev: b.Rev}
		if err := c.Views.Store(ctx, key, b.Finished); err != nil {
			return err
		}
		built++
	}
	telemetry.Add(ctx, "views", built)
	return nil
}
