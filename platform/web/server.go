// Package web serves HTTP: a server as a part, middleware, and the admin
// listener that every role has.
package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"time"
)

// ServerConfig describes one listener.
type ServerConfig struct {
	// Name is used in errors and log lines.
	Name string
	// Listen is HOST:PORT. An empty host means 127.0.0.1; port 0 takes a free
	// one.
	Listen string
	// Handler answers every request.
	Handler http.Handler
	Log     *slog.Logger
}

// Server is a listener with its handler. It takes connections from Listen on
// and answers them from Start on.
type Server struct {
	config   ServerConfig
	listener net.Listener
	server   *http.Server
	failed   chan error
}

// Time limits of every server. A call may wait up to 30 s for something that
// wakes and work 10 s; the write limit leaves room for both.
const (
	headerTimeout = 10 * time.Second
	readTimeout   = 60 * time.Second
	writeTimeout  = 120 * time.Second
	idleTimeout   = 120 * time.Second
	maxHeader     = 64 << 10
)

// Listen opens the port at once, so that its number is known before anything
// else is built. A port in use is an error that names the process holding it,
// where the system tells.
func Listen(config ServerConfig) (*Server, error) {
	address := Address(config.Listen)
	listener, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s cannot listen on %s: the port is in use%s; stop that process or choose another address",
			config.Name, address, holder(address))
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot listen on %s: %w", config.Name, address, err)
	}
	s := &Server{config: config, listener: listener, failed: make(chan error, 1)}
	s.server = &http.Server{
		Handler:           config.Handler,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(config.Log.Handler(), slog.LevelDebug),
	}
	return s, nil
}

// Address completes a listen address: an empty host means the loopback.
func Address(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil || host != "" {
		return listen
	}
	return net.JoinHostPort("127.0.0.1", port)
}

// Loopback reports whether an address can be reached from this machine only.
func Loopback(listen string) bool {
	host, _, err := net.SplitHostPort(Address(listen))
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Addr is the address listened on, with the real port.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Handle sets the handler; it must come before Start.
func (s *Server) Handle(h http.Handler) { s.server.Handler = h }

// Start begins to answer.
func (s *Server) Start(context.Context) error {
	go func() {
		if err := s.server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- err
		}
	}()
	return nil
}

// Run reports a listener that broke.
func (s *Server) Run(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-s.failed:
		return fmt.Errorf("serve %s: %w", s.config.Name, err)
	}
}

// Stop takes no new connections, lets running requests end until ctx does,
// and then cuts them off.
func (s *Server) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	if err := s.server.Shutdown(ctx); err != nil {
		return s.server.Close()
	}
	return nil
}

// stopTimeout bounds how long running requests may hold up a stop.
const stopTimeout = 5 * time.Second

// Close frees the port of a server that was never started.
func (s *Server) Close() { _ = s.listener.Close() }
