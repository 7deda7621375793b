package graphql

import (
	"context"
	"fmt"

	"github.com/vektah/gqlparser/v2/ast"
)

// complete turns what an Object returned into a value of type t. It reports
// false if the value is null and t does not allow that, after the error has
// been reported at the place where the null arose.
func (x *run) complete(ctx context.Context, t *ast.Type, value any, g *group, at *place) (any, bool) {
	if err, failed := value.(error); failed {
		x.report(err, at)
		return nil, !t.NonNull
	}
	if value == nil {
		if t.NonNull {
			x.report(&Error{Message: fmt.Sprintf("Cannot return null for non-nullable field %s.%s",
				at.field.ObjectDefinition.Name, at.field.Name)}, at)
		}
		return nil, !t.NonNull
	}
	var out any
	var ok bool
	switch {
	case t.Elem != nil:
		out, ok = x.list(ctx, t, value, g, at)
	case x.schema.Types[t.NamedType].IsLeafType():
		out, ok = x.leaf(x.schema.Types[t.NamedType], value, at)
	default:
		out, ok = x.object(ctx, t.NamedType, value, g, at)
	}
	if !ok {
		return nil, !t.NonNull
	}
	return out, true
}

func (x *run) list(ctx context.Context, t *ast.Type, value any, g *group, at *place) (any, bool) {
	items, isList := value.([]any)
	if !isList {
		x.report(fmt.Errorf("%s: %T is no list", at.field.Name, value), at)
		return nil, false
	}
	out := make([]any, len(items))
	for i, item := range items {
		done, ok := x.complete(ctx, t.Elem, item, g, &place{parent: at, key: i, field: at.field})
		if !ok {
			return nil, false
		}
		out[i] = done
	}
	return out, true
}

func (x *run) object(ctx context.Context, typeName string, value any, g *group, at *place) (any, bool) {
	obj, isObject := value.(Object)
	if !isObject || !x.matches(obj.TypeName(), typeName) {
		x.report(fmt.Errorf("%s: %T is no %s", at.field.Name, value, typeName), at)
		return nil, false
	}
	sets := make([]ast.SelectionSet, len(g.fields))
	for i, f := range g.fields {
		sets[i] = f.SelectionSet
	}
	out, ok := x.selections(ctx, obj, sets, at)
	return out, ok
}

// leaf checks a scalar or enum value against its type. Scalars other than
// GraphQL's own are strings, as all of GitHub's are.
func (x *run) leaf(def *ast.Definition, value any, at *place) (any, bool) {
	valid := false
	switch v := value.(type) {
	case bool:
		valid = def.Name == "Boolean"
	case int:
		valid = def.Name == "Int" && v == int(int32(v))
	case int64:
		valid = def.Name == "Int" && v == int64(int32(v))
	case float64:
		valid = def.Name == "Float"
	case string:
		valid = stringFits(def, v)
	}
	if !valid {
		x.report(fmt.Errorf("%s: %T is no %s", at.field.Name, value, def.Name), at)
		return nil, false
	}
	return value, true
}

func stringFits(def *ast.Definition, value string) bool {
	if def.Kind == ast.Enum {
		return def.EnumValues.ForName(value) != nil
	}
	switch def.Name {
	case "Int", "Float", "Boolean":
		return false
	}
	return true
}
