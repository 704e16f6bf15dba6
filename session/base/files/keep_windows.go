package files

import (
	"errors"
	"os"
	"syscall"
)

// keep gives a new file the mode of the one that it replaces; the folder says whose it is.
func keep(f *os.File, info os.FileInfo) (other bool, err error) {
	return false, f.Chmod(info.Mode().Perm())
}

// links is how many names a file has, which is not asked here.
func links(os.FileInfo) int { return 1 }

func syncFolder(string) {}

// sharingViolation is that of a file that another program has open.
const sharingViolation = syscall.Errno(32)

// isBusy reports whether a file could not be replaced for a reason that passes by itself: another program has it open, such as a scanner for
// viruses or a backup. A folder, or a file that is read-only, stays one.
func isBusy(err error, to string) bool {
	if !errors.Is(err, sharingViolation) && !errors.Is(err, syscall.ERROR_ACCESS_DENIED) {
		return false
	}
	info, bad := os.Stat(to)
	return bad != nil || !info.IsDir() && info.Mode().Perm()&0o200 != 0
}
