// Package unixsocket creates the Unix sockets on which processes of one user find each other: in a folder that only this user can
// access, and with a check of the peer's user.
package unixsocket

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
)

// folder is the name of the folder of sockets in the user's runtime folder.
const folder = "mcphud"

// Dirs returns the folders that sockets of this user can be in, in order of preference: $MCPHUD_TAP_DIR alone if it is set, else
// $XDG_RUNTIME_DIR/mcphud, /run/user/UID/mcphud if /run/user/UID exists, and mcphud-UID in the folders for temporary files.
// There are several because clients start servers with another environment, in which XDG_RUNTIME_DIR may be missing.
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
	if run := getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(run) && isOwnFolder(run) { // after su it may be another user's
		add(filepath.Join(run, folder))
	}
	own := folder
	if uid >= 0 { // on Windows there is none, and each user has a temporary folder
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

// isOwnFolder reports whether path is a folder of this user.
func isOwnFolder(path string) bool {
	fi, err := os.Stat(path)
	if err != nil || !fi.IsDir() {
		return false
	}
	uid, known := owner(fi)
	return !known || uid == os.Getuid()
}

// errNotOurs is wrapped by errors about folders that other users can access.
var errNotOurs = errors.New("not private to this user")

// Ensure creates dir if necessary, and checks it as Private does.
func Ensure(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("cannot create the folder for sockets: %w", err)
	}
	return Private(dir)
}

// Private checks that dir is a folder of this user, not a symbolic link, and makes it inaccessible to others (mode 0700). What
// others may have put there before is detected by CheckPeer.
func Private(dir string) error {
	fi, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !fi.IsDir() {
		return fmt.Errorf("%s is not a folder: %w; remove it", dir, errNotOurs)
	}
	if uid, ok := owner(fi); ok && uid != os.Getuid() {
		return fmt.Errorf("%s belongs to user %d: %w; set XDG_RUNTIME_DIR or TMPDIR to a private folder", dir, uid, errNotOurs)
	}
	if runtime.GOOS == "windows" || fi.Mode().Perm()&0o077 == 0 {
		return nil
	}
	if filepath.Base(dir) == strconv.Itoa(os.Getuid()) { // /run/user/UID belongs to the system
		return fmt.Errorf("%s: %w", dir, errNotOurs)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return fmt.Errorf("%s is accessible to other users: %w; run chmod 700 on it", dir, err)
	}
	return nil
}
