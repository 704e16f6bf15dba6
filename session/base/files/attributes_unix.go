//go:build linux || darwin

package files

import (
	"bytes"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// accessList is the attribute of Linux that has a file's list of access rights.
const accessList = "system.posix_acl_access"

// attributes gives a new file the extended attributes of the one that it replaces, lists of access rights among them, and returns the names of
// those that it could not be given. closed leaves out a list of access rights: the file has another group than the list was made for.
func attributes(to *os.File, from string, closed bool) (lost []string) {
	f, err := os.Open(from)
	if err != nil {
		return nil // it may be written and not read: nobody knows what it has
	}
	defer f.Close()
	for _, name := range names(int(f.Fd())) {
		value, err := attribute(int(f.Fd()), name)
		if err != nil {
			continue // it is gone, or not for us
		}
		if has, err := attribute(int(to.Fd()), name); err == nil && bytes.Equal(has, value) {
			continue
		}
		if closed && name == accessList || unix.Fsetxattr(int(to.Fd()), name, value, 0) != nil {
			lost = append(lost, name)
		}
	}
	return lost
}

// names are those of the extended attributes of an open file, none where its file system has no such thing.
func names(fd int) []string {
	n, err := unix.Flistxattr(fd, nil)
	if err != nil || n == 0 {
		return nil
	}
	b := make([]byte, n)
	if n, err = unix.Flistxattr(fd, b); err != nil {
		return nil
	}
	return strings.FieldsFunc(string(b[:n]), func(r rune) bool { return r == 0 })
}

func attribute(fd int, name string) ([]byte, error) {
	n, err := unix.Fgetxattr(fd, name, nil)
	if err != nil || n == 0 {
		return nil, err
	}
	b := make([]byte, n)
	n, err = unix.Fgetxattr(fd, name, b)
	if err != nil {
		return nil, err
	}
	return b[:n], nil
}
