package dev

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"vault/modules/index"
)

// Progress shows on a terminal how far the first build is, and on anything
// else says so every few seconds.
type Progress struct {
	out      io.Writer
	terminal bool

	mu      sync.Mutex
	started map[string]time.Time
	shown   time.Time
	open    bool
	done    bool
}

// The pauses between two lines, on a terminal and elsewhere, and how long a
// build must take to be worth a line.
const (
	pauseTerminal = 100 * time.Millisecond
	pauseLog      = 5 * time.Second
	worthALine    = time.Second
)

// NewProgress makes the display.
func NewProgress(out io.Writer) *Progress {
	f, ok := out.(*os.File)
	return &Progress{out: out, terminal: ok && term.IsTerminal(int(f.Fd())), started: map[string]time.Time{}}
}

// Report shows one step of one repository.
func (p *Progress) Report(repository string, at index.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	start, ok := p.started[repository]
	if !ok {
		start = now
		p.started[repository] = start
	}
	pause := pauseLog
	if p.terminal {
		pause = pauseTerminal
	}
	if p.done || now.Sub(start) < worthALine || now.Sub(p.shown) < pause {
		return
	}
	p.shown = now
	line := Line(repository, at, now.Sub(start))
	if p.terminal {
		_, _ = fmt.Fprintf(p.out, "\r\x1b[K%s", line)
		p.open = true
		return
	}
	_, _ = fmt.Fprintln(p.out, line)
}

// Line says how far a build is after took: notes, rate, and what remains.
func Line(repository string, at index.Progress, took time.Duration) string {
	line := fmt.Sprintf("indexing %s: %d of %d notes", repository, at.Done, at.Total)
	rate := float64(at.Done) / took.Seconds()
	if at.Done == 0 || rate <= 0 {
		return line
	}
	left := time.Duration(float64(at.Total-at.Done) / rate * float64(time.Second)).Round(time.Second)
	return line + fmt.Sprintf(", %.0f/s, %s left", rate, left)
}

// Done ends the display.
func (p *Progress) Done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done = true
	if p.open {
		_, _ = fmt.Fprint(p.out, "\r\x1b[K")
	}
}
