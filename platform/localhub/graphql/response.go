package graphql

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Response is the answer to one request. Data is absent (not null) when the
// request was refused before execution.
type Response struct {
	Data   json.RawMessage `json:"data,omitempty"`
	Errors []*Error        `json:"errors,omitempty"`

	// Inner holds the errors whose text was kept from the caller, for the log.
	Inner []error `json:"-"`
	// Fields counts the fields that were resolved.
	Fields int `json:"-"`
}

// record is a JSON object that keeps the order in which the query asked.
type record struct {
	keys   []string
	values []any
}

func (r *record) add(key string, value any) {
	r.keys = append(r.keys, key)
	r.values = append(r.values, value)
}

// encode writes a completed value. Records and lists are written here, so
// that a deep answer is not encoded once a level.
func encode(b *bytes.Buffer, value any) error {
	switch v := value.(type) {
	case *record:
		return v.encode(b)
	case []any:
		b.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := encode(b, item); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	}
	leaf, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode %T: %w", value, err)
	}
	b.Write(leaf)
	return nil
}

func (r *record) encode(b *bytes.Buffer) error {
	b.WriteByte('{')
	for i, key := range r.keys {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + key + `":`) // a GraphQL name needs no escape
		if err := encode(b, r.values[i]); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}
