package graphql

import (
	"fmt"

	"github.com/vektah/gqlparser/v2/ast"
)

// Args are a field's arguments after variables and defaults; an argument that
// was neither given nor has a default is absent.
type Args map[string]any

// String gives a string argument, "" if absent or null.
func (a Args) String(name string) string {
	s, _ := a[name].(string)
	return s
}

// Bool gives a boolean argument, false if absent or null.
func (a Args) Bool(name string) bool {
	b, _ := a[name].(bool)
	return b
}

// Int gives an integer argument and whether it is there and not null.
func (a Args) Int(name string) (int, bool) {
	switch n := a[name].(type) {
	case int64:
		return int(n), true
	case float64:
		return int(n), true
	}
	return 0, false
}

// Strings gives a list of strings or ids.
func (a Args) Strings(name string) []string {
	switch v := a[name].(type) {
	case string:
		return []string{v}
	case []string:
		return v
	case []any:
		out := make([]string, len(v))
		for i, item := range v {
			out[i] = text(item)
		}
		return out
	}
	return nil
}

// text gives an ID's text: ids may be written as integers.
func text(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case int64:
		return fmt.Sprint(v)
	}
	return ""
}

// arguments evaluates a field's arguments.
func (x *run) arguments(field *ast.Field) (Args, error) {
	out := Args{}
	for _, def := range field.Definition.Arguments {
		value, given, err := x.argument(def, field.Arguments.ForName(def.Name))
		if err != nil {
			return nil, Errorf("", "Argument '%s' on Field '%s' has an invalid value.", def.Name, field.Name)
		}
		if !given {
			continue
		}
		if def.Type.NamedType == "ID" {
			value = text(value)
		}
		out[def.Name] = value
	}
	return out, nil
}

func (x *run) argument(def *ast.ArgumentDefinition, arg *ast.Argument) (value any, given bool, err error) {
	if arg != nil {
		if arg.Value.Kind != ast.Variable {
			value, err = arg.Value.Value(x.vars)
			return value, true, err
		}
		if value, given = x.vars[arg.Value.Raw]; given {
			return value, true, nil
		}
	}
	if def.DefaultValue == nil {
		return nil, false, nil
	}
	value, err = def.DefaultValue.Value(nil)
	return value, true, err
}
