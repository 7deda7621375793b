package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	socketPrefix = "vault-pg-"
	// socketLimit is the longest path of a socket: systems allow 103 to 107
	// bytes.
	socketLimit = 100
	// socketPort only names the socket while nothing listens on TCP.
	socketPort = 5432
	// startTimeout bounds a start, recovery after a crash included.
	startTimeout = 2 * time.Minute
	// startTries bounds starts that meet a port just taken or remains of a
	// server that is still ending.
	startTries = 100
)

// ServerConfig says what private server to run.
type ServerConfig struct {
	// Data is the folder whose server this is. It exists, and the caller holds
	// whatever lock keeps a second process from using it: a server found running
	// for it is taken for a left-over and stopped.
	Data string
	// TCP makes the server listen on a free port of 127.0.0.1 too, for tools
	// that know no unix sockets.
	TCP bool
	// Volatile trades safety for speed: a crash may lose the whole cluster.
	Volatile bool
	// Binaries is the folder with the programs initdb and postgres; "" looks for
	// them on PATH and in the usual folders.
	Binaries string
	// Download says what to do where no Postgres is installed.
	Download Download
	// Log gets what the server's start and stop come across.
	Log *slog.Logger

	// installed gives the PATH and the further folders to look in; nil is those
	// of this system.
	installed func() (path string, folders []string)
}

// Server is a running private Postgres. It ends with this process.
type Server struct {
	home     home
	password string
	sockets  string
	port     int
	tcp      bool
	process  *process
}

// StartServer starts the private Postgres of a data folder, making its cluster
// if there is none, and returns when it answers. The errors say what to do.
func StartServer(ctx context.Context, c ServerConfig) (*Server, error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	data, err := filepath.Abs(c.Data)
	if err != nil {
		return nil, fmt.Errorf("find the data folder: %w", err)
	}
	a, err := serverAccount()
	if err != nil {
		return nil, err
	}
	if base, err := sharedBase(); err == nil && a.switched {
		sweep(ctx, base, c.Log)
	}
	h, err := locateHome(data, a)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if a.switched {
		if err := h.claim(ctx, data, c.Log); err != nil {
			return nil, err
		}
	}
	return startIn(ctx, h, data, c)
}

func startIn(ctx context.Context, h home, data string, c ServerConfig) (*Server, error) {
	password, err := h.prepare(data)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(stopLeftover(ctx, h.path(clusterDir)), h.removeSockets()); err != nil {
		return nil, err
	}
	b, err := h.ready(ctx, password, c)
	if err != nil {
		return nil, err
	}
	s := &Server{home: h, password: password, port: socketPort, tcp: c.TCP}
	if err := s.makeSockets(os.TempDir()); err != nil {
		return nil, err
	}
	if err := s.launch(ctx, b, c); err != nil {
		return nil, errors.Join(err, h.removeSockets())
	}
	if err := s.verify(ctx, b); err != nil {
		return nil, errors.Join(err, s.Stop(context.WithoutCancel(ctx)))
	}
	return s, nil
}

// ready finds the programs that fit the cluster and makes the cluster if need
// be.
func (h home) ready(ctx context.Context, password string, c ServerConfig) (binaries, error) {
	major, err := clusterMajor(h.path(clusterDir))
	if err != nil {
		return binaries{}, err
	}
	b, err := chooseBinaries(ctx, major, h.account, c)
	if err != nil && major != 0 {
		return b, fmt.Errorf("the databases in %s were made by Postgres %d: %w; install Postgres %d, or delete that "+
			"folder: what was in it is built again from the repositories", h.root, major, err, major)
	}
	if errors.Is(err, ErrNoBinaries) {
		return b, fmt.Errorf("%w; install Postgres %d to %d (Debian: apt install postgresql; macOS: brew install "+
			"postgresql@%d), or give the address of a running one", err, oldestMajor, newestMajor, newestMajor-1)
	}
	if err != nil {
		return b, err
	}
	if major == 0 {
		c.Log.InfoContext(ctx, "making a private Postgres", "folder", h.root, "version", b.major)
		err = initCluster(ctx, h, b, password, c)
	}
	return b, err
}

// chooseBinaries gives the programs to run: those configured, else installed
// ones, else downloaded ones.
func chooseBinaries(ctx context.Context, major int, a account, c ServerConfig) (binaries, error) {
	if c.Binaries != "" {
		b, err := inspect(ctx, c.Binaries)
		if err == nil && major != 0 && b.major != major {
			err = fmt.Errorf("%s is Postgres %d", c.Binaries, b.major)
		}
		return b, err
	}
	path, folders := os.Getenv("PATH"), usualFolders()
	if c.installed != nil {
		path, folders = c.installed()
	}
	b, err := findBinaries(ctx, path, folders, major)
	if !errors.Is(err, ErrNoBinaries) {
		return b, err
	}
	downloaded, downloadErr := c.Download.binaries(ctx, major, a, c.Log)
	if downloadErr == nil {
		return downloaded, nil
	}
	return b, fmt.Errorf("%w, and %w", err, downloadErr)
}

// makeSockets makes the folder of the socket: short, since the length of a
// socket's path is limited, and closed to everyone else.
func (s *Server) makeSockets(base string) error {
	dir, err := os.MkdirTemp(base, socketPrefix) // mode 0700
	if err != nil {
		return fmt.Errorf("make a folder for the socket of the private Postgres: %w", err)
	}
	s.sockets = dir
	if err := writeFile(s.home.path(socketFile), dir); err != nil {
		return errors.Join(fmt.Errorf("note the socket folder: %w", err), os.Remove(dir))
	}
	path := filepath.Join(dir, ".s.PGSQL."+strconv.Itoa(65535))
	if len(path) > socketLimit {
		err = fmt.Errorf("the socket path %s has %d bytes, more than %d: set TMPDIR to a shorter folder, such as /tmp",
			path, len(path), socketLimit)
		return errors.Join(err, s.home.removeSockets())
	}
	if err := s.home.account.give(dir); err != nil {
		return errors.Join(fmt.Errorf("give the socket folder to user %s: %w", s.home.account.name, err),
			s.home.removeSockets())
	}
	return nil
}

// launch starts the server until it answers. A start that met something which
// passes by itself is tried again.
func (s *Server) launch(ctx context.Context, b binaries, c ServerConfig) error {
	for try := 1; ; try++ {
		if c.TCP {
			port, err := freePort(ctx)
			if err != nil {
				return fmt.Errorf("find a free port for the private Postgres: %w", err)
			}
			s.port = port
		}
		err := s.launchOnce(ctx, b, c)
		if err == nil || try == startTries || !passing(err) {
			return err
		}
		if waitErr := wait(ctx, 10*pollPause); waitErr != nil {
			return err
		}
	}
}

// passing reports failures of a start that pass by themselves.
func passing(err error) bool {
	for _, text := range []string{"Address already in use", "is still in use"} {
		if strings.Contains(err.Error(), text) {
			return true
		}
	}
	return false
}

func (s *Server) launchOnce(ctx context.Context, b binaries, c ServerConfig) error {
	p, err := startProcess(s.home, b.path("postgres"), s.arguments(c))
	if err != nil {
		return err
	}
	if err := s.awaitReady(ctx, p); err != nil {
		return errors.Join(err, p.stop(context.WithoutCancel(ctx)))
	}
	s.process = p
	return nil
}

func freePort(ctx context.Context) (int, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}

// arguments are the server's settings. They all stand on the command line, so
// that an old cluster runs with today's.
func (s *Server) arguments(c ServerConfig) []string {
	listen := ""
	if s.tcp {
		listen = "127.0.0.1"
	}
	settings := [][2]string{
		{"listen_addresses", listen},
		{"port", strconv.Itoa(s.port)},
		{"unix_socket_directories", s.sockets},
		{"unix_socket_permissions", "0700"},
		{"password_encryption", "scram-sha-256"},
		{"max_connections", "100"},
		{"shared_buffers", "128MB"},
		{"dynamic_shared_memory_type", "mmap"}, // in the cluster: /dev/shm is 64 MB in containers
		{"max_wal_size", "1GB"},
		{"checkpoint_timeout", "15min"},
		{"wal_level", "minimal"}, // no replicas, and new tables load without a log
		{"max_wal_senders", "0"},
		{"random_page_cost", "1.1"},
		{"jit", "off"},
		{"timezone", "UTC"},
		{"log_timezone", "UTC"},
		{"log_line_prefix", "%m [%p] "},
		{"logging_collector", "off"},
	}
	if c.Volatile {
		settings = append(settings,
			[2]string{"fsync", "off"},
			[2]string{"synchronous_commit", "off"},
			[2]string{"full_page_writes", "off"},
			[2]string{"max_connections", "300"},
		)
	}
	args := []string{"-D", s.home.path(clusterDir)}
	for _, kv := range settings {
		args = append(args, "-c", kv[0]+"="+kv[1])
	}
	return args
}

// awaitReady waits until the server answers a query.
func (s *Server) awaitReady(ctx context.Context, p *process) error {
	for {
		err := s.try(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("the private Postgres ended while it started: %s", p.lastLog())
		case <-ctx.Done():
			return fmt.Errorf("the private Postgres does not answer: %w: %s", errors.Join(ctx.Err(), err), p.lastLog())
		case <-time.After(pollPause / 2):
		}
	}
}

func (s *Server) try(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, s.DSN("postgres"))
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

// verify checks that the installation has the extension which the schemas
// need; packagers deliver it apart from the server.
func (s *Server) verify(ctx context.Context, b binaries) error {
	conn, err := pgx.Connect(ctx, s.DSN("postgres"))
	if err != nil {
		return fmt.Errorf("reach the private Postgres: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }() // the answer is known by then
	var ok bool
	const query = `SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_trgm')`
	if err := conn.QueryRow(ctx, query).Scan(&ok); err != nil {
		return fmt.Errorf("ask the private Postgres for its extensions: %w", err)
	}
	if !ok {
		return fmt.Errorf("the Postgres in %s lacks the extension pg_trgm: install its contrib package", b.dir)
	}
	return nil
}

// DSN gives the address of a database, with the password in it: over TCP if
// the server listens there, else through the socket.
func (s *Server) DSN(database string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(superuser, s.password), Path: "/" + database}
	if s.tcp {
		u.Host = net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port))
		u.RawQuery = "sslmode=disable"
		return u.String()
	}
	u.RawQuery = url.Values{"host": {s.sockets}, "port": {strconv.Itoa(s.port)}}.Encode()
	return u.String()
}

// CreateDatabase makes a database; one that exists is left as it is.
func (s *Server) CreateDatabase(ctx context.Context, name string) error {
	return CreateDatabase(ctx, s.DSN("postgres"), name)
}

// Pid gives the process id of the server.
func (s *Server) Pid() int { return s.process.pid }

// Stop ends the server and returns when it has ended: by a fast shutdown, by an
// immediate one if that takes too long or ctx ends.
func (s *Server) Stop(ctx context.Context) error {
	return errors.Join(s.process.stop(ctx), s.home.removeSockets())
}

// Folders gives the folders that the server keeps files in, for a caller that
// removes them after its end.
func (s *Server) Folders() []string { return []string{s.home.root, s.sockets} }
