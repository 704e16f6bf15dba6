package stack

import (
	"cmp"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
)

// Backoff is the pause before a failed process is restarted: twice as long each time, with up to a fifth taken off at
// random, so that processes that failed together do not restart together.
type Backoff struct {
	First  time.Duration // default 250 ms
	Most   time.Duration // default 30 s
	Loop   int           // consecutive failures that make a crash loop; default 5
	Stable time.Duration // ready for this long, a process counts as recovered; default 10 s
}

func (b *Backoff) complete() {
	b.First = cmp.Or(b.First, 250*time.Millisecond)
	b.Most = cmp.Or(b.Most, 30*time.Second)
	b.Loop = cmp.Or(b.Loop, 5)
	b.Stable = cmp.Or(b.Stable, 10*time.Second)
}

// wait is the pause after that many consecutive failures, from 1 on.
func (b *Backoff) wait(failures int) time.Duration {
	return failure.Jitter(failure.Backoff(failures, b.First, b.Most), jitter)
}

// jitter is the part of a pause that is random.
const jitter = 0.2
