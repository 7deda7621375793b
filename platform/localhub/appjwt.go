package localhub

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// maxAppJWT is how far ahead an App's JWT may expire, with GitHub's grace for
// clocks that differ by a minute.
const (
	maxAppJWT = 10 * time.Minute
	jwtLeeway = time.Minute
)

// appCredential judges an App's JWT: RS256, issued by the App's id or client
// id, expiring within ten minutes.
func (h *Hub) appCredential(token string) (credential, error) {
	claims := jwt.MapClaims{}
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"RS256"}), jwt.WithoutClaimsValidation(), jwt.WithJSONNumber())
	_, err := parser.ParseWithClaims(token, claims, func(*jwt.Token) (any, error) { return &h.app.PrivateKey.PublicKey, nil })
	if err != nil {
		return credential{}, errNoJWT()
	}
	if err := h.checkAppClaims(claims); err != nil {
		return credential{}, err
	}
	return credential{holder: holderApp, limitKey: "app", limitID: h.app.ID}, nil
}

func (h *Hub) checkAppClaims(claims jwt.MapClaims) error {
	now := h.now()
	expires, ok := claimTime(claims["exp"])
	switch {
	case claims["exp"] == nil:
		return unauthorized("Missing 'expiration time' claim ('exp') in assertion")
	case !ok || !expires.After(now.Add(-jwtLeeway)):
		return unauthorized("'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires")
	case expires.After(now.Add(maxAppJWT + jwtLeeway)):
		return unauthorized("'Expiration time' claim ('exp') is too far in the future")
	}
	issued, ok := claimTime(claims["iat"])
	if !ok || issued.After(now.Add(jwtLeeway)) {
		return unauthorized("'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued")
	}
	issuer := fmt.Sprint(claims["iss"])
	switch {
	case claims["iss"] == nil:
		return unauthorized("Missing 'issuer' claim ('iss') in assertion")
	case issuer != fmt.Sprint(h.app.ID) && issuer != h.app.ClientID:
		return &restError{Status: http.StatusNotFound, Message: "Integration not found"}
	}
	return nil
}

// claimTime reads a time claim: whole seconds since 1970.
func claimTime(claim any) (time.Time, bool) {
	number, ok := claim.(json.Number)
	if !ok {
		return time.Time{}, false
	}
	seconds, err := number.Float64()
	if err != nil || seconds < 0 || seconds > math.MaxInt32*64 {
		return time.Time{}, false
	}
	return time.Unix(int64(seconds), 0), true
}
