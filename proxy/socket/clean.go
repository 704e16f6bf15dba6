package socket

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// suffix ends the names of sockets that are listened on; those that are not yet begin with a dot.
const suffix = ".sock"

// earlyAge is how old a socket without its name is when its maker must have died.
const earlyAge = 10 * time.Second

// clean removes the sockets of processes that died: those that nobody listens on.
func clean(dir string) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return // whoever wants to use the folder will say why not
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Name())
		switch {
		case f.Type()&os.ModeSocket == 0:
		case strings.HasSuffix(f.Name(), suffix):
			if alive(pidOf(f.Name())) {
				continue // a connection would look like a reader
			}
			if !answers(path) {
				_ = os.Remove(path)
			}
		case strings.HasPrefix(f.Name(), "."):
			if fi, err := f.Info(); err == nil && time.Since(fi.ModTime()) > earlyAge {
				_ = os.Remove(path)
			}
		}
	}
}

// pidOf is the process in a name such as tap-PID-UNIQUE.sock, 0 if there is none.
func pidOf(name string) int {
	parts := strings.Split(name, "-")
	if len(parts) != 3 {
		return 0
	}
	pid, _ := strconv.Atoi(parts[1]) // 0 for what is no number
	return pid
}

// answers is whether somebody may listen: false only where nobody does.
func answers(path string) bool {
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err == nil {
		_ = c.Close()
	}
	return !Stale(err)
}

// Stale is whether the error of a connection means that nobody listens. A socket gets its name only when somebody does.
func Stale(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
