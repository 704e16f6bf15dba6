// Package limit bounds the requests of each caller: how many in any minute, and how many at the same time.
package limit

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// concurrentRetry is the retryAfterMs for a caller above the concurrent limit: when a running call ends is unknown.
const concurrentRetry = time.Second

// Limiter counts the requests of each caller. A caller who made no request for a minute is forgotten when room is needed,
// which changes nothing for it; none is forgotten earlier, so that no caller gets a fresh minute by using many names. While
// there is no room, all callers beyond the table share one meter.
type Limiter struct {
	now   func() time.Time
	start time.Time
	size  int // how many callers have a meter of their own

	mu     sync.Mutex
	meters *simplelru.LRU[string, *Meter]
	shared *Meter
}

// Meter is what one caller uses.
type Meter struct { // guarded by the limiter's mutex
	window  window
	running int
	last    int64 // second of the last request
}

// New makes a Limiter with meters for size callers.
func New(size int) *Limiter { return newLimiter(time.Now, size) }

func newLimiter(now func() time.Time, size int) *Limiter {
	// The list is used for its order; meter never lets it grow to where it would evict by itself. It refuses sizes below 1.
	lru, _ := simplelru.NewLRU[string, *Meter](size+1, nil)
	return &Limiter{now: now, start: now(), size: size, meters: lru, shared: new(Meter)}
}

// Take counts one request of a caller. The error, rate_limited, says that perMinute were made in the last minute.
func (l *Limiter) Take(who string, perMinute int) *jsonrpc.RequestError {
	l.mu.Lock()
	defer l.mu.Unlock()
	elapsed := l.now().Sub(l.start)
	m := l.meter(who, elapsed)
	if wait := m.window.take(elapsed, perMinute); wait > 0 {
		return errLimited("per_minute", perMinute, wait)
	}
	return nil
}

// Add counts n requests of a caller that were made elsewhere.
func (l *Limiter) Add(who string, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	elapsed := l.now().Sub(l.start)
	l.meter(who, elapsed).window.add(elapsed, n)
}

// Acquire counts one request that begins. The error, rate_limited, says that so many of the caller's are running. The meter
// goes to Release when the request is over.
func (l *Limiter) Acquire(who string, concurrent int) (*Meter, *jsonrpc.RequestError) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.meter(who, l.now().Sub(l.start))
	if m.running >= concurrent {
		return nil, errLimited("concurrent", concurrent, concurrentRetry)
	}
	m.running++
	return m, nil
}

// Release ends what Acquire began.
func (l *Limiter) Release(m *Meter) {
	l.mu.Lock()
	m.running--
	l.mu.Unlock()
}

// Active is the number of callers that are counted.
func (l *Limiter) Active() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.meters.Len()
}

// meter finds a caller's meter, or makes one if that evicts no caller who is still counted.
func (l *Limiter) meter(who string, elapsed time.Duration) *Meter {
	second := int64(elapsed / time.Second)
	if m, ok := l.meters.Get(who); ok {
		m.last = second
		return m
	}
	if l.meters.Len() >= l.size && !l.evict(second) {
		return l.shared
	}
	m := &Meter{last: second}
	l.meters.Add(who, m)
	return m
}

// evict drops the caller that was idle for longest, if that was so long that its meter is as good as a new one.
func (l *Limiter) evict(second int64) bool {
	const tries = 8 // callers whose requests run for over a minute stand in the way
	for range tries {
		who, m, ok := l.meters.GetOldest()
		if !ok || second-m.last <= slots {
			return false
		}
		if m.running == 0 {
			l.meters.Remove(who)
			return true
		}
		l.meters.Get(who) // makes it the youngest
	}
	return false
}

func errLimited(which string, n int, wait time.Duration) *jsonrpc.RequestError {
	f := jsonrpc.Errorf(jsonrpc.KindRateLimited, "Rate limit exceeded").With("limit", n).With("limited", which)
	f.RetryAfter = wait
	return f
}
