package github

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
)

// SignatureHeader is where GitHub signs a delivery.
const SignatureHeader = "X-Hub-Signature-256"

// ErrSignature says that a delivery was not signed with the secret.
var ErrSignature = errors.New("the signature does not fit the delivery")

// VerifySignature checks the value of X-Hub-Signature-256 over the body as it
// was received, in constant time. An empty secret fits nothing. Every failure
// is ErrSignature.
func VerifySignature(secret string, body []byte, header string) error {
	given, ok := strings.CutPrefix(header, "sha256=")
	if !ok || secret == "" || len(given) != 2*sha256.Size {
		return ErrSignature
	}
	want, err := hex.DecodeString(given)
	if err != nil {
		return ErrSignature
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	if !hmac.Equal(mac.Sum(nil), want) {
		return ErrSignature
	}
	return nil
}

// Sign gives the value of X-Hub-Signature-256 for a body.
func Sign(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}
