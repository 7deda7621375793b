package localhub

import (
	"encoding/json"
	"errors"
	"net/http"

	"vault/platform/localhub/graphql"
)

// serveGraphQL answers the GraphQL endpoint.
func (h *Hub) serveGraphQL(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-GitHub-Media-Type", mediaType(r.Header.Get("Accept")).header())
	cred, err := h.authenticate(r)
	if err == nil && cred.holder == holderApp {
		err = errBadCredentials() // the App itself has no standing here
	}
	if err == nil && cred.holder == holderNobody {
		err = &restError{
			Status: http.StatusUnauthorized, Message: "This endpoint requires you to be authenticated.",
			Docs: "/graphql/guides/forming-calls-with-graphql#authenticating-with-graphql",
		}
	}
	if err != nil {
		usage{resource: resourceGraphQL, reset: h.now()}.set(w.Header())
		h.fail(w, r, graphQLDocs(err))
		return
	}
	used, granted := h.limits.take(cred, resourceGraphQL, 1, h.now())
	used.set(w.Header())
	if !granted {
		h.writeJSON(w, http.StatusOK, object{"errors": []object{{
			"type": "RATE_LIMIT", "code": "graphql_rate_limit", "message": alreadyExceeded(cred),
		}}})
		return
	}
	request, err := readGraphQL(w, r)
	if err != nil {
		h.fail(w, r, graphQLDocs(err))
		return
	}
	s := &session{h: h, cred: cred, used: used}
	response, err := h.schema.Execute(r.Context(), request, queryRoot{s})
	if err != nil {
		h.fail(w, r, err)
		return
	}
	for _, inner := range response.Inner {
		if r.Context().Err() == nil {
			h.log.Error("a GraphQL field failed inside the local GitHub", "error", inner)
		}
	}
	h.writeJSON(w, http.StatusOK, response)
}

// graphQLDocs points a refusal to the documentation of GraphQL.
func graphQLDocs(err error) error {
	var e *restError
	if errors.As(err, &e) && e.Docs == "" {
		clone := *e
		clone.Docs = "/graphql"
		return &clone
	}
	return err
}

func alreadyExceeded(c credential) string {
	if c.holder == holderPerson {
		return "API rate limit already exceeded for user ID " + itoa(c.limitID) + "."
	}
	return "API rate limit already exceeded for installation ID " + itoa(c.limitID) + "."
}

// readGraphQL reads a posted query. Only POST with JSON is taken.
func readGraphQL(w http.ResponseWriter, r *http.Request) (graphql.Request, error) {
	var request graphql.Request
	if r.Method != http.MethodPost {
		return request, errNotFound()
	}
	var raw struct {
		Query         any             `json:"query"`
		OperationName *string         `json:"operationName"`
		Variables     json.RawMessage `json:"variables"`
	}
	if err := readJSON(w, r, maxRequestBody, &raw); err != nil {
		return request, err
	}
	query, ok := raw.Query.(string)
	if !ok {
		return request, &restError{Status: http.StatusBadRequest, Message: "A query attribute must be specified and must be a string."}
	}
	request.Query = query
	if raw.OperationName != nil {
		request.OperationName = *raw.OperationName
	}
	if len(raw.Variables) > 0 {
		if err := json.Unmarshal(raw.Variables, &request.Variables); err != nil {
			return request, &restError{Status: http.StatusBadRequest, Message: "Variables are invalid JSON."}
		}
	}
	return request, nil
}

// session is one GraphQL request's standing, with what it has read so far.
type session struct {
	h     *Hub
	cred  credential
	used  usage
	nodes int // shown by rateLimit
	text  int // bytes of text read so far

	cache objectCache
}
