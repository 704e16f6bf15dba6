package budget

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

// The one in the middle counts, however late it is, and each is measured three times.
func TestMedian(t *testing.T) {
	for _, order := range [][]time.Duration{{1, 5, 9}, {9, 5, 1}, {5, 9, 1}, {5, 1, 5}} {
		synctest.Test(t, func(t *testing.T) {
			n := 0
			if got := Median(func() { time.Sleep(order[n] * time.Second); n++ }); got != 5*time.Second || n != 3 {
				t.Errorf("of %v the median is %v after %d runs", order, got, n)
			}
		})
	}
}

func TestRelative(t *testing.T) {
	order := ""
	all := []time.Duration{30, 200, 10} // against 10, 20, 10
	got := Relative(
		func() time.Duration { order += "g"; return all[len(order)/2-1] },
		func() time.Duration { order += "b"; return []time.Duration{10, 20, 10}[len(order)/2] })
	if got != 3 || order != "bgbgbg" {
		t.Errorf("%v times as long, measured in the order %s", got, order)
	}
	assert.Equalf(t, Relative(func() time.Duration { return 2 }, func() time.Duration { return 0 }), 2, "against nothing")
}
