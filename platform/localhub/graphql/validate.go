package graphql

import (
	"fmt"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// translation gives GitHub's entries for a validation finding at a node, nil if
// the node is not of the kind that the finding speaks of.
type translation func(n *site) []*Error

// translations maps the validator's rules to GitHub's wordings, which are
// those of the graphql-ruby library. Rules without an entry keep the
// validator's own sentence.
func translations() map[string]translation {
	return map[string]translation{
		"FieldsOnCorrectType":        undefinedField,
		"KnownArgumentNames":         unknownArguments,
		"ProvidedRequiredArguments":  missingArguments,
		"ScalarLeafs":                selectionMismatch,
		"KnownTypeNames":             undefinedType,
		"NoUndefinedVariables":       undefinedVariable,
		"NoUnusedVariables":          unusedVariable,
		"KnownFragmentNames":         unknownFragment,
		"NoUnusedFragments":          unusedFragment,
		"PossibleFragmentSpreads":    impossibleFragment,
		"ValuesOfCorrectType":        wrongLiteral,
		"VariablesInAllowedPosition": wrongVariable,
		"KnownDirectives":            unknownDirective,
	}
}

// translate gives the refusal of a document. A node that breaks one rule in
// several ways is reported once per rule, with all the ways.
func translate(doc *ast.QueryDocument, found gqlerror.List) []*Error {
	index := indexSites(doc)
	table := translations()
	var out []*Error
	type seen struct {
		rule string
		at   Location
	}
	done := make(map[seen]bool)
	for _, finding := range found {
		places := locations(finding)
		if len(places) == 0 {
			out = append(out, &Error{Message: finding.Message})
			continue
		}
		key := seen{finding.Rule, places[0]}
		if done[key] && table[finding.Rule] != nil {
			continue
		}
		done[key] = true
		out = append(out, translateOne(index[places[0]], table[finding.Rule], finding)...)
	}
	return out
}

func translateOne(nodes []*site, rule translation, finding *gqlerror.Error) []*Error {
	if rule != nil {
		for _, n := range nodes {
			if entries := rule(n); entries != nil {
				return entries
			}
		}
	}
	plain := &Error{Message: finding.Message, Locations: locations(finding)}
	if len(nodes) > 0 {
		plain.Path = nodes[0].path
	}
	return []*Error{plain}
}

// entry makes a validation error with a code; extra are further extensions as
// name and value in turn.
func (n *site) entry(code, message string, extra ...string) *Error {
	extensions := map[string]any{"code": code}
	for i := 0; i+1 < len(extra); i += 2 {
		extensions[extra[i]] = extra[i+1]
	}
	e := &Error{Path: n.path, Extensions: extensions, Message: message}
	if n.position != nil {
		e.Locations = []Location{{Line: n.position.Line, Column: n.position.Column}}
	}
	return e
}

func undefinedField(n *site) []*Error {
	if n.field == nil || n.argument != nil || n.field.ObjectDefinition == nil {
		return nil
	}
	if n.field.ObjectDefinition.IsLeafType() {
		return []*Error{} // the selection as a whole is reported
	}
	typeName := n.field.ObjectDefinition.Name
	return []*Error{n.entry("undefinedField",
		fmt.Sprintf("Field '%s' doesn't exist on type '%s'", n.field.Name, typeName),
		"typeName", typeName, "fieldName", n.field.Name)}
}

func unknownArguments(n *site) []*Error {
	if n.field == nil || n.argument != nil || n.field.Definition == nil {
		return nil
	}
	var out []*Error
	for _, arg := range n.field.Arguments {
		if n.field.Definition.Arguments.ForName(arg.Name) != nil {
			continue
		}
		e := n.entry("argumentNotAccepted",
			fmt.Sprintf("Field '%s' doesn't accept argument '%s'", n.field.Name, arg.Name),
			"name", n.field.Name, "typeName", "Field", "argumentName", arg.Name)
		e.Path = below(n.path, arg.Name)
		if arg.Position != nil {
			e.Locations = []Location{{Line: arg.Position.Line, Column: arg.Position.Column}}
		}
		out = append(out, e)
	}
	return out
}

func missingArguments(n *site) []*Error {
	if n.field == nil || n.argument != nil || n.field.Definition == nil {
		return nil
	}
	var missing []string
	for _, def := range n.field.Definition.Arguments {
		if def.Type.NonNull && def.DefaultValue == nil && n.field.Arguments.ForName(def.Name) == nil {
			missing = append(missing, def.Name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	names := strings.Join(missing, ", ")
	return []*Error{n.entry("missingRequiredArguments",
		fmt.Sprintf("Field '%s' is missing required arguments: %s", n.field.Name, names),
		"className", "Field", "name", n.field.Name, "arguments", names)}
}

func selectionMismatch(n *site) []*Error {
	if n.field == nil || n.argument != nil || n.field.Definition == nil {
		return nil
	}
	name, typeName := n.field.Name, n.field.Definition.Type.Name()
	message := fmt.Sprintf("Field must have selections (field '%s' returns %s but has no selections. Did you mean '%s { ... }'?)",
		name, typeName, name)
	if len(n.field.SelectionSet) > 0 {
		message = fmt.Sprintf("Selections can't be made on scalars (field '%s' returns %s but has selections [%s])",
			name, typeName, quotedNames(n.field.SelectionSet))
	}
	return []*Error{n.entry("selectionMismatch", message, "nodeName", "field '"+name+"'", "typeName", typeName)}
}

func quotedNames(set ast.SelectionSet) string {
	var names []string
	for _, selection := range set {
		if f, ok := selection.(*ast.Field); ok {
			names = append(names, `"`+f.Name+`"`)
		}
	}
	return strings.Join(names, ", ")
}

func undefinedType(n *site) []*Error {
	switch {
	case n.variable != nil:
		name := n.variable.Type.Name()
		return []*Error{n.entry("variableRequiresValidType",
			fmt.Sprintf("%s isn't a defined input type (on $%s)", name, n.variable.Variable),
			"typeName", n.variable.Type.String(), "variableName", n.variable.Variable)}
	case n.inline != nil:
		return []*Error{noSuchType(n, n.inline.TypeCondition)}
	case n.fragment != nil:
		return []*Error{noSuchType(n, n.fragment.TypeCondition)}
	}
	return nil
}

func noSuchType(n *site, name string) *Error {
	return n.entry("undefinedType", fmt.Sprintf("No such type %s, so it can't be a fragment condition", name), "typeName", name)
}
