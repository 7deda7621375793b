package auth

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDecodeTakesExactlyWhatEncodeWrote(t *testing.T) {
	t.Parallel()
	want := AccessToken{
		GitHub: "ghu_x", Installation: 1 << 40, ClientID: "client", Login: "ada",
		IssuedAt: time.Unix(1_800_000_000, 0).UTC(), Expires: time.Unix(1_800_030_000, 0).UTC(),
	}
	whole := want.encode()
	got, ok := decodeAccess(whole)
	if d := cmp.Diff(want, got); d != "" || !ok {
		t.Error(d, ok)
	}
	for n := range whole {
		if got, ok := decodeAccess(whole[:n]); ok {
			t.Errorf("%d of %d bytes: %v", n, len(whole), got)
		}
	}
	if got, ok := decodeAccess(append(bytes.Clone(whole), 0)); ok {
		t.Errorf("a byte too many: %v", got)
	}
}

func FuzzDecodeAccess(f *testing.F) {
	f.Add(AccessToken{GitHub: "ghu_x", Installation: 1}.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		token, ok := decodeAccess(b)
		if !ok {
			return
		}
		again, ok := decodeAccess(token.encode())
		if d := cmp.Diff(token, again); d != "" || !ok {
			t.Error(d, ok)
		}
	})
}
