package notes

import (
	"math/big"
	"regexp"
	"strings"
)

// maxBaseDigits bounds the hexadecimal and octal numbers that are converted;
// longer ones stay text.
const maxBaseDigits = 256

var (
	dateTime = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}([Tt]|[ \t]+)\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?[ \t]*(Z|z|[-+]\d{1,2}(:?\d{2})?)?$`)
	// The numbers of YAML 1.2.2, 10.3.2.
	coreInt   = regexp.MustCompile(`^([-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$`)
	coreFloat = regexp.MustCompile(`^([-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$`)
)

// plainKind gives what a scalar written without quotes is by the core schema
// of YAML 1.2: yes, no, on and dates are strings.
func plainKind(text string) Kind {
	switch text {
	case "", "~", "null", "Null", "NULL":
		return KindNull
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return KindBool
	}
	if c := text[0]; !isDigit(c) && c != '-' && c != '+' && c != '.' {
		return KindString
	}
	switch {
	case coreInt.MatchString(text):
		return KindInt
	case coreFloat.MatchString(text):
		return KindFloat
	}
	return KindString
}

func isTrue(text string) bool { return strings.EqualFold(text, "true") }

// isDateTime reports whether text is a date followed by a time of day.
func isDateTime(text string) bool {
	const shortest = len("2006-01-02T1:04")
	return len(text) >= shortest && isDigit(text[0]) && dateTime.MatchString(text)
}

// jsonNumber rewrites a YAML number into a JSON one of the same value.
func jsonNumber(text string) (string, bool) {
	if base, ok := otherBase(text); ok {
		return base, true
	}
	sign := ""
	switch text[0] {
	case '-':
		sign, text = "-", text[1:]
	case '+':
		text = text[1:]
	}
	if text == "" || !isDigit(text[len(text)-1]) && text[len(text)-1] != '.' {
		return "", false
	}
	return sign + withoutLooseEnds(text), true
}

// withoutLooseEnds gives digits on both sides of the point and takes leading
// zeros off.
func withoutLooseEnds(text string) string {
	exponent := ""
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		text, exponent = text[:at], text[at:]
	}
	whole, fraction, _ := strings.Cut(text, ".")
	whole = strings.TrimLeft(whole, "0")
	if whole == "" {
		whole = "0"
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return whole + exponent
}

// otherBase turns 0o and 0x numbers into decimal ones.
func otherBase(text string) (string, bool) {
	if len(text) < len("0x0") || len(text) > maxBaseDigits || text[0] != '0' {
		return "", false
	}
	base := map[byte]int{'o': 8, 'x': 16}[text[1]]
	if base == 0 {
		return "", false
	}
	number, ok := new(big.Int).SetString(text[2:], base)
	if !ok {
		return "", false
	}
	return number.String(), true
}
