package tenant

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/mcphud/mcphud/session/jsonrpc"
)

// maxMeters bounds how many tenants are counted at once.
const maxMeters = 10_000

// sharedRetry is what a caller above the concurrent limit is told to wait: nobody knows when a running call ends.
const sharedRetry = time.Second

// Limits are what one tenant may do. 0 is unlimited.
type Limits struct {
	PerMinute  int // tool calls in any minute
	Concurrent int // tool calls at the same time, those that wait in the queue included
}

// limiter counts the tool calls of each tenant. A tenant that made no call for a minute is forgotten when room is
// needed, which changes nothing for it; none is forgotten earlier, so that nobody gets a fresh minute by naming many
// tenants. While there is no room, all tenants beyond the table share one meter. The zero Limits make it free.
type limiter struct {
	limits Limits
	now    func() time.Time
	start  time.Time
	size   int // how many tenants have a meter of their own

	mu     sync.Mutex
	meters *simplelru.LRU[string, *meter]
	shared *meter
}

// meter is what one tenant uses. Guarded by the limiter's mutex.
type meter struct {
	window  window
	running int
	last    int64 // second of the last call
}

func newLimiter(l Limits, now func() time.Time, size int) *limiter {
	// The list is used for its order; meter never lets it grow to where it would evict by itself. It refuses sizes below 1.
	lru, _ := simplelru.NewLRU[string, *meter](size+1, nil)
	return &limiter{limits: l, now: now, start: now(), size: size, meters: lru, shared: new(meter)}
}

// take counts one call of a tenant, or says why it must not be made.
func (l *limiter) take(tenant string) *jsonrpc.Failure {
	l.mu.Lock()
	defer l.mu.Unlock()
	elapsed := l.now().Sub(l.start)
	m := l.meter(tenant, elapsed)
	if wait := m.window.take(elapsed, l.limits.PerMinute); wait > 0 {
		return limited("per_minute", l.limits.PerMinute, wait)
	}
	return nil
}

// enter counts one call that begins, or says why it must not run. The meter goes back to leave when the call is over.
func (l *limiter) enter(tenant string) (*meter, *jsonrpc.Failure) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.meter(tenant, l.now().Sub(l.start))
	if m.running >= l.limits.Concurrent {
		return nil, limited("concurrent", l.limits.Concurrent, sharedRetry)
	}
	m.running++
	return m, nil
}

func (l *limiter) leave(m *meter) {
	l.mu.Lock()
	m.running--
	l.mu.Unlock()
}

// meter finds a tenant's meter, or makes one where that evicts nobody who is still counted.
func (l *limiter) meter(tenant string, elapsed time.Duration) *meter {
	second := int64(elapsed / time.Second)
	if m, ok := l.meters.Get(tenant); ok {
		m.last = second
		return m
	}
	if l.meters.Len() >= l.size && !l.evict(second) {
		return l.shared
	}
	m := &meter{last: second}
	l.meters.Add(tenant, m)
	return m
}

// evict drops the tenant that was idle for longest, if that was so long that its meter is as good as a new one.
func (l *limiter) evict(second int64) bool {
	const tries = 8 // tenants whose calls run for over a minute stand in the way
	for range tries {
		tenant, m, ok := l.meters.GetOldest()
		if !ok || second-m.last <= slots {
			return false
		}
		if m.running == 0 {
			l.meters.Remove(tenant)
			return true
		}
		l.meters.Get(tenant) // makes it the youngest
	}
	return false
}

// active is how many tenants are counted.
func (l *limiter) active() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.meters.Len()
}

func limited(which string, n int, wait time.Duration) *jsonrpc.Failure {
	f := jsonrpc.Fail(jsonrpc.FailRateLimited, "Rate limit exceeded").With("limit", n).With("limited", which)
	f.RetryAfter = wait
	return f
}
