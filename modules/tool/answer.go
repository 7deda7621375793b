package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"vault/platform/mcp"
)

// MaxStructured is the most bytes of one structured content. Handlers keep to
// it by measuring what they add; an answer over it is a bug.
const MaxStructured = 200_000

// Decode gives the arguments of a checked call as the tool's own struct, whose
// fields carry the argument names in their json tags. Numbers are exact. An
// error means that the struct and the tool's schema do not fit each other.
func Decode[T any](c *Call) (T, error) {
	var input T
	decoder := json.NewDecoder(bytes.NewReader(c.Input.data))
	decoder.UseNumber()
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&input); err != nil {
		return input, fmt.Errorf("decode the arguments: %w", err)
	}
	return input, nil
}

// Run checks the arguments, puts them into the call, runs the tool and encodes
// its answer. repos are
// the names of the repositories that the caller may read, sorted. Errors are
// those of Check and of the handler.
func (c *Compiled) Run(ctx context.Context, call Call, arguments json.RawMessage, repos []string) (*mcp.Answer, error) {
	input, err := c.Check(arguments, repos)
	if err != nil {
		return nil, err
	}
	call.Input = input
	out, err := c.handler(ctx, &call)
	if err != nil {
		return nil, err
	}
	answer := &mcp.Answer{}
	if result, ok := out.(Result); ok {
		out, answer.Meta = result.Data, result.Meta
	}
	if answer.Structured, err = encode(out); err != nil {
		return nil, fmt.Errorf("encode the answer of %s: %w", c.spec.Name, err)
	}
	if n := len(answer.Structured); n > MaxStructured {
		return nil, fmt.Errorf("the answer of %s is %d bytes, more than %d", c.spec.Name, n, MaxStructured)
	}
	return answer, nil
}

// Size is how many bytes v takes in an answer.
func Size(v any) (int, error) {
	data, err := encode(v)
	return len(data), err
}

// Budget keeps a list within one answer.
type Budget struct{ left int }

// NewBudget makes a budget of MaxStructured less what is spoken for already:
// the size of the answer with an empty list, and room for its note.
func NewBudget(taken int) *Budget { return &Budget{left: MaxStructured - taken} }

// Take adds v, as an item of a list, if it still fits.
func (b *Budget) Take(v any) (bool, error) {
	n, err := Size(v)
	if err != nil {
		return false, err
	}
	n++ // the comma
	if n > b.left {
		return false, nil
	}
	b.left -= n
	return true, nil
}

// Left is how many bytes are left.
func (b *Budget) Left() int { return b.left }

// TextSize is how many bytes text takes in an answer, its quotes included.
func TextSize(text string) int {
	n := 2
	for i := 0; i < len(text); {
		r, width := utf8.DecodeRuneInString(text[i:])
		n += runeSize(r, width)
		i += width
	}
	return n
}

// FitText gives the length in bytes of the longest start of text that takes at
// most limit bytes in an answer, cut between characters.
func FitText(text string, limit int) int {
	n := 2
	for i := 0; i < len(text); {
		r, width := utf8.DecodeRuneInString(text[i:])
		n += runeSize(r, width)
		if n > limit {
			return i
		}
		i += width
	}
	return len(text)
}

// runeSize is how encoding/json writes one character without HTML escaping.
func runeSize(r rune, width int) int {
	switch {
	case r == '"' || r == '\\' || r == '\n' || r == '\r' || r == '\t' || r == '\b' || r == '\f':
		return 2
	case r < ' ' || r == '\u2028' || r == '\u2029' || (r == utf8.RuneError && width == 1):
		return 6
	}
	return width
}
