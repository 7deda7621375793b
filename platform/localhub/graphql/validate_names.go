package graphql

import (
	"fmt"

	"github.com/vektah/gqlparser/v2/ast"
)

func unknownFragment(n *site) []*Error {
	if n.spread == nil {
		return nil
	}
	return []*Error{n.entry("useAndDefineFragment",
		fmt.Sprintf("Fragment %s was used, but not defined", n.spread.Name), "fragmentName", n.spread.Name)}
}

func unusedFragment(n *site) []*Error {
	if n.fragment == nil {
		return nil
	}
	return []*Error{n.entry("useAndDefineFragment",
		fmt.Sprintf("Fragment %s was defined, but not used", n.fragment.Name), "fragmentName", n.fragment.Name)}
}

func impossibleFragment(n *site) []*Error {
	switch {
	case n.inline != nil && n.inline.ObjectDefinition != nil:
		parent := n.inline.ObjectDefinition.Name
		return []*Error{n.entry("cannotSpreadFragment",
			fmt.Sprintf("Fragment on %s can't be spread inside %s", n.inline.TypeCondition, parent),
			"typeName", n.inline.TypeCondition, "fragmentName", "unknown", "parentName", parent)}
	case n.spread != nil && n.spread.ObjectDefinition != nil && n.spread.Definition != nil:
		parent, condition := n.spread.ObjectDefinition.Name, n.spread.Definition.TypeCondition
		return []*Error{n.entry("cannotSpreadFragment",
			fmt.Sprintf("Fragment %s on %s can't be spread inside %s", n.spread.Name, condition, parent),
			"typeName", condition, "fragmentName", n.spread.Name, "parentName", parent)}
	}
	return nil
}

func unknownDirective(n *site) []*Error {
	if n.directive == nil || n.argument != nil {
		return nil
	}
	if n.directive.Definition == nil {
		return []*Error{n.entry("undefinedDirective",
			fmt.Sprintf("Directive @%s is not defined", n.directive.Name), "directiveName", n.directive.Name)}
	}
	return nil
}

// operationName names an operation as GitHub does inside a sentence.
func operationName(op *ast.OperationDefinition) string {
	switch {
	case op == nil:
		return "the operation"
	case op.Name == "":
		return "anonymous " + string(op.Operation)
	}
	return op.Name
}

func undefinedVariable(n *site) []*Error {
	if n.argument == nil {
		return nil
	}
	name, ok := firstUndefined(n.argument.Value)
	if !ok {
		return nil
	}
	return []*Error{n.entry("variableNotDefined",
		fmt.Sprintf("Variable $%s is used by %s but not declared", name, operationName(n.operation)), "variableName", name)}
}

// firstUndefined finds a variable in a value that no operation declares.
func firstUndefined(v *ast.Value) (string, bool) {
	if v == nil {
		return "", false
	}
	if v.Kind == ast.Variable && v.VariableDefinition == nil {
		return v.Raw, true
	}
	for _, child := range v.Children {
		if name, ok := firstUndefined(child.Value); ok {
			return name, true
		}
	}
	return "", false
}

func unusedVariable(n *site) []*Error {
	if n.variable == nil {
		return nil
	}
	name := n.variable.Variable
	return []*Error{n.entry("variableNotUsed",
		fmt.Sprintf("Variable $%s is declared by %s but not used", name, operationName(n.operation)), "variableName", name)}
}

func wrongLiteral(n *site) []*Error {
	if n.argument == nil || n.field == nil || n.field.Definition == nil {
		return nil
	}
	def := n.field.Definition.Arguments.ForName(n.argument.Name)
	if def == nil {
		return nil
	}
	e := n.entry("argumentLiteralsIncompatible",
		fmt.Sprintf("Argument '%s' on Field '%s' has an invalid value (%s). Expected type '%s'.",
			n.argument.Name, n.field.Name, n.argument.Value.String(), def.Type.String()),
		"typeName", "Field", "argumentName", n.argument.Name)
	return []*Error{e}
}

func wrongVariable(n *site) []*Error {
	if n.argument == nil || n.field == nil || n.field.Definition == nil || n.argument.Value.VariableDefinition == nil {
		return nil
	}
	def := n.field.Definition.Arguments.ForName(n.argument.Name)
	if def == nil {
		return nil
	}
	variable := n.argument.Value.VariableDefinition
	return []*Error{n.entry("variableMismatch",
		fmt.Sprintf("Type mismatch on variable $%s and argument %s (%s / %s)",
			variable.Variable, n.argument.Name, variable.Type.String(), def.Type.String()),
		"variableName", variable.Variable, "typeName", variable.Type.String(),
		"argumentName", n.argument.Name, "errorMessage", "Type mismatch")}
}
