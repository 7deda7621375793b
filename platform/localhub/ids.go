package localhub

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"
)

// Database ids start in the hundreds of millions like those that GitHub gives
// today, and stay below 2^31: GraphQL's databaseId is a 32-bit number.
const (
	firstID  = 700_000_000
	idSpread = 200_000_000
)

const alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails: crypto/rand ends the process instead
	return b
}

func randomHex(n int) string { return hex.EncodeToString(randomBytes(n)) }

func randomNumber(below int64) int64 {
	n, err := rand.Int(rand.Reader, big.NewInt(below))
	if err != nil {
		return 0 // the reader never fails
	}
	return n.Int64()
}

// randomText gives letters and digits; 40 of them hold 238 random bits.
func randomText(n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte(alphanumeric[randomNumber(int64(len(alphanumeric)))])
	}
	return b.String()
}

// newGUID gives a random UUID, the form of delivery ids.
func newGUID() string {
	b := randomBytes(16)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// The prefixes of GitHub's node ids.
const (
	nodeUser         = "U"
	nodeBot          = "BOT"
	nodeOrganization = "O"
	nodeApp          = "A"
	nodeRepository   = "R"
	nodeRef          = "REF"
	nodeCommit       = "C"
	nodeTree         = "T"
	nodeBlob         = "B"
	nodeTag          = "TA"
)

// nodeID makes an id of the form GitHub has used since 2021: a prefix and the
// base64url of a MessagePack array [0, database id] or, for what belongs to a
// repository, [0, repository id, name].
func nodeID(prefix string, id int64, name ...string) string {
	packed := []byte{0x90 | byte(2+len(name)), 0}
	packed = append(packed, 0xce)
	packed = binary.BigEndian.AppendUint32(packed, uint32(id))
	for _, n := range name {
		packed = appendString(packed, n)
	}
	return prefix + "_" + base64.RawURLEncoding.EncodeToString(packed)
}

func appendString(packed []byte, s string) []byte {
	switch n := len(s); {
	case n < 32:
		packed = append(packed, 0xa0|byte(n))
	case n < 256:
		packed = append(packed, 0xd9, byte(n))
	default:
		packed = append(packed, 0xda, byte(n>>8), byte(n))
	}
	return append(packed, s...)
}

// parsedNode is what a node id says.
type parsedNode struct {
	prefix string
	id     int64
	name   string
}

// parseNodeID takes apart an id that nodeID made.
func parseNodeID(text string) (parsedNode, bool) {
	prefix, encoded, ok := strings.Cut(text, "_")
	packed, err := base64.RawURLEncoding.DecodeString(encoded)
	if !ok || err != nil || len(packed) < 7 || packed[1] != 0 || packed[2] != 0xce {
		return parsedNode{}, false
	}
	n := parsedNode{prefix: prefix, id: int64(binary.BigEndian.Uint32(packed[3:7]))}
	rest := packed[7:]
	switch packed[0] {
	case 0x92:
		return n, len(rest) == 0
	case 0x93:
		n.name, ok = parseString(rest)
		return n, ok
	}
	return parsedNode{}, false
}

func parseString(packed []byte) (string, bool) {
	switch {
	case len(packed) >= 1 && packed[0]&0xe0 == 0xa0:
		return exact(packed[1:], int(packed[0]&0x1f))
	case len(packed) >= 2 && packed[0] == 0xd9:
		return exact(packed[2:], int(packed[1]))
	case len(packed) >= 3 && packed[0] == 0xda:
		return exact(packed[3:], int(packed[1])<<8|int(packed[2]))
	}
	return "", false
}

func exact(b []byte, n int) (string, bool) { return string(b), len(b) == n }

// installationNodeID has the form of 2015, which GitHub still uses for
// installations in webhooks.
func installationNodeID(id int64) string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "023:IntegrationInstallation%d", id))
}
