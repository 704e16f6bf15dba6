package socket

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
)

// ErrTaken is wrapped by the error for a name under which another process listens.
var ErrTaken = errors.New("another process listens there")

// maxPath is the longest path of a socket on every system that has them (sun_path, with its NUL; macOS has the shortest).
const maxPath = 103

// Listen makes a socket in the first of dirs that can be used, and removes there what processes that died left behind. name
// ends in .sock, and is like KIND-PID-UNIQUE.sock where a connection would disturb. Whoever closes the listener removes the
// file first. Errors say which folders were tried; one wraps ErrTaken where somebody else listens under that name.
func Listen(dirs []string, name string) (*net.UnixListener, string, error) {
	var errs []error
	for _, dir := range dirs {
		path := filepath.Join(dir, name)
		ln, err := listenIn(dir, path)
		if err == nil {
			return ln, path, nil
		}
		errs = append(errs, err)
		if errors.Is(err, ErrTaken) {
			break
		}
	}
	return nil, "", errors.Join(errs...)
}

// listenIn gives the socket its name when it is listened on and closed to others, so that whoever finds it can connect, and
// whoever cannot connect knows that it is stale.
func listenIn(dir, path string) (*net.UnixListener, error) {
	if err := Ensure(dir); err != nil {
		return nil, err
	}
	clean(dir)
	early := filepath.Join(dir, fmt.Sprintf(".%d-%.8s", os.Getpid(), rand.Text()))
	if n := max(len(path), len(early)); n > maxPath {
		return nil, fmt.Errorf("the path of a socket in %s would have %d bytes, and the system takes %d; set XDG_RUNTIME_DIR to a folder with a shorter name", dir, n, maxPath)
	}
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: early, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("cannot listen in %s: %w", dir, err)
	}
	ln.SetUnlinkOnClose(false)
	if err = os.Chmod(early, 0o600); err == nil {
		err = name(early, path)
	}
	if err != nil {
		_ = ln.Close()
		_ = os.Remove(early)
		return nil, fmt.Errorf("cannot make a socket in %s: %w", dir, err)
	}
	return ln, nil
}

// name gives a file its name, unless another has it. Renaming would take the name away from the other.
func name(early, path string) error {
	err := os.Link(early, path)
	switch {
	case err == nil:
		return os.Remove(early)
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s: %w", path, ErrTaken)
	}
	if _, there := os.Lstat(path); there == nil {
		return fmt.Errorf("%s: %w", path, ErrTaken)
	}
	return os.Rename(early, path) // the file system has no second names
}
