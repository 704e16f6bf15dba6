package limit

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// clock is a time that tests move.
type clock struct{ at atomic.Int64 }

func (c *clock) now() time.Time        { return time.Unix(0, c.at.Load()) }
func (c *clock) move(by time.Duration) { c.at.Add(int64(by)) }

func TestX3_The101stCallOfAMinuteIsRefused(t *testing.T) {
	var c clock
	l := newLimiter(c.now, 10)
	for i := range 100 {
		if bad := l.Take("a", 100); bad != nil {
			t.Fatalf("call %d: %v", i+1, bad)
		}
		c.move(590 * time.Millisecond) // slow enough for a token bucket to refill, still 59 s in all
	}
	bad := l.Take("a", 100)
	if bad == nil {
		t.Fatal("the 101st call of a minute passed")
	}
	if bad.Message != "Rate limit exceeded" || bad.Code(false) != -32002 || bad.RetryAfter <= 0 || bad.RetryAfter > 61*time.Second {
		t.Errorf("%+v", bad)
	}
	if other := l.Take("b", 100); other != nil {
		t.Errorf("another tenant was refused: %v", other)
	}
	c.move(bad.RetryAfter - time.Millisecond)
	if early := l.Take("a", 100); early == nil {
		t.Error("a call passed before the time that was named")
	}
	c.move(time.Millisecond)
	if late := l.Take("a", 100); late != nil {
		t.Errorf("a call after the time that was named: %v", late)
	}
}

// A call is named the time when the oldest one leaves the window, to the second in which it is the oldest one's last.
func TestX3_RetryAfterOfTheOldestCall(t *testing.T) {
	for _, c := range []struct{ gap, want time.Duration }{
		{0, 61 * time.Second},
		{time.Second, 60 * time.Second},
		{59 * time.Second, 2 * time.Second},
		{60 * time.Second, time.Second},
		{60*time.Second + 999*time.Millisecond, time.Millisecond},
		{61 * time.Second, 0},
	} {
		var at clock
		l := newLimiter(at.now, 10)
		if bad := l.Take("a", 2); bad != nil {
			t.Fatal(bad)
		}
		at.move(c.gap)
		if bad := l.Take("a", 2); bad != nil {
			t.Fatal(bad)
		}
		var got time.Duration
		if bad := l.Take("a", 2); bad != nil {
			got = bad.RetryAfter
		}
		if got != c.want {
			t.Errorf("%v after the first of two calls: wait %v, want %v", c.gap, got, c.want)
		}
	}
}

// Any 60 seconds hold at most the limit, whatever the pattern.
func TestX3_NoMinuteHoldsMore(t *testing.T) {
	var c clock
	l := newLimiter(c.now, 10)
	var passed []time.Time
	step := uint64(1)
	for range 5000 {
		step = step*6364136223846793005 + 1442695040888963407
		c.move(time.Duration(step>>40) * 40 * time.Nanosecond) // up to 0.67 s
		if l.Take("a", 30) == nil {
			passed = append(passed, c.now())
		}
	}
	if len(passed) < 500 {
		t.Fatalf("only %d calls passed", len(passed))
	}
	for i := 30; i < len(passed); i++ {
		if d := passed[i].Sub(passed[i-30]); d < time.Minute {
			t.Fatalf("31 calls within %v", d)
		}
	}
}

func TestX3_TheEleventhConcurrentCallIsRefused(t *testing.T) {
	l := newLimiter(time.Now, 10)
	var meters []*Meter
	for range 10 {
		m, bad := l.Acquire("a", 10)
		if bad != nil {
			t.Fatal(bad)
		}
		meters = append(meters, m)
	}
	_, bad := l.Acquire("a", 10)
	if bad == nil || bad.Code(false) != -32002 || bad.RetryAfter <= 0 {
		t.Fatalf("%+v", bad)
	}
	l.Release(meters[0])
	if _, bad := l.Acquire("a", 10); bad != nil {
		t.Error(bad)
	}
}

// Exactly the limit passes, however many try at once.
func TestX3_ExactUnderRace(t *testing.T) {
	var c clock
	l := newLimiter(c.now, 10)
	var passed, running, most atomic.Int64
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 200 {
				if l.Take("a", 100) == nil {
					passed.Add(1)
				}
				m, bad := l.Acquire("a", 7)
				if bad != nil {
					continue
				}
				if n := running.Add(1); n > most.Load() {
					most.Store(n)
				}
				running.Add(-1)
				l.Release(m)
			}
		})
	}
	wg.Wait()
	if passed.Load() != 100 || most.Load() > 7 {
		t.Errorf("%d passed, %d at once", passed.Load(), most.Load())
	}
}

func TestX3_X6_ManyTenantsNeitherGrowNorReset(t *testing.T) {
	var c clock
	l := newLimiter(c.now, 100)
	call := func(tenant string) bool { return l.Take(tenant, 2) == nil }
	for i := range 3 {
		if call("victim") != (i < 2) {
			t.Fatal("the limit is not 2")
		}
	}
	passed := 0
	for i := range 5000 {
		if call(fmt.Sprint("t", i)) {
			passed++
		}
	}
	if n := l.Active(); n > 100 {
		t.Errorf("%d meters", n)
	}
	if passed > 99+2 {
		t.Errorf("%d of 5,000 new tenants got through a full table", passed)
	}
	if call("victim") {
		t.Error("other tenants' calls reset the limit of one")
	}
	c.move(2 * time.Minute)
	if !call("late") || l.Active() > 100 || !call("victim") {
		t.Error("a table of idle tenants has no room for a new one")
	}
}

// Requests that were made elsewhere count like those made here.
func TestX3_CountsOfElsewhere(t *testing.T) {
	var c clock
	l := newLimiter(c.now, 10)
	l.Add("a", 2)
	c.move(time.Second)
	if bad := l.Take("a", 3); bad != nil {
		t.Errorf("the third of three: %v", bad)
	}
	if bad := l.Take("a", 3); bad == nil || bad.RetryAfter != 60*time.Second {
		t.Errorf("the fourth of three: %+v", bad)
	}
	c.move(60 * time.Second)
	for i, want := range []bool{true, true, false} {
		if bad := l.Take("a", 3); (bad == nil) != want {
			t.Errorf("call %d after the two went: %v", i+1, bad)
		}
	}
	if bad := l.Take("b", 1); bad != nil {
		t.Errorf("another tenant: %v", bad)
	}
}

// A tenant whose request runs for long is in nobody's way: the one after it makes room.
func TestX3_RoomBehindARunningTenant(t *testing.T) {
	var c clock
	l := newLimiter(c.now, 2)
	slow, _ := l.Acquire("slow", 1)
	_ = l.Take("idle", 1)
	c.move(60 * time.Second)
	if _, bad := l.Acquire("early", 1); bad != nil || l.meters.Contains("early") || !l.meters.Contains("idle") {
		t.Errorf("a tenant was forgotten within its minute: %v, %v", bad, l.meters.Keys())
	}
	c.move(time.Second)
	if _, bad := l.Acquire("new", 1); bad != nil || !l.meters.Contains("new") || !l.meters.Contains("slow") || l.meters.Contains("idle") {
		t.Errorf("no room was made: %v, %v", bad, l.meters.Keys())
	}
	l.Release(slow)
	if _, bad := l.Acquire("slow", 1); bad != nil {
		t.Error(bad)
	}
}

func TestX3_ARunningTenantIsNotForgotten(t *testing.T) {
	var c clock
	l := newLimiter(c.now, 3)
	m, _ := l.Acquire("slow", 1)
	for i := range 10 {
		c.move(2 * time.Minute)
		if m, bad := l.Acquire(fmt.Sprint(i), 1); bad == nil {
			l.Release(m)
		}
	}
	if _, bad := l.Acquire("slow", 1); bad == nil {
		t.Error("a second call ran beside the first")
	}
	l.Release(m)
	if _, bad := l.Acquire("slow", 1); bad != nil {
		t.Error(bad)
	}
}

func BenchmarkLimiter(b *testing.B) {
	l := New(10_000)
	for b.Loop() {
		_ = l.Take("default", 1<<30)
		m, _ := l.Acquire("default", 1<<30)
		l.Release(m)
	}
}
