package atomicfile

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// keep gives a new file the mode of the one that it replaces; the folder says whose it is.
func keep(f *os.File, info os.FileInfo) error { return f.Chmod(info.Mode().Perm()) }

func syncFolder(string) {}

// rename tries for a second to replace a file that another program has open, such as a scanner for viruses or a backup.
func rename(from, to string) (err error) {
	const sharingViolation = syscall.Errno(32)
	for range 100 {
		if err = os.Rename(from, to); err == nil || !errors.Is(err, sharingViolation) && !errors.Is(err, syscall.ERROR_ACCESS_DENIED) {
			return err
		}
		if info, bad := os.Stat(to); bad == nil && (info.IsDir() || info.Mode().Perm()&0o200 == 0) {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return err
}
