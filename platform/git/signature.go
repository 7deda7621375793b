package git

import (
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
)

// latest is the end of the year 9999, beyond which a time has no ISO 8601 form.
const latest = 253402300799

// parseSignature reads "Name <email> seconds zone". Like git it takes the
// first address and looks for the time behind the last one, since old imports
// hold signatures such as "A <a@b> <c> 1 +0000".
func parseSignature(text string) Signature {
	name, rest, found := strings.Cut(text, "<")
	if !found {
		return Signature{Name: strings.TrimSpace(text), When: time.Unix(0, 0).UTC()}
	}
	email, _, _ := strings.Cut(rest, ">")
	_, when, _ := cutLast(rest, ">")
	return Signature{Name: strings.TrimSpace(name), Email: strings.TrimSpace(email), When: parseWhen(when)}
}

func cutLast(text, sep string) (before, after string, found bool) {
	i := strings.LastIndex(text, sep)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(sep):], true
}

func parseWhen(text string) time.Time {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return time.Unix(0, 0).UTC()
	}
	seconds, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil || seconds < 0 || seconds > latest {
		return time.Unix(0, 0).UTC()
	}
	zone := time.UTC
	if len(fields) > 1 {
		zone = parseZone(fields[1])
	}
	return time.Unix(seconds, 0).In(zone)
}

// parseZone reads "+0530". A zone of a day or more, as some old imports have,
// is none.
func parseZone(text string) *time.Location {
	n, err := strconv.Atoi(text)
	minutes := n/100*60 + n%100
	if err != nil || n == 0 || minutes <= -24*60 || minutes >= 24*60 {
		return time.UTC
	}
	return time.FixedZone("", minutes*60)
}

// decoder gives the conversion of a commit's texts to UTF-8. An encoding that
// nobody knows, or that the text is not in, leaves the text as it is; what is
// then no UTF-8 becomes the replacement character.
func decoder(name string) func(string) string {
	enc := lookupEncoding(name)
	return func(text string) string {
		if enc != nil {
			if decoded, err := enc.NewDecoder().String(text); err == nil {
				text = decoded
			}
		}
		return strings.ToValidUTF8(text, "\uFFFD")
	}
}

func lookupEncoding(name string) encoding.Encoding {
	if name == "" || len(name) > 64 || strings.EqualFold(name, "utf-8") || strings.EqualFold(name, "utf8") {
		return nil
	}
	if enc, err := ianaindex.IANA.Encoding(name); err == nil && enc != nil {
		return enc
	}
	enc, err := htmlindex.Get(name)
	if err != nil {
		return nil
	}
	return enc
}
