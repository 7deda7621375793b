package git

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Blob is one answer of Blobs.
type Blob struct {
	OID OID
	// Data is the content; it is valid until the callback returns. It is nil
	// when Missing or TooLarge.
	Data []byte
	// Size is the number of bytes of the blob, -1 when Missing.
	Size int64
	// Missing says that the repository has no blob of that id: a partial clone
	// left it out, or the id is that of something else.
	Missing bool
	// TooLarge says that the blob is larger than asked for.
	TooLarge bool
}

// Blobs reads many blobs, in the order asked for, each once. Those over max
// bytes come without content. An error of fn ends the reading and is
// returned, wrapped.
func (repo *Repo) Blobs(ctx context.Context, oids []OID, max int64, fn func(Blob) error) error {
	if err := check(oids...); err != nil || len(oids) == 0 {
		return err
	}
	err := repo.walk(ctx, call{
		args: []string{"cat-file", "--batch", "--buffer"},
		feed: func(in io.Writer) error { return writeOIDs(in, oids) },
	}, func(out io.Reader) error { return readBlobs(out, oids, max, fn) })
	if err != nil {
		return fmt.Errorf("read %d blobs: %w", len(oids), err)
	}
	return nil
}

func writeOIDs(in io.Writer, oids []OID) error {
	w := bufio.NewWriterSize(in, 64<<10)
	for _, oid := range oids {
		_, _ = w.WriteString(string(oid))
		if err := w.WriteByte('\n'); err != nil {
			return err
		}
	}
	return w.Flush()
}

func readBlobs(out io.Reader, oids []OID, max int64, fn func(Blob) error) error {
	r := bufio.NewReaderSize(out, 256<<10)
	var data []byte
	for _, oid := range oids {
		h, err := readObjectHeader(r)
		if err != nil {
			return err
		}
		blob := Blob{OID: oid, Size: h.size, Missing: h.kind != "blob", TooLarge: h.size > max}
		switch {
		case h.kind == "":
		case blob.Missing || blob.TooLarge:
			err = skip(r, h.size+1)
		default:
			data, err = readContent(r, data, h.size)
			blob.Data = data
		}
		if blob.Missing {
			blob.Size, blob.TooLarge = -1, false
		}
		if err != nil {
			return err
		}
		if err := fn(blob); err != nil {
			return err
		}
	}
	return nil
}

// objectHeader is the line before an object; kind is "" for a missing one.
type objectHeader struct {
	kind string
	size int64
}

// readObjectHeader reads "<oid> SP <type> SP <size>" or "<oid> missing".
func readObjectHeader(r *bufio.Reader) (objectHeader, error) {
	text, err := r.ReadSlice('\n')
	if err != nil {
		return objectHeader{}, errShort
	}
	fields := strings.Fields(string(text))
	if len(fields) == 2 && fields[1] == "missing" {
		return objectHeader{size: -1}, nil
	}
	if len(fields) != 3 {
		return objectHeader{}, fmt.Errorf("unexpected answer of git cat-file: %.200q", text)
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil || size < 0 {
		return objectHeader{}, fmt.Errorf("unexpected answer of git cat-file: %.200q", text)
	}
	return objectHeader{kind: fields[1], size: size}, nil
}

// readContent reads a content and the newline after it into buf, grown where
// it is too small.
func readContent(r *bufio.Reader, buf []byte, size int64) ([]byte, error) {
	if int64(cap(buf)) < size {
		buf = make([]byte, size+size/4)
	}
	buf = buf[:size]
	if _, err := io.ReadFull(r, buf); err != nil {
		return nil, errShort
	}
	return buf, skip(r, 1)
}

func skip(r *bufio.Reader, n int64) error {
	if _, err := io.CopyN(io.Discard, r, n); err != nil {
		return errShort
	}
	return nil
}
