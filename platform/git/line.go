package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
)

// line is a git process that stays and answers one request after the other.
type line struct {
	turn   chan struct{}
	p      *process
	out    *bufio.Reader
	closed bool
}

func newLine() line { return line{turn: make(chan struct{}, 1)} }

// talk is one exchange with the process. It must read exactly its answer.
type talk func(in io.Writer, out *bufio.Reader) error

// brokenError marks that an exchange ended in the middle, so that the process
// is of no more use.
type brokenError struct{ error }

func (e brokenError) Unwrap() error { return e.error }

func broken(err error) error {
	if err == nil {
		return nil
	}
	return brokenError{err}
}

// do holds one exchange under the cap for small calls. A process that was
// found dead before it answered anything is started anew once: first must be
// safe to repeat, then is run only after first succeeded.
func (l *line) do(ctx context.Context, r *Runner, c call, first, then talk) error {
	ctx, cancel := context.WithTimeoutCause(ctx, r.limits.small, ErrTimeout)
	defer cancel()
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("git %s: %w", c.args[0], context.Cause(ctx))
	}
	defer func() { <-l.turn }()
	if l.closed {
		return fmt.Errorf("git %s: repository is %w", c.args[0], ErrClosed)
	}
	fresh, err := l.ready(r, c)
	if err != nil {
		return err
	}
	err = l.exchange(ctx, first)
	if stale(err) && !fresh && ctx.Err() == nil {
		if _, err = l.ready(r, c); err != nil {
			return err
		}
		err = l.exchange(ctx, first)
	}
	switch {
	case err != nil || then == nil:
		return err
	case l.p == nil: // the context ended after the first answer
		return fmt.Errorf("git %s: %w", c.args[0], context.Cause(ctx))
	}
	return l.exchange(ctx, then)
}

// stale reports an exchange that failed as it does when the process has died
// since the last one.
func stale(err error) bool {
	return errors.As(err, new(brokenError)) && !errors.Is(err, errAbandon)
}

// ready starts the process if there is none and tells whether it did.
func (l *line) ready(r *Runner, c call) (fresh bool, err error) {
	if l.p != nil {
		return false, nil
	}
	p, err := r.start(c)
	if err != nil {
		return false, err
	}
	l.p, l.out = p, bufio.NewReaderSize(p.out, 64<<10)
	return true, nil
}

// exchange runs one talk; a broken one ends the process, whose own words then
// explain it.
func (l *line) exchange(ctx context.Context, t talk) error {
	p := l.p
	release := context.AfterFunc(ctx, p.stop)
	err := t(p.in, l.out)
	if release() && !errors.As(err, new(brokenError)) {
		return err
	}
	l.p = nil
	_ = p.in.Close()
	if errors.Is(err, errAbandon) {
		p.kill()
	}
	_, _ = io.Copy(io.Discard, l.out)
	waitErr := p.wait()
	switch {
	case err == nil:
		return nil // the answer was complete before the context ended
	case ctx.Err() != nil:
		return fmt.Errorf("git %s: %w", p.name, context.Cause(ctx))
	case exitCode(waitErr) > 0 || errors.Is(waitErr, ErrTooLarge):
		return broken(waitErr)
	}
	return err
}

// errAbandon ends the process in the middle of an answer too long to read.
var errAbandon = errors.New("answer abandoned")

func (l *line) close() error {
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	l.closed = true
	if l.p == nil {
		return nil
	}
	p := l.p
	l.p = nil
	_ = p.in.Close()
	p.stop()
	if err := p.wait(); err != nil && exitCode(err) > 0 {
		return err
	}
	return nil
}
