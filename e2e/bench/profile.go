package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// profile runs fn again and again for some seconds while the instance is
// profiled, when profiles were asked for.
func (b *bench) profile(a *apart, name string, fn func() error) error {
	if b.profiles == "" {
		return nil
	}
	const seconds = 3
	done := make(chan error, 1)
	go func() {
		done <- fetchProfile(fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", a.admin, seconds), filepath.Join(b.profiles, name+".pprof"))
	}()
	for until := time.Now().Add(seconds * time.Second); time.Now().Before(until); {
		if err := fn(); err != nil {
			return err
		}
	}
	return <-done
}

func fetchProfile(url, file string) error {
	resp, err := http.Get(url)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("profile: %s: %s", resp.Status, data)
	}
	return os.WriteFile(file, data, 0o644)
}
