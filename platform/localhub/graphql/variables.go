package graphql

import (
	"errors"
	"fmt"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// variableError gives GitHub's entry for a variable whose value does not fit.
func variableError(op *ast.OperationDefinition, given map[string]any, err error) *Error {
	var e *gqlerror.Error
	if !errors.As(err, &e) || len(e.Path) < 2 {
		return &Error{Message: err.Error()}
	}
	name, _ := e.Path[1].(ast.PathName)
	def := op.VariableDefinitions.ForName(string(name))
	if def == nil {
		return &Error{Message: e.Message}
	}
	inside := make([]any, 0, len(e.Path)-2)
	for _, step := range e.Path[2:] {
		switch s := step.(type) {
		case ast.PathIndex:
			inside = append(inside, int(s))
		case ast.PathName:
			inside = append(inside, string(s))
		}
	}
	value, explanation := given[string(name)], e.Message
	if value == nil || e.Message == "cannot be null" {
		explanation = "Expected value to not be null"
	}
	out := &Error{
		Message:    fmt.Sprintf("Variable $%s of type %s was provided invalid value", name, def.Type.String()),
		Extensions: map[string]any{"value": value, "problems": []any{map[string]any{"path": inside, "explanation": explanation}}},
	}
	if def.Position != nil {
		out.Locations = []Location{{Line: def.Position.Line, Column: def.Position.Column}}
	}
	return out
}
