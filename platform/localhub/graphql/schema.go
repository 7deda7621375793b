package graphql

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// maxTokens bounds a query document. The widest query that GitHub's own
// limits allow (five hundred ids, a hundred aliased files) has a tenth of it.
const maxTokens = 50_000

// Schema is a loaded schema. It is immutable and safe for concurrent use.
type Schema struct {
	types *ast.Schema
}

// Load reads a schema; name appears in its errors.
func Load(name, text string) (*Schema, error) {
	types, err := gqlparser.LoadSchema(&ast.Source{Name: name, Input: text})
	if err != nil {
		return nil, fmt.Errorf("load schema %s: %w", name, err)
	}
	return &Schema{types: types}, nil
}

// Request is what a client posts.
type Request struct {
	Query         string         `json:"query"`
	OperationName string         `json:"operationName"`
	Variables     map[string]any `json:"variables"`
}

// Execute answers one request with root as the query type's value. It returns
// an error only if the answer cannot be encoded; everything else is in the
// response.
func (s *Schema) Execute(ctx context.Context, request Request, root Object) (Response, error) {
	operation, refused := s.prepare(request)
	if refused != nil {
		return Response{Errors: refused}, nil
	}
	vars, err := validator.VariableValues(s.types, operation, request.Variables)
	if err != nil {
		return Response{Errors: []*Error{variableError(operation, request.Variables, err)}}, nil
	}
	x := &run{schema: s.types, vars: vars}
	value, ok := x.selections(ctx, root, []ast.SelectionSet{operation.SelectionSet}, nil)
	var data any
	if ok {
		data = value
	}
	var encoded bytes.Buffer
	if err := encode(&encoded, data); err != nil {
		return Response{}, err
	}
	return Response{Data: encoded.Bytes(), Errors: x.errors, Inner: x.inner, Fields: x.fields}, nil
}

// prepare parses and validates a request and picks its operation.
func (s *Schema) prepare(request Request) (*ast.OperationDefinition, []*Error) {
	doc, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: request.Query}, maxTokens)
	if err != nil {
		return nil, []*Error{parseError(err)}
	}
	if found := validator.ValidateWithRules(s.types, doc, rules.NewDefaultRules()); len(found) > 0 {
		return nil, translate(doc, found)
	}
	operation := doc.Operations.ForName(request.OperationName)
	switch {
	case operation == nil && request.OperationName == "":
		return nil, []*Error{{Message: "An operation name is required"}}
	case operation == nil:
		return nil, []*Error{{Message: fmt.Sprintf("No operation named %q", request.OperationName)}}
	case operation.Operation != ast.Query:
		return nil, []*Error{Errorf(TypeUnimplemented, "This local GitHub runs no %s.", operation.Operation)}
	}
	return operation, nil
}

func parseError(err error) *Error {
	var e *gqlerror.Error
	if !errors.As(err, &e) {
		return &Error{Message: "Parse error: " + err.Error()}
	}
	return &Error{Message: "Parse error: " + e.Message, Locations: locations(e)}
}

func locations(e *gqlerror.Error) []Location {
	list := make([]Location, len(e.Locations))
	for i, l := range e.Locations {
		list[i] = Location{Line: l.Line, Column: l.Column}
	}
	return list
}
