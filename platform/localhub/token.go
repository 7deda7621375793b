package localhub

import (
	"crypto/subtle"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// installationLife is how long an installation token works.
const installationLife = time.Hour

// installationToken is what an installation token says. Since 2026 GitHub
// gives out tokens that carry their own claims (ghs_APPID_JWT), hundreds of
// characters long; so do these, and they survive a restart by it.
type installationToken struct {
	ID           string
	Installation int64
	// Repositories are those it was narrowed to; nil means all.
	Repositories []int64
	// Permissions are "contents" and "metadata" with "read" or "write".
	Permissions map[string]string
	Expires     time.Time
}

func (t installationToken) covers(repo int64) bool {
	return t.Repositories == nil || slices.Contains(t.Repositories, repo)
}

// tokenClaims is the token's form on the wire.
type tokenClaims struct {
	jwt.RegisteredClaims
	Installation int64             `json:"installation"`
	Repositories []int64           `json:"repositories,omitempty"`
	Permissions  map[string]string `json:"permissions"`
}

func (h *Hub) sealToken(t installationToken) (string, error) {
	claims := tokenClaims{
		RegisteredClaims: jwt.RegisteredClaims{ID: t.ID, ExpiresAt: jwt.NewNumericDate(t.Expires)},
		Installation:     t.Installation, Repositories: t.Repositories, Permissions: t.Permissions,
	}
	signed, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString(h.tokenKey)
	if err != nil {
		return "", fmt.Errorf("sign an installation token: %w", err)
	}
	return fmt.Sprintf("ghs_%d_%s", h.app.ID, signed), nil
}

// installationCredential opens an installation token.
func (h *Hub) installationCredential(token string) (credential, error) {
	signed, ok := strings.CutPrefix(token, fmt.Sprintf("ghs_%d_", h.app.ID))
	if !ok {
		return credential{}, errBadCredentials()
	}
	var claims tokenClaims
	_, err := jwt.ParseWithClaims(signed, &claims, func(*jwt.Token) (any, error) { return h.tokenKey, nil },
		jwt.WithValidMethods([]string{"HS256"}), jwt.WithExpirationRequired(), jwt.WithTimeFunc(h.now))
	if err != nil {
		return credential{}, errBadCredentials()
	}
	h.mu.RLock()
	defer h.mu.RUnlock()
	if _, revoked := h.state.Revoked[claims.ID]; revoked || claims.Installation != h.state.Installation.ID {
		return credential{}, errBadCredentials()
	}
	t := installationToken{
		ID: claims.ID, Installation: claims.Installation, Repositories: claims.Repositories,
		Permissions: claims.Permissions, Expires: claims.ExpiresAt.Time,
	}
	return credential{holder: holderInstallation, token: t, limitKey: "installation", limitID: t.Installation}, nil
}

// sameSecret compares without telling by its time how much was right.
func sameSecret(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
