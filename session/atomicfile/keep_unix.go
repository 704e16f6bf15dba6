//go:build unix

package atomicfile

import (
	"fmt"
	"os"
	"syscall"
)

// keep gives a new file the mode and the owner of the one that it replaces. Where the group cannot be kept, it may do nothing with the
// new one.
func keep(f *os.File, info os.FileInfo) error {
	mode := info.Mode().Perm()
	old, ok := info.Sys().(*syscall.Stat_t)
	mine, err := f.Stat()
	if err != nil {
		return err
	}
	if own, known := mine.Sys().(*syscall.Stat_t); ok && known && (own.Uid != old.Uid || own.Gid != old.Gid) {
		if err := f.Chown(int(old.Uid), int(old.Gid)); err != nil {
			if own.Uid != old.Uid {
				return fmt.Errorf("the file belongs to another user (id %d), and would not after that: %w", old.Uid, err)
			}
			mode &^= 0o070
		}
	}
	return f.Chmod(mode)
}

// syncFolder forces to the disk which file has a name, where the file system can do that.
func syncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

func rename(from, to string) error { return os.Rename(from, to) }
