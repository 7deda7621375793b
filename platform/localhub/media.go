package localhub

import (
	"context"
	"net/http"
	"strconv"
	"strings"
)

// media is the representation that an Accept header asks for.
type media struct {
	param string // "raw", "sha", … or ""
	json  bool
}

// mediaType reads GitHub's media types: application/vnd.github[.v3][.param][+json].
func mediaType(accept string) media {
	for part := range strings.SplitSeq(accept, ",") {
		name, _, _ := strings.Cut(strings.TrimSpace(part), ";")
		rest, ok := strings.CutPrefix(strings.TrimSpace(name), "application/vnd.github")
		if !ok {
			continue
		}
		rest, isJSON := strings.CutSuffix(rest, "+json")
		for field := range strings.SplitSeq(rest, ".") {
			switch field {
			case "raw", "sha", "diff", "patch", "html", "object":
				return media{param: field, json: isJSON}
			}
		}
	}
	return media{json: true}
}

// header is the value of X-GitHub-Media-Type.
func (m media) header() string {
	text := "github.v3"
	if m.param != "" {
		text += "; param=" + m.param
	}
	if m.json {
		text += "; format=json"
	}
	return text
}

func withExchange(x *exchange) context.Context {
	return context.WithValue(x.r.Context(), exchangeKey{}, x)
}

// page is one page of a list.
type page struct {
	number, size int
}

// pageOf reads the paging parameters; what is out of range counts as absent,
// as on GitHub.
func pageOf(r *http.Request, size int) page {
	p := page{number: 1, size: size}
	if n, err := strconv.Atoi(r.URL.Query().Get("page")); err == nil && n > 0 {
		p.number = n
	}
	if n, err := strconv.Atoi(r.URL.Query().Get("per_page")); err == nil && n > 0 {
		p.size = min(n, 100)
	}
	return p
}

// bounds gives the page's part of a list of total entries.
func (p page) bounds(total int) (from, to int) {
	from = min((p.number-1)*p.size, total)
	if p.number > total { // so that the product cannot overflow
		from = total
	}
	return from, min(from+p.size, total)
}

// link sets the Link header for a list of total entries.
func (h *Hub) link(x *exchange, p page, total int) {
	last := max((total+p.size-1)/p.size, 1)
	var links []string
	add := func(rel string, number int) {
		q := x.r.URL.Query()
		q.Set("page", strconv.Itoa(number))
		links = append(links, "<"+h.base.String()+x.r.URL.EscapedPath()+"?"+q.Encode()+`>; rel="`+rel+`"`)
	}
	if p.number > 1 {
		add("prev", min(p.number-1, last))
	}
	if p.number < last {
		add("next", p.number+1)
		add("last", last)
	}
	if p.number > 1 {
		add("first", 1)
	}
	if len(links) > 0 {
		x.w.Header().Set("Link", strings.Join(links, ", "))
	}
}
