package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"time"
)

// sqliteDriver is the registered one.
func sqliteDriver() (driver.Driver, error) {
	bare, err := sql.Open(driverName, "") // it opens nothing
	if err != nil {
		return nil, err
	}
	return bare.Driver(), bare.Close()
}

// files connects to a file, or to memory for the path "". The first connection to a file begins its write-ahead log. SQLite waits for other
// processes at statements, but not at that step (https://www.sqlite.org/c3ref/busy_handler.html says why), so this wait is ours.
type files struct {
	driver driver.Driver
	path   string
	wait   time.Duration
}

// Connect opens it.
func (f *files) Connect(ctx context.Context) (driver.Conn, error) {
	for end := time.Now().Add(f.wait); ; {
		c, err := f.driver.Open(dsn(f.path, f.wait))
		if !Busy(err) || time.Now().After(end) {
			return c, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Driver returns that of SQLite.
func (f *files) Driver() driver.Driver { return f.driver }
