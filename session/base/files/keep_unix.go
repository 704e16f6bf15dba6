//go:build unix

package files

import (
	"fmt"
	"os"
	"syscall"
)

// keep gives a new file the mode and the owner of the one that it replaces. Where the group cannot be kept, which other tells, the new one may do
// nothing with it.
func keep(f *os.File, info os.FileInfo) (other bool, err error) {
	mode := info.Mode().Perm()
	old, ok := info.Sys().(*syscall.Stat_t)
	mine, err := f.Stat()
	if err != nil {
		return false, err
	}
	if own, known := mine.Sys().(*syscall.Stat_t); ok && known && (own.Uid != old.Uid || own.Gid != old.Gid) {
		if err := f.Chown(int(old.Uid), int(old.Gid)); err != nil {
			if own.Uid != old.Uid {
				return false, fmt.Errorf("the file belongs to another user (id %d), and would not after that: %w", old.Uid, err)
			}
			other, mode = true, mode&^0o070
		}
	}
	return other, f.Chmod(mode)
}

// links is how many names a file has.
func links(info os.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Nlink)
	}
	return 1
}

// syncFolder forces to the disk which file has a name, where the file system can do that.
func syncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// isBusy reports whether a file could not be replaced for a reason that passes by itself: never, where open files can be replaced.
func isBusy(error, string) bool { return false }
