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
	dev             *harness.Dev
	others          []*harness.Process
	index, instance *harness.Process
	// listen is the address of the instance.
	listen string
	// admin are the addresses of the roles' profiles.
	admin map[string]string
	pool  *pgxpool.Pool
}

// startRoles runs the roles apart over a folder and waits until everything is
// indexed.
func (b *bench) startRoles(name, folder string) (_ *apart, err error) {
	d, err := b.start(name, folder, "--hub-only")
	if err != nil {
		return nil, err
	}
	a := &apart{dev: d, admin: map[string]string{}}
	defer func() {
		if err != nil {
			a.stop()
		}
	}()
	dsn := filepath.Join(d.Roles, "control_dsn")
	if err := finish("migrate", "--control-dsn-file", dsn); err != nil {
		return nil, err
	}
	for _, role := range []string{"front", "catalogue"} {
		p, err := a.startRole(role)
		if err != nil {
			return nil, err
		}
		a.others = append(a.others, p)
	}
	if a.index, err = a.startRole("index"); err != nil {
		return nil, err
	}
	if a.instance, err = a.startRole("instance"); err != nil {
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

// startRole starts a role that shows its profiles at a known address.
func (a *apart) startRole(name string) (*harness.Process, error) {
	config := filepath.Join(a.dev.Roles, "bench-"+name+".yaml")
	if a.admin[name] == "" {
		if err := a.configure(name, config); err != nil {
			return nil, err
		}
	}
	return harness.Run(nil, name, "--config", config)
}

// configure writes the settings of a role.
func (a *apart) configure(name, config string) error {
	data, err := os.ReadFile(filepath.Join(a.dev.Roles, name+".yaml"))
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	a.admin[name] = l.Addr().String()
	if err := l.Close(); err != nil {
		return err
	}
	var text strings.Builder
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "admin_listen:") {
			line = "admin_listen: " + a.admin[name] + "\n"
		}
		if address, ok := strings.CutPrefix(line, "listen:"); ok && name == "instance" {
			a.listen = strings.TrimSpace(address)
		}
		text.WriteString(line)
	}
	return os.WriteFile(config, []byte(text.String()), 0o600)
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

// restartInstance stops the instance, starts it and gives the milliseconds
// until first has its answer.
func (a *apart) restartInstance(first func() error) (took float64, err error) {
	if err := a.instance.Stop(); err != nil {
		return 0, err
	}
	return milliseconds(func() error {
		if a.instance, err = a.startRole("instance"); err != nil {
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
	for _, p := range append(a.others, a.index, a.instance) {
		if p != nil {
			_ = p.Stop()
		}
	}
	_ = a.dev.Stop()
}
