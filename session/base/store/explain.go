package store

import (
	"context"
	"crypto/tls"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// explained is an error of PostgreSQL with what happened, where, and what to do next.
type explained struct {
	text string
	down bool // the server cannot be reached now; the same may work later
	err  error
}

func (e *explained) Error() string { return e.text + ": " + cause(e.err) }

func (e *explained) Unwrap() error { return e.err }

// cause is what is at the bottom of an error: the driver says where, which we have said, and that of each attempt.
func cause(err error) string {
	var said *pgconn.PgError
	if errors.As(err, &said) {
		return said.Message + " (SQLSTATE " + said.Code + ")"
	}
	for {
		next := errors.Unwrap(err)
		if all, ok := err.(interface{ Unwrap() []error }); ok {
			next = all.Unwrap()[len(all.Unwrap())-1]
		}
		if next == nil {
			return err.Error()
		}
		err = next
	}
}

// Explains reports whether err says what can be done about a PostgreSQL server.
func Explains(err error) bool {
	var e *explained
	var old *tooOld
	return errors.As(err, &e) || errors.As(err, &old)
}

// Down reports whether err says that the server of the database cannot be reached, which may pass.
func Down(err error) bool {
	var e *explained
	return errors.As(err, &e) && e.down
}

// code is PostgreSQL's class of an error, "" if it is none of PostgreSQL's.
func code(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// explain is err with what can be done about it. What database/sql acts upon, and what callers did themselves, stays as it is.
func (s *server) explain(err error) error {
	var already *explained
	var old *tooOld
	switch {
	case err == nil, errors.Is(err, driver.ErrBadConn), err == io.EOF, errors.As(err, &already), errors.As(err, &old):
		return err
	}
	text, down := s.reason(code(err))
	var connecting *pgconn.ConnectError
	var network net.Error
	var untrusted *tls.CertificateVerificationError
	switch {
	case text != "":
	case errors.Is(err, errSilent):
		text, down = fmt.Sprintf("PostgreSQL at %s does not answer: check its load and the network", s.at()), true
	case errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &untrusted):
		text = fmt.Sprintf("cannot trust PostgreSQL at %s: check its certificate, and sslrootcert", s.at())
	case errors.As(err, &connecting) && strings.Contains(cause(err), "refused TLS"):
		text = fmt.Sprintf("PostgreSQL at %s does not speak TLS: turn ssl on there, or choose another sslmode", s.at())
	case errors.As(err, &connecting) && code(err) != "":
		text = fmt.Sprintf("PostgreSQL at %s refuses the connection: check the parameters of the URL", s.at())
	case errors.As(err, &connecting):
		text, down = fmt.Sprintf("cannot reach PostgreSQL at %s: check that it runs, and the address", s.at()), true
	case errors.Is(err, context.DeadlineExceeded):
		if u := s.usage(); u != "" {
			return &explained{"store: " + u, true, err}
		}
		return err
	case errors.As(err, &network), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), errors.Is(err, pgconn.ErrConnClosed):
		text, down = fmt.Sprintf("lost the connection to PostgreSQL at %s: repeat the call when it is back", s.at()), true
	default:
		return err
	}
	return &explained{"store: " + text, down, err}
}

// reason is what an error code of PostgreSQL means here, and whether it may pass by itself.
func (s *server) reason(code string) (text string, down bool) {
	switch code {
	case "28P01", "28000":
		return fmt.Sprintf("PostgreSQL at %s refuses user %s: check the password (PGPASSWORD) and pg_hba.conf", s.at(), s.config.User), false
	case "3D000":
		return fmt.Sprintf("PostgreSQL at %s has no database %s: create it", s.at(), s.config.Database), false
	case "53300":
		return fmt.Sprintf("PostgreSQL at %s has no connection left: raise its max_connections, or lower %s (%d)", s.at(), poolKey, s.pool), true
	case "57P03":
		return fmt.Sprintf("PostgreSQL at %s starts, stops or recovers: try again soon", s.at()), true
	case "57P01", "57P02", "08000", "08003", "08006":
		return fmt.Sprintf("lost the connection to PostgreSQL at %s: repeat the call when it is back", s.at()), true
	case "57014":
		return fmt.Sprintf("PostgreSQL at %s ended a statement after %s=%s: check its load and locks", s.at(), waitKey, s.timeout), false
	case "53100":
		return fmt.Sprintf("the disk of PostgreSQL at %s is full: nothing was saved; make room there", s.at()), false
	case "53200":
		return fmt.Sprintf("PostgreSQL at %s is out of memory: nothing was saved", s.at()), false
	case "25006":
		return fmt.Sprintf("PostgreSQL at %s takes no writes: name the primary, or add target_session_attrs=read-write", s.at()), false
	case "42501":
		return fmt.Sprintf("user %s lacks rights on database %s at %s: grant what it lacks: CREATE on it, or schema %s and all in it", s.config.User, s.config.Database, s.at(), s.schema), false
	case "40001", "40P01", "55P03":
		return fmt.Sprintf("another process was faster at PostgreSQL at %s: repeat the call", s.at()), false
	}
	return "", false
}

// usage says that all connections of this process are taken, "" if they are not.
func (s *server) usage() string {
	if s.busy == nil || s.busy().InUse < s.pool {
		return ""
	}
	return fmt.Sprintf("all %d connections to PostgreSQL at %s are busy: raise %s", s.pool, s.at(), poolKey)
}
