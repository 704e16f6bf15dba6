package store

import (
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// pretend is a server that says it is PostgreSQL of a version, with a clock that is ahead, and answers every query with its time.
func pretend(t *testing.T, version string, ahead time.Duration) (address string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan bool)
	go func() {
		defer close(done)
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			answer(c, version, ahead)
		}
	}()
	t.Cleanup(func() {
		_ = ln.Close()
		<-done
	})
	return "postgres://u@" + ln.Addr().String() + "/d?sslmode=disable"
}

func answer(c net.Conn, version string, ahead time.Duration) {
	defer c.Close()
	b := pgproto3.NewBackend(c, c)
	if _, err := b.ReceiveStartupMessage(); err != nil {
		return
	}
	b.Send(&pgproto3.AuthenticationOk{})
	b.Send(&pgproto3.ParameterStatus{Name: "server_version", Value: version})
	b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	for b.Flush() == nil {
		m, err := b.Receive()
		if err != nil {
			return
		}
		switch m.(type) {
		case *pgproto3.Parse:
			b.Send(&pgproto3.ParseComplete{})
		case *pgproto3.Bind:
			b.Send(&pgproto3.BindComplete{})
		case *pgproto3.Execute:
			b.Send(&pgproto3.RowDescription{Fields: []pgproto3.FieldDescription{{Name: []byte("at")}}})
			b.Send(&pgproto3.DataRow{Values: [][]byte{[]byte(strconv.FormatInt(time.Now().Add(ahead).Unix(), 10))}})
			b.Send(&pgproto3.CommandComplete{CommandTag: []byte("SELECT 1")})
		case *pgproto3.Sync:
			b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		case *pgproto3.Query: // a ping
			b.Send(&pgproto3.EmptyQueryResponse{})
			b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		case *pgproto3.Terminate:
			return
		}
	}
}

func TestAnOldServerIsRefused(t *testing.T) {
	for _, version := range []string{"12.22 (Debian 12.22-1)", "9.6.24", "10beta1"} {
		db, err := Open(pretend(t, version, 0))
		if err == nil {
			t.Errorf("%s: opened, %v", version, db.Close())
			continue
		}
		says(t, err, false, "is version "+version+": upgrade it to 13 or newer")
	}
	for _, version := range []string{"13.0", "15.9 (Debian 15.9-0+deb12u1)", "18beta2", "19devel"} {
		if db, err := Open(pretend(t, version, 0)); err != nil {
			t.Error(version, err)
		} else if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestTheServersClockCounts(t *testing.T) {
	db, err := Open(pretend(t, "15.1", 3*time.Hour))
	require.NoError(t, err)
	defer db.Close()
	if ahead := time.Until(db.Now()); ahead < 3*time.Hour-time.Minute || ahead > 3*time.Hour+time.Minute || db.Skew() < 2*time.Hour {
		t.Errorf("now is %v ahead, skew %v", ahead, db.Skew())
	}
	assert.Equal(t, open(t, "").Skew(), 0)
}

// What is wrong about a URL is said without repeating it, since it may have a password.
func TestURLsThatCannotBe(t *testing.T) {
	for address, want := range map[string]string{
		"postgres://u:sek%ret@h/d":                   "percent-encoded",
		"postgres://u:sek@ret/x@h/d":                 "more than one @",
		"postgres://u:sekret@h:port/d":               "percent-encoded",
		"postgres://u:sekret@h/d?pool_max_conns=one": "pool_max_conns=one in the PostgreSQL URL is not a number",
		"postgres://u:sekret@h/d?sslmode=never":      "sslmode",
		"mysql://u:sekret@h/d":                       "mysql://…: name a file, or a database as postgres://",
	} {
		if _, err := Open(address); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "sek") {
			t.Errorf("%s: %v", address, err)
		}
	}
	for address, want := range map[string]bool{
		"postgres://u:p@h/d": true, "postgres://u@h/d": false, "postgres:///d?password=p": true, "u:p@h": false, "/a/b.db": false,
	} {
		if Password(address) != want {
			t.Error(address, !want)
		}
	}
}
