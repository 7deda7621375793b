package dev_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vault/app/dev"
)

func TestLockNamesItsHolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	lock, err := dev.LockFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(dir); info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v", info.Mode())
	}
	_, err = dev.LockFolder(dir)
	if want := fmt.Sprintf("pid %d", os.Getpid()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("second lock: %v", err)
	}
	lock.Release()
	again, err := dev.LockFolder(dir)
	if err != nil {
		t.Fatalf("after release: %v", err)
	}
	again.Release()
}

func TestFolders(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"/a/kb.git": "kb", "/a/my notes": "my-notes", "/a/Müsli": "M-sli", "/a/b.c_d-e": "b.c_d-e", "/a/.dot": ".dot",
	} {
		if got := dev.RepositoryName(in); got != want {
			t.Errorf("RepositoryName(%q) = %q, want %q", in, got, want)
		}
	}
	if _, err := dev.Folders([]string{"/a/kb.git", "/b/KB"}); err == nil || !strings.Contains(err.Error(), "both be") {
		t.Errorf("equal names: %v", err)
	}
	if _, err := dev.Folders([]string{"/"}); err == nil {
		t.Error("the root was taken")
	}
}

func TestWriteReady(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ready.json")
	if err := dev.WriteReady(path, dev.Ready{Address: "http://127.0.0.1:1/acme", Pid: 7}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got dev.Ready
	if err := json.Unmarshal(data, &got); err != nil || got.Pid != 7 {
		t.Errorf("%s: %v", data, err)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	if rest, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".ready-*")); len(rest) != 0 {
		t.Errorf("left over: %v", rest)
	}
}
