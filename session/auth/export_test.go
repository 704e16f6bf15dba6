package auth

import "time"

// LimitHelper gives headers helpers so long to end, and returns how long they have otherwise.
func LimitHelper(o *Options, d time.Duration) time.Duration {
	o.helperTimeout = d
	return helperTimeout
}
