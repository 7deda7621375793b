package graphql

import (
	"errors"
	"fmt"
)

// TypeUnimplemented marks a valid field for which no value is built here.
const TypeUnimplemented = "LOCALHUB_UNIMPLEMENTED"

// Location is a place in the query text, counted from 1.
type Location struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// Error is one entry of a response's errors. Path and Locations are filled by
// the executor for errors that Objects return.
type Error struct {
	// Type is the machine-readable class of an execution error, such as
	// NOT_FOUND; validation errors have Extensions["code"] instead.
	Type       string         `json:"type,omitempty"`
	Path       []any          `json:"path,omitempty"`
	Extensions map[string]any `json:"extensions,omitempty"`
	Locations  []Location     `json:"locations,omitempty"`
	Message    string         `json:"message"`
}

// Error gives the message with its class.
func (e *Error) Error() string {
	if e.Type == "" {
		return e.Message
	}
	return e.Type + ": " + e.Message
}

// Errorf makes an execution error of a class.
func Errorf(class, format string, args ...any) *Error {
	return &Error{Type: class, Message: fmt.Sprintf(format, args...)}
}

// Unimplemented is what an Object returns for a field that it does not build.
func Unimplemented(typeName, field string) *Error {
	return Errorf(TypeUnimplemented, "The field '%s.%s' exists on GitHub but is not built into this local GitHub.", typeName, field)
}

// internalMessage stands for errors whose text is not for the caller.
const internalMessage = "Something went wrong while executing your query."

// outward gives the entry for err and whether err was meant for the caller.
func outward(err error) (*Error, bool) {
	var e *Error
	if errors.As(err, &e) {
		clone := *e
		return &clone, true
	}
	return &Error{Message: internalMessage}, false
}
