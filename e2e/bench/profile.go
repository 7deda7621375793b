package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// profileSeconds is how long a profile of calls is.
const profileSeconds = 3

// profile runs fn again and again for some seconds while the instance is
// profiled, when profiles were asked for.
func (b *bench) profile(a *apart, name string, fn func() error) error {
	if b.profiles == "" {
		return nil
	}
	wait := b.watch(a, "instance", name, profileSeconds)
	for until := time.Now().Add(profileSeconds * time.Second); time.Now().Before(until); {
		if err := fn(); err != nil {
			return err
		}
	}
	return wait()
}

// watch profiles a role for some seconds while something else goes on, when
// profiles were asked for.
func (b *bench) watch(a *apart, role, name string, seconds int) (wait func() error) {
	if b.profiles == "" {
		return func() error { return nil }
	}
	done := make(chan error, 1)
	url := fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", a.admin[role], seconds)
	go func() { done <- fetchProfile(url, filepath.Join(b.profiles, name+".pprof")) }()
	return func() error { return <-done }
}

func fetchProfile(url, file string) error {
	resp, err := http.Get(url)
	for retry := 0; err != nil && retry < 100; retry++ { // the process has only just been started
		time.Sleep(10 * time.Millisecond)
		resp, err = http.Get(url)
	}
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
