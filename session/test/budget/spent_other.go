//go:build !linux

package budget

import "time"

// Spent is the time that f takes, where the processor time of one thread is not known.
func Spent(f func()) time.Duration { return Time(f) }
