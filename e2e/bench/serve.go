package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"vault/e2e/corpus"
	"vault/e2e/harness"
)

// startLimit bounds a start with its first build.
const startLimit = 10 * time.Minute

// start runs `vault dev` in a data folder of its own.
func (b *bench) start(name string, args ...string) (*harness.Dev, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	return harness.StartDev(ctx, filepath.Join(b.dir, name), args...)
}

// list compares stored tools/list with a bare handler that writes the same
// bytes.
func (b *bench) list() error {
	d, err := b.start("list", b.checkout())
	if err != nil {
		return err
	}
	defer func() { _ = d.Stop() }()
	const body = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	answer, err := d.Client().Post([]byte(body), nil)
	if err != nil {
		return err
	}
	file := filepath.Join(b.dir, "list.json")
	if err := os.WriteFile(file, answer.Body, 0o644); err != nil {
		return err
	}
	bare, stop, err := startBare(file)
	if err != nil {
		return err
	}
	defer stop()
	r := row{name: fmt.Sprintf("tools/list, %d bytes", len(answer.Body)), unit: "/s", goal: "≥ 0.5"}
	if r.ours, r.theirs, err = rates(poster(d.Address, d.Token, body), poster(bare, "x", body)); err != nil {
		return err
	}
	r.met = median(r.ours) >= 0.5*median(r.theirs)
	b.add(r)
	return nil
}

// rates measures two sides in turns.
func rates(ours, theirs func() error) (o, t []float64, err error) {
	for range rounds {
		a, err := perSecond(ours)
		if err != nil {
			return nil, nil, err
		}
		c, err := perSecond(theirs)
		if err != nil {
			return nil, nil, err
		}
		o, t = append(o, a), append(t, c)
	}
	return o, t, nil
}

// read compares read_note with a single-row select.
func (b *bench) read() error {
	roles, err := b.startRoles("read", b.checkout())
	if err != nil {
		return err
	}
	defer roles.stop()
	d := roles.dev
	path := corpus.Path(b.notes / 3)
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_note","arguments":{"repo":"kb","path":%q}}}`, path)
	selectRow := func() error {
		var text string
		return roles.pool.QueryRow(context.Background(), selectText, path).Scan(&text)
	}
	if err := b.sameText(d, path, roles.pool); err != nil {
		return err
	}
	r := row{name: "read_note", unit: "/s", goal: "≥ 0.4"}
	call := poster(d.Address, d.Token, body)
	if r.ours, r.theirs, err = rates(call, selectRow); err != nil {
		return err
	}
	r.met = median(r.ours) >= 0.4*median(r.theirs)
	b.add(r)
	return b.profile(roles, "read", func() error { _, err := perSecond(call); return err })
}

// selectText reads one text by the primary key of its file.
const selectText = "SELECT b.body FROM file f JOIN blob b ON b.id = f.blob WHERE f.repo = (SELECT id FROM repo) AND f.path = $1"

// sameText checks that both sides read the same.
func (b *bench) sameText(d *harness.Dev, path string, pool *pgxpool.Pool) error {
	answer, err := harness.Into[struct{ Content string }](d.Client(), "read_note", map[string]any{"repo": "kb", "path": path})
	if err != nil {
		return err
	}
	var text string
	err = pool.QueryRow(context.Background(), selectText, path).Scan(&text)
	if err == nil && text != answer.Content {
		b.wrong = append(b.wrong, fmt.Errorf("read_note and the select differ on %s", path))
	}
	return err
}

// instance measures how long a fresh instance takes to its first answer, and
// how much memory it holds then and after some searches.
func (b *bench) instance() error {
	roles, err := b.startRoles("instance", b.checkout())
	if err != nil {
		return err
	}
	defer roles.stop()
	c := roles.dev.Client()
	var cold, idle, busy []float64
	for range rounds {
		took, err := roles.restartInstance(func() error {
			_, err := c.Call("read_note", map[string]any{"repo": "kb", "path": corpus.Path(0)})
			return err
		})
		if err != nil {
			return err
		}
		first, err := residentMB(roles.instance.Pid())
		if err != nil {
			return err
		}
		for _, query := range []string{"the", "zzqqxxnothing", corpus.Medium} {
			if _, err := c.Call("search_notes", map[string]any{"repo": "kb", "query": query, "limit": hits}); err != nil {
				return err
			}
		}
		then, err := residentMB(roles.instance.Pid())
		if err != nil {
			return err
		}
		cold, idle, busy = append(cold, took), append(idle, first), append(busy, then)
	}
	b.add(row{name: "instance: start to first answer", ours: cold, unit: "ms", goal: "< 150 ms", met: median(cold) < 150})
	b.add(row{name: "instance: idle memory", ours: idle, unit: "MB", goal: "< 60 MB", met: median(idle) < 60})
	b.add(row{name: "instance: memory after three searches", ours: busy, unit: "MB"})
	return nil
}

// residentMB reads a process's resident memory.
func residentMB(pid int) (float64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, err
	}
	var size, resident int64
	if _, err := fmt.Sscan(string(data), &size, &resident); err != nil {
		return 0, err
	}
	return float64(resident) * float64(os.Getpagesize()) / (1 << 20), nil
}

// decode reads an answer.
func decode(raw json.RawMessage, into any) error { return json.Unmarshal(raw, into) }
