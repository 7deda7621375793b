package github

import (
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Config says which GitHub to talk to and how. The zero value of every field
// but Endpoints works.
type Config struct {
	Endpoints
	// UserAgent names us; GitHub refuses requests without one. Default
	// "vault".
	UserAgent string
	// Timeout bounds one call with all its attempts. GitHub itself gives up
	// after 10 seconds. Default 30 s.
	Timeout time.Duration
	// Transport makes the connections. Clients are made often, so it should
	// be one for the process, for example from NewTransport. Default
	// http.DefaultTransport.
	Transport http.RoundTripper
	// Log gets one debug line per call, without names and credentials. Nil
	// drops them.
	Log *slog.Logger
	// Clock is the time source. Default time.Now.
	Clock func() time.Time
}

// NewTransport makes a connection pool fit for many people's requests to one
// host. The answer to a request has to begin within 20 seconds.
func NewTransport() *http.Transport {
	dialer := &net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           dialer.DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          64,
		MaxIdleConnsPerHost:   32,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   5 * time.Second,
		ResponseHeaderTimeout: 20 * time.Second,
		ExpectContinueTimeout: time.Second,
	}
}

// withDefaults fills in what was left out.
func (c Config) withDefaults() Config {
	if c.UserAgent == "" {
		c.UserAgent = "vault"
	}
	if c.Timeout <= 0 {
		c.Timeout = 30 * time.Second
	}
	if c.Transport == nil {
		c.Transport = http.DefaultTransport
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	return c
}
