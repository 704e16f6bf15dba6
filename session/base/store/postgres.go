package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// What a connection string may set, and what holds where it does not.
const (
	poolKey   = "pool_max_conns"
	schemaKey = "search_path"
	waitKey   = "statement_timeout"

	defaultPool   = 5
	defaultSchema = "mcphud"
	// extensionSchemas are where extensions of the database may be that others made.
	extensionSchemas = ", public, extensions"
	defaultWait      = 10 * time.Second
	connectTimeout   = 5 * time.Second
	// lifetime is how long a connection is used. A new one reads the server's clock again, and finds a server that took over.
	lifetime = time.Hour
	// slack is how much later than the server we give up: then it is the network that does not answer.
	slack = 5 * time.Second
	// abandoned is how long a transaction may do nothing before the server ends it: its process hangs, and may hold what others need.
	abandoned = 30 * time.Second
)

// oldest is the first major version of PostgreSQL that tests run with.
const oldest = 13

// Remote reports whether what Open takes is the address of a PostgreSQL server.
func Remote(path string) bool {
	return strings.HasPrefix(path, "postgres://") || strings.HasPrefix(path, "postgresql://")
}

// Password reports whether the address of a server has a password in it.
func Password(path string) bool {
	u, err := url.Parse(path)
	if err != nil || !Remote(path) {
		return false
	}
	_, given := u.User.Password()
	return given || u.Query().Get("password") != ""
}

// server is a PostgreSQL server and a database of it.
type server struct {
	config  *pgconn.Config
	schema  string // where tables are made
	path    string // the schemas that names are looked up in
	timeout string // of a statement, in PostgreSQL's words
	pool    int
	clock   atomic.Pointer[reading]
	busy    func() sql.DBStats
}

// reading is what the server's clock said, and when. What passed since then a clock of ours counts that nobody sets.
type reading struct{ theirs, ours time.Time }

// openPostgres opens the database at a URL of libpq's form. What the URL leaves open the PG… variables and a password file say.
func openPostgres(address string) (*DB, error) {
	s, err := parse(address)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(&connector{s})
	db.SetMaxOpenConns(s.pool)
	db.SetMaxIdleConns(s.pool)
	db.SetConnMaxIdleTime(5 * time.Minute)
	db.SetConnMaxLifetime(lifetime)
	s.busy = db.Stats
	ctx, cancel := context.WithTimeout(context.Background(), 3*connectTimeout)
	defer cancel()
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(s.explain(err), db.Close())
	}
	return &DB{DB: db, server: s}, nil
}

// parse reads a URL. An error does not repeat it, since it may have a password.
func parse(address string) (*server, error) {
	config, err := pgconn.ParseConfig(address)
	if before, _, _ := strings.Cut(address, "?"); strings.Count(before, "@") > 1 {
		err = cmp.Or(err, errors.New("more than one @"))
	}
	if err != nil {
		var why *pgconn.ParseConfigError
		if errors.As(err, &why) {
			err = cmp.Or(why.Unwrap(), errors.New("not of the form postgres://USER@HOST:PORT/DATABASE"))
		}
		return nil, fmt.Errorf("store: cannot use the PostgreSQL URL: %w; a password in it must be percent-encoded", err)
	}
	s := &server{config: config, pool: defaultPool}
	if n, ok := config.RuntimeParams[poolKey]; ok {
		if s.pool, err = strconv.Atoi(n); err != nil || s.pool < 2 {
			return nil, fmt.Errorf("store: %s=%s in the PostgreSQL URL is not a number of at least 2", poolKey, n)
		}
		delete(config.RuntimeParams, poolKey)
	}
	s.path = cmp.Or(config.RuntimeParams[schemaKey], defaultSchema)
	s.timeout = cmp.Or(config.RuntimeParams[waitKey], defaultWait.String())
	delete(config.RuntimeParams, schemaKey) // set by greet: not every pooler lets them through
	delete(config.RuntimeParams, waitKey)
	s.schema, _, _ = strings.Cut(s.path, ",")
	s.schema = strings.Trim(strings.TrimSpace(s.schema), `"`)
	s.path += extensionSchemas
	if s.schema == "$user" {
		s.schema = config.User
	}
	config.RuntimeParams["application_name"] = cmp.Or(config.RuntimeParams["application_name"], "mcphud")
	config.ConnectTimeout = cmp.Or(config.ConnectTimeout, connectTimeout)
	return s, nil
}

// wait is how long we wait for a statement: a little longer than the server lets it run, for ever where it may run for ever.
func (s *server) wait() time.Duration {
	if ms, err := strconv.ParseInt(s.timeout, 10, 64); err == nil && ms > 0 {
		return time.Duration(ms)*time.Millisecond + slack
	}
	if d, err := time.ParseDuration(s.timeout); err == nil && d > 0 {
		return d + slack
	}
	return 0
}

// at is where the server is, as messages name it.
func (s *server) at() string {
	host := s.config.Host
	if !strings.HasPrefix(host, "/") {
		host = net.JoinHostPort(host, strconv.Itoa(int(s.config.Port)))
	}
	return host
}

// connect opens a connection, and checks who answers.
func (s *server) connect(ctx context.Context) (*pgconn.PgConn, error) {
	pg, err := pgconn.ConnectConfig(ctx, s.config)
	if err != nil {
		return nil, err
	}
	if err := s.greet(ctx, pg); err != nil {
		return nil, errors.Join(err, pg.Close(ctx))
	}
	return pg, nil
}

// greet checks a server that answered and its clock, and says how we want it to be.
func (s *server) greet(ctx context.Context, pg *pgconn.PgConn) error {
	version := pg.ParameterStatus("server_version")
	digits := strings.IndexFunc(version+".", func(r rune) bool { return r < '0' || r > '9' })
	if n, err := strconv.Atoi(version[:digits]); err == nil && n < oldest {
		return &tooOld{s.at(), version}
	}
	ask, args := `SELECT extract(epoch FROM clock_timestamp())`, [][]byte{}
	for _, set := range [][2]string{
		{schemaKey, s.path},
		{waitKey, s.timeout},
		{"idle_in_transaction_session_timeout", abandoned.String()},
		{"timezone", "UTC"},
		{"datestyle", "ISO"},
		{"bytea_output", "hex"},
	} {
		args = append(args, []byte(set[0]), []byte(set[1]))
		ask += fmt.Sprintf(`, set_config($%d, $%d, false)`, len(args)-1, len(args))
	}
	sent := time.Now()
	got := pg.ExecParams(ctx, ask, args, nil, nil, nil).Read()
	if got.Err != nil {
		return got.Err
	}
	seconds, err := strconv.ParseFloat(string(got.Rows[0][0]), 64)
	if err != nil {
		return fmt.Errorf("store: the time of PostgreSQL at %s: %w", s.at(), err)
	}
	s.clock.Store(&reading{time.Unix(0, int64(seconds*1e9)), sent.Add(time.Since(sent) / 2)})
	return nil
}

// tooOld is a server that cannot be used.
type tooOld struct{ at, version string }

func (t *tooOld) Error() string {
	return fmt.Sprintf("store: PostgreSQL at %s is version %s: upgrade it to %d or newer, or name another server", t.at, t.version, oldest)
}
