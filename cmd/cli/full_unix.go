//go:build unix

package cli

import (
	"errors"
	"syscall"
)

// full reports whether an error says that a disk has no room left, for anybody or for this user.
func full(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
