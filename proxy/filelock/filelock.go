// Package filelock keeps several routers from changing one file at the same time.
package filelock

import (
	"errors"
	"io"
	"time"
)

// ErrHeld says that another process holds the lock.
var ErrHeld = errors.New("another process holds the lock")

// again is the pause between two attempts.
const again = 5 * time.Millisecond

// Lock holds the lock of a file or folder, which must be there, until it is closed; it waits for others no longer than wait,
// and then the error is ErrHeld. The lock binds only those who ask for it. Where the system or the file system has no such
// locks, everybody gets it.
func Lock(path string, wait time.Duration) (io.Closer, error) {
	end := time.Now().Add(wait)
	for {
		held, err := lock(path)
		if !errors.Is(err, ErrHeld) || !time.Now().Before(end) {
			return held, err
		}
		time.Sleep(again)
	}
}
