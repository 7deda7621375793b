// Command soak pushes to and asks a running `vault dev` for a while. Answers
// are compared all the time; at the end it looks for memory, open files,
// goroutines and processes that were not given back, and for what a kill and
// a restart lose.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"vault/e2e/compare"
	"vault/e2e/harness"
)

func main() {
	length := flag.Duration("time", 5*time.Minute, "how long to push and ask")
	seed := flag.Uint64("seed", 1, "what the changes are chosen by")
	flag.Parse()
	if err := run(*length, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
	fmt.Println("nothing was lost and nothing leaked")
}

const (
	// startLimit bounds a start.
	startLimit = 2 * time.Minute
	// repo is the repository that is pushed to.
	repo = "soaked"
	// quiet is how long vault is left alone before it is measured.
	quiet = 10 * time.Second
)

// What a vault may hold more at the end than after the first minute.
const (
	moreMemory     = 1.5 // times
	moreFiles      = 20
	moreProcesses  = 8
	moreGoroutines = 40
)

// soak is one run.
type soak struct {
	dir   string
	dev   *harness.Dev
	vault compare.Vault
	model *model
	took  []time.Duration
}

func run(length time.Duration, seed uint64) (err error) {
	// All stacks are shown, not only the one that a signal meets.
	if err := os.Setenv("GOTRACEBACK", "all"); err != nil {
		return err
	}
	s := &soak{}
	if s.dir, err = os.MkdirTemp("", "vault-soak-"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(s.dir) }()
	defer harness.RemoveBinary()
	if err := os.Chmod(s.dir, 0o755); err != nil {
		return err
	}
	if err := s.start(); err != nil {
		return err
	}
	defer func() {
		select {
		case <-s.dev.Done():
		default:
			err = errors.Join(err, s.dev.Stop())
		}
	}()
	if err := s.open(seed); err != nil {
		return err
	}
	if err := s.soak(length); err != nil {
		return err
	}
	return s.restart()
}

// start runs vault on the data folder of this run.
func (s *soak) start() error {
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	d, err := harness.StartDev(ctx, s.dir)
	if err != nil {
		return err
	}
	s.dev, s.vault = d, compare.Vault{Client: d.Client(), Repo: repo}
	return nil
}

// open makes the repository that is pushed to.
func (s *soak) open(seed uint64) error {
	if err := s.serve(); err != nil {
		return err
	}
	token, err := s.dev.GitHubToken(s.owner())
	if err != nil {
		return err
	}
	s.model, err = newModel(filepath.Join(s.dir, "clone"), s.dev.CloneURL(s.dev.Name(), repo, token), seed)
	if err != nil {
		return err
	}
	_, err = s.model.seen(s.vault)
	return err
}

// serve has the local GitHub serve the repository; one that it served before
// the last start has kept its content.
func (s *soak) serve() error {
	return s.dev.Admin(http.MethodPost, "repositories", map[string]string{"name": repo}, nil)
}

// owner is the first person's login.
func (s *soak) owner() string {
	for login, token := range s.dev.People {
		if token == s.dev.Token {
			return login
		}
	}
	return ""
}

// soak pushes and asks: a fifth of the time to warm up, then the rest, and
// compares what vault holds after both.
func (s *soak) soak(length time.Duration) error {
	list := questions(s.dev.Client())
	if err := s.round(length/5, list); err != nil {
		return err
	}
	before, err := s.rest()
	if err != nil {
		return err
	}
	if err := s.round(length-length/5, list); err != nil {
		return err
	}
	after, err := s.rest()
	if err != nil {
		return err
	}
	fmt.Println("after warming up:", before)
	fmt.Println("at the end:      ", after)
	switch {
	case after.memory > moreMemory*before.memory:
		return errors.New("the memory grows")
	case after.files > before.files+moreFiles:
		return errors.New("open files are not given back")
	case after.processes > before.processes+moreProcesses:
		return errors.New("processes are left over")
	}
	return nil
}

// rest leaves vault alone and measures it.
func (s *soak) rest() (usage, error) {
	time.Sleep(quiet)
	return measure(s.dev.Pid())
}

// round pushes and asks for a while.
func (s *soak) round(length time.Duration, list []question) error {
	ctx, cancel := context.WithTimeout(context.Background(), length)
	defer cancel()
	type result struct {
		calls int64
		err   error
	}
	asked := make(chan result, 1)
	go func() {
		calls, err := callAll(ctx, s.dev, list)
		cancel() // what answers wrongly is not pushed to any further
		asked <- result{calls, err}
	}()
	pushes, err := 0, error(nil)
	for ; ctx.Err() == nil && err == nil; pushes++ {
		err = s.push()
	}
	cancel()
	r := <-asked
	slices.Sort(s.took)
	fmt.Printf("%d pushes, seen after %s (median), %s (longest); %d calls\n", pushes,
		s.took[len(s.took)/2].Round(time.Millisecond), s.took[len(s.took)-1].Round(time.Millisecond), r.calls)
	return errors.Join(err, r.err)
}

// push makes one change and checks what is answered then.
func (s *soak) push() error {
	if err := s.model.change(); err != nil {
		return err
	}
	took, err := s.model.seen(s.vault)
	if err != nil {
		return err
	}
	s.took = append(s.took, took)
	return s.model.check(s.vault)
}

// restart counts the goroutines of the old process against those of a new one,
// looks whether all is still there, and stops vault in order.
func (s *soak) restart() error {
	old, err := goroutines(s.dev)
	if err != nil {
		return err
	}
	if err := s.start(); err != nil {
		return err
	}
	if err := s.serve(); err != nil {
		return err
	}
	if _, err := s.model.seen(s.vault); err != nil {
		return fmt.Errorf("after a kill: %w", err)
	}
	if err := s.model.check(s.vault); err != nil {
		return fmt.Errorf("after a kill: %w", err)
	}
	time.Sleep(quiet)
	fresh, err := goroutines(s.dev)
	if err != nil {
		return err
	}
	fmt.Printf("%d goroutines at the end, %d in a fresh process\n", old, fresh)
	if old > fresh+moreGoroutines {
		return errors.New("goroutines are left over")
	}
	if err := s.start(); err != nil {
		return err
	}
	children := below(s.dev.Pid())
	if err := s.dev.Stop(); err != nil {
		return err
	}
	return gone(children)
}
