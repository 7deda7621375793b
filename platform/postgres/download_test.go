package postgres

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// archive is a download as the repository serves it: a zip with a tar.xz.
func archive(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var plain, packed bytes.Buffer
	w := tar.NewWriter(&plain)
	for name, text := range files {
		header := &tar.Header{Name: name, Mode: 0o755, Size: int64(len(text)), Typeflag: tar.TypeReg}
		if err := w.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(&packed)
	f, err := z.Create("postgres.txz")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(storeXZ(plain.Bytes())); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// storeXZ packs data in the xz format without compressing it.
func storeXZ(data []byte) []byte {
	sum := func(b []byte) []byte { return binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(b)) }
	pad := func(b []byte) []byte { return append(b, make([]byte, (4-len(b)%4)%4)...) }
	flags := []byte{0, 1} // a CRC32 for each block
	out := append([]byte("\xfd7zXZ\x00"), flags...)
	out = append(out, sum(flags)...)

	header := []byte{2, 0, 0x21, 1, 8, 0, 0, 0} // 12 bytes with its sum, LZMA2 alone
	block := append(header, sum(header)...)
	control := byte(1) // an uncompressed chunk that resets the dictionary
	for rest := data; len(rest) > 0; control = 2 {
		n := min(len(rest), 1<<16)
		block = append(block, control, byte((n-1)>>8), byte(n-1))
		block = append(block, rest[:n]...)
		rest = rest[n:]
	}
	block = append(block, 0)
	size := len(block) + 4
	out = append(out, pad(block)...)
	out = append(out, sum(data)...)

	index := binary.AppendUvarint([]byte{0, 1}, uint64(size))
	index = pad(binary.AppendUvarint(index, uint64(len(data))))
	index = append(index, sum(index)...)
	tail := append(binary.LittleEndian.AppendUint32(nil, uint32(len(index)/4-1)), flags...)
	out = append(append(out, index...), sum(tail)...)
	return append(append(out, tail...), "YZ"...)
}

// fakePostgres is an installation whose pg_ctl notes that it was run.
func fakePostgres(marker string) map[string]string {
	return map[string]string{
		"bin/postgres": "#!/bin/sh\necho 'postgres (PostgreSQL) 17.5'\n",
		"bin/initdb":   "#!/bin/sh\necho initdb >>" + marker + "\n",
		"bin/pg_ctl":   "#!/bin/sh\necho pg_ctl $1 >>" + marker + "\nexit 1\n",
	}
}

func TestDownload(t *testing.T) {
	t.Parallel()
	marker := filepath.Join(t.TempDir(), "ran")
	body := archive(t, fakePostgres(marker))
	sum := sha256.Sum256(body)
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		switch {
		case !strings.HasPrefix(r.URL.Path, "/mirror/io/zonky/test/postgres/embedded-postgres-binaries-"):
			http.NotFound(w, r)
		case strings.HasSuffix(r.URL.Path, ".jar"):
			_, _ = w.Write(body)
		case strings.HasSuffix(r.URL.Path, ".jar.sha256"):
			_, _ = io.WriteString(w, hex.EncodeToString(sum[:]))
		}
	}))
	t.Cleanup(server.Close)
	d := Download{Allowed: true, Source: server.URL + "/mirror/", Folder: t.TempDir()}
	log := slog.New(slog.DiscardHandler)
	b, err := d.binaries(t.Context(), 0, account{}, log)
	if err != nil {
		t.Fatal(err)
	}
	if b.major != 17 || !strings.HasPrefix(b.dir, d.Folder) {
		t.Errorf("got %+v", b)
	}
	if n := requests.Load(); n != 2 {
		t.Errorf("%d requests, want the archive and its sum", n)
	}
	if _, err := d.binaries(t.Context(), 17, account{}, log); err != nil || requests.Load() != 2 {
		t.Errorf("the second use asks again: %d requests, %v", requests.Load(), err)
	}
	if left, err := filepath.Glob(filepath.Join(d.Folder, "download-*")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	if ran, err := os.ReadFile(marker); err == nil && strings.Contains(string(ran), "initdb") {
		t.Errorf("the download made a cluster: %s", ran)
	}
	if _, err := d.binaries(t.Context(), 15, account{}, log); err == nil || !strings.Contains(err.Error(), "only version 17") {
		t.Errorf("a cluster of another version: %v", err)
	}
}

func TestDownloadFailures(t *testing.T) {
	t.Parallel()
	good := archive(t, fakePostgres(filepath.Join(t.TempDir(), "ran")))
	for name, tc := range map[string]struct {
		body, sum string
		status    int
		want      string
	}{
		"not there":      {status: http.StatusNotFound, want: "no version found"},
		"wrong sum":      {body: string(good), sum: strings.Repeat("0", 64), status: http.StatusOK, want: "checksums do not match"},
		"no archive":     {body: "hello", status: http.StatusOK, want: "zip"},
		"cut short":      {body: string(good[:len(good)/2]), status: http.StatusOK, want: "zip"},
		"something else": {body: string(archive(t, map[string]string{"readme": "hello"})), status: http.StatusOK, want: "unpacked/bin"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, ".sha256") {
					if tc.sum == "" {
						http.NotFound(w, r)
					}
					_, _ = io.WriteString(w, tc.sum)
					return
				}
				w.WriteHeader(tc.status)
				_, _ = io.WriteString(w, tc.body)
			}))
			t.Cleanup(server.Close)
			d := Download{Allowed: true, Source: server.URL, Folder: t.TempDir()}
			_, err := d.binaries(t.Context(), 0, account{}, slog.New(slog.DiscardHandler))
			if err == nil {
				t.Fatal("it passes")
			}
			for _, want := range []string{tc.want, server.URL} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error does not name %q: %v", want, err)
				}
			}
			if left, err := os.ReadDir(d.Folder); err != nil || len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// Where nothing is installed, the server's error names every way out.
func TestNoPostgresAnywhere(t *testing.T) {
	t.Parallel()
	h := home{root: t.TempDir(), account: account{}}
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	c := ServerConfig{
		Download:  Download{Allowed: true, Source: server.URL, Folder: t.TempDir()},
		Log:       slog.New(slog.DiscardHandler),
		installed: func() (string, []string) { return "", nil },
	}
	_, err := h.ready(t.Context(), "password", c)
	if !errors.Is(err, ErrNoBinaries) {
		t.Fatalf("error = %v", err)
	}
	for _, want := range []string{server.URL, "install Postgres", "address of a running one"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not name %q: %v", want, err)
		}
	}
}
