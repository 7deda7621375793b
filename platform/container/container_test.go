package container_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"vault/platform/container"
)

// journal records what happened in which order.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) add(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, line)
}

// service is a part with every duty.
type service struct {
	name     string
	log      *journal
	startErr error
	runErr   chan error
	checkErr error
}

func (s *service) Start(context.Context) error {
	s.log.add("start " + s.name)
	return s.startErr
}

func (s *service) Run(ctx context.Context) error {
	select {
	case <-ctx.Done():
		s.log.add("run over " + s.name)
		return ctx.Err()
	case err := <-s.runErr:
		return err
	}
}

func (s *service) Stop(context.Context) error {
	s.log.add("stop " + s.name)
	return nil
}

func (s *service) Check(context.Context) error { return s.checkErr }

func declare(log *journal, name string, needs ...*container.Part[*service]) *container.Part[*service] {
	return container.Declare(name, func(c *container.Container) (*service, error) {
		for _, n := range needs {
			container.Get(c, n)
		}
		return &service{name: name, log: log, runErr: make(chan error)}, nil
	})
}

func TestServeStartsInOrderAndStopsInReverse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := &journal{}
		db := declare(log, "db")
		web := declare(log, "web", db)
		c := container.New()
		if err := c.Build(web, db); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		if err := c.Serve(ctx, time.Second, cancel); err != nil {
			t.Fatal(err)
		}
		want := []string{"start db", "start web", "stop web", "run over web", "stop db", "run over db"}
		if !slices.Equal(log.lines, want) {
			t.Errorf("got %q, want %q", log.lines, want)
		}
		if got := c.Edges()["web"]; !slices.Equal(got, []string{"db"}) {
			t.Errorf("edges of web: %q", got)
		}
	})
}

func TestServeFailsWithTheFirstFailure(t *testing.T) {
	t.Parallel()
	broken := errors.New("no port")
	t.Run("start", func(t *testing.T) {
		t.Parallel()
		log := &journal{}
		c := container.New()
		db, web, never := declare(log, "db"), declare(log, "web"), declare(log, "never")
		container.Get(c, db)
		container.Set(c, web, &service{name: "web", log: log, startErr: broken, runErr: make(chan error)})
		if err := c.Build(web, never); err != nil {
			t.Fatal(err)
		}
		err := c.Serve(t.Context(), time.Second, func() { t.Error("ready in spite of a failed start") })
		if !errors.Is(err, broken) || !strings.Contains(err.Error(), "start web") {
			t.Errorf("error %v", err)
		}
		want := []string{"start db", "start web", "stop web", "stop db", "run over db"}
		if !slices.Equal(log.lines, want) {
			t.Errorf("got %q, want %q", log.lines, want)
		}
	})
	t.Run("run", func(t *testing.T) {
		t.Parallel()
		log := &journal{}
		c := container.New()
		web := declare(log, "web")
		s := container.Get(c, web)
		err := c.Serve(t.Context(), time.Second, func() { go func() { s.runErr <- broken }() })
		if !errors.Is(err, broken) {
			t.Errorf("error %v", err)
		}
	})
}

func TestBuildErrorSticks(t *testing.T) {
	t.Parallel()
	broken := errors.New("bad configuration")
	conf := container.Declare("conf", func(*container.Container) (int, error) { return 0, broken })
	built := false
	db := container.Declare("db", func(c *container.Container) (int, error) {
		return container.Get(c, conf), nil
	})
	after := container.Declare("after", func(*container.Container) (int, error) { built = true; return 1, nil })
	c := container.New()
	err := c.Build(db, after)
	if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "build conf: ") || built {
		t.Errorf("error %v, built %v", err, built)
	}
}

func TestCheckNamesTheParts(t *testing.T) {
	t.Parallel()
	c := container.New()
	log := &journal{}
	container.Set(c, declare(log, "db"), &service{checkErr: errors.New("no connection")})
	container.Set(c, declare(log, "web"), &service{})
	err := c.Check(t.Context())
	if err == nil || err.Error() != "db: no connection" {
		t.Errorf("check: %v", err)
	}
}

// resource is a part that only has to be closed.
type resource struct{ err error }

func (r resource) Close() error { return r.err }

func TestFailedClosesAreReported(t *testing.T) {
	t.Parallel()
	broken := errors.New("still in use")
	c := container.New()
	container.Set(c, container.Declare("file", func(*container.Container) (resource, error) { return resource{}, nil }), resource{broken})
	ctx, cancel := context.WithCancel(t.Context())
	if err := c.Serve(ctx, time.Second, cancel); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}
