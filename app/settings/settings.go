// Package settings resolves the configuration of a role: every key from a
// flag, a VAULT_… variable or a YAML file, in that order of precedence.
//
// Secrets never come from a flag, since arguments are visible to other users:
// they come from a variable or from a file of their own that the key NAME_file
// points to.
package settings

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v4"
)

// Key is one setting of a role.
type Key struct {
	// Name in lower case with underscores, as in the file.
	Name string
	// Default is used when nothing else sets the key.
	Default string
	// Usage is one sentence without a full stop.
	Usage string
	// Secret keeps the key off the command line and adds NAME_file.
	Secret bool
}

// Values are the resolved settings of one process, by key name.
type Values map[string]string

// maxFile bounds a configuration or secret file.
const maxFile = 256 << 10

// Flags registers a flag for every key that may have one.
func Flags(flags *pflag.FlagSet, keys []Key) {
	for _, k := range keys {
		if !k.Secret {
			flags.String(flagName(k.Name), k.Default, k.Usage+" ("+variable(k.Name)+")")
			continue
		}
		flags.String(flagName(k.Name+fileSuffix), "", "file that holds: "+k.Usage+" (or "+variable(k.Name)+")")
	}
}

// fileSuffix turns a secret's key into the key of the file that holds it.
const fileSuffix = "_file"

func flagName(key string) string { return strings.ReplaceAll(key, "_", "-") }

func variable(key string) string { return "VAULT_" + strings.ToUpper(key) }

// Resolve gives every key its value. file may be "". All problems are
// reported at once.
func Resolve(keys []Key, flags *pflag.FlagSet, lookup func(string) (string, bool), file string) (Values, error) {
	r := resolver{flags: flags, lookup: lookup}
	if file != "" {
		var err error
		if r.file, err = readFile(file); err != nil {
			return nil, err
		}
	}
	values := Values{}
	var errs []error
	for _, k := range keys {
		v, err := r.value(k)
		if err != nil {
			errs = append(errs, err)
		}
		values[k.Name] = v
	}
	errs = append(errs, unknown(r.file, keys)...)
	return values, errors.Join(errs...)
}

type resolver struct {
	flags  *pflag.FlagSet
	lookup func(string) (string, bool)
	file   map[string]string
}

func (r resolver) value(k Key) (string, error) {
	if k.Secret {
		return r.secret(k)
	}
	if v, ok := r.plain(k.Name); ok {
		return v, nil
	}
	return k.Default, nil
}

// plain looks a key up in the three sources.
func (r resolver) plain(name string) (string, bool) {
	if f := r.flags.Lookup(flagName(name)); f != nil && f.Changed {
		return f.Value.String(), true
	}
	if v, ok := r.lookup(variable(name)); ok {
		return v, true
	}
	v, ok := r.file[name]
	return v, ok
}

func (r resolver) secret(k Key) (string, error) {
	if v, ok := r.lookup(variable(k.Name)); ok {
		return v, nil
	}
	path, ok := r.plain(k.Name + fileSuffix)
	if !ok || path == "" {
		return k.Default, nil
	}
	data, err := readBounded(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", k.Name+fileSuffix, err)
	}
	return string(bytes.TrimRight(data, "\r\n")), nil
}

func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%s has %d bytes; at most %d are read", path, info.Size(), maxFile)
	}
	return os.ReadFile(path)
}

// readFile reads a flat YAML mapping of scalars.
func readFile(path string) (map[string]string, error) {
	data, err := readBounded(path)
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("read the configuration %s: %w", path, err)
	}
	values := map[string]string{}
	if len(doc.Content) == 0 {
		return values, nil
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s:%d: the configuration is a mapping of keys to values", path, root.Line)
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		if value.Kind != yaml.ScalarNode {
			return nil, fmt.Errorf("%s:%d: %s is a single value", path, key.Line, key.Value)
		}
		if _, twice := values[key.Value]; twice {
			return nil, fmt.Errorf("%s:%d: %s is set twice", path, key.Line, key.Value)
		}
		values[key.Value] = value.Value
	}
	return values, nil
}

// unknown reports the keys of the file that no setting has, each with the
// nearest known one, and secrets that stand in the file themselves.
func unknown(file map[string]string, keys []Key) []error {
	allowed := map[string]bool{}
	for _, k := range keys {
		if k.Secret {
			allowed[k.Name+fileSuffix] = true
		} else {
			allowed[k.Name] = true
		}
	}
	var errs []error
	for _, name := range sortedKeys(file) {
		switch {
		case allowed[name]:
		case allowed[name+fileSuffix]:
			errs = append(errs, fmt.Errorf("the configuration holds the secret %s itself; put it into a file and name that as %s", name, name+fileSuffix))
		default:
			errs = append(errs, fmt.Errorf("the configuration has an unknown key %q; the nearest known one is %s", name, nearest(name, allowed)))
		}
	}
	return errs
}

func sortedKeys(m map[string]string) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

func nearest(name string, known map[string]bool) string {
	best, distance := "", -1
	for candidate := range known {
		d := levenshtein.ComputeDistance(name, candidate)
		if distance < 0 || d < distance || d == distance && candidate < best {
			best, distance = candidate, d
		}
	}
	return best
}
