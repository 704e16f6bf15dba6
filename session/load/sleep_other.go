//go:build !linux

package load

import "time"

// nap sleeps for a time of at most a few milliseconds.
func nap(d time.Duration) { time.Sleep(d) }
