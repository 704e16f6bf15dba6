package tap

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

// isSocket is whether a file of that name in a folder of sockets is a producer's.
func isSocket(name string) bool {
	return strings.HasPrefix(name, socketPrefix) && strings.HasSuffix(name, socketSuffix)
}

// pidOf is the process in a socket's name, 0 if there is none.
func pidOf(name string) int {
	number, _, _ := strings.Cut(strings.TrimPrefix(name, socketPrefix), "-")
	pid, _ := strconv.Atoi(number) // 0 for what is no number
	return pid
}

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
		case isSocket(f.Name()):
			if alive(pidOf(f.Name())) {
				continue // a connection would look like a reader
			}
			if c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"}); err == nil {
				_ = c.Close()
			} else if stale(err) {
				_ = os.Remove(path)
			}
		default:
			if fi, err := f.Info(); err == nil && time.Since(fi.ModTime()) > earlyAge {
				_ = os.Remove(path)
			}
		}
	}
}

// stale is whether the error of a connection means that nobody listens. A socket gets its name only when somebody does.
func stale(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
