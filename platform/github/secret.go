package github

import (
	"fmt"
	"log/slog"
	"time"
)

// redacted stands wherever a secret would be printed.
const redacted = "redacted"

// Secret is text that no log line, error or encoded value may show. Reveal
// is the only way to it.
type Secret string

// Reveal gives the secret itself, for the one place that needs it.
func (s Secret) Reveal() string { return string(s) }

// String hides the secret.
func (s Secret) String() string { return redacted }

// Format hides the secret from every verb of package fmt.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// LogValue hides the secret from structured logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText hides the secret from encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// Token is an installation token. It prints as its expiry only.
type Token struct {
	// Value is what goes into the Authorization header. Its length and shape
	// are GitHub's affair: about 1 KB in the newer form.
	Value string
	// Expires is when GitHub stops accepting it, an hour after it was made.
	Expires time.Time
}

// String shows when the token ends and hides the token.
func (t Token) String() string { return "token until " + t.Expires.UTC().Format(time.RFC3339) }

// Format hides the token from every verb of package fmt.
func (t Token) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(t.String())) }

// LogValue hides the token from structured logs.
func (t Token) LogValue() slog.Value { return slog.StringValue(t.String()) }

// MarshalText hides the token from encoders.
func (t Token) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// sendable tells whether a credential can stand in a header.
func sendable(s string) bool {
	for _, c := range []byte(s) {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return s != "" && len(s) <= 8<<10
}
