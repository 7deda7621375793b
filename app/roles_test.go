package app

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"vault/app/settings"
	"vault/platform/container"
)

// sampleValues are settings under which every role can be built; nothing
// listens behind them.
func sampleValues(t *testing.T) settings.Values {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der := x509.MarshalPKCS1PrivateKey(key)
	return settings.Values{
		keyLogFormat.Name: "text", keyLogLevel.Name: "info", keyAdmin.Name: "127.0.0.1:0",
		keyGitHub.Name: "https://github.com", keyListen.Name: "127.0.0.1:0",
		keyControl.Name:   "postgres://nobody@127.0.0.1:1/control",
		keyPublicURL.Name: "https://vault.example", keyInstances.Name: "http://instance-{id}.internal:8484",
		keyRing.Name:         "- kid: k1\n  master: " + strings.Repeat("QUFB", 11) + "\n",
		keyWebhook.Name:      "webhook-secret-of-the-test",
		keyInstallation.Name: "7", keyDatabase.Name: "postgres://nobody@127.0.0.1:1/index",
		keyLink.Name:      strings.Repeat("k", 43),
		keyDatabases.Name: "postgres://nobody@127.0.0.1:1/index_{id}",
		keyAppID.Name:     "1", keyAppKey.Name: string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: der})),
		keyMirrors.Name: t.TempDir(), keyWorkers.Name: "2",
	}
}

// built builds a role and gives the names of its parts.
func built(t *testing.T, r role, values settings.Values) ([]string, error) {
	t.Helper()
	c := container.New()
	container.Set(c, valuesPart, values)
	container.Set(c, logPart, slog.New(slog.DiscardHandler))
	err := c.Build(append(r.roots, adminPart)...)
	return c.Order(), err
}

// TestRolesHoldOnlyWhatIsTheirs keeps the front away from installations'
// databases, the instance from the control database, and both from the App's
// key and git.
func TestRolesHoldOnlyWhatIsTheirs(t *testing.T) {
	t.Parallel()
	foreign := map[string][]string{
		"front":     {"index databases", "installation database", "app settings", "git", "index"},
		"instance":  {"control database", "key ring", "app settings", "git", "index databases"},
		"index":     {"key ring", "sealer", "installation database", "public server"},
		"catalogue": {"key ring", "sealer", "app settings", "git", "public server"},
	}
	for _, r := range roles() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			parts, err := built(t, r, sampleValues(t))
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range foreign[r.name] {
				if slices.Contains(parts, part) {
					t.Errorf("%s has the part %q; it has %q", r.name, part, parts)
				}
			}
		})
	}
}

func TestMissingSettingsAreNamed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		role    string
		without settings.Key
	}{
		{"front", keyControl},
		{"front", keyPublicURL},
		{"front", keyRing},
		{"front", keyWebhook},
		{"front", keyInstances},
		{"instance", keyInstallation},
		{"instance", keyDatabase},
		{"instance", keyLink},
		{"index", keyControl},
		{"index", keyDatabases},
		{"index", keyAppID},
		{"index", keyAppKey},
		{"catalogue", keyDatabases},
		{"catalogue", keyWorkers},
	}
	for _, tt := range tests {
		t.Run(tt.role+" "+tt.without.Name, func(t *testing.T) {
			t.Parallel()
			values := sampleValues(t)
			values[tt.without.Name] = ""
			for _, r := range roles() {
				if r.name != tt.role {
					continue
				}
				if _, err := built(t, r, values); err == nil || !strings.Contains(err.Error(), tt.without.Name) {
					t.Errorf("error %v", err)
				}
			}
		})
	}
}

func TestEveryCommandHelps(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"--help"}, {"dev", "--help"}, {"front", "--help"}, {"instance", "--help"}, {"index", "--help"},
		{"catalogue", "--help"}, {"migrate", "--help"}, {"installations", "--help"}, {"version"},
		{"installations", "list", "--help"}, {"installations", "enable", "--help"},
	} {
		var out bytes.Buffer
		if code := Main(t.Context(), args, Streams{Out: &out, Err: &out}); code != exitOK || out.Len() == 0 {
			t.Errorf("%q: exit %d, %s", args, code, out.String())
		}
	}
	var out bytes.Buffer
	if code := Main(t.Context(), []string{"front", "--nonsense"}, Streams{Out: &out, Err: &out}); code != exitUsage {
		t.Errorf("an unknown flag exits with %d: %s", code, out.String())
	}
}

// TestSampleConfigurations decodes the samples of the documentation: every key
// is known, and none holds a secret itself.
func TestSampleConfigurations(t *testing.T) {
	t.Parallel()
	for _, r := range roles() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join("..", "docs", "operations", r.name+".yaml")
			keys := slices.Concat(common, r.keys)
			flags := pflag.NewFlagSet(r.name, pflag.ContinueOnError)
			settings.Flags(flags, keys)
			none := func(string) (string, bool) { return "", false }
			_, err := settings.Resolve(keys, flags, none, file)
			var missing *fs.PathError
			for _, e := range unjoin(err) {
				// The files that hold secrets are the operator's.
				if !errors.As(e, &missing) || missing.Path == file {
					t.Error(e)
				}
			}
		})
	}
}

// unjoin takes joined errors apart.
func unjoin(err error) []error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}
