package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"vault/e2e/harness"
)

// apart is vault with its roles as processes of their own.
type apart struct {
	dev      *harness.Dev
	others   []*harness.Process
	instance *harness.Process
}

// startRoles runs the roles apart and waits until everything is indexed.
func (b *bench) startRoles(name string) (*apart, error) {
	d, err := b.start(name, "--hub-only")
	if err != nil {
		return nil, err
	}
	a := &apart{dev: d}
	dsn := filepath.Join(d.Roles, "control_dsn")
	if err := finish("migrate", "--control-dsn-file", dsn); err != nil {
		return a, err
	}
	for _, role := range []string{"front", "index", "catalogue"} {
		p, err := harness.Run(nil, role, "--config", filepath.Join(d.Roles, role+".yaml"))
		if err != nil {
			return a, err
		}
		a.others = append(a.others, p)
	}
	if a.instance, err = harness.Run(nil, "instance", "--config", filepath.Join(d.Roles, "instance.yaml")); err != nil {
		return a, err
	}
	deadline := time.Now().Add(startLimit)
	enable := []string{"installations", "enable", fmt.Sprint(d.Installation), "--name", d.Name(), "--control-dsn-file", dsn}
	for finish(enable...) != nil && time.Now().Before(deadline) {
		time.Sleep(100 * time.Millisecond)
	}
	// The head is visible before the search index of a first build is made;
	// the operator's list says when nothing is left to do.
	for {
		p, err := harness.Run(nil, "installations", "list", "--control-dsn-file", dsn)
		if err != nil {
			return a, err
		}
		<-p.Done()
		if strings.Contains(p.Output(), "1 of 1") {
			return a, nil
		}
		if time.Now().After(deadline) {
			return a, fmt.Errorf("the index is not complete: %s", p.Output())
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// finish runs vault to its end.
func finish(args ...string) error {
	p, err := harness.Run(nil, args...)
	if err != nil {
		return err
	}
	<-p.Done()
	if p.Err() != nil {
		return fmt.Errorf("vault %q: %w: %s", args, p.Err(), p.Output())
	}
	return nil
}

// restartInstance stops the instance, starts it and gives the milliseconds
// until first has its answer.
func (a *apart) restartInstance(first func() error) (float64, error) {
	if err := a.instance.Stop(); err != nil {
		return 0, err
	}
	return milliseconds(func() (err error) {
		if a.instance, err = harness.Run(nil, "instance", "--config", filepath.Join(a.dev.Roles, "instance.yaml")); err != nil {
			return err
		}
		return first()
	})
}

func (a *apart) stop() {
	for _, p := range append(a.others, a.instance) {
		if p != nil {
			_ = p.Stop()
		}
	}
	_ = a.dev.Stop()
}
