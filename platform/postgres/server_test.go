package postgres_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"vault/platform/postgres"
)

// startServer starts a private server, or skips the test where no Postgres is
// installed. Its files go when the test ends.
func startServer(t *testing.T, c postgres.ServerConfig) *postgres.Server {
	t.Helper()
	s, err := postgres.StartServer(t.Context(), c)
	if errors.Is(err, postgres.ErrNoBinaries) && os.Getenv("VAULT_TEST_MUST") != "1" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Error(err)
		}
		for _, folder := range s.Folders() {
			if err := os.RemoveAll(folder); err != nil {
				t.Error(err)
			}
		}
	})
	return s
}

func stopServer(t *testing.T, s *postgres.Server) {
	t.Helper()
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// keep makes a database with one row, kept says whether it is still there.
func keep(t *testing.T, dsn func(string) string, create func(context.Context, string) error) {
	t.Helper()
	if err := create(t.Context(), "kept"); err != nil {
		t.Fatal(err)
	}
	db := open(t, postgres.Config{DSN: dsn("kept")})
	mustExec(t, db, `CREATE TABLE n AS SELECT 42 AS v`)
}

func checkKept(t *testing.T, dsn string) {
	t.Helper()
	db := open(t, postgres.Config{DSN: dsn})
	if got := number(t, db, `SELECT v FROM n`); got != 42 {
		t.Errorf("the kept row is %d", got)
	}
}

func setting(t *testing.T, db *postgres.DB, name string) string {
	t.Helper()
	var value string
	if err := db.QueryRow(t.Context(), `SELECT current_setting($1)`, name).Scan(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

// gone reports whether a process has ended; one that nobody has waited for yet
// counts as ended.
func gone(pid int) bool {
	if syscall.Kill(pid, 0) == syscall.ESRCH {
		return true
	}
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(text), ") Z ")
}

func TestServerKeepsItsData(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := startServer(t, postgres.ServerConfig{Data: data})
	keep(t, s.DSN, s.CreateDatabase)
	db := open(t, postgres.Config{DSN: s.DSN("postgres")})
	for name, want := range map[string]string{
		"listen_addresses": "", "fsync": "on", "synchronous_commit": "on", "server_encoding": "UTF8",
	} {
		if got := setting(t, db, name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	var word bool // accents are letters: trigrams depend on it
	if err := db.QueryRow(t.Context(), `SELECT 'é' ~ '^[[:alpha:]]$'`).Scan(&word); err != nil || !word {
		t.Errorf("é is no letter (%v)", err)
	}
	pid := s.Pid()
	stopServer(t, s)
	if !gone(pid) {
		t.Error("the server lives on after its stop")
	}
	if _, err := os.Stat(s.Folders()[1]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket folder is left: %v", err)
	}
	begin := time.Now()
	again := startServer(t, postgres.ServerConfig{Data: data})
	t.Logf("warm start: %s", time.Since(begin))
	checkKept(t, again.DSN("kept"))
}

func TestServerIsClosedToOthers(t *testing.T) {
	t.Parallel()
	s := startServer(t, postgres.ServerConfig{Data: t.TempDir(), TCP: true})
	root, sockets := s.Folders()[0], s.Folders()[1]
	for path, want := range map[string]fs.FileMode{
		sockets:                           0o700,
		filepath.Join(root, "cluster"):    0o700,
		filepath.Join(root, "password"):   0o600,
		filepath.Join(root, "server.log"): 0o600,
	} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", path, got, want)
		}
	}
	if info, err := os.Stat(root); err != nil || info.Mode().Perm()&0o027 != 0 {
		t.Errorf("%s is open to others: %v %v", root, info.Mode(), err)
	}
	u, err := url.Parse(s.DSN("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	if u.Hostname() != "127.0.0.1" {
		t.Errorf("asked for TCP, address is %s", u.Host)
	}
	for name, user := range map[string]*url.Userinfo{
		"wrong password": url.UserPassword(u.User.Username(), "wrong"),
		"no password":    url.User(u.User.Username()),
	} {
		other := *u
		other.User = user
		if err := open(t, postgres.Config{DSN: other.String()}).Ping(t.Context()); err == nil {
			t.Errorf("%s: let in", name)
		}
	}
	through := url.URL{Scheme: "postgres", User: url.UserPassword(u.User.Username(), "wrong"), Path: "/postgres"}
	through.RawQuery = url.Values{"host": {sockets}, "port": {u.Port()}}.Encode()
	if err := open(t, postgres.Config{DSN: through.String()}).Ping(t.Context()); err == nil {
		t.Error("a wrong password is let in through the socket")
	}
}

func TestServersSideBySide(t *testing.T) {
	t.Parallel()
	a := startServer(t, postgres.ServerConfig{Data: t.TempDir(), TCP: true, Volatile: true})
	b := startServer(t, postgres.ServerConfig{Data: t.TempDir(), TCP: true, Volatile: true})
	keep(t, a.DSN, a.CreateDatabase)
	keep(t, b.DSN, b.CreateDatabase)
	stopServer(t, a)
	checkKept(t, b.DSN("kept"))
}

func TestServerStopsWithClientsConnected(t *testing.T) {
	t.Parallel()
	s := startServer(t, postgres.ServerConfig{Data: t.TempDir(), Volatile: true})
	db := open(t, postgres.Config{DSN: s.DSN("postgres")})
	snapshot, err := db.ReadSnapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snapshot.Close(t.Context())
	number(t, snapshot, `SELECT 1`)
	begin := time.Now()
	stopServer(t, s)
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("the stop waits for clients: %s", took)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Errorf("a second stop: %v", err)
	}
}

// A server that is still there although its vault is not is stopped and
// replaced.
func TestServerTakesOverALeftover(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	left := startServer(t, postgres.ServerConfig{Data: data})
	keep(t, left.DSN, left.CreateDatabase)
	s := startServer(t, postgres.ServerConfig{Data: data})
	if !gone(left.Pid()) {
		t.Error("the left-over lives on")
	}
	if _, err := os.Stat(left.Folders()[1]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the left-over's socket folder is left: %v", err)
	}
	checkKept(t, s.DSN("kept"))
}

func TestServerStartsOverRemains(t *testing.T) {
	t.Parallel()
	other := exec.CommandContext(t.Context(), "sleep", "600")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Process.Kill(); _ = other.Wait() })
	config := postgres.ServerConfig{Data: t.TempDir(), Volatile: true}
	for name, text := range map[string]string{
		"number of another program": fmt.Sprintf("%d\n/nowhere\n1\n5432\n", other.Process.Pid),
		"number of nobody":          "4194303\n/nowhere\n1\n5432\n",
		"empty file":                "",
		"garbage":                   "what\x00ever",
		"a group":                   "-1\n",
	} {
		s := startServer(t, config)
		stopServer(t, s)
		cluster := filepath.Join(s.Folders()[0], "cluster")
		if err := writeAsOwner(filepath.Join(cluster, "postmaster.pid"), text, cluster); err != nil {
			t.Fatal(err)
		}
		again := startServer(t, config)
		if err := open(t, postgres.Config{DSN: again.DSN("postgres")}).Ping(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if gone(other.Process.Pid) {
			t.Fatalf("%s: a stranger's process was ended", name)
		}
		stopServer(t, again)
	}
}

// writeAsOwner writes a file that belongs to the owner of like.
func writeAsOwner(path, text, like string) error {
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return err
	}
	info, err := os.Stat(like)
	if err != nil {
		return err
	}
	owner := info.Sys().(*syscall.Stat_t)
	return os.Chown(path, int(owner.Uid), int(owner.Gid))
}

func TestServerRecoversFromItsOwnDeath(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := startServer(t, postgres.ServerConfig{Data: data})
	keep(t, s.DSN, s.CreateDatabase)
	if err := syscall.Kill(s.Pid(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	again := startServer(t, postgres.ServerConfig{Data: data}) // while its children still end
	checkKept(t, again.DSN("kept"))
}

func TestServerErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	config := postgres.ServerConfig{Data: t.TempDir(), Volatile: true}
	s := startServer(t, config)
	stopServer(t, s)
	root := s.Folders()[0]
	for name, tc := range map[string]struct {
		file, text string // what the file is replaced by; "" is nothing
		want       []string
	}{
		"another version": {"cluster/PG_VERSION", "9\n", []string{"made by Postgres 9", "install Postgres 9", "delete that folder"}},
		"no password":     {"password", "", []string{"password", "delete that folder"}},
		"broken cluster":  {"cluster/global/pg_control", "", []string{"pg_control", "server.log"}},
	} {
		path := filepath.Join(root, tc.file)
		if err := os.Rename(path, path+".kept"); err != nil {
			t.Fatal(err)
		}
		if tc.text != "" {
			if err := writeAsOwner(path, tc.text, path+".kept"); err != nil {
				t.Fatal(err)
			}
		}
		again, err := postgres.StartServer(t.Context(), config)
		if err == nil {
			stopServer(t, again)
			t.Fatalf("%s: it starts", name)
		}
		for _, want := range append(tc.want, root) {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: the error does not name %q: %v", name, want, err)
			}
		}
		if err := os.Rename(path+".kept", path); err != nil {
			t.Fatal(err)
		}
	}
	if err := open(t, postgres.Config{DSN: startServer(t, config).DSN("postgres")}).Ping(t.Context()); err != nil {
		t.Errorf("a failed start broke something: %v", err)
	}
}

// ownerVariable makes this test binary a process that owns the server of the
// folder named, and tells of it on its standard output.
const ownerVariable = "POSTGRES_TEST_OWNER"

// TestServerOwner is that process; it does nothing in an ordinary run.
func TestServerOwner(t *testing.T) {
	data := os.Getenv(ownerVariable)
	if data == "" {
		return
	}
	s, err := postgres.StartServer(t.Context(), postgres.ServerConfig{Data: data})
	if err != nil {
		fmt.Printf("error: %v\n", err)
		os.Exit(1)
	}
	fmt.Printf("server: %d %s %s %s\n", s.Pid(), s.Folders()[0], s.Folders()[1], s.DSN("postgres"))
	select {}
}

type ownedServer struct {
	owner              *exec.Cmd
	pid                int
	root, sockets, dsn string
}

// startOwner runs a process that owns a server, as the user given (nil: ours).
func startOwner(t *testing.T, program, data string, user *syscall.Credential) ownedServer {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, "-test.run=^TestServerOwner$")
	cmd.Dir = data
	cmd.Env = append(os.Environ(), ownerVariable+"="+data, "TMPDIR=/tmp", "HOME="+data)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: user}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := ownedServer{owner: cmd}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(line, "server: %d %s %s %s", &s.pid, &s.root, &s.sockets, &s.dsn); err != nil {
		t.Fatalf("the owner says %s", line)
	}
	t.Cleanup(func() {
		if err := errors.Join(os.RemoveAll(s.root), os.RemoveAll(s.sockets)); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestServerDiesWithItsOwner(t *testing.T) {
	t.Parallel()
	startServer(t, postgres.ServerConfig{Data: t.TempDir(), Volatile: true}) // skips where there is no Postgres
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			owned := startOwner(t, os.Args[0], data, nil)
			keep(t, func(name string) string {
				dsn, err := postgres.WithDatabase(owned.dsn, name)
				if err != nil {
					t.Fatal(err)
				}
				return dsn
			}, func(ctx context.Context, name string) error { return postgres.CreateDatabase(ctx, owned.dsn, name) })
			if err := owned.owner.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			_ = owned.owner.Wait() // it was killed
			if dies() {
				until(t, "the server ends", func() bool { return gone(owned.pid) })
			}
			s := startServer(t, postgres.ServerConfig{Data: data})
			checkKept(t, s.DSN("kept"))
		})
	}
}

// dies reports whether this system ends a server with its owner.
func dies() bool {
	_, err := os.Stat("/proc/self/stat")
	return err == nil
}

func TestServerOfAnOrdinaryUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user; the other tests run as an ordinary one")
	}
	startServer(t, postgres.ServerConfig{Data: t.TempDir(), Volatile: true}) // skips where there is no Postgres
	const nobody = 65534
	folder, err := os.MkdirTemp("/tmp", "vault-user-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	program, data := filepath.Join(folder, "test"), filepath.Join(folder, "data")
	binary, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(program, binary, 0o755), os.Mkdir(data, 0o700),
		os.Chown(data, nobody, nobody), os.Chmod(folder, 0o755)); err != nil {
		t.Fatal(err)
	}
	owned := startOwner(t, program, data, &syscall.Credential{Uid: nobody, Gid: nobody})
	if want := filepath.Join(data, "postgres"); owned.root != want {
		t.Errorf("the server lives in %s, want %s", owned.root, want)
	}
	if err := open(t, postgres.Config{DSN: owned.dsn}).Ping(t.Context()); err != nil {
		t.Error(err)
	}
	if err := owned.owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owned.owner.Wait() // it was killed
	until(t, "the server ends", func() bool { return gone(owned.pid) })
}

func TestRootsServersOfGoneFoldersAreRemoved(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("the servers of ordinary users lie in their data folders")
	}
	data := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	lost := startServer(t, postgres.ServerConfig{Data: data, Volatile: true})
	if err := os.RemoveAll(data); err != nil {
		t.Fatal(err)
	}
	startServer(t, postgres.ServerConfig{Data: t.TempDir(), Volatile: true})
	for _, folder := range lost.Folders() {
		if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left: %v", folder, err)
		}
	}
	if !gone(lost.Pid()) {
		t.Error("the server lives on")
	}
}

// A data folder that was deleted and made anew starts from nothing: what is in
// the old one's server belongs to what is gone.
func TestANewDataFolderGetsANewServer(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	for range 2 {
		if err := os.Mkdir(data, 0o700); err != nil {
			t.Fatal(err)
		}
		s := startServer(t, postgres.ServerConfig{Data: data, Volatile: true})
		db := open(t, postgres.Config{DSN: s.DSN("postgres")})
		mustExec(t, db, `CREATE TABLE made_once (v int)`)
		db.Close()
		stopServer(t, s)
		if err := os.RemoveAll(data); err != nil {
			t.Fatal(err)
		}
	}
}
