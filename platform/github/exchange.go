package github

import (
	"context"
	"net/http"
	"strings"
	"time"
)

// The most bytes read of one answer, after decompression. Lists and queries
// stay far below; texts and comparisons get their own limit.
const (
	answerLimit = 8 << 20
	textLimit   = 48 << 20
)

// call describes one request before it is sent.
type call struct {
	// op names it in errors and logs; no names of repositories in it.
	op string
	// read allows repetition after a passing failure.
	read bool
	// raw says that a good answer is the bytes of a file, not JSON.
	raw bool
	// limit is the most bytes of the answer; 0 means answerLimit.
	limit int64
}

// exchange is what became of one call: the record of its last answer. It
// travels in the context of the request, since the libraries between us and
// the wire hand on only part of it.
type exchange struct {
	call

	attempts int
	duration time.Duration
	status   int
	header   http.Header
	size     int
	// notJSON is set when the body is something a proxy or an error page
	// would send.
	notJSON bool
	body    apiBody
	// failure is why there was no complete answer.
	failure error
}

type exchangeKey struct{}

func withExchange(ctx context.Context, x *exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

func (x *exchange) maxBytes() int64 {
	if x.limit > 0 {
		return x.limit
	}
	return answerLimit
}

// begin forgets the answer before: a redirect or a repeated attempt gives a
// new one.
func (x *exchange) begin() {
	x.attempts++
	x.status, x.header, x.size = 0, nil, 0
	x.notJSON, x.body, x.failure = false, apiBody{}, nil
}

// record keeps what matters of an answer. A good answer to a REST call is
// left to the library; only errors and GraphQL answers are looked into.
func (x *exchange) record(resp *http.Response, body []byte, graphql bool) {
	x.status, x.header, x.size = resp.StatusCode, resp.Header, len(body)
	good := resp.StatusCode < 300
	if good && x.raw {
		return
	}
	if len(body) > 0 && looksLikePage(resp.Header, body) {
		x.notJSON = true
		return
	}
	if !good || graphql {
		x.body, x.notJSON = parseBody(body)
		x.notJSON = x.notJSON && len(body) > 0
	}
}

// looksLikePage tells a web page or plain text from JSON.
func looksLikePage(h http.Header, body []byte) bool {
	kind := strings.ToLower(h.Get("Content-Type"))
	if strings.HasPrefix(kind, "text/html") {
		return true
	}
	return strings.HasPrefix(strings.TrimLeft(string(body[:min(len(body), 64)]), " \t\r\n"), "<")
}
