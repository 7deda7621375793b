package github

import (
	"encoding/json"
	"slices"
)

// apiBody is the part of an answer that tells about failure, in the shapes of
// both interfaces.
type apiBody struct {
	Message          string
	DocumentationURL string
	Errors           []apiError
}

// apiError is one entry of "errors", of a GraphQL answer or of a REST
// refusal.
type apiError struct {
	Type       string
	Code       string
	Message    string
	Path       []any
	Extensions struct {
		Code        string
		SAMLFailure bool
	}
}

// kind is the best name an entry has: GraphQL's type, else the code that
// validation errors, rate limits and REST carry.
func (e apiError) kind() string {
	switch {
	case e.Type != "":
		return e.Type
	case e.Extensions.Code != "":
		return e.Extensions.Code
	default:
		return e.Code
	}
}

// at gives the place of the answer that the entry is about: the alias of the
// outermost field, and the position in its list or -1.
func (e apiError) at() (field string, position int) {
	position = -1
	if len(e.Path) > 0 {
		field, _ = e.Path[0].(string)
	}
	if len(e.Path) > 1 {
		if n, ok := e.Path[1].(float64); ok {
			position = int(n)
		}
	}
	return field, position
}

// parseBody reads the failure part of an answer and tells whether the body
// was no JSON object. It is tolerant inside: an entry of "errors" may be a
// string, and a field of another type than documented counts as absent.
func parseBody(data []byte) (body apiBody, notJSON bool) {
	var raw struct {
		Message          json.RawMessage   `json:"message"`
		DocumentationURL json.RawMessage   `json:"documentation_url"`
		Errors           []json.RawMessage `json:"errors"`
	}
	if err := json.Unmarshal(data, &raw); err != nil && raw.Message == nil {
		return apiBody{}, !json.Valid(data)
	}
	body.Message = rawString(raw.Message)
	body.DocumentationURL = rawString(raw.DocumentationURL)
	for _, entry := range raw.Errors {
		body.Errors = append(body.Errors, parseError(entry))
	}
	return body, false
}

func parseError(entry json.RawMessage) apiError {
	var raw struct {
		Type       json.RawMessage `json:"type"`
		Code       json.RawMessage `json:"code"`
		Message    json.RawMessage `json:"message"`
		Path       json.RawMessage `json:"path"`
		Extensions struct {
			Code        json.RawMessage `json:"code"`
			SAMLFailure bool            `json:"saml_failure"`
		} `json:"extensions"`
	}
	if err := json.Unmarshal(entry, &raw); err != nil && raw.Message == nil {
		return apiError{Message: rawString(entry)}
	}
	out := apiError{Type: rawString(raw.Type), Code: rawString(raw.Code), Message: rawString(raw.Message)}
	out.Extensions.Code = rawString(raw.Extensions.Code)
	out.Extensions.SAMLFailure = raw.Extensions.SAMLFailure
	if err := json.Unmarshal(raw.Path, &out.Path); err != nil {
		out.Path = nil
	}
	return out
}

// rawString gives a JSON string, and "" for anything else.
func rawString(raw json.RawMessage) string {
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return ""
	}
	return s
}

// kinds lists the distinct kinds of errors in the order of their first
// appearance.
func kinds(errs []apiError) []string {
	var out []string
	for _, e := range errs {
		if k := e.kind(); k != "" && !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}
