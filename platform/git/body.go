package git

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
)

var (
	errBodyTooLarge = fmt.Errorf("the body is %w", ErrTooLarge)
	errBodyForm     = errors.New("the body cannot be read")
)

// openBody gives a request's body, inflated. Both what comes in and what it
// becomes are capped: a long chain of empty gzip members inflates to nothing.
func openBody(w http.ResponseWriter, r *http.Request, limit int64) (io.Reader, error) {
	if r.ContentLength > limit {
		return nil, errBodyTooLarge
	}
	raw := http.MaxBytesReader(w, r.Body, limit)
	switch r.Header.Get("Content-Encoding") {
	case "", "identity":
		return raw, nil
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(raw)
		if err != nil {
			return nil, errors.Join(errBodyForm, err)
		}
		return &bodyLimit{from: z, left: limit}, nil
	}
	return nil, fmt.Errorf("%w: unknown content encoding", errBodyForm)
}

// bodyLimit fails once more than a number of bytes were read.
type bodyLimit struct {
	from io.Reader
	left int64
}

func (b *bodyLimit) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errBodyTooLarge
	}
	return n, err
}

// copyBody feeds git. Only an error of the body counts; when git stops
// reading, its own answer says why.
func copyBody(in io.Writer, body io.Reader) error {
	buf := make([]byte, 64<<10)
	for {
		n, err := body.Read(buf)
		if _, failed := in.Write(buf[:n]); failed != nil {
			return failed
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return sourceError{errors.Join(errBodyForm, err)}
		}
	}
}

// bodyStatus is the HTTP status that an error of a request stands for.
func bodyStatus(err error) int {
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large), errors.Is(err, errBodyTooLarge):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, errBodyForm):
		return http.StatusBadRequest
	case errors.Is(err, ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		return http.StatusGatewayTimeout
	}
	return http.StatusInternalServerError
}
