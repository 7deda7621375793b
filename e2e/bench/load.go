package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"vault/e2e/harness"
)

// connections is how many callers there are at once, and turn how long one
// side has its turn.
const (
	connections = 8
	turn        = time.Second
)

// perSecond calls fn from several goroutines for one turn and gives the rate.
func perSecond(fn func() error) (float64, error) {
	var n atomic.Int64
	var once sync.Once
	var failed error
	ctx, cancel := context.WithTimeout(context.Background(), turn)
	defer cancel()
	start := time.Now()
	var wg sync.WaitGroup
	for range connections {
		wg.Go(func() {
			for ctx.Err() == nil {
				if err := fn(); err != nil {
					once.Do(func() { failed = err })
					return
				}
				n.Add(1)
			}
		})
	}
	wg.Wait()
	return float64(n.Load()) / time.Since(start).Seconds(), failed
}

// poster posts one body again and again over kept connections.
func poster(url, token, body string) func() error {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}}
	return func() error {
		req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader([]byte(body)))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json")
		req.Header.Set("MCP-Protocol-Version", harness.VersionLegacy)
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer func() { _ = resp.Body.Close() }()
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			return err
		}
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("status %s", resp.Status)
		}
		return nil
	}
}

// serveBare answers every request with a file's bytes, and prints where.
func serveBare(file string) {
	data, err := os.ReadFile(file)
	if err != nil {
		panic(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println("http://" + l.Addr().String())
	panic(http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(data)
	})))
}

// startBare runs serveBare in a process of its own.
func startBare(file string) (url string, stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	cmd := exec.Command(self, "-serve-bare", file)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	buf := make([]byte, 100)
	n, err := out.Read(buf)
	stop = func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
	return string(bytes.TrimSpace(buf[:n])), stop, err
}
