package notes

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Kind is what a frontmatter value is, by the core schema of YAML 1.2.
type Kind uint8

// The kinds of a value. A date is a string: its text stays as it stands.
const (
	KindNull Kind = iota
	KindBool
	KindInt
	KindFloat
	KindString
	KindList
	KindMap
)

// Value is one value of the frontmatter. The zero Value is null.
type Value struct {
	kind   Kind
	text   string
	list   []Value
	fields []Field
}

// Field is one entry of the frontmatter or of a map inside it.
type Field struct {
	// Key is the entry's name, unquoted.
	Key string
	// Value is the entry's value.
	Value Value
	// Line is the number of the line, in the file, that holds the key.
	Line int
	// KeyStart is the offset of the key's first byte, its quote included.
	KeyStart int
	// ValueStart is the offset at which the value starts, or where it would
	// stand when there is none.
	ValueStart int
	// End is the offset of the line on which the next entry of the
	// frontmatter starts, or that of the closing fence. It is set for the
	// entries of a frontmatter written one entry a line, and 0 elsewhere.
	End int
}

// StringValue gives a string as a Value.
func StringValue(text string) Value { return Value{kind: KindString, text: text} }

// Kind gives what the value is.
func (v Value) Kind() Kind { return v.kind }

// IsNull reports whether there is no value.
func (v Value) IsNull() bool { return v.kind == KindNull }

// List gives the items of a list, nil for anything else.
func (v Value) List() []Value { return v.list }

// Fields gives the entries of a map in the order of the file, nil for anything
// else.
func (v Value) Fields() []Field { return v.fields }

// Get gives the entry of a map with this key.
func (v Value) Get(key string) (Value, bool) { return fieldOf(v.fields, key) }

// Text gives the text of a scalar as it stands in the file, without quotes;
// lists and maps have none.
func (v Value) Text() string { return v.text }

// Bool gives the value of a boolean, false for anything else.
func (v Value) Bool() bool { return v.kind == KindBool && isTrue(v.text) }

// String gives the value as lists of notes show it: lists joined with ", ",
// booleans as true or false, maps as compact JSON, numbers as written, a date
// with a time as its date, and nothing for null.
func (v Value) String() string {
	switch v.kind {
	case KindNull:
		return ""
	case KindBool:
		return v.boolText()
	case KindList:
		return v.joined()
	case KindMap:
		return string(v.JSON())
	case KindInt, KindFloat, KindString:
	}
	if isDateTime(v.text) {
		return v.text[:len("2006-01-02")]
	}
	return v.text
}

func (v Value) joined() string {
	parts := make([]string, 0, len(v.list))
	for _, item := range v.list {
		if !item.IsNull() {
			parts = append(parts, item.String())
		}
	}
	return strings.Join(parts, ", ")
}

func (v Value) boolText() string {
	if isTrue(v.text) {
		return "true"
	}
	return "false"
}

// JSON gives the value as compact JSON. A number stays as written when that is
// a JSON number; numbers that JSON has no form for, such as .inf, and dates
// are strings with the text of the file. Entries keep the order of the file.
func (v Value) JSON() json.RawMessage {
	var out bytes.Buffer
	v.writeJSON(&out)
	return out.Bytes()
}

func (v Value) writeJSON(out *bytes.Buffer) {
	switch v.kind {
	case KindNull:
		out.WriteString("null")
	case KindBool:
		out.WriteString(v.boolText())
	case KindInt, KindFloat:
		writeNumber(out, v.text)
	case KindString:
		writeString(out, v.text)
	case KindList:
		v.writeList(out)
	case KindMap:
		v.writeMap(out)
	}
}

func (v Value) writeList(out *bytes.Buffer) {
	out.WriteByte('[')
	for i, item := range v.list {
		if i > 0 {
			out.WriteByte(',')
		}
		item.writeJSON(out)
	}
	out.WriteByte(']')
}

func (v Value) writeMap(out *bytes.Buffer) {
	out.WriteByte('{')
	for i, field := range v.fields {
		if i > 0 {
			out.WriteByte(',')
		}
		writeString(out, field.Key)
		out.WriteByte(':')
		field.Value.writeJSON(out)
	}
	out.WriteByte('}')
}

func writeNumber(out *bytes.Buffer, text string) {
	if json.Valid([]byte(text)) {
		out.WriteString(text)
		return
	}
	if number, ok := jsonNumber(text); ok {
		out.WriteString(number)
		return
	}
	writeString(out, text)
}

// writeString writes a JSON string. Nothing is escaped for HTML, because the
// text goes to programs that read JSON.
func writeString(out *bytes.Buffer, text string) {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	// A string always encodes, and a bytes.Buffer never refuses.
	if err := encoder.Encode(text); err == nil {
		out.Truncate(out.Len() - 1)
	}
}

func fieldOf(fields []Field, key string) (Value, bool) {
	for _, field := range fields {
		if field.Key == key {
			return field.Value, true
		}
	}
	return Value{}, false
}
