package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// call describes one git process from start to end.
type call struct {
	// args are the command and its arguments.
	args []string
	// dir is the git folder; "" runs outside any repository.
	dir string
	// safe are the folders whose owner does not matter.
	safe []string
	// config and env come on top of what every process gets.
	config []setting
	env    []string
	// protocol is the one transport allowed; "" allows none.
	protocol string
	// feed writes standard input; nil leaves it empty.
	feed func(io.Writer) error
	// read takes standard output; nil discards it.
	read func(io.Reader) error
	// limit caps standard output in bytes, 0 means a few MB.
	limit int64
	// time caps the whole run, 0 means the cap for small calls.
	time time.Duration
	// secrets are cut out of error texts.
	secrets []string
	// notes receives what the process said on standard error.
	notes *string
}

// limits are the caps in force when a call names none of its own.
type limits struct {
	small   time.Duration // a call that answers about one thing
	long    time.Duration // a call that walks a tree, a history or a transfer
	output  int64         // bytes of output of a small call
	stream  int64         // bytes of output of a walking call
	entries int           // entries of a walk
	commit  int64         // bytes of one commit that are read
	memory  uint64        // bytes of address space of one process
}

func defaultLimits() limits {
	return limits{
		small:   30 * time.Second,
		long:    15 * time.Minute,
		output:  4 << 20,
		stream:  64 << 30,
		entries: 2_000_000,
		commit:  1 << 20,
		memory:  3 << 30,
	}
}

// errShort says that an answer ended early; the exit status says why.
var errShort = errors.New("git's answer ended early")

// run starts a process, feeds it, reads its output and waits for it. An error
// of read comes back as it is; the process does not outlive it.
func (r *Runner) run(ctx context.Context, c call) error {
	limit := c.time
	if limit == 0 {
		limit = r.limits.small
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, ErrTimeout)
	defer cancel()
	if ctx.Err() != nil {
		return fmt.Errorf("git %s: %w", c.args[0], context.Cause(ctx))
	}
	p, err := r.start(c)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, p.stop)()
	fed := p.feed(c.feed)
	readErr := p.read(c.read, r.outputLimit(c))
	waitErr := p.wait()
	if c.notes != nil {
		*c.notes = p.text.String()
	}
	return outcome(ctx, p.name, []error{fed(), readErr, waitErr})
}

func (r *Runner) outputLimit(c call) int64 {
	if c.limit == 0 {
		return r.limits.output
	}
	return c.limit
}

// outcome picks the error that explains the others: the context that ended
// the process, then a source that failed, then the reader's own, unless the
// output was cut short by the process's end.
func outcome(ctx context.Context, name string, errs []error) error {
	fed, read, wait := errs[0], errs[1], errs[2]
	switch {
	case ctx.Err() != nil && (fed != nil || read != nil || wait != nil):
		return fmt.Errorf("git %s: %w", name, context.Cause(ctx))
	case fed != nil:
		return fed
	case read != nil && !(errors.Is(read, errShort) && wait != nil):
		return read
	}
	return wait
}

// sourceError is a failure of what standard input is made from, as opposed to
// a process that stopped reading.
type sourceError struct{ error }

func (e sourceError) Unwrap() error { return e.error }

// feed writes standard input beside the reading of the output. The function
// it returns gives the source's error once the process has ended.
func (p *process) feed(from func(io.Writer) error) func() error {
	result := make(chan error, 1)
	go func() {
		var err error
		if from != nil {
			err = from(p.in)
		}
		_ = p.in.Close()
		var source sourceError
		if !errors.As(err, &source) {
			err = nil // the process stopped reading; its exit status says why
		}
		result <- err
		if err != nil {
			p.stop()
		}
	}()
	return func() error {
		select {
		case err := <-result:
			return err
		default:
			return nil // the source still waits for more, which nobody needs
		}
	}
}

// read hands the output to its reader and drains the rest.
func (p *process) read(to func(io.Reader) error, limit int64) error {
	out := &capped{from: p.out, left: limit}
	var err error
	if to != nil {
		err = to(out)
	}
	if err == nil {
		_, err = io.Copy(io.Discard, out)
	}
	if out.err != nil {
		err = out.err
	}
	if err != nil && !errors.Is(err, errShort) {
		p.stop()
		_ = p.out.Close()
	}
	return err
}

// capped reads at most a number of bytes and then fails.
type capped struct {
	from io.Reader
	left int64
	err  error
}

func (c *capped) Read(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.from.Read(p)
	if c.left -= int64(n); c.left < 0 {
		c.err = fmt.Errorf("git's output is %w", ErrTooLarge)
		return 0, c.err
	}
	return n, err
}
