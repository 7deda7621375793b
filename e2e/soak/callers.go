package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"vault/e2e/harness"
)

// callers is how many assistants ask at once.
const callers = 4

// question is a call whose answer never changes.
type question struct {
	tool string
	args map[string]any
	want string
}

// questions asks a repository that nobody changes, and keeps the answers. Some
// of them are refusals.
func questions(c *harness.Client) []question {
	list := []question{
		{tool: "list_notes", args: map[string]any{"repo": "handbook"}},
		{tool: "tree", args: map[string]any{"repo": "projects", "depth": 3}},
		{tool: "search_notes", args: map[string]any{"repo": "handbook", "query": "the"}},
		{tool: "search_notes", args: map[string]any{"repo": "projects", "query": `\d{4}-\d{2}`, "regex": true, "limit": 100}},
		{tool: "search_notes", args: map[string]any{"repo": "projects", "query": "zzqqxx"}},
		{tool: "read_note", args: map[string]any{"repo": "handbook", "path": "README.md"}},
		{tool: "read_note", args: map[string]any{"repo": "handbook", "path": "no/such.md"}},
		{tool: "read_note", args: map[string]any{"repo": "handbook", "path": "../up.md"}},
	}
	for i := range list {
		list[i].want = list[i].ask(c)
	}
	return list
}

// ask gives the answer or the refusal.
func (q question) ask(c *harness.Client) string {
	r, err := c.Call(q.tool, q.args)
	if err != nil {
		return "refused: " + err.Error()
	}
	return r.Text
}

// callAll asks from several callers until the context ends. It counts the
// calls and stops at the first answer that differs.
func callAll(ctx context.Context, d *harness.Dev, list []question) (calls int64, err error) {
	var count atomic.Int64
	var once sync.Once
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for n := range callers {
		wg.Go(func() {
			c := d.Client()
			if n%2 == 1 {
				c.Version = harness.VersionModern
			}
			for i := n; ctx.Err() == nil; i++ {
				q := list[i%len(list)]
				if got := q.ask(c); got != q.want {
					once.Do(func() { err = fmt.Errorf("%s %v answers %.300q, before it was %.300q", q.tool, q.args, got, q.want) })
					cancel()
					return
				}
				count.Add(1)
			}
		})
	}
	wg.Wait()
	return count.Load(), err
}
