package git

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// corpus makes a packed repository of notes with a total of about 40 MB.
func corpus(b *testing.B) (repo *Repo, oids []OID, size int64) {
	b.Helper()
	p := workTree(b)
	rnd := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("the quick brown fox jumps over lazy dogs while notes link to [[other]] places and # headings")
	for i := range 4000 {
		var text strings.Builder
		for range 300 + rnd.IntN(3000) {
			fmt.Fprintf(&text, "%s%d ", words[rnd.IntN(len(words))], rnd.IntN(1000))
		}
		p.write(fmt.Sprintf("%03d/%d.md", i%100, i), text.String())
	}
	c := p.commit("all")
	p.run("repack", "-a", "-d", "-q")
	repo = open(b, newRunner(b), p.gitDir())
	err := repo.Tree(b.Context(), c, func(e TreeEntry) error {
		oids, size = append(oids, e.OID), size+e.Size
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return repo, oids, size
}

// BenchmarkBlobs compares Blobs with reading the same git's output blindly.
func BenchmarkBlobs(b *testing.B) {
	repo, oids, size := corpus(b)
	b.Run("Blobs", func(b *testing.B) {
		b.SetBytes(size)
		for range b.N {
			var got int64
			err := repo.Blobs(b.Context(), oids, 1<<20, func(blob Blob) error {
				got += int64(len(blob.Data))
				return nil
			})
			if err != nil || got != size {
				b.Fatalf("%d of %d bytes, %v", got, size, err)
			}
		}
	})
	var list bytes.Buffer
	if err := writeOIDs(&list, oids); err != nil {
		b.Fatal(err)
	}
	b.Run("plain", func(b *testing.B) {
		b.SetBytes(size)
		for range b.N {
			err := repo.run.run(b.Context(), repo.in(call{
				args:  []string{"cat-file", "--batch", "--buffer"},
				limit: 1 << 40,
				feed:  func(in io.Writer) error { _, err := in.Write(list.Bytes()); return err },
				read:  func(out io.Reader) error { _, err := io.Copy(io.Discard, out); return err },
			}))
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("small calls", func(b *testing.B) {
		for i := range b.N {
			if _, err := repo.Blob(b.Context(), oids[i%len(oids)], 1<<20); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Head", func(b *testing.B) {
		for range b.N {
			if _, _, err := repo.Head(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
}
