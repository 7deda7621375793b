package container

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// running is a part that was started, with what is needed to end it.
type running struct {
	*entry
	cancel context.CancelFunc
	done   chan struct{}
}

// Serve starts the built parts in order, calls ready when all are up, waits
// until ctx ends or a part fails, and stops what it started in reverse order
// within grace. It returns nil when ctx ended and everything stopped cleanly.
func (c *Container) Serve(ctx context.Context, grace time.Duration, ready func()) error {
	if c.err != nil {
		return c.err
	}
	failed := make(chan error, len(c.order))
	var up []*running
	var result error
	for _, e := range c.order {
		r := &running{entry: e}
		up = append(up, r)
		if result = r.start(ctx, failed); result != nil {
			break
		}
	}
	if ctx.Err() != nil {
		result = nil
	} else if result == nil {
		ready()
		select {
		case <-ctx.Done():
		case result = <-failed:
		}
	}
	return errors.Join(result, stopAll(ctx, up, grace))
}

// start brings one part up. Its Run goes on in the background under a context
// that ends only when the part is stopped, so that parts that need it can
// still use it while they stop.
func (r *running) start(ctx context.Context, failed chan<- error) error {
	if s, ok := r.value.(Starter); ok {
		if err := s.Start(ctx); err != nil {
			return fmt.Errorf("start %s: %w", r.name, err)
		}
	}
	runner, ok := r.value.(Runner)
	if !ok {
		return nil
	}
	runCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r.cancel, r.done = cancel, make(chan struct{})
	go func() {
		defer close(r.done)
		err := runner.Run(runCtx)
		if runCtx.Err() != nil {
			return
		}
		if err == nil {
			err = errors.New("ended by itself")
		}
		failed <- fmt.Errorf("run %s: %w", r.name, err)
	}()
	return nil
}

func stopAll(ctx context.Context, up []*running, grace time.Duration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	var errs []error
	for i := len(up) - 1; i >= 0; i-- {
		if err := up[i].stop(ctx); err != nil {
			errs = append(errs, fmt.Errorf("stop %s: %w", up[i].name, err))
		}
	}
	return errors.Join(errs...)
}

func (r *running) stop(ctx context.Context) error {
	var err error
	if s, ok := r.value.(Stopper); ok {
		err = s.Stop(ctx)
	}
	if r.cancel != nil {
		r.cancel()
		select {
		case <-r.done:
		case <-ctx.Done():
			err = errors.Join(err, errors.New("still running after the grace time"))
		}
	}
	switch c := r.value.(type) {
	case Closer:
		c.Close()
	case io.Closer:
		err = errors.Join(err, c.Close())
	}
	return err
}
