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

// MarshalJSON writes the members in order.
func (r *record) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, key := range r.keys {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(key)
		if err != nil {
			return nil, fmt.Errorf("encode name %q: %w", key, err)
		}
		value, err := json.Marshal(r.values[i])
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", key, err)
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
