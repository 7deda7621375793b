package graphql

import (
	"context"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// maxFields bounds the fields one request may resolve, after GitHub's limit
// of 500,000 nodes.
const maxFields = 500_000

// Object is a value of an object type. Field returns a field's value:
//
//   - nil for null;
//   - string, bool, int, int64, float64 for leaves (string for enums);
//   - an Object for an object, interface or union;
//   - []any for a list, in which an error stands for a failed item;
//   - an error, which makes the field null.
type Object interface {
	// TypeName is the concrete object type's name in the schema.
	TypeName() string
	// Field resolves one field. It answers Unimplemented for what it does not
	// build.
	Field(ctx context.Context, name string, args Args) (any, error)
}

// run is the execution of one operation.
type run struct {
	schema *ast.Schema
	vars   map[string]any
	errors []*Error
	inner  []error
	fields int
}

// place is where in the answer a value stands: a list from the leaf upwards.
type place struct {
	parent *place
	key    any
	field  *ast.Field
}

func (p *place) path() []any {
	if p == nil {
		return nil
	}
	return append(p.parent.path(), p.key)
}

// report keeps err as an entry at its place.
func (x *run) report(err error, at *place) {
	entry, meant := outward(err)
	if !meant {
		x.inner = append(x.inner, err)
	}
	entry.Path = at.path()
	if pos := at.field.Position; pos != nil {
		entry.Locations = []Location{{Line: pos.Line, Column: pos.Column}}
	}
	x.errors = append(x.errors, entry)
}

// group is all mentions of one key of the answer.
type group struct {
	key    string
	fields []*ast.Field
}

// selections resolves the fields of one object. It reports false if a
// non-null field was null, which makes the object itself null.
func (x *run) selections(ctx context.Context, obj Object, sets []ast.SelectionSet, at *place) (*record, bool) {
	c := collector{x: x, typeName: obj.TypeName(), index: map[string]*group{}, seen: map[string]bool{}}
	for _, set := range sets {
		c.collect(set)
	}
	out := &record{}
	for _, g := range c.groups {
		value, ok := x.field(ctx, obj, g, at)
		if !ok {
			return nil, false
		}
		out.add(g.key, value)
	}
	return out, true
}

// collector gathers the fields that apply to an object type, fragments
// unfolded. A named fragment counts once for an object, as the specification
// has it; so a chain of fragments that double each other stays small.
type collector struct {
	x        *run
	typeName string
	index    map[string]*group
	seen     map[string]bool
	groups   []*group
}

func (c *collector) collect(set ast.SelectionSet) {
	for _, selection := range set {
		switch s := selection.(type) {
		case *ast.Field:
			if c.x.included(s.Directives) {
				c.field(s)
			}
		case *ast.InlineFragment:
			if c.x.included(s.Directives) && c.x.matches(c.typeName, s.TypeCondition) {
				c.collect(s.SelectionSet)
			}
		case *ast.FragmentSpread:
			if c.seen[s.Name] || !c.x.included(s.Directives) {
				continue
			}
			c.seen[s.Name] = true
			if c.x.matches(c.typeName, s.Definition.TypeCondition) {
				c.collect(s.Definition.SelectionSet)
			}
		}
	}
}

func (c *collector) field(s *ast.Field) {
	g, ok := c.index[s.Alias]
	if !ok {
		g = &group{key: s.Alias}
		c.index[s.Alias] = g
		c.groups = append(c.groups, g)
	}
	g.fields = append(g.fields, s)
}

// included evaluates @skip and @include.
func (x *run) included(directives ast.DirectiveList) bool {
	for _, d := range directives {
		arg := d.Arguments.ForName("if")
		if arg == nil {
			continue
		}
		value, err := arg.Value.Value(x.vars)
		condition, isBool := value.(bool)
		if err != nil || !isBool {
			continue
		}
		if d.Name == "skip" && condition || d.Name == "include" && !condition {
			return false
		}
	}
	return true
}

// matches reports whether an object type satisfies a type condition.
func (x *run) matches(typeName, condition string) bool {
	if condition == "" || condition == typeName {
		return true
	}
	for _, possible := range x.schema.PossibleTypes[condition] {
		if possible.Name == typeName {
			return true
		}
	}
	return false
}

// field resolves one key of the answer.
func (x *run) field(ctx context.Context, obj Object, g *group, parent *place) (any, bool) {
	first := g.fields[0]
	at := &place{parent: parent, key: g.key, field: first}
	if first.Name == "__typename" {
		return obj.TypeName(), true
	}
	value, err := x.resolve(ctx, obj, first)
	if err != nil {
		value = err
	}
	return x.complete(ctx, first.Definition.Type, value, g, at)
}

func (x *run) resolve(ctx context.Context, obj Object, field *ast.Field) (any, error) {
	if err := ctx.Err(); err != nil {
		return nil, Errorf("TIMEOUT", "We couldn't respond to your request in time.")
	}
	if x.fields++; x.fields > maxFields {
		return nil, Errorf("MAX_NODE_LIMIT_EXCEEDED", "This query requests more than %d fields.", maxFields)
	}
	if strings.HasPrefix(field.Name, "__") {
		return nil, Unimplemented(obj.TypeName(), field.Name)
	}
	args, err := x.arguments(field)
	if err != nil {
		return nil, err
	}
	return obj.Field(ctx, field.Name, args)
}
