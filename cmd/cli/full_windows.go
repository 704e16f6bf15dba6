package cli

import (
	"errors"
	"syscall"

	"golang.org/x/sys/windows"
)

// full reports whether an error says that a disk has no room left; the database says so as on other systems.
func full(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) || errors.Is(err, syscall.ENOSPC)
}
