package failure

import (
	"math"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestWait(t *testing.T) {
	const first, longest = 250 * time.Millisecond, 30 * time.Second
	for n, want := range map[int]time.Duration{
		-1: first, 0: first, 1: first, 2: 2 * first, 5: 4 * time.Second, 7: 16 * time.Second, 8: longest, 9: longest, math.MaxInt: longest,
	} {
		assert.Equalf(t, Backoff(n, first, longest), want, "attempt %d", n)
	}
	assert.Equal(t, Backoff(3, time.Minute, time.Second), time.Second)
	assert.Equal(t, Backoff(100, 1, math.MaxInt64/2+1), math.MaxInt64/2+1)
}

func TestJitter(t *testing.T) {
	seen := map[time.Duration]bool{}
	for range 1000 {
		d := Jitter(time.Second, 0.2)
		if d < 800*time.Millisecond || d > time.Second {
			t.Fatal(d)
		}
		seen[d] = true
	}
	if len(seen) < 100 {
		t.Errorf("only %d different pauses", len(seen))
	}
	if Jitter(0, 1) != 0 || Jitter(time.Second, 0) != time.Second {
		t.Error("jitter of nothing")
	}
}
