package files

import (
	"os"
	"time"
)

// How often, and after which pause, a file that is busy is tried to be replaced: for a second.
const renameTries, renamePause = 100, 10 * time.Millisecond

// Rename gives a file the name of another one, which it replaces. On Windows that fails while somebody has that one open, for which it waits up
// to a second.
func Rename(from, to string) error {
	return retryWhile(func() error { return os.Rename(from, to) }, func(err error) bool { return isBusy(err, to) })
}

// retryWhile tries until it works, fails for a reason that does not pass, or was tried often enough.
func retryWhile(try func() error, passes func(error) bool) (err error) {
	for i := range renameTries {
		if i > 0 {
			time.Sleep(renamePause)
		}
		if err = try(); err == nil || !passes(err) {
			return err
		}
	}
	return err
}
