package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"vault/e2e/harness"
)

// clients is the folder of the Node clients, at fixed versions.
func clients() string { return filepath.Join(harness.Root(), "e2e/testdata/clients") }

// node gives the Node of the clients' own versions. Without it the test is
// skipped, or fails where everything has to be there.
func node(t *testing.T) string {
	t.Helper()
	path := filepath.Join(clients(), "node_modules/node/bin/node")
	if _, err := os.Stat(path); err != nil {
		const how = "the Node clients are not installed: run `npm install --no-save --prefix e2e/testdata/clients`"
		if os.Getenv("VAULT_TEST_MUST") == "1" {
			t.Fatal(how)
		}
		t.Skip(how)
	}
	return path
}

// clientLimit bounds one run of a client.
const clientLimit = 3 * time.Minute

// runNode runs a script with the clients' Node.
func runNode(t *testing.T, args ...string) (out string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), clientLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, node(t), args...)
	cmd.Dir = clients()
	cmd.Env = append(os.Environ(), "NO_COLOR=1", "CI=1", "HOME="+t.TempDir())
	cmd.WaitDelay = 5 * time.Second
	data, err := cmd.CombinedOutput()
	return string(data), err
}

func TestOfficialSDK(t *testing.T) {
	t.Parallel()
	node(t)
	d := acme(t)
	out, err := runNode(t, "sdk.mjs", d.Address, d.Token)
	if err != nil {
		t.Fatalf("the SDK failed: %v: %s", err, cut(out))
	}
	var got struct {
		Server       struct{ Name string }
		Instructions string
		Tools        []string
		Answers      map[string]struct {
			IsError, Same bool
			Structured    map[string]any
		}
		Missing struct {
			IsError bool
			Text    string
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v: %s", err, cut(out))
	}
	if got.Server.Name != "vault" || !strings.Contains(got.Instructions, "## projects") {
		t.Errorf("server %q, instructions %s", got.Server.Name, cut(got.Instructions))
	}
	if want := "read_note,list_notes,tree,search_notes"; strings.Join(got.Tools, ",") != want {
		t.Errorf("tools %q", got.Tools)
	}
	for name, a := range got.Answers {
		if a.IsError || !a.Same || len(a.Structured) == 0 {
			t.Errorf("%s: %+v", name, a)
		}
	}
	if !got.Missing.IsError || !strings.Contains(got.Missing.Text, "nowhere.md") {
		t.Errorf("missing note: %+v", got.Missing)
	}
}

func TestInspector(t *testing.T) {
	t.Parallel()
	node(t)
	d := acme(t)
	cli := filepath.Join(clients(), "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js")
	base := []string{
		cli, "--cli", d.Address, "--transport", "http",
		"--header", "Authorization: Bearer " + d.Token,
	}
	out, err := runNode(t, append(base, "--method", "tools/list")...)
	if err != nil {
		t.Fatalf("tools/list: %v: %s", err, cut(out))
	}
	for _, tool := range []string{"read_note", "list_notes", "tree", "search_notes"} {
		if !strings.Contains(out, `"`+tool+`"`) {
			t.Errorf("tools/list lacks %s", tool)
		}
	}
	out, err = runNode(t, append(base, "--method", "tools/call", "--tool-name", "search_notes",
		"--tool-arg", "query=decision", "--tool-arg", "limit=2")...)
	if err != nil || !strings.Contains(out, "structuredContent") {
		t.Errorf("tools/call: %v: %s", err, cut(out))
	}
}

// proxied puts a token on every request of a client that can send none.
func proxied(t *testing.T, d *harness.Dev) string {
	t.Helper()
	target, err := url.Parse(d.Address)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host, r.Out.URL.Path = target.Scheme, target.Host, target.Path
		r.Out.Header.Set("Authorization", "Bearer "+d.Token)
		// The proxy stands for the front's own name: what a client says of the
		// host has to reach the front as it would without one.
		if r.In.Host == r.In.Context().Value(http.LocalAddrContextKey).(interface{ String() string }).String() {
			r.Out.Host = target.Host
		} else {
			r.Out.Host = r.In.Host
		}
	}}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return server.URL + "/acme"
}

// scenario is one scenario of the conformance suite that any server can run.
type scenario struct{ pkg, name, version string }

// scenarios lists them by name, so that a new one is a decision.
func scenarios() []scenario {
	const latest, next = "@modelcontextprotocol/conformance", "conformance-next"
	var list []scenario
	for _, name := range []string{"server-initialize", "ping", "tools-list", "dns-rebinding-protection"} {
		list = append(list, scenario{latest, name, ""})
	}
	for _, name := range []string{"server-initialize", "ping", "tools-list", "dns-rebinding-protection", "server-sse-multiple-streams"} {
		list = append(list, scenario{next, name, "2025-11-25"})
	}
	for _, name := range []string{
		"server-stateless", "tools-list", "dns-rebinding-protection", "http-header-validation",
		"server-sse-multiple-streams", "input-required-result-unsupported-methods",
	} {
		list = append(list, scenario{next, name, "2026-07-28"})
	}
	return list
}

// untestable are the checks of server-stateless that need a diagnostic tool on
// the server, which a product has not. Each must fail for that reason alone.
var untestable = map[string]bool{
	"sep-2575-server-rejects-undeclared-capability":          true,
	"sep-2575-missing-capability-http-400":                   true,
	"sep-2575-http-server-no-independent-requests-on-stream": true,
	"sep-2575-server-no-log-without-loglevel":                true,
}

var (
	colour      = regexp.MustCompile(`\x1b\[[0-9;]*m`)
	failedCheck = regexp.MustCompile(`\[([a-z0-9-]+) *\] FAILURE`)
)

// judge says what is wrong with a run of a scenario, or "".
func judge(s scenario, out string, err error) string {
	out = colour.ReplaceAllString(out, "")
	if s.name != "server-stateless" {
		if err != nil {
			return fmt.Sprintf("%v: %s", err, tail(out))
		}
		return ""
	}
	failed := map[string]bool{}
	for _, m := range failedCheck.FindAllStringSubmatch(out, -1) {
		failed[m[1]] = true
	}
	if !maps.Equal(failed, untestable) || strings.Count(out, "Error: Not testable") != len(untestable) {
		return fmt.Sprintf("failed checks %v: %s", failed, tail(out))
	}
	return ""
}

func TestConformance(t *testing.T) {
	t.Parallel()
	node(t)
	address := proxied(t, acme(t))
	for _, s := range scenarios() {
		t.Run(strings.TrimSpace(s.name+" "+s.version), func(t *testing.T) {
			args := []string{
				filepath.Join(clients(), "node_modules", s.pkg, "dist/index.js"),
				"server", "--url", address, "--scenario", s.name, "-o", t.TempDir(),
			}
			if s.version != "" {
				args = append(args, "--spec-version", s.version)
			}
			out, err := runNode(t, args...)
			if wrong := judge(s, out, err); wrong != "" {
				t.Error(wrong)
			}
		})
	}
}

func tail(s string) string {
	if len(s) > 3000 {
		return s[len(s)-3000:]
	}
	return s
}
