package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vault/e2e/harness"
)

// roleOf starts one role from the settings that the local GitHub wrote.
func roleOf(t *testing.T, d *harness.Dev, name string) *harness.Process {
	t.Helper()
	p, err := harness.Run(nil, name, "--config", filepath.Join(d.Roles, name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		select {
		case <-p.Done():
		default:
			if err := p.Stop(); err != nil {
				t.Errorf("stop %s: %v\n%s", name, err, p.Output())
			}
		}
	})
	return p
}

// run runs vault to its end and wants it to succeed.
func run(t *testing.T, args ...string) string {
	t.Helper()
	p, err := harness.Run(nil, args...)
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if p.Err() != nil {
		t.Fatalf("vault %q: %v: %s", args, p.Err(), p.Output())
	}
	return p.Output()
}

// instanceClient speaks to the instance as its front does.
func instanceClient(t *testing.T, d *harness.Dev) *harness.Client {
	t.Helper()
	key, err := os.ReadFile(filepath.Join(d.Roles, "link_key"))
	if err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile(filepath.Join(d.Roles, "instance.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var listen string
	for line := range strings.Lines(string(config)) {
		if value, ok := strings.CutPrefix(line, "listen: "); ok {
			listen = strings.TrimSpace(value)
		}
	}
	_, token := owner(t, d.Ready)
	c := harness.NewClient("http://"+listen+"/mcp", token)
	c.Header = http.Header{"Vault-Link": {string(key)}}
	c.HTTP.Timeout = time.Minute
	if _, err := harness.NewClient(c.Address, token).RPC("tools/list", nil); err == nil {
		t.Error("the instance answers without the key of its front")
	}
	return c
}

// TestFourProcesses runs the roles apart on one Postgres: reading works, and
// with the instance stopped a known caller still gets its lists.
func TestFourProcesses(t *testing.T) {
	t.Parallel()
	d := start(t, "--hub-only")
	dsn := filepath.Join(d.Roles, "control_dsn")
	run(t, "migrate", "--control-dsn-file", dsn)
	key, err := os.ReadFile(filepath.Join(d.Roles, "link_key"))
	if err != nil {
		t.Fatal(err)
	}
	derived := run(t, "installations", "link-key", fmt.Sprint(d.Installation), "--key-ring-file", filepath.Join(d.Roles, "key_ring"))
	if strings.TrimSpace(derived) != string(key) {
		t.Error("the derived link key is not the one that was written")
	}
	front := roleOf(t, d, "front")
	roleOf(t, d, "index")
	roleOf(t, d, "catalogue")
	instance := roleOf(t, d, "instance")
	until(t, 40*time.Second, "the installation to be known", func() bool {
		return strings.Contains(run(t, "installations", "list", "--control-dsn-file", dsn), fmt.Sprint(d.Installation))
	})
	run(t, "installations", "enable", fmt.Sprint(d.Installation), "--name", "acme", "--control-dsn-file", dsn)
	c := d.Client()
	until(t, time.Minute, "both repositories", func() bool {
		answer, _ := text(c, "search_notes", map[string]any{"query": "the", "limit": 1})
		answer2, isError := text(c, "list_notes", map[string]any{"repo": "projects", "limit": 1})
		return strings.Contains(answer, "handbook/") && !isError && strings.Contains(answer2, `"hasMore":true`)
	})
	until(t, 30*time.Second, "the operator's list to say so", func() bool {
		return strings.Contains(run(t, "installations", "list", "--control-dsn-file", dsn), "2 of 2")
	})
	stored := map[string]string{}
	requests := []struct {
		version, method string
		params          map[string]any
	}{
		{harness.VersionLegacy, "initialize", map[string]any{"protocolVersion": harness.VersionLegacy, "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "t", "version": "1"}}},
		{harness.VersionLegacy, "tools/list", nil},
		{harness.VersionModern, "tools/list", nil},
		{harness.VersionModern, "server/discover", nil},
	}
	for _, r := range requests {
		c.Version = r.version
		raw, err := c.RPC(r.method, r.params)
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", r.version, r.method, err, front.Output())
		}
		stored[r.version+r.method] = string(raw)
		if !strings.Contains(string(raw), "projects") {
			t.Errorf("%s %s does not know projects: %s", r.version, r.method, cut(string(raw)))
		}
	}
	own := instanceClient(t, d)
	for _, r := range requests {
		own.Version = r.version
		raw, err := own.RPC(r.method, r.params)
		if err != nil || string(raw) != stored[r.version+r.method] {
			t.Errorf("%s %s: the instance's own answer differs: %v: %s", r.version, r.method, err, cut(string(raw)))
		}
	}
	if err := instance.Stop(); err != nil {
		t.Errorf("stop the instance: %v", err)
	}
	for _, r := range requests {
		c.Version = r.version
		raw, err := c.RPC(r.method, r.params)
		if err != nil || string(raw) != stored[r.version+r.method] {
			t.Errorf("%s %s without the instance: %v: %s", r.version, r.method, err, cut(string(raw)))
		}
	}
	c.Version = harness.VersionLegacy
	// A call made while the instance is down waits for it.
	answered := make(chan string, 1)
	go func() {
		answer, _ := text(c, "tree", map[string]any{})
		answered <- answer
	}()
	roleOf(t, d, "instance")
	select {
	case answer := <-answered:
		if !strings.Contains(answer, "handbook") {
			t.Errorf("after the instance came back: %s", answer)
		}
	case <-time.After(40 * time.Second):
		t.Error("the call was not answered")
	}
}
