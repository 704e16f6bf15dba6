package unixsocket

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/mcphud/mcphud/session/wire/process"
)

// suffix ends the names of sockets; before they are published, their names begin with a dot.
const suffix = ".sock"

// maxUnnamedAge is the age from which an unpublished socket counts as abandoned.
const maxUnnamedAge = 10 * time.Second

// removeStale removes sockets that no process listens on.
func removeStale(dir string) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return // using the folder will fail with the reason
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Name())
		switch {
		case f.Type()&os.ModeSocket == 0:
		case strings.HasSuffix(f.Name(), suffix):
			if process.Alive(pidOf(f.Name())) {
				continue // do not connect: it would count as a reader
			}
			if !listening(path) {
				_ = os.Remove(path)
			}
		case strings.HasPrefix(f.Name(), "."):
			if fi, err := f.Info(); err == nil && time.Since(fi.ModTime()) > maxUnnamedAge {
				_ = os.Remove(path)
			}
		}
	}
}

// pidOf returns the pid in a name such as tap-PID-UNIQUE.sock, 0 if there is none.
func pidOf(name string) int {
	parts := strings.Split(name, "-")
	if len(parts) != 3 {
		return 0
	}
	pid, _ := strconv.Atoi(parts[1])
	return pid
}

// listening reports whether a process may listen at path; false is certain.
func listening(path string) bool {
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err == nil {
		_ = c.Close()
	}
	return !Stale(err)
}

// Stale reports whether the error of a connection means that no process listens. Sockets are published only when one does.
func Stale(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
