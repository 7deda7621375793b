package auth_test

import (
	"net/http"
	"strings"
	"testing"

	"vault/modules/auth"
)

func TestChallenge(t *testing.T) {
	t.Parallel()
	const plain = `Bearer resource_metadata="https://h/.well-known/oauth-protected-resource/acme"`
	if got := auth.Challenge("https://h", "acme", false); got != plain {
		t.Errorf("without a token: %s", got)
	}
	if got := auth.Challenge("https://h", "acme", true); !strings.HasPrefix(got, plain+`, error="invalid_token"`) {
		t.Errorf("with a token: %s", got)
	}
	for name, want := range map[string]string{
		"acme/": "https://h/.well-known/oauth-protected-resource/acme/",
		`a"b\`:  "https://h/.well-known/oauth-protected-resource/a%22b%5C",
		"a/b":   "https://h/.well-known/oauth-protected-resource/a%2Fb",
	} {
		if got := auth.MetadataURL("https://h", name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestBearerToken(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", auth.MaxSealed+1)
	tests := []struct {
		name   string
		values []string
		token  string
		sent   bool
	}{
		{"none", nil, "", false},
		{"good", []string{"Bearer a1.k1.x"}, "a1.k1.x", true},
		{"case of the scheme", []string{"bearer  t"}, "t", true},
		{"another scheme", []string{"Basic eDp5"}, "", false},
		{"no token", []string{"Bearer"}, "", true},
		{"empty token", []string{"Bearer "}, "", true},
		{"twice", []string{"Bearer a", "Bearer b"}, "", true},
		{"with another scheme", []string{"Bearer a", "Basic b"}, "", true},
		{"overlong", []string{"Bearer " + long}, "", true},
		{"glued", []string{"BearerX"}, "", false},
	}
	for _, tt := range tests {
		if token, sent := auth.BearerToken(http.Header{"Authorization": tt.values}); token != tt.token || sent != tt.sent {
			t.Errorf("%s: %q, %v", tt.name, token, sent)
		}
	}
}
