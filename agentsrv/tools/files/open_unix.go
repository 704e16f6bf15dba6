//go:build unix

package files

import "golang.org/x/sys/unix"

// nonblock keeps the opening of a FIFO that appeared in place of a file from waiting for a writer.
const nonblock = unix.O_NONBLOCK
