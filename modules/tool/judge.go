package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/xeipuuv/gojsonschema"

	"vault/modules/vaultdir"
	"vault/platform/fault"
)

// maxProblems is how many problems of one call are told.
const maxProblems = 10

// problem is one thing that is wrong with the arguments.
type problem struct {
	at   string // where, as the caller writes it: more_edits[2].path
	text string // the sentence
}

// problems collects what is wrong, one sentence for each place.
type problems []problem

func (p *problems) add(at, format string, args ...any) {
	for _, known := range *p {
		if known.at == at {
			return
		}
	}
	*p = append(*p, problem{at, fmt.Sprintf(format, args...)})
}

// fault makes one refusal of them all, nil when there are none.
func (p problems) fault() error {
	if len(p) == 0 {
		return nil
	}
	var b strings.Builder
	for i, one := range p[:min(len(p), maxProblems)] {
		switch {
		case i == 0:
		case strings.HasSuffix(b.String(), "?"):
			b.WriteString(" ")
		default:
			b.WriteString(". ")
		}
		b.WriteString(one.text)
	}
	if rest := len(p) - maxProblems; rest > 0 {
		fmt.Fprintf(&b, ". And %d more", rest)
	}
	f := fault.Invalid("%s", b.String())
	if len(p) == 1 {
		f = f.On(p[0].at)
	}
	return f
}

// Check reads and judges the arguments of one call. repos are the names of the
// repositories that the caller may read, sorted. It gives the arguments as the
// handler decodes them, or a *fault.Error with everything that is wrong.
func (c *Compiled) Check(arguments json.RawMessage, repos []string) (Input, error) {
	values, err := parseObject(arguments)
	if err != nil {
		return Input{}, err
	}
	root := c.schema.root
	given := sentNames(values)
	root.settle(values)
	var found problems
	root.findUnknown(&found, c.spec.Name, "", values)
	if c.schema.hasRepo {
		c.checkRepo(&found, values, repos)
	}
	if err := c.validate(&found, values); err != nil {
		return Input{}, err
	}
	if err := found.fault(); err != nil {
		return Input{}, err
	}
	data, err := encode(values)
	if err != nil {
		return Input{}, fmt.Errorf("encode the arguments of %s: %w", c.spec.Name, err)
	}
	return Input{data: data, given: given}, nil
}

// Input is the arguments of a call that passed Check.
type Input struct {
	data  json.RawMessage
	given map[string]bool
}

// JSON gives the arguments with their defaults, as compact JSON.
func (i Input) JSON() json.RawMessage { return i.data }

// Given says whether the caller sent an argument, rather than its default
// standing in; null counts as not sent.
func (i Input) Given(name string) bool { return i.given[name] }

func sentNames(values map[string]any) map[string]bool {
	given := make(map[string]bool, len(values))
	for name, value := range values {
		given[name] = value != nil
	}
	return given
}

// findUnknown reports members that the schema does not declare, here and
// below.
func (n *node) findUnknown(found *problems, tool, at string, value any) {
	if n == nil {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		for _, name := range sortedKeys(value) {
			if property, known := n.Properties[name]; known {
				property.findUnknown(found, tool, below(at, name), value[name])
			} else if n.closed(at == "") {
				found.add(below(at, name), "%s", n.unknown(tool, at, name))
			}
		}
	case []any:
		for i, item := range value {
			n.Items.findUnknown(found, tool, element(at, i), item)
		}
	}
}

// unknown says that a member is not known, and which was meant.
func (n *node) unknown(tool, at, name string) string {
	text := fmt.Sprintf("%s is no argument of %s", fault.Quote(name), tool)
	if at != "" {
		text = fmt.Sprintf("%s is no member of %s", fault.Quote(name), fault.Quote(at))
	}
	names := n.names()
	if near, ok := vaultdir.Nearest(name, names); ok {
		return text + ": did you mean " + fault.Quote(near) + "?"
	}
	if len(names) == 0 {
		return text + ": it takes none"
	}
	return text + ": there are " + fault.QuoteList(names)
}

// validate runs the validator and turns its findings into sentences.
func (c *Compiled) validate(found *problems, values map[string]any) error {
	result, err := c.schema.validator.Validate(gojsonschema.NewRawLoader(values))
	if err != nil {
		return fmt.Errorf("validate the arguments of %s: %w", c.spec.Name, err)
	}
	failures := result.Errors()
	slices.SortStableFunc(failures, func(a, b gojsonschema.ResultError) int {
		return strings.Compare(a.Context().String(), b.Context().String())
	})
	for _, failure := range failures {
		c.schema.root.explain(found, failure)
	}
	return nil
}

// contextSeparator stands in no argument name that a schema declares.
const contextSeparator = "\x00"

// explain turns one finding of the validator into a sentence about its place.
func (n *node) explain(found *problems, failure gojsonschema.ResultError) {
	place, at := n, ""
	parts := strings.Split(failure.Context().String(contextSeparator), contextSeparator)[1:]
	for _, part := range parts {
		place, at = place.step(at, part)
	}
	switch failure.(type) {
	case *gojsonschema.RequiredError:
		name, _ := failure.Details()["property"].(string)
		child, where := place.step(at, name)
		found.add(where, "%s is missing: it must be %s", fault.Quote(where), child.demand())
	case *gojsonschema.AdditionalPropertyNotAllowedError:
		// findUnknown has said so.
	default:
		found.add(at, "%s", place.mismatch(at, failure.Value()))
	}
}

// step goes to a member or an item.
func (n *node) step(at, part string) (*node, string) {
	if n == nil {
		return nil, below(at, part)
	}
	if property, ok := n.Properties[part]; ok {
		return property, below(at, part)
	}
	if i, err := strconv.Atoi(part); err == nil && n.Items != nil {
		return n.Items, element(at, i)
	}
	return nil, below(at, part)
}

func below(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

func element(at string, i int) string { return at + "[" + strconv.Itoa(i) + "]" }

func sortedKeys(object map[string]any) []string {
	keys := make([]string, 0, len(object))
	for key := range object {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// encode writes v as compact JSON with every character as itself.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
