package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// logTail is how much of the log's end an error looks at.
const logTail = 4 << 10

// process is a server that is our child.
type process struct {
	pid      int
	log      string
	logStart int64
	done     chan struct{} // closed when it has ended
}

// startProcess starts a server that ends with us.
func startProcess(h home, program string, args []string) (*process, error) {
	log, start, err := h.openLog()
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // the child has its own handle

	cmd := exec.Command(program, args...) //nolint:noctx // it outlives the context it is started under
	cmd.Dir = h.root
	cmd.Env = serverEnvironment(h.root)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = processAttributes(h.account)
	p := &process{log: log.Name(), logStart: start, done: make(chan struct{})}
	started := make(chan error)
	go p.keep(cmd, started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	return p, nil
}

// keep starts the child and waits for its end on one thread: the kernel ties a
// child's life to the thread that made it, not to the process.
func (p *process) keep(cmd *exec.Cmd, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cmd.Start()
	if err == nil {
		p.pid = cmd.Process.Pid
	}
	started <- err
	if err != nil {
		return
	}
	_ = cmd.Wait() // how it ended stands in its log
	close(p.done)
}

// stop ends the process, ever less gently, and waits for its end.
func (p *process) stop(ctx context.Context) error {
	if p.ended() {
		return nil
	}
	steps := []struct {
		signal  syscall.Signal
		patient time.Duration
		ctx     context.Context
	}{
		{syscall.SIGINT, fastStop, ctx},
		// From here on the end is near whatever the caller's patience.
		{syscall.SIGQUIT, immediateStop, context.WithoutCancel(ctx)},
		{syscall.SIGKILL, immediateStop, context.WithoutCancel(ctx)},
	}
	for _, step := range steps {
		if err := signalProcess(p.pid, step.signal); err != nil {
			return fmt.Errorf("stop the private Postgres: %w", err)
		}
		if p.wait(step.ctx, step.patient) {
			return nil
		}
	}
	return fmt.Errorf("the private Postgres (process %d) does not end: %s", p.pid, p.lastLog())
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// wait reports whether the process ended within d and before ctx did.
func (p *process) wait(ctx context.Context, d time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	select {
	case <-p.done:
		return true
	case <-ctx.Done():
		return p.ended()
	}
}

// lastLog gives the last lines that the server has logged since this start.
func (p *process) lastLog() string {
	text, err := readTail(p.log, p.logStart)
	if err != nil || text == "" {
		return "its log " + p.log + " says nothing"
	}
	return lastLines(text, 6) + " (log: " + p.log + ")"
}

func readTail(path string, start int64) (text string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	start = max(start, info.Size()-logTail)
	tail, err := io.ReadAll(io.NewSectionReader(f, start, info.Size()-start))
	return string(tail), err
}
