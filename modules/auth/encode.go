package auth

import (
	"encoding/binary"
	"time"

	"vault/platform/github"
)

// encode writes the token as three numbers and three texts with their
// lengths. A reader of another layout needs another version of the kind.
func (t AccessToken) encode() []byte {
	b := make([]byte, 0, 64+len(t.GitHub)+len(t.ClientID)+len(t.Login))
	b = binary.AppendVarint(b, t.Installation)
	b = binary.AppendVarint(b, t.IssuedAt.Unix())
	b = binary.AppendVarint(b, t.Expires.Unix())
	for _, text := range []string{t.ClientID, t.GitHub.Reveal(), t.Login} {
		b = binary.AppendUvarint(b, uint64(len(text)))
		b = append(b, text...)
	}
	return b
}

// decodeAccess reads what encode wrote, and nothing else.
func decodeAccess(b []byte) (AccessToken, bool) {
	d := decoder{rest: b}
	t := AccessToken{
		Installation: d.number(),
		IssuedAt:     time.Unix(d.number(), 0).UTC(),
		Expires:      time.Unix(d.number(), 0).UTC(),
		ClientID:     d.text(),
		GitHub:       github.Secret(d.text()),
		Login:        d.text(),
	}
	return t, !d.failed && len(d.rest) == 0
}

// decoder reads one value after the other and remembers that one failed.
type decoder struct {
	rest   []byte
	failed bool
}

func (d *decoder) number() int64 {
	v, n := binary.Varint(d.rest)
	if n <= 0 {
		d.failed, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) text() string {
	size, n := binary.Uvarint(d.rest)
	if n <= 0 || size > uint64(len(d.rest)-n) {
		d.failed, d.rest = true, nil
		return ""
	}
	end := n + int(size)
	text := string(d.rest[n:end])
	d.rest = d.rest[end:]
	return text
}
