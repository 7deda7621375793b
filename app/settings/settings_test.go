package settings_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"vault/app/settings"
)

var keys = []settings.Key{
	{Name: "listen", Default: "127.0.0.1:8484", Usage: "address"},
	{Name: "public_url", Usage: "address outside"},
	{Name: "control_dsn", Usage: "the control database", Secret: true},
}

// resolve runs Resolve with arguments, variables and the text of a file.
func resolve(t *testing.T, args []string, env map[string]string, file string) (settings.Values, error) {
	t.Helper()
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	settings.Flags(flags, keys)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	path := ""
	if file != "" {
		path = filepath.Join(t.TempDir(), "vault.yaml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	return settings.Resolve(keys, flags, lookup, path)
}

func TestPrecedence(t *testing.T) {
	t.Parallel()
	file := "listen: from-file:1\npublic_url: https://file.example\n"
	env := map[string]string{"VAULT_LISTEN": "from-env:1", "VAULT_CONTROL_DSN": "postgres://env"}
	tests := []struct {
		name string
		args []string
		env  map[string]string
		file string
		want settings.Values
	}{
		{"default", nil, nil, "", settings.Values{"listen": "127.0.0.1:8484", "public_url": "", "control_dsn": ""}},
		{"file", nil, nil, file, settings.Values{"listen": "from-file:1", "public_url": "https://file.example", "control_dsn": ""}},
		{"variable over file", nil, env, file, settings.Values{"listen": "from-env:1", "public_url": "https://file.example", "control_dsn": "postgres://env"}},
		{"flag over variable", []string{"--listen", "from-flag:1"}, env, file, settings.Values{"listen": "from-flag:1", "public_url": "https://file.example", "control_dsn": "postgres://env"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := resolve(t, tt.args, tt.env, tt.file)
			if err != nil {
				t.Fatal(err)
			}
			for name, want := range tt.want {
				if got[name] != want {
					t.Errorf("%s = %q, want %q", name, got[name], want)
				}
			}
		})
	}
}

func TestSecretFromFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "dsn")
	if err := os.WriteFile(path, []byte("postgres://file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := resolve(t, []string{"--control-dsn-file", path}, nil, "")
	if err != nil || got["control_dsn"] != "postgres://file" {
		t.Errorf("%q, %v", got["control_dsn"], err)
	}
	if _, err := resolve(t, []string{"--control-dsn-file", path + "-missing"}, nil, ""); err == nil {
		t.Error("a missing secret file was taken")
	}
}

func TestBadFiles(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"lisen: x\n":              "nearest known one is listen",
		"control_dsn: postgres\n": "control_dsn_file",
		"- a\n":                   "mapping",
		"listen: [a]\n":           "single value",
		"listen: a\nlisten: b\n":  "",
		"listen: \"a\n":           "",
	}
	for file, want := range tests {
		if _, err := resolve(t, nil, nil, file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", file, err, want)
		}
	}
}

func TestNoFlagForSecrets(t *testing.T) {
	t.Parallel()
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	settings.Flags(flags, keys)
	if flags.Lookup("control-dsn") != nil {
		t.Error("a secret has a flag")
	}
}
