// Package socket makes the Unix sockets on which processes of one user find each other: in a folder that only this user can look
// into, closed to others, and with a check of who is at the other end.
package socket

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
)

// folder is the name of the folder of sockets within the user's runtime folder.
const folder = "mcphud"

// Dirs are the folders in which sockets of this user's can be, the best first: $MCPHUD_TAP_DIR alone where that is set, else
// $XDG_RUNTIME_DIR/mcphud, /run/user/UID/mcphud where there is a /run/user/UID, and mcphud-UID in the folders for temporary
// files. Clients start servers with an environment of their own, so that one of these does not always know of the first.
func Dirs() []string { return dirs(os.Getenv, os.Getuid()) }

func dirs(getenv func(string) string, uid int) (out []string) {
	if dir := getenv("MCPHUD_TAP_DIR"); filepath.IsAbs(dir) {
		return []string{dir}
	}
	add := func(dir string) {
		if !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	if run := getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(run) && ours(run) { // after su it is often somebody else's
		add(filepath.Join(run, folder))
	}
	own := folder
	if uid >= 0 { // Windows has none, and gives each user a folder of his own
		own += "-" + strconv.Itoa(uid)
		if run := filepath.Join("/run/user", strconv.Itoa(uid)); Private(run) == nil {
			add(filepath.Join(run, folder))
		}
	}
	add(filepath.Join(os.TempDir(), own))
	if runtime.GOOS != "windows" {
		add(filepath.Join("/tmp", own))
	}
	return out
}

// ours is whether there is a folder of this user at path.
func ours(path string) bool {
	fi, err := os.Stat(path)
	if err != nil || !fi.IsDir() {
		return false
	}
	uid, known := owner(fi)
	return !known || uid == os.Getuid()
}

// errNotOurs is wrapped by errors about folders that others can write to.
var errNotOurs = errors.New("it is not private to this user")

// Ensure makes dir a folder that only this user can look into, or says why it is none.
func Ensure(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("cannot make the folder of sockets: %w", err)
	}
	return Private(dir)
}

// Private checks that dir is a real folder of this user. One that is open to others is closed: what somebody put into it
// before is still found out when a connection is made.
func Private(dir string) error {
	fi, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !fi.IsDir() {
		return fmt.Errorf("%s is no folder: %w; remove it", dir, errNotOurs)
	}
	if uid, ok := owner(fi); ok && uid != os.Getuid() {
		return fmt.Errorf("%s belongs to user %d: %w; set XDG_RUNTIME_DIR or TMPDIR to a folder that is", dir, uid, errNotOurs)
	}
	if runtime.GOOS == "windows" || fi.Mode().Perm()&0o077 == 0 {
		return nil
	}
	if filepath.Base(dir) == strconv.Itoa(os.Getuid()) { // /run/user/UID itself is not ours to change
		return fmt.Errorf("%s: %w", dir, errNotOurs)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return fmt.Errorf("%s is open to others: %w; chmod 700 it", dir, err)
	}
	return nil
}
