package tool

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"vault/platform/fault"
)

// unbounded is the largest limit that says nothing: schemas made from types
// carry the largest exact integer where no limit is meant.
const unbounded = "9007199254740991"

// mismatch says what an argument is and what it must be.
func (n *node) mismatch(at string, value any) string {
	text := fmt.Sprintf("%s is %s, but must be %s", fault.Quote(at), n.show(value), n.demand())
	if number, ok := value.(json.Number); ok && n.beyond(number) {
		text += " and at most " + unbounded
	}
	if given, ok := value.(string); ok && n.unquotable(given) {
		text += ": send " + given + " without quotes"
	}
	return text
}

// beyond says that a number is over the limit that is not named elsewhere.
func (n *node) beyond(number json.Number) bool {
	if n == nil || n.Maximum.String() != unbounded {
		return false
	}
	value, err := number.Float64() // only out of range for a float, which is infinite
	return value >= 1<<53 || err != nil && !strings.HasPrefix(number.String(), "-")
}

// unquotable says that a string holds what the schema asks for.
func (n *node) unquotable(text string) bool {
	if n == nil || len(text) > 32 || n.Types.has("string") {
		return false
	}
	switch value, err := parseValue([]byte(text)); value := value.(type) {
	case json.Number:
		_, isWhole := whole(value)
		return err == nil && (n.Types.has("number") || n.Types.has("integer") && isWhole)
	case bool:
		return err == nil && n.Types.has("boolean")
	}
	return false
}

// show names a value in a sentence. A text that is judged by its length is
// named by it.
func (n *node) show(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case string:
		length := utf8.RuneCountInString(value)
		switch {
		case value == "":
			return "empty"
		case n != nil && n.Types.has("string") && n.MaxLength > 0 && length > n.MaxLength:
			return fmt.Sprintf("%d characters long", length)
		case n != nil && !n.Types.has("string"):
			return "the text " + fault.Quote(value)
		}
		return fault.Quote(value)
	case json.Number:
		return cutNumber(value.String())
	case bool:
		return strconv.FormatBool(value)
	case []any:
		return "a list of " + count(len(value), "item")
	case map[string]any:
		return "an object"
	}
	return "something else"
}

// cutNumber keeps a long number from filling the sentence.
func cutNumber(text string) string {
	const most = 40
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}

// demand says what a value must be.
func (n *node) demand() string {
	if n == nil {
		return "as the tool's input schema says"
	}
	if choices := n.choices(); len(choices) > 0 {
		return join(choices, "or")
	}
	kinds := make([]string, 0, len(n.Types))
	for _, kind := range n.Types {
		kinds = append(kinds, n.kind(kind))
	}
	if len(kinds) == 0 {
		return "as the tool's input schema says"
	}
	return join(kinds, "or")
}

// choices gives the fixed values, when there are only those.
func (n *node) choices() []string {
	var out []string
	for _, value := range n.Enum {
		out = append(out, n.show(value))
	}
	for _, option := range n.AnyOf {
		if option.Const == nil {
			return nil
		}
		if value, err := parseValue(option.Const); err == nil {
			out = append(out, n.show(value))
		}
	}
	if value, err := parseValue(n.Const); n.Const != nil && err == nil {
		out = append(out, n.show(value))
	}
	return out
}

func (n *node) kind(kind string) string {
	switch kind {
	case "string":
		return n.text()
	case "integer":
		return "a whole number" + n.between()
	case "number":
		return "a number" + n.between()
	case "boolean":
		return "true or false"
	case "array":
		return n.list()
	case "object":
		return "an object"
	}
	return kind
}

func (n *node) text() string {
	var parts []string
	switch {
	case n.MinLength > 0 && n.MaxLength > 0:
		parts = append(parts, fmt.Sprintf("of %d to %d characters", n.MinLength, n.MaxLength))
	case n.MaxLength > 0:
		parts = append(parts, fmt.Sprintf("of at most %d characters", n.MaxLength))
	case n.MinLength == 1:
		parts = append(parts, "that is not empty")
	case n.MinLength > 1:
		parts = append(parts, fmt.Sprintf("of at least %d characters", n.MinLength))
	}
	if n.Pattern != "" {
		parts = append(parts, "that matches "+n.Pattern)
	}
	return strings.Join(append([]string{"text"}, parts...), " ")
}

// between names the range of a number.
func (n *node) between() string {
	low, high := n.Minimum.String(), n.Maximum.String()
	if high == unbounded {
		high = ""
	}
	switch {
	case low != "" && high != "":
		return " from " + low + " to " + high
	case low != "":
		return " of at least " + low
	case high != "":
		return " of at most " + high
	}
	return ""
}

func (n *node) list() string {
	text := "a list"
	switch {
	case n.MinItems > 0 && n.MaxItems > 0:
		text += fmt.Sprintf(" of %d to %s", n.MinItems, count(n.MaxItems, "item"))
	case n.MaxItems > 0:
		text += " of at most " + count(n.MaxItems, "item")
	case n.MinItems > 0:
		text += " of at least " + count(n.MinItems, "item")
	}
	if n.Items != nil && len(n.Items.Types) > 0 {
		text += ", each " + n.Items.demand()
	}
	return text
}

func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}
