package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"strconv"
	"strings"

	"vault/platform/fault"
)

// The bounds of one argument object. Deeper nesting than frontmatter may have
// comes from no honest client, and a number beyond them would cost more to
// compute with than it is worth.
const (
	maxArguments = 4 << 20 // bytes
	maxDepth     = 40
	maxDigits    = 400
	maxExponent  = 400
)

var errShape = errors.New("unexpected end")

// parseObject reads an argument object without losing anything: numbers stay
// as they are written, and a repeated name is an error rather than a choice.
func parseObject(raw []byte) (map[string]any, error) {
	if len(raw) > maxArguments {
		return nil, fault.Invalid("the arguments are larger than %d bytes", maxArguments).Fix("send less in one call")
	}
	value, err := parseValue(raw)
	if err != nil {
		return nil, err
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, fault.Invalid("the arguments are not an object").Fix("send an object with one member for each argument")
	}
	return object, nil
}

// parseValue reads one JSON value and nothing after it.
func parseValue(raw []byte) (any, error) {
	p := parser{json.NewDecoder(bytes.NewReader(raw))}
	p.UseNumber()
	value, err := p.value(0)
	if err == nil {
		if _, more := p.Token(); more != io.EOF {
			err = errShape
		}
	}
	var said *fault.Error
	if err != nil && !errors.As(err, &said) {
		return nil, fault.Invalid("the arguments are not valid JSON").Because(err).Fix("send an object with one member for each argument")
	}
	return value, err
}

type parser struct{ *json.Decoder }

func (p parser) value(depth int) (any, error) {
	token, err := p.Token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case json.Delim:
		if depth == maxDepth {
			return nil, fault.Invalid("the arguments are nested more than %d levels deep", maxDepth).Fix("send flatter values")
		}
		if token == '{' {
			return p.object(depth + 1)
		}
		return p.array(depth + 1)
	case json.Number:
		return token, checkNumber(token)
	}
	return token, nil
}

func (p parser) object(depth int) (any, error) {
	object := map[string]any{}
	for p.More() {
		token, err := p.Token()
		if err != nil {
			return nil, err
		}
		key, ok := token.(string)
		if !ok {
			return nil, errShape
		}
		if _, twice := object[key]; twice {
			return nil, fault.Invalid("%s is given twice", fault.Quote(key)).Fix("give it once").On(key)
		}
		if object[key], err = p.value(depth); err != nil {
			return nil, err
		}
	}
	_, err := p.Token()
	return object, err
}

func (p parser) array(depth int) (any, error) {
	array := []any{}
	for p.More() {
		value, err := p.value(depth)
		if err != nil {
			return nil, err
		}
		array = append(array, value)
	}
	_, err := p.Token()
	return array, err
}

func checkNumber(n json.Number) error {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(n.String()), "e")
	e := 0
	if exponent != "" {
		var err error
		if e, err = strconv.Atoi(exponent); err != nil {
			e = maxExponent + 1
		}
	}
	if len(mantissa) > maxDigits || e > maxExponent || e < -maxExponent {
		return fault.Invalid("a number is too long or out of range").Fix("send a number of at most %d digits", maxDigits)
	}
	return nil
}

// whole gives a number without fraction in plain digits: 5.0 and 0.5e1 are 5.
func whole(n json.Number) (json.Number, bool) {
	if !strings.ContainsAny(n.String(), ".eE") {
		return n, true
	}
	r, ok := new(big.Rat).SetString(n.String())
	if !ok || !r.IsInt() {
		return n, false
	}
	return json.Number(r.Num().String()), true
}

// settle gives value as the schema means it: JSON in a string is parsed where
// an object or a list belongs, whole numbers lose their fraction, null stands
// for an argument that was left out, and defaults are filled in.
func (n *node) settle(value any) any {
	if n == nil {
		return value
	}
	if text, ok := value.(string); ok {
		value = n.unpack(text)
	}
	switch value := value.(type) {
	case json.Number:
		if n.Types.has("integer") {
			number, _ := whole(value)
			return number
		}
	case map[string]any:
		n.settleMembers(value)
	case []any:
		for i := range value {
			value[i] = n.Items.settle(value[i])
		}
	}
	return value
}

// unpack parses a string where an object or a list belongs, but never where a
// string may stand too.
func (n *node) unpack(text string) any {
	if n.Types.has("string") || !(n.Types.has("object") || n.Types.has("array")) {
		return text
	}
	value, err := parseValue([]byte(text))
	if err != nil {
		return text
	}
	switch value.(type) {
	case map[string]any:
		if n.Types.has("object") {
			return value
		}
	case []any:
		if n.Types.has("array") {
			return value
		}
	}
	return text
}

func (n *node) settleMembers(object map[string]any) {
	for name, property := range n.Properties {
		value, there := object[name]
		if there && value == nil && !property.Types.has("null") {
			delete(object, name)
			there = false
		}
		switch {
		case there:
			object[name] = property.settle(value)
		case property.Default != nil:
			if value, err := parseValue(property.Default); err == nil {
				object[name] = value
			}
		}
	}
}
