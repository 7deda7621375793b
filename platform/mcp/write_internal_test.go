package mcp

import (
	"encoding/json"
	"strings"
	"testing"
)

func FuzzAppendStringIsJSON(f *testing.F) {
	f.Add("a\"b\\c\n\r\t\x00\x1f\x7f")
	f.Add("é\u2028日本\U0001F600<>&")
	f.Add("bad\xff\xc3")
	f.Fuzz(func(t *testing.T, s string) {
		var back string
		if err := json.Unmarshal(appendString(nil, s), &back); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		if want := strings.ToValidUTF8(s, "\uFFFD"); len(strings.ReplaceAll(s, "\xff", "")) == len(s) && back != want && strings.ToValidUTF8(s, "") == s {
			t.Errorf("%q came back as %q", s, back)
		}
	})
}

// FuzzScannerIsNoLaxer checks that every text the scanner takes is taken by
// the library's decoder too, and the other way round except for its limits.
func FuzzScannerIsNoLaxer(f *testing.F) {
	for _, seed := range []string{`{"a":[1,-0.5e+3,"\u00e9",true,null,{}]}`, `[]`, `01`, `1.`, `"\x"`, `{"a":1,}`, `[1,]`, `1e999`, `-`, "\"\t\""} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := scanner{data: data}
		_, err := s.value()
		s.space()
		ok := err == nil && s.pos == len(data)
		valid := json.Valid(data)
		if ok && !valid {
			t.Errorf("%q: taken, but is not JSON", data)
		}
		if !ok && valid && err != errDepth && err != errNumber {
			t.Errorf("%q: refused with %v, but is JSON", data, err)
		}
		var v any
		if ok && json.Unmarshal(data, &v) != nil {
			t.Errorf("%q: taken, but does not decode", data)
		}
	})
}
