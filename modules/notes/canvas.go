package notes

import (
	"encoding/json"
	"strings"
)

// ScanCanvas gives the links of a .canvas file: the file of each file node,
// and the links in the Markdown of each text node. Spans are those of the JSON
// text. A file that is no valid JSON gives the links before its first fault.
func ScanCanvas(text string) []Link {
	base := 0
	if strings.HasPrefix(text, bom) {
		base = len(bom)
	}
	r := &canvasReader{
		collector: collector{text: text},
		decoder:   json.NewDecoder(strings.NewReader(text[base:])),
		base:      base,
	}
	r.document()
	return r.finish()
}

// canvasReader walks the JSON of a canvas token by token.
type canvasReader struct {
	collector
	decoder *json.Decoder
	base    int
}

// document reads the outer object. Every reader here reports whether the text
// can be read on.
func (r *canvasReader) document() bool {
	return r.object(func(key string) bool {
		if key == "nodes" {
			return r.nodes()
		}
		return r.skip()
	})
}

func (r *canvasReader) nodes() bool {
	token, err := r.decoder.Token()
	if err != nil || token != json.Delim('[') {
		return err == nil && r.skipRest(token)
	}
	for r.decoder.More() {
		if !r.object(r.nodeEntry) {
			return false
		}
	}
	_, err = r.decoder.Token()
	return err == nil
}

func (r *canvasReader) nodeEntry(key string) bool {
	if key != "file" && key != "text" {
		return r.skip()
	}
	before := int(r.decoder.InputOffset())
	token, err := r.decoder.Token()
	if err != nil {
		return false
	}
	if _, ok := token.(string); !ok {
		return r.skipRest(token)
	}
	end := r.base + int(r.decoder.InputOffset()) - 1
	start := r.base + before + strings.IndexByte(r.text[r.base+before:], '"') + 1
	v := doubleQuoted(r.text, start, end)
	if key == "text" {
		r.markdown(v)
	} else if v.text != "" {
		r.file(v)
	}
	return true
}

func (r *canvasReader) file(v view) {
	end := len(v.text)
	r.links = append(r.links, v.toSource(Link{
		Form: FormCanvas, Place: PlaceCanvas, Quote: '"', Embed: true,
		End: end, DestEnd: end, PathEnd: end,
		Dest: v.text, Target: v.text,
	}))
}

func (r *canvasReader) markdown(v view) {
	for _, link := range Parse(v.text).Links() {
		link.Quote = '"'
		if link.Place != PlaceComment {
			link.Place = PlaceCanvas
		}
		r.links = append(r.links, v.toSource(link))
	}
}

// object reads an object, or skips whatever else stands there.
func (r *canvasReader) object(entry func(key string) bool) bool {
	token, err := r.decoder.Token()
	if err != nil || token != json.Delim('{') {
		return err == nil && r.skipRest(token)
	}
	for r.decoder.More() {
		key, err := r.decoder.Token()
		name, ok := key.(string)
		if err != nil || !ok || !entry(name) {
			return false
		}
	}
	_, err = r.decoder.Token()
	return err == nil
}

func (r *canvasReader) skip() bool {
	token, err := r.decoder.Token()
	return err == nil && r.skipRest(token)
}

// skipRest skips what follows a value's first token.
func (r *canvasReader) skipRest(token json.Token) bool {
	depth := 0
	for {
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth <= 0 {
			return true
		}
		var err error
		if token, err = r.decoder.Token(); err != nil {
			return false
		}
	}
}
