package unixsocket

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
)

// ErrTaken is wrapped by the error for a name that another process listens at.
var ErrTaken = errors.New("another process listens there")

// maxPath is the longest path of a socket on every system that has them (sun_path, with its NUL; macOS has the shortest).
const maxPath = 103

// Listen creates a socket in the first usable one of dirs, after removing stale sockets there. name ends in .sock; it is
// KIND-PID-UNIQUE.sock if a connection would disturb the owner. The caller removes the file before closing the listener.
// Errors name the folders that were tried, and wrap ErrTaken if another process listens at that name.
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

// listenIn gives the socket its name only once it is private and listened on, so that a socket that refuses connections is
// known to be stale.
func listenIn(dir, path string) (*net.UnixListener, error) {
	if err := Ensure(dir); err != nil {
		return nil, err
	}
	removeStale(dir)
	early := filepath.Join(dir, fmt.Sprintf(".%d-%.8s", os.Getpid(), rand.Text()))
	if n := max(len(path), len(early)); n > maxPath {
		return nil, fmt.Errorf("path of a socket in %s too long: %d bytes, the limit is %d; set XDG_RUNTIME_DIR to a folder with a shorter name", dir, n, maxPath)
	}
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: early, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("cannot listen in %s: %w", dir, err)
	}
	ln.SetUnlinkOnClose(false)
	if err = os.Chmod(early, 0o600); err == nil {
		err = publish(early, path)
	}
	if err != nil {
		_ = ln.Close()
		_ = os.Remove(early)
		return nil, fmt.Errorf("cannot create a socket in %s: %w", dir, err)
	}
	return ln, nil
}

// publish gives a socket its name, unless another has it. Renaming would replace the other one.
func publish(early, path string) error {
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
	return os.Rename(early, path) // the file system has no hard links
}
