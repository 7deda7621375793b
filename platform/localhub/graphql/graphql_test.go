package graphql_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault/platform/localhub/graphql"
)

const testSchema = `
interface Thing { id: ID! }
type Box implements Thing { id: ID! size: Int! color: Color weight: Float open: Boolean inside: Box must: Box! list: [Box!] loose: [Box] text(of: String = "x", n: Int): String broken: String gap: String }
type Lid implements Thing { id: ID! kind: String }
enum Color { RED BLUE }
type Query { box: Box things(ids: [ID!]!): [Thing]! sure: Box! }
`

// value is an Object made of a table.
type value struct {
	name   string
	fields map[string]any
}

func (v value) TypeName() string { return v.name }

func (v value) Field(_ context.Context, name string, args graphql.Args) (any, error) {
	if name == "text" {
		n, ok := args.Int("n")
		return strings.Repeat(args.String("of"), map[bool]int{true: n, false: 1}[ok]), nil
	}
	if name == "things" {
		out := []any{}
		for _, id := range args.Strings("ids") {
			out = append(out, v.fields[id])
		}
		return out, nil
	}
	f, ok := v.fields[name]
	if !ok {
		return nil, graphql.Unimplemented(v.name, name)
	}
	if err, failed := f.(error); failed {
		return nil, err
	}
	return f, nil
}

func box(fields map[string]any) value { return value{"Box", fields} }

func execute(t *testing.T, root map[string]any, query string, vars map[string]any) string {
	t.Helper()
	schema, err := graphql.Load("test", testSchema)
	if err != nil {
		t.Fatal(err)
	}
	response, err := schema.Execute(t.Context(), graphql.Request{Query: query, Variables: vars}, value{"Query", root})
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(response)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}

func TestExecute(t *testing.T) {
	t.Parallel()
	secret := errors.New("dsn with a password")
	root := map[string]any{
		"box": box(map[string]any{
			"id": "1", "size": 3, "color": "RED", "weight": 1.5, "open": true, "broken": secret, "must": nil,
			"inside": box(map[string]any{"id": "2", "size": nil}),
			"list":   []any{box(map[string]any{"id": "3", "size": nil})},
			"loose":  []any{box(map[string]any{"id": "3", "size": nil}), box(map[string]any{"id": "4", "size": 4})},
		}),
		"sure": nil,
		"b":    box(map[string]any{"id": "b", "size": 1}),
		"l":    value{"Lid", map[string]any{"id": "l", "kind": "flat"}},
		"e":    graphql.Errorf("NOT_FOUND", "no e"),
	}
	tests := []struct {
		name, query string
		vars        map[string]any
		want        string
	}{
		{"order and aliases", `{box{color b:id a:id size weight open __typename}}`, nil, `{"data":{"box":{"color":"RED","b":"1","a":"1","size":3,"weight":1.5,"open":true,"__typename":"Box"}}}`},
		{"merged mentions", `{box{inside{id}} ...F} fragment F on Query{box{inside{__typename} id}}`, nil, `{"data":{"box":{"inside":{"id":"2","__typename":"Box"},"id":"1"}}}`},
		{"directives", `query($y:Boolean!,$n:Boolean!){box{id @include(if:$y) size @include(if:$n) color @skip(if:$y) open @skip(if:$n)}}`, map[string]any{"y": true, "n": false}, `{"data":{"box":{"id":"1","open":true}}}`},
		{"defaults", `{box{text a:text(of:"ab",n:2)}}`, nil, `{"data":{"box":{"text":"x","a":"abab"}}}`},
		{"variable default", `query($n:Int=3){box{text(n:$n)}}`, nil, `{"data":{"box":{"text":"xxx"}}}`},
		{"type conditions", `query($i:[ID!]!){things(ids:$i){id ... on Lid{kind} ... on Box{size} ... on Thing{__typename}}}`, map[string]any{"i": []any{"b", "l"}}, `{"data":{"things":[{"id":"b","size":1,"__typename":"Box"},{"id":"l","kind":"flat","__typename":"Lid"}]}}`},
		{"failed item", `query($i:[ID!]!){things(ids:$i){id}}`, map[string]any{"i": []any{"e", "l"}}, `{"data":{"things":[null,{"id":"l"}]},"errors":[{"type":"NOT_FOUND","path":["things",0],"locations":[{"line":1,"column":18}],"message":"no e"}]}`},
		{"null bubbles to the next nullable", `{box{id inside{id size}}}`, nil, `{"data":{"box":{"id":"1","inside":null}},"errors":[{"path":["box","inside","size"],"locations":[{"line":1,"column":19}],"message":"Cannot return null for non-nullable field Box.size"}]}`},
		{"null bubbles through a strict list", `{box{id list{size}}}`, nil, `{"data":{"box":{"id":"1","list":null}},"errors":[{"path":["box","list",0,"size"],"locations":[{"line":1,"column":14}],"message":"Cannot return null for non-nullable field Box.size"}]}`},
		{"null stays in a loose list", `{box{loose{size}}}`, nil, `{"data":{"box":{"loose":[null,{"size":4}]}},"errors":[{"path":["box","loose",0,"size"],"locations":[{"line":1,"column":12}],"message":"Cannot return null for non-nullable field Box.size"}]}`},
		{"null bubbles to the top", `{sure{id}}`, nil, `{"data":null,"errors":[{"path":["sure"],"locations":[{"line":1,"column":2}],"message":"Cannot return null for non-nullable field Query.sure"}]}`},
		{"non-null object", `{box{id must{id}}}`, nil, `{"data":{"box":null},"errors":[{"path":["box","must"],"locations":[{"line":1,"column":9}],"message":"Cannot return null for non-nullable field Box.must"}]}`},
		{"inner errors stay inside", `{box{id broken}}`, nil, `{"data":{"box":{"id":"1","broken":null}},"errors":[{"path":["box","broken"],"locations":[{"line":1,"column":9}],"message":"Something went wrong while executing your query."}]}`},
		{"a gap is loud", `{box{id gap}}`, nil, `{"data":{"box":{"id":"1","gap":null}},"errors":[{"type":"LOCALHUB_UNIMPLEMENTED","path":["box","gap"],"locations":[{"line":1,"column":9}],"message":"The field 'Box.gap' exists on GitHub but is not built into this local GitHub."}]}`},
		{"introspection is a gap", `{__schema{types{name}} box{id}}`, nil, `{"data":null,"errors":[{"type":"LOCALHUB_UNIMPLEMENTED","path":["__schema"],"locations":[{"line":1,"column":2}],"message":"The field 'Query.__schema' exists on GitHub but is not built into this local GitHub."}]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, execute(t, root, tt.query, tt.vars)); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWrongValuesAreErrors(t *testing.T) {
	t.Parallel()
	for name, fields := range map[string]map[string]any{
		"text for a number":    {"size": "3"},
		"too large a number":   {"size": 1 << 40},
		"unknown enum value":   {"color": "GREEN"},
		"object for a leaf":    {"color": box(nil)},
		"leaf for an object":   {"inside": "x"},
		"wrong kind of object": {"inside": value{"Lid", nil}},
		"no list":              {"list": "x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for field := range fields {
				query := "{box{" + field + "}}"
				if field == "inside" || field == "list" {
					query = "{box{" + field + "{id}}}"
				}
				if got := execute(t, map[string]any{"box": box(fields)}, query, nil); !strings.Contains(got, "Something went wrong") {
					t.Errorf("answer %s", got)
				}
			}
		})
	}
}

func TestValidationErrorsHaveGitHubsShape(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, query string
		vars        map[string]any
		want        string
	}{
		{"field", "query Q{\n  box{bogus}}", nil, `{"errors":[{"path":["query Q","box","bogus"],"extensions":{"code":"undefinedField","fieldName":"bogus","typeName":"Box"},"locations":[{"line":2,"column":7}],"message":"Field 'bogus' doesn't exist on type 'Box'"}]}`},
		{"field in a fragment", "{box{...F}} fragment F on Box{bogus}", nil, `{"errors":[{"path":["fragment F","bogus"],"extensions":{"code":"undefinedField","fieldName":"bogus","typeName":"Box"},"locations":[{"line":1,"column":31}],"message":"Field 'bogus' doesn't exist on type 'Box'"}]}`},
		{"field below a condition", "{things(ids:[]){... on Lid{bogus}}}", nil, `{"errors":[{"path":["query","things","... on Lid","bogus"],"extensions":{"code":"undefinedField","fieldName":"bogus","typeName":"Lid"},"locations":[{"line":1,"column":28}],"message":"Field 'bogus' doesn't exist on type 'Lid'"}]}`},
		{"arguments", "{box{text(a:1,b:2)}}", nil, `{"errors":[{"path":["query","box","text","a"],"extensions":{"argumentName":"a","code":"argumentNotAccepted","name":"text","typeName":"Field"},"locations":[{"line":1,"column":11}],"message":"Field 'text' doesn't accept argument 'a'"},{"path":["query","box","text","b"],"extensions":{"argumentName":"b","code":"argumentNotAccepted","name":"text","typeName":"Field"},"locations":[{"line":1,"column":15}],"message":"Field 'text' doesn't accept argument 'b'"}]}`},
		{"missing argument", "{things{id}}", nil, `{"errors":[{"path":["query","things"],"extensions":{"arguments":"ids","className":"Field","code":"missingRequiredArguments","name":"things"},"locations":[{"line":1,"column":2}],"message":"Field 'things' is missing required arguments: ids"}]}`},
		{"no selection", "{box}", nil, `{"errors":[{"path":["query","box"],"extensions":{"code":"selectionMismatch","nodeName":"field 'box'","typeName":"Box"},"locations":[{"line":1,"column":2}],"message":"Field must have selections (field 'box' returns Box but has no selections. Did you mean 'box { ... }'?)"}]}`},
		{"selection on a scalar", "{box{size{x}}}", nil, `{"errors":[{"path":["query","box","size"],"extensions":{"code":"selectionMismatch","nodeName":"field 'size'","typeName":"Int"},"locations":[{"line":1,"column":6}],"message":"Selections can't be made on scalars (field 'size' returns Int but has selections [\"x\"])"}]}`},
		{"undeclared variable", "{box{text(of:$v)}}", nil, `{"errors":[{"path":["query","box","text","of"],"extensions":{"code":"variableNotDefined","variableName":"v"},"locations":[{"line":1,"column":14}],"message":"Variable $v is used by anonymous query but not declared"}]}`},
		{"unused variable", "query Q($v:Int){box{id}}", nil, `{"errors":[{"path":["query Q"],"extensions":{"code":"variableNotUsed","variableName":"v"},"locations":[{"line":1,"column":9}],"message":"Variable $v is declared by Q but not used"}]}`},
		{"unknown fragment", "{box{...F}}", nil, `{"errors":[{"path":["query","box","... F"],"extensions":{"code":"useAndDefineFragment","fragmentName":"F"},"locations":[{"line":1,"column":9}],"message":"Fragment F was used, but not defined"}]}`},
		{"impossible fragment", "{box{... on Lid{id}}}", nil, `{"errors":[{"path":["query","box","... on Lid"],"extensions":{"code":"cannotSpreadFragment","fragmentName":"unknown","parentName":"Box","typeName":"Lid"},"locations":[{"line":1,"column":10}],"message":"Fragment on Lid can't be spread inside Box"}]}`},
		{"unknown type", "{box{... on Hat{id}}}", nil, `{"errors":[{"path":["query","box","... on Hat"],"extensions":{"code":"undefinedType","typeName":"Hat"},"locations":[{"line":1,"column":10}],"message":"No such type Hat, so it can't be a fragment condition"}]}`},
		{"wrong literal", `{box{text(n:"x")}}`, nil, `{"errors":[{"path":["query","box","text","n"],"extensions":{"argumentName":"n","code":"argumentLiteralsIncompatible","typeName":"Field"},"locations":[{"line":1,"column":14}],"message":"Argument 'n' on Field 'text' has an invalid value (\"x\"). Expected type 'Int'."}]}`},
		{"wrong variable type", `query($v:String){box{text(n:$v)}}`, nil, `{"errors":[{"path":["query","box","text","n"],"extensions":{"argumentName":"n","code":"variableMismatch","errorMessage":"Type mismatch","typeName":"String","variableName":"v"},"locations":[{"line":1,"column":29}],"message":"Type mismatch on variable $v and argument n (String / Int)"}]}`},
		{"null for a strict variable", `query($v:[ID!]!){things(ids:$v){id}}`, map[string]any{"v": nil}, `{"errors":[{"extensions":{"problems":[{"explanation":"Expected value to not be null","path":[]}],"value":null},"locations":[{"line":1,"column":7}],"message":"Variable $v of type [ID!]! was provided invalid value"}]}`},
		{"null inside a variable", `query($v:[ID!]!){things(ids:$v){id}}`, map[string]any{"v": []any{"b", nil}}, `{"errors":[{"extensions":{"problems":[{"explanation":"Expected value to not be null","path":[1]}],"value":["b",null]},"locations":[{"line":1,"column":7}],"message":"Variable $v of type [ID!]! was provided invalid value"}]}`},
		{"missing variable", `query($v:[ID!]!){things(ids:$v){id}}`, nil, `{"errors":[{"extensions":{"problems":[{"explanation":"Expected value to not be null","path":[]}],"value":null},"locations":[{"line":1,"column":7}],"message":"Variable $v of type [ID!]! was provided invalid value"}]}`},
		{"unknown operation", `query A{box{id}} query B{box{id}}`, nil, `{"errors":[{"message":"An operation name is required"}]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, execute(t, nil, tt.query, tt.vars)); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRefusalsHaveNoData(t *testing.T) {
	t.Parallel()
	for _, query := range []string{"", "{", "{box{id}", "mutation{x}", "subscription{x}", strings.Repeat("{box", 2000), "{box{" + strings.Repeat("id ", 60_000) + "}}", "\xff{box{id}}", "{...F} fragment F on Query{...F}"} {
		got := execute(t, nil, query, nil)
		if strings.Contains(got, `"data"`) || !strings.Contains(got, `"errors"`) {
			t.Errorf("%.40q: %.200s", query, got)
		}
	}
}

func TestDoublingFragmentsStaySmall(t *testing.T) {
	t.Parallel()
	var query strings.Builder
	query.WriteString("{box{...F0}}")
	for i := range 60 {
		next := strconv.Itoa(i + 1)
		query.WriteString(" fragment F" + strconv.Itoa(i) + " on Box{...F" + next + " ...F" + next + "}")
	}
	query.WriteString(" fragment F60 on Box{id}")
	got := execute(t, map[string]any{"box": box(map[string]any{"id": "1"})}, query.String(), nil)
	if got != `{"data":{"box":{"id":"1"}}}` {
		t.Errorf("answer %.200s", got)
	}
}

func TestCanceledRequestStops(t *testing.T) {
	t.Parallel()
	schema, err := graphql.Load("test", testSchema)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	response, err := schema.Execute(ctx, graphql.Request{Query: "{box{id}}"}, value{"Query", map[string]any{"box": box(nil)}})
	if err != nil || len(response.Errors) != 1 || response.Errors[0].Type != "TIMEOUT" {
		t.Errorf("response %+v, error %v", response, err)
	}
}

func TestBadSchemaIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := graphql.Load("bad", "type Query { a: Missing }"); err == nil {
		t.Error("a schema with an unknown type was taken")
	}
}

func FuzzExecuteNeverBreaks(f *testing.F) {
	for _, seed := range []string{
		"{box{id}}", "query Q($a:[ID!]!){things(ids:$a){...F @include(if:true)}} fragment F on Thing{id}",
		`{box{text(n:99999999999999999999,of:"\u0000")}}`, "{a:box{id} a:sure{id}}", "query($v:Color={a:1}){box{id}}",
	} {
		f.Add(seed, `{"a":["b",1]}`)
	}
	schema, err := graphql.Load("test", testSchema)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, query, variables string) {
		var vars map[string]any
		if json.Unmarshal([]byte(variables), &vars) != nil {
			vars = nil
		}
		root := value{"Query", map[string]any{"box": box(map[string]any{"id": "1", "size": 1}), "sure": box(nil)}}
		response, err := schema.Execute(t.Context(), graphql.Request{Query: query, Variables: vars}, root)
		if err != nil {
			t.Fatal(err)
		}
		if response.Data == nil && len(response.Errors) == 0 {
			t.Errorf("%q has neither data nor errors", query)
		}
	})
}
