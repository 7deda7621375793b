package app

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-playground/validator/v10"

	"vault/app/settings"
	"vault/platform/web"
)

// The typed settings of each part. The rules are checked when a role is
// built, so that a process that starts has what it needs.
type (
	frontConfig struct {
		Listen      string `validate:"required"`
		PublicURL   string `validate:"required,http_url"`
		InstanceURL string `validate:"required"`
		Ring        string `validate:"required"`
		Webhook     string `validate:"required"`
		Hosts       []string
		Origins     []string
	}
	instanceConfig struct {
		Listen       string   `validate:"required"`
		Installation int64    `validate:"required,gt=0"`
		Database     string   `validate:"required"`
		Link         []string `validate:"required,min=1,dive,required"`
	}
	workerConfig struct {
		Databases string `validate:"required,contains={id}"`
		Workers   int    `validate:"min=1,max=64"`
	}
	appConfig struct {
		ID      string          `validate:"required"`
		Key     *rsa.PrivateKey `validate:"required"`
		Mirrors string          `validate:"required"`
	}
)

// check validates a typed configuration and names the settings at fault.
func check(config any, names map[string]string) error {
	err := validator.New(validator.WithRequiredStructEnabled()).Struct(config)
	var failures validator.ValidationErrors
	if !errors.As(err, &failures) {
		return err
	}
	var errs []error
	for _, f := range failures {
		field, _, _ := strings.Cut(f.StructField(), "[")
		errs = append(errs, fmt.Errorf("the setting %s is missing or wrong (%s)", names[field], f.ActualTag()))
	}
	return errors.Join(errs...)
}

func frontConfigOf(v settings.Values) (frontConfig, error) {
	c := frontConfig{
		Listen:      v[keyListen.Name],
		PublicURL:   strings.TrimSuffix(v[keyPublicURL.Name], "/"),
		InstanceURL: strings.TrimSuffix(v[keyInstances.Name], "/"),
		Ring:        v[keyRing.Name],
		Webhook:     v[keyWebhook.Name],
		Hosts:       list(v[keyHosts.Name]),
		Origins:     list(v[keyOrigins.Name]),
	}
	if u, err := url.Parse(c.PublicURL); err == nil && len(c.Hosts) == 0 && !web.Loopback(u.Host) {
		// A loopback address is answered under every loopback name.
		c.Hosts = []string{u.Host}
	}
	return c, check(c, map[string]string{
		"Listen": keyListen.Name, "PublicURL": keyPublicURL.Name, "InstanceURL": keyInstances.Name,
		"Ring": keyRing.Name, "Webhook": keyWebhook.Name,
	})
}

func instanceConfigOf(v settings.Values) (instanceConfig, error) {
	id, _ := strconv.ParseInt(v[keyInstallation.Name], 10, 64) // 0 is refused below
	c := instanceConfig{
		Listen:       v[keyListen.Name],
		Installation: id,
		Database:     v[keyDatabase.Name],
		Link:         list(v[keyLink.Name]),
	}
	return c, check(c, map[string]string{
		"Listen": keyListen.Name, "Installation": keyInstallation.Name,
		"Database": keyDatabase.Name, "Link": keyLink.Name,
	})
}

func workerConfigOf(v settings.Values) (workerConfig, error) {
	workers, _ := strconv.Atoi(v[keyWorkers.Name]) // 0 is refused below
	c := workerConfig{Databases: v[keyDatabases.Name], Workers: workers}
	return c, check(c, map[string]string{"Databases": keyDatabases.Name, "Workers": keyWorkers.Name})
}

func appConfigOf(v settings.Values) (appConfig, error) {
	c := appConfig{ID: v[keyAppID.Name], Mirrors: v[keyMirrors.Name]}
	if text := v[keyAppKey.Name]; text != "" {
		key, err := parseKey(text)
		if err != nil {
			return c, fmt.Errorf("the setting %s: %w", keyAppKey.Name, err)
		}
		c.Key = key
	}
	return c, check(c, map[string]string{"ID": keyAppID.Name, "Key": keyAppKey.Name, "Mirrors": keyMirrors.Name})
}

// parseKey reads an RSA key as GitHub gives it (PKCS #1) or as other tools
// write it (PKCS #8).
func parseKey(text string) (*rsa.PrivateKey, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errors.New("it is not a key in PEM")
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("it is not a private key")
	}
	key, ok := parsed.(*rsa.PrivateKey)
	if !ok {
		return nil, errors.New("it is not an RSA key")
	}
	return key, nil
}

// list splits a setting at its commas.
func list(s string) []string {
	var out []string
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}
