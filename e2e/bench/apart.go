package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"vault/e2e/harness"
)

// apart is vault with its roles as processes of their own.
type apart struct {
	dev      *harness.Dev
	others   []*harness.Process
	instance *harness.Process
	// config is the settings file of the instance; listen and admin are the
	// addresses it answers at.
	config, listen, admin string
	pool                  *pgxpool.Pool
}

// startRoles runs the roles apart over a folder and waits until everything is
// indexed.
func (b *bench) startRoles(name, folder string) (_ *apart, err error) {
	d, err := b.start(name, folder, "--hub-only")
	if err != nil {
		return nil, err
	}
	a := &apart{dev: d}
	defer func() {
		if err != nil {
			a.stop()
		}
	}()
	dsn := filepath.Join(d.Roles, "control_dsn")
	if err := finish("migrate", "--control-dsn-file", dsn); err != nil {
		return nil, err
	}
	for _, role := range []string{"front", "index", "catalogue"} {
		p, err := harness.Run(nil, role, "--config", filepath.Join(d.Roles, role+".yaml"))
		if err != nil {
			return nil, err
		}
		a.others = append(a.others, p)
	}
	if err := a.configure(); err != nil {
		return nil, err
	}
	if err := a.startInstance(); err != nil {
		return nil, err
	}
	deadline := time.Now().Add(startLimit)
	enable := []string{"installations", "enable", fmt.Sprint(d.Installation), "--name", d.Name(), "--control-dsn-file", dsn}
	for finish(enable...) != nil && time.Now().Before(deadline) {
		time.Sleep(100 * time.Millisecond)
	}
	if err := a.connect(); err != nil {
		return nil, err
	}
	return a, a.indexed(filepath.Base(folder))
}

// configure gives the instance a known address for its profiles.
func (a *apart) configure() error {
	data, err := os.ReadFile(filepath.Join(a.dev.Roles, "instance.yaml"))
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	a.admin = l.Addr().String()
	if err := l.Close(); err != nil {
		return err
	}
	var text strings.Builder
	for line := range strings.Lines(string(data)) {
		switch {
		case strings.HasPrefix(line, "admin_listen:"):
			line = "admin_listen: " + a.admin + "\n"
		case strings.HasPrefix(line, "listen:"):
			a.listen = strings.TrimSpace(strings.TrimPrefix(line, "listen:"))
		}
		text.WriteString(line)
	}
	a.config = filepath.Join(a.dev.Roles, "bench-instance.yaml")
	return os.WriteFile(a.config, []byte(text.String()), 0o600)
}

// connect opens the database of the index.
func (a *apart) connect() error {
	dsn, err := os.ReadFile(filepath.Join(a.dev.Roles, "database_dsn"))
	if err != nil {
		return err
	}
	config, err := pgxpool.ParseConfig(string(dsn))
	if err != nil {
		return err
	}
	config.MaxConns = connections
	a.pool, err = pgxpool.NewWithConfig(context.Background(), config)
	return err
}

// indexed waits until a repository can be read and its search index is made,
// which comes after a first build is visible.
func (a *apart) indexed(repo string) error {
	return await("the index of "+repo, func() bool {
		var done bool
		err := a.pool.QueryRow(context.Background(),
			"SELECT complete AND settled FROM repo WHERE name = $1", repo).Scan(&done)
		return err == nil && done
	})
}

// await waits for something that takes long.
func await(what string, met func() bool) error {
	deadline := time.Now().Add(startLimit)
	for !met() {
		if time.Now().After(deadline) {
			return fmt.Errorf("%s did not come within %s", what, startLimit)
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil
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

func (a *apart) startInstance() (err error) {
	a.instance, err = harness.Run(nil, "instance", "--config", a.config)
	return err
}

// restartInstance stops the instance, starts it and gives the milliseconds
// until first has its answer.
func (a *apart) restartInstance(first func() error) (float64, error) {
	if err := a.instance.Stop(); err != nil {
		return 0, err
	}
	return milliseconds(func() error {
		if err := a.startInstance(); err != nil {
			return err
		}
		return first()
	})
}

// listening waits until the instance takes connections, without asking it
// anything.
func (a *apart) listening() error {
	deadline := time.Now().Add(startLimit)
	for {
		c, err := net.Dial("tcp", a.listen)
		if err == nil {
			return c.Close()
		}
		if time.Now().After(deadline) {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

func (a *apart) stop() {
	if a.pool != nil {
		a.pool.Close()
	}
	for _, p := range append(a.others, a.instance) {
		if p != nil {
			_ = p.Stop()
		}
	}
	_ = a.dev.Stop()
}
