// Package container wires a process out of parts.
//
// A part is a package-level value: a name and a function that builds it. In a
// build function, Get returns another part's value and builds it first when
// needed, so a dependency is a function call the compiler checks, and a cycle
// of parts is a compile error. Parts hold no state: each Container has its own
// values.
//
// What a built value has to do is found by its methods: Start (ready when it
// returns), Run (works until its context ends), Stop, Close and Check.
package container

import (
	"context"
	"errors"
	"fmt"
)

// Part is one piece of a process. Declare it at package level.
type Part[T any] struct {
	name  string
	build func(*Container) (T, error)
}

// Root is a part of any type, as a role lists it.
type Root interface {
	// Name is the part's name, unique in the process.
	Name() string

	need(c *Container)
}

// Starter is a part that has work to do before others may use it. Start
// returns when it is ready; its context ends with the process.
type Starter interface {
	Start(ctx context.Context) error
}

// Runner is a part that works in the background from its start until ctx
// ends. A return before that ends the process.
type Runner interface {
	Run(ctx context.Context) error
}

// Stopper is a part that has to be stopped; ctx bounds how long it may take.
type Stopper interface {
	Stop(ctx context.Context) error
}

// Closer is a part that only lets go of resources; one that can fail at it has
// io.Closer's method instead.
type Closer interface{ Close() }

// Checker is a part whose readiness can be asked.
type Checker interface {
	Check(ctx context.Context) error
}

// Declare makes a part. build may call Get for other parts but must not use
// their values beyond keeping them: they are zero once a build has failed.
func Declare[T any](name string, build func(*Container) (T, error)) *Part[T] {
	return &Part[T]{name: name, build: build}
}

// Name is the part's name.
func (p *Part[T]) Name() string { return p.name }

func (p *Part[T]) need(c *Container) { Get(c, p) }

// entry is one built part. Its key in the container is the *Part itself.
type entry struct {
	name  string
	value any
}

// Container holds the values of one process.
type Container struct {
	built map[any]*entry
	order []*entry
	stack []string
	edges map[string][]string
	err   error
}

// New makes an empty container.
func New() *Container {
	return &Container{built: map[any]*entry{}, edges: map[string][]string{}}
}

// Get gives a part's value and builds it first when needed. After the first
// build error it returns zero values; Err tells.
func Get[T any](c *Container, p *Part[T]) T {
	var zero T
	if n := len(c.stack); n > 0 {
		from := c.stack[n-1]
		c.edges[from] = append(c.edges[from], p.name)
	}
	if e, ok := c.built[p]; ok {
		return e.value.(T)
	}
	if c.err != nil {
		return zero
	}
	c.stack = append(c.stack, p.name)
	value, err := p.build(c)
	c.stack = c.stack[:len(c.stack)-1]
	if c.err != nil {
		return zero
	}
	if err != nil {
		c.err = fmt.Errorf("build %s: %w", p.name, err)
		return zero
	}
	add(c, p, value)
	return value
}

// Set gives a part a value of the caller's instead of building it. It must
// come before the first Get of that part.
func Set[T any](c *Container, p *Part[T], value T) { add(c, p, value) }

func add[T any](c *Container, p *Part[T], value T) {
	e := &entry{name: p.name, value: value}
	c.built[p] = e
	c.order = append(c.order, e)
}

// Build builds the roots and all they need.
func (c *Container) Build(roots ...Root) error {
	for _, r := range roots {
		r.need(c)
	}
	return c.err
}

// Err is the first build error.
func (c *Container) Err() error { return c.err }

// Order lists the names of the built parts in start order.
func (c *Container) Order() []string {
	names := make([]string, len(c.order))
	for i, e := range c.order {
		names[i] = e.name
	}
	return names
}

// Edges lists, for each built part, the parts it asked for.
func (c *Container) Edges() map[string][]string { return c.edges }

// Check asks every part that can tell whether it is ready, and joins what is
// missing, each error headed by the part's name.
func (c *Container) Check(ctx context.Context) error {
	var missing []error
	for _, e := range c.order {
		ch, ok := e.value.(Checker)
		if !ok {
			continue
		}
		if err := ch.Check(ctx); err != nil {
			missing = append(missing, fmt.Errorf("%s: %w", e.name, err))
		}
	}
	return errors.Join(missing...)
}
