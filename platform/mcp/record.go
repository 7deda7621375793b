package mcp

import (
	"bytes"
	"errors"
	"net/http"
	"strings"
)

// recorder takes the library's answer. It cannot stream, so that the library
// never turns an answer into an event stream.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func newRecorder() *recorder { return &recorder{header: make(http.Header, 4)} }

// Header gives the headers that the library sets.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader keeps the status.
func (r *recorder) WriteHeader(status int) { r.status = status }

// Write keeps the body.
func (r *recorder) Write(p []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	return r.body.Write(p)
}

// Flush does nothing.
func (r *recorder) Flush() {}

// CanStream is false.
func (r *recorder) CanStream() bool { return false }

var errNoAnswer = errors.New("the protocol library gave no answer")

// libraryPrefix is how the library starts every answer to libraryBody.
const libraryPrefix = `{"jsonrpc":"2.0","id":` + libraryID + `,`

// finish sends the recorded answer with the true id and the tool's answer in
// their places. An error means that nothing was sent.
func (r *recorder) finish(w http.ResponseWriter, x *exchange) error {
	body := r.body.Bytes()
	switch {
	case r.status == 0:
		return nil // the client is gone
	case r.status == http.StatusAccepted:
		WriteAccepted(w)
		return nil
	case len(body) == 0:
		return errNoAnswer
	}
	out := takeBuffer()
	defer out.release()
	if rest, ok := bytes.CutPrefix(body, []byte(libraryPrefix)); ok {
		out.data = append(out.data, `{"jsonrpc":"2.0","id":`...)
		out.data = append(out.data, x.request.ID...)
		out.data = append(out.data, ',')
		body = rest
	}
	if x.answer != nil {
		body = x.fill(out, body)
	}
	out.data = append(out.data, body...)
	_ = write(w, r.status, r.header.Get("Content-Type"), out.data) // the client is gone; nobody is left to tell
	return nil
}

// fill copies body up to and with the tool's answer in place of the marks and
// gives what follows.
func (x *exchange) fill(out *buffer, body []byte) []byte {
	text := x.answer.Text
	if !x.answer.IsError {
		text = string(x.answer.Structured)
	}
	if before, after, ok := bytes.Cut(body, []byte(`"`+x.textMark()+`"`)); ok {
		out.data = appendString(append(out.data, before...), text)
		body = after
	}
	if before, after, ok := bytes.Cut(body, []byte(`"`+x.dataMark()+`"`)); ok {
		out.data = append(append(out.data, before...), x.answer.Structured...)
		body = after
	}
	return body
}

var errAnswer = errors.New("the tool gave no answer that can be sent")

// check refuses an answer that would break the message it is put into.
func (a *Answer) check() error {
	if a == nil {
		return errAnswer
	}
	data := a.Structured
	if !a.IsError && (len(data) < 2 || data[0] != '{' || data[len(data)-1] != '}') {
		return errAnswer
	}
	return nil
}

// toolLabel names a tool in metrics. Tools of one repository carry the
// repository's name, so they count together.
func toolLabel(name string) string {
	if strings.Contains(name, "__") {
		return "special"
	}
	return name
}
