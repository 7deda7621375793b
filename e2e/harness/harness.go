// Package harness runs the real binary for the end-to-end tests, the
// benchmark and the comparisons: it builds it once, starts it, speaks MCP to
// it and stops it.
package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Root is the folder of the module.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(filepath.Dir(filepath.Dir(file)))
}

var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "vault-e2e-")
	if err != nil {
		return "", err
	}
	out := filepath.Join(dir, "vault")
	cmd := exec.Command("go", "build", "-o", out, ".")
	cmd.Dir = Root()
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build vault: %w: %s", err, text)
	}
	return out, os.Chmod(dir, 0o755)
})

// Binary builds vault once per process and gives its path. RemoveBinary
// removes it.
func Binary() (string, error) { return build() }

// RemoveBinary removes what Binary built.
func RemoveBinary() {
	if path, err := build(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path))
	}
}

// Process is one running vault.
type Process struct {
	cmd  *exec.Cmd
	log  *syncBuffer
	done chan struct{}
	err  error
}

// syncBuffer collects output from several goroutines.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write appends.
func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

// String gives what was written so far.
func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// Run starts the binary with arguments and extra variables.
func Run(env []string, args ...string) (*Process, error) {
	binary, err := Binary()
	if err != nil {
		return nil, err
	}
	p := &Process{cmd: exec.Command(binary, args...), log: &syncBuffer{}, done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start vault: %w", err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// Pid is the process's id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Output is what the process printed so far.
func (p *Process) Output() string { return p.log.String() }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err is how the process ended.
func (p *Process) Err() error { return p.err }

// Signal sends a signal.
func (p *Process) Signal(s os.Signal) { _ = p.cmd.Process.Signal(s) }

// Stop asks the process to end and waits for it; one that does not end in 30 s
// is killed, which is an error.
func (p *Process) Stop() error {
	p.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
		return p.err
	case <-time.After(30 * time.Second):
		_ = syscall.Kill(-p.Pid(), syscall.SIGKILL)
		<-p.done
		return fmt.Errorf("vault did not stop: %s", p.Output())
	}
}

// Kill ends the process at once and waits until it is gone.
func (p *Process) Kill() {
	p.Signal(syscall.SIGKILL)
	<-p.done
}

// Ready is the ready file of `vault dev`.
type Ready struct {
	Address  string            `json:"address"`
	Token    string            `json:"token"`
	People   map[string]string `json:"people"`
	Hub      string            `json:"hub"`
	HubAdmin string            `json:"hub_admin"`
	Postgres string            `json:"postgres"`
	// Installation and Roles are those of the local GitHub.
	Installation int64  `json:"installation"`
	Roles        string `json:"roles"`
	ReadyPid     int    `json:"pid"`
}

// Dev is one running `vault dev`.
type Dev struct {
	*Process
	Ready
	// Data is its data folder.
	Data string
	// Took is the time from start to ready.
	Took time.Duration
}

// StartDev starts `vault dev` on a free port with data under dir, and waits
// until it is ready.
func StartDev(ctx context.Context, dir string, args ...string) (*Dev, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	d := &Dev{Data: filepath.Join(dir, "data")}
	readyFile := filepath.Join(dir, "ready.json")
	_ = os.Remove(readyFile)
	args = append([]string{"dev", "--listen", "127.0.0.1:0", "--data", d.Data, "--ready-file", readyFile}, args...)
	if _, err := Binary(); err != nil {
		return nil, err
	}
	started := time.Now()
	var err error
	if d.Process, err = Run(nil, args...); err != nil {
		return nil, err
	}
	if err := d.await(ctx, readyFile); err != nil {
		return nil, errors.Join(err, d.Stop())
	}
	d.Took = time.Since(started)
	return d, nil
}

// await reads the ready file as soon as it is there.
func (d *Dev) await(ctx context.Context, path string) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		data, err := os.ReadFile(path)
		if err == nil {
			return json.Unmarshal(data, &d.Ready)
		}
		select {
		case <-d.done:
			return fmt.Errorf("vault dev ended: %w: %s", d.err, d.Output())
		case <-ctx.Done():
			return fmt.Errorf("vault dev is not ready: %w: %s", ctx.Err(), d.Output())
		case <-tick.C:
		}
	}
}

// Client speaks MCP to this vault as the first person.
func (d *Dev) Client() *Client { return NewClient(d.Address, d.Token) }

// As speaks MCP to this vault as another person.
func (d *Dev) As(login string) *Client { return NewClient(d.Address, d.People[login]) }

// Name is the last part of the address.
func (d *Dev) Name() string { return d.Address[strings.LastIndexByte(d.Address, '/')+1:] }
