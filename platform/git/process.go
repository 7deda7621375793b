package git

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// grace is how long a process that is told to end may take to remove its lock
// and temporary files before it is killed.
const grace = 2 * time.Second

// process is a running git with its process group.
type process struct {
	cmd  *exec.Cmd
	name string
	in   io.WriteCloser
	out  io.ReadCloser
	text head

	mu      sync.Mutex
	ended   bool
	stopped bool
	timer   *time.Timer
}

// start begins a process in its own process group. The caller must call wait.
func (r *Runner) start(c call) (*process, error) {
	args := append([]string{"--no-pager", "--bare"}, c.args...)
	cmd := exec.Command(r.binary, args...)
	cmd.Env = r.environment(c)
	cmd.Dir = c.dir
	if cmd.Dir == "" {
		cmd.Dir = r.home
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = grace
	p := &process{cmd: cmd, name: c.args[0]}
	p.text.hide = c.secrets
	cmd.Stderr = &p.text
	if err := p.open(); err != nil {
		return nil, err
	}
	capMemory(cmd.Process.Pid, r.limits.memory)
	return p, nil
}

func (p *process) open() (err error) {
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return fmt.Errorf("start git %s: %w", p.name, err)
	}
	if p.out, err = p.cmd.StdoutPipe(); err != nil {
		return fmt.Errorf("start git %s: %w", p.name, errors.Join(err, p.in.Close()))
	}
	if err = p.cmd.Start(); err != nil {
		return fmt.Errorf("start git %s: %w", p.name, err)
	}
	return nil
}

// stop asks the process group to end and kills it after the grace period.
func (p *process) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended || p.stopped {
		return
	}
	p.stopped = true
	p.signal(syscall.SIGTERM)
	p.timer = time.AfterFunc(grace, p.kill)
}

// kill ends the process group at once. Closing the pipe frees a reader that a
// descendant outside the group would hold.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	p.stopped = true
	p.signal(syscall.SIGKILL)
	_ = p.out.Close()
}

// signal reaches the whole group; the caller holds the lock, which keeps the
// id from being one that was given to another process since.
func (p *process) signal(s syscall.Signal) {
	_ = syscall.Kill(-p.cmd.Process.Pid, s)
}

// wait ends the process's life: no output may be read after it. What is left
// of a group that was stopped is killed.
func (p *process) wait() error {
	err := p.cmd.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		p.signal(syscall.SIGKILL)
	}
	p.ended = true
	if p.timer != nil {
		p.timer.Stop()
	}
	return p.failure(err)
}

func (p *process) failure(err error) error {
	var exit *exec.ExitError
	switch {
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		return nil
	case errors.As(err, &exit) && p.outOfMemory():
		return fmt.Errorf("git %s needs memory %w", p.name, ErrTooLarge)
	case errors.As(err, &exit):
		return &Error{Command: p.name, Status: exit.ProcessState.String(), Code: exit.ExitCode(), Text: p.text.String()}
	case errors.Is(err, os.ErrClosed):
		return nil
	}
	return fmt.Errorf("wait for git %s: %w", p.name, err)
}

// outOfMemory recognises what git says when the cap on memory stops it.
func (p *process) outOfMemory() bool {
	text := p.text.String()
	return strings.Contains(strings.ToLower(text), "out of memory") || strings.Contains(text, "Cannot allocate memory")
}

// Error is a git process that ended badly.
type Error struct {
	// Command is the git command, without its arguments.
	Command string
	// Status is how the process ended, as in "exit status 128".
	Status string
	// Code is the exit code, -1 for a signal.
	Code int
	// Text is what git said about it: one line, at most a few KB, without
	// control characters or secrets.
	Text string
}

// Error gives the command, how it ended and what git said.
func (e *Error) Error() string {
	text := "git " + e.Command + ": " + e.Status
	if e.Text != "" {
		text += ": " + e.Text
	}
	return text
}

// exitCode is the exit code in err, 0 if there is none.
func exitCode(err error) int {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// said reports whether git's own words contain one of the phrases.
func said(err error, phrases ...string) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	for _, phrase := range phrases {
		if strings.Contains(e.Text, phrase) {
			return true
		}
	}
	return false
}
