package mcp

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"unicode/utf8"
)

// RequestError is a request that is refused as a whole, with a JSON-RPC error.
type RequestError struct {
	// Status is the HTTP status.
	Status int
	// Code is the JSON-RPC error code.
	Code int
	// Message is one sentence for the client's developer.
	Message string
	// ID is the request's id; nil when it is unknown.
	ID json.RawMessage
}

// Error gives the sentence.
func (e *RequestError) Error() string { return e.Message }

// WriteError answers with err, which should be a *RequestError; any other
// error is answered as an internal one without its text.
func WriteError(w http.ResponseWriter, err error) {
	var refused *RequestError
	if !errors.As(err, &refused) {
		refused = &RequestError{Status: http.StatusInternalServerError, Code: codeInternal, Message: "internal error"}
	}
	id := refused.ID
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	b := takeBuffer()
	defer b.release()
	b.data = append(b.data, `{"jsonrpc":"2.0","id":`...)
	b.data = append(b.data, id...)
	b.data = append(b.data, `,"error":{"code":`...)
	b.data = strconv.AppendInt(b.data, int64(refused.Code), 10)
	b.data = append(b.data, `,"message":`...)
	b.data = appendString(b.data, refused.Message)
	b.data = append(b.data, "}}\n"...)
	_ = write(w, refused.Status, contentJSON, b.data) // the client is gone; nobody is left to tell
}

// WriteAccepted answers a notification.
func WriteAccepted(w http.ResponseWriter) {
	setHeaders(w.Header(), "")
	w.WriteHeader(http.StatusAccepted)
}

// WriteResult answers q with a result rendered before: the same status,
// headers and body as the server itself. The error is one of writing to the
// client.
func WriteResult(w http.ResponseWriter, q Request, result []byte) error {
	b := takeBuffer()
	defer b.release()
	b.data = append(b.data, `{"jsonrpc":"2.0","id":`...)
	b.data = append(b.data, q.ID...)
	b.data = append(b.data, `,"result":`...)
	b.data = append(b.data, result...)
	b.data = append(b.data, "}\n"...)
	return write(w, http.StatusOK, contentJSON, b.data)
}

const contentJSON = "application/json"

// setHeaders sets what every answer carries: never stored on the way, since it
// belongs to one caller, and never held back by a proxy.
func setHeaders(h http.Header, contentType string) {
	if contentType != "" {
		h.Set("Content-Type", contentType)
	}
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	h.Set("X-Content-Type-Options", "nosniff")
}

func write(w http.ResponseWriter, status int, contentType string, body []byte) error {
	setHeaders(w.Header(), contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, err := w.Write(body)
	return err
}

// buffer is a reused byte buffer; answers are put together in one and sent
// with one write.
type buffer struct{ data []byte }

// keptBuffer is the largest buffer in bytes that is kept for reuse.
const keptBuffer = 1 << 20

// buffers is a lookup of free buffers, shared because requests are short.
var buffers = sync.Pool{New: func() any { return new(buffer) }}

func takeBuffer() *buffer {
	b := buffers.Get().(*buffer)
	b.data = b.data[:0]
	return b
}

func (b *buffer) release() {
	if cap(b.data) <= keptBuffer {
		buffers.Put(b)
	}
}

const hexDigits = "0123456789abcdef"

// appendString appends s as a JSON string without HTML escaping. Bytes that
// are no UTF-8 become U+FFFD.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(append(dst, s[from:i]...), "\uFFFD"...)
				from = i + 1
			}
			i += n
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = appendEscape(append(dst, s[from:i]...), c)
		i++
		from = i
	}
	return append(append(dst, s[from:]...), '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xF])
}
