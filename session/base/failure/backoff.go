package failure

import (
	"math/rand/v2"
	"time"
)

// Backoff is the pause before attempt n (1, 2, 3 …; less counts as 1): first, doubled for each further attempt, and never
// more than longest.
func Backoff(n int, first, longest time.Duration) time.Duration {
	// Doubled in a loop that stops at longest, so that no n overflows.
	d := first
	for ; n > 1 && d < longest; n-- {
		d *= 2
	}
	return min(d, longest)
}

// Jitter takes a random part off d, at most fraction of it (0 to 1), so that those who failed together do not come back
// together.
func Jitter(d time.Duration, fraction float64) time.Duration {
	return d - time.Duration(rand.Float64()*fraction*float64(d))
}
