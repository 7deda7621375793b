package graphql

import "github.com/vektah/gqlparser/v2/ast"

// site is one node of a query document with its path as GitHub writes it:
// ["query Name", "repository", "... on Repository", "name"].
type site struct {
	path     []any
	position *ast.Position

	operation *ast.OperationDefinition
	variable  *ast.VariableDefinition
	field     *ast.Field
	argument  *ast.Argument // of field
	directive *ast.Directive
	inline    *ast.InlineFragment
	spread    *ast.FragmentSpread
	fragment  *ast.FragmentDefinition
}

// sites is an index of a document's nodes by where they stand.
type sites map[Location][]*site

func (s sites) put(n *site) *site {
	if n.position != nil {
		at := Location{Line: n.position.Line, Column: n.position.Column}
		s[at] = append(s[at], n)
	}
	return n
}

func indexSites(doc *ast.QueryDocument) sites {
	s := sites{}
	for _, op := range doc.Operations {
		name := string(op.Operation)
		if op.Name != "" {
			name += " " + op.Name
		}
		path := []any{name}
		s.put(&site{path: path, position: op.Position, operation: op})
		for _, v := range op.VariableDefinitions {
			s.put(&site{path: path, position: v.Position, operation: op, variable: v})
		}
		s.directives(op.Directives, path)
		s.selections(op.SelectionSet, path, op)
	}
	for _, f := range doc.Fragments {
		path := []any{"fragment " + f.Name}
		s.put(&site{path: path, position: f.Position, fragment: f})
		s.directives(f.Directives, path)
		s.selections(f.SelectionSet, path, nil)
	}
	return s
}

func (s sites) selections(set ast.SelectionSet, path []any, op *ast.OperationDefinition) {
	for _, selection := range set {
		switch n := selection.(type) {
		case *ast.Field:
			s.field(n, below(path, n.Alias), op)
		case *ast.InlineFragment:
			name := "..."
			if n.TypeCondition != "" {
				name = "... on " + n.TypeCondition
			}
			inner := below(path, name)
			s.put(&site{path: inner, position: n.Position, inline: n})
			s.directives(n.Directives, inner)
			s.selections(n.SelectionSet, inner, op)
		case *ast.FragmentSpread:
			inner := below(path, "... "+n.Name)
			s.put(&site{path: inner, position: n.Position, spread: n})
			s.directives(n.Directives, inner)
		}
	}
}

func (s sites) field(n *ast.Field, path []any, op *ast.OperationDefinition) {
	s.put(&site{path: path, position: n.Position, field: n, operation: op})
	for _, arg := range n.Arguments {
		s.argument(site{path: below(path, arg.Name), field: n, argument: arg, operation: op}, arg.Value)
	}
	s.directives(n.Directives, path)
	s.selections(n.SelectionSet, path, op)
}

// argument puts an argument's value and everything inside it.
func (s sites) argument(n site, value *ast.Value) {
	if value == nil {
		return
	}
	at := n
	at.position = value.Position
	s.put(&at)
	for _, child := range value.Children {
		s.argument(n, child.Value)
	}
}

func (s sites) directives(list ast.DirectiveList, path []any) {
	for _, d := range list {
		s.put(&site{path: path, position: d.Position, directive: d})
		for _, arg := range d.Arguments {
			if arg.Value != nil {
				s.put(&site{path: below(path, arg.Name), position: arg.Value.Position, argument: arg, directive: d})
			}
		}
	}
}

// below gives a longer path without touching the shorter one.
func below(path []any, name string) []any {
	return append(path[:len(path):len(path)], name)
}
