package git

import (
	"strings"
	"sync"
	"unicode"
)

// headLimit is the most bytes of standard error that are kept.
const headLimit = 4096

// head keeps the beginning of what is written to it. A process and its
// children write to it at the same time as it is read.
type head struct {
	mu   sync.Mutex
	data []byte
	hide []string
}

func (h *head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.data = append(h.data, p[:min(len(p), headLimit-len(h.data))]...)
	return len(p), nil
}

// String gives the text as one printable line, without secrets: a server's
// words come through here, and it was sent the token.
func (h *head) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	text := string(h.data)
	for _, secret := range h.hide {
		text = strings.ReplaceAll(text, secret, "[hidden]")
	}
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	return strings.Map(printable, strings.Join(lines, "; "))
}

func printable(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return ' '
}
