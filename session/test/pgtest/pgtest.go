// Package pgtest runs PostgreSQL for tests: the one that is installed, in a temporary folder, reached over a Unix socket in it.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mcphud/mcphud/session/test/require"
)

// RequireEnv says whether tests with installed servers run: not at all where it is not set, and if it is "required" they fail where one
// is missing.
const RequireEnv = "MCPHUD_BACKENDS"

var (
	shared    = sync.OnceValues(func() (*Server, error) { return start() })
	databases atomic.Int64
)

// Run is the URL of an empty database of this test's own, on a server that all tests of the program share. The server ends with the
// program. A test without a server is skipped.
func Run(t testing.TB) string {
	t.Helper()
	need(t)
	s, err := shared()
	require.NoError(t, err)
	name := fmt.Sprintf("test%d", databases.Add(1))
	s.Exec(t, "CREATE DATABASE "+name)
	t.Cleanup(func() { s.Exec(t, "DROP DATABASE "+name+" WITH (FORCE)") })
	return s.URL(name)
}

// Private is a server of this test's own, to stop and to spoil.
func Private(t testing.TB) *Server {
	t.Helper()
	need(t)
	s, err := start()
	require.NoError(t, err)
	t.Cleanup(s.end)
	return s
}

// Server is a running PostgreSQL.
type Server struct {
	dir   string
	alive *os.File // what the server's keeper waits for the end of
	keep  *exec.Cmd
}

// need skips a test that cannot have a server, or fails it.
func need(t testing.TB) {
	t.Helper()
	if os.Getenv(RequireEnv) == "" {
		t.Skipf("needs PostgreSQL; set %s", RequireEnv)
	}
	if _, err := programs(); err != nil {
		if os.Getenv(RequireEnv) == "required" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

// programs is the folder of the newest PostgreSQL that is installed.
func programs() (string, error) {
	if path, err := exec.LookPath("postgres"); err == nil {
		return filepath.Dir(path), nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres") // the pattern is well-formed
	if len(found) == 0 {
		return "", errors.New("PostgreSQL is not installed; install Debian's package postgresql")
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
		return n
	}
	return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })), nil
}

// keeper starts and stops the server as its standard input says. When nobody holds that open any more, whichever way that came about,
// it ends the server and removes its folder.
const keeper = `
while read -r command; do
	case $command in
	start)
		"$1/postgres" -D "$2/data" -k "$2" -h '' -F -c shared_buffers=16MB -c max_connections=60 -c full_page_writes=off -c autovacuum=off < /dev/null &
		server=$! ;;
	stop)
		kill -INT $server
		wait $server ;;
	esac
done
kill -INT $server
wait
rm -rf "$2"`

func start() (_ *Server, err error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("/tmp", "pgtest") // short, for the socket's path, and reachable for who runs the server
	if err != nil {
		return nil, fmt.Errorf("pgtest: %w", err)
	}
	s := &Server{dir: dir}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(dir)
		}
	}()
	who, err := unprivileged(dir)
	if err != nil {
		return nil, err
	}
	initialize := exec.Command(filepath.Join(bin, "initdb"), "-D", filepath.Join(dir, "data"), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync", "--no-instructions")
	initialize.Dir, initialize.SysProcAttr = dir, who
	if out, err := initialize.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("pgtest: initdb: %w\n%s", err, out)
	}
	input, alive, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("pgtest: %w", err)
	}
	defer input.Close()
	s.alive = alive
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, fmt.Errorf("pgtest: %w", err)
	}
	defer log.Close()
	s.keep = exec.Command("/bin/sh", "-c", keeper, "keeper", bin, dir)
	s.keep.Dir, s.keep.SysProcAttr, s.keep.Stdin, s.keep.Stdout, s.keep.Stderr = dir, who, input, log, log
	if err := s.keep.Start(); err != nil {
		return nil, fmt.Errorf("pgtest: %w", errors.Join(err, alive.Close()))
	}
	if err := s.Start(); err != nil {
		said, _ := os.ReadFile(filepath.Join(dir, "log"))
		return nil, fmt.Errorf("pgtest: %w\n%s", errors.Join(err, alive.Close()), said)
	}
	return s, nil
}

// Stop ends the server, and all its connections.
func (s *Server) Stop() error {
	if _, err := s.alive.WriteString("stop\n"); err != nil {
		return err
	}
	return until("stopped", func(ctx context.Context) bool {
		_, err := os.Stat(filepath.Join(s.dir, "data", "postmaster.pid"))
		return errors.Is(err, fs.ErrNotExist)
	})
}

// Start starts the server again, and returns when it answers.
func (s *Server) Start() error {
	if _, err := s.alive.WriteString("start\n"); err != nil {
		return err
	}
	return until("started", func(ctx context.Context) bool {
		c, err := pgconn.Connect(ctx, s.URL("postgres"))
		return err == nil && c.Close(ctx) == nil
	})
}

// until waits for a condition.
func until(what string, ok func(context.Context) bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for !ok(ctx) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("PostgreSQL has not %s in time", what)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// end stops the server and removes what it wrote.
func (s *Server) end() {
	_ = s.alive.Close()
	_ = s.keep.Wait() // it ends by a signal
}

// URL is that of a database of the server, for its superuser.
func (s *Server) URL(database string) string {
	return "postgres://postgres@/" + database + "?host=" + url.QueryEscape(s.dir)
}

// As is the URL for another user.
func As(address, name string) string {
	return strings.Replace(address, "postgres://postgres@", "postgres://"+name+"@", 1)
}

// Exec runs statements as the superuser, in no database in particular.
func (s *Server) Exec(t testing.TB, statements ...string) {
	t.Helper()
	Exec(t, s.URL("postgres"), statements...)
}

// Exec runs statements at a URL.
func Exec(t testing.TB, address string, statements ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := pgconn.Connect(ctx, address)
	require.NoError(t, err)
	defer func() { _ = c.Close(ctx) }()
	for _, statement := range statements {
		if _, err := c.Exec(ctx, statement).ReadAll(); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// account is who may run PostgreSQL where we are root: it refuses to.
func account() (*user.User, error) {
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			return u, nil
		}
	}
	return nil, errors.New("pgtest: PostgreSQL does not run as root, and there is no user postgres or nobody")
}
