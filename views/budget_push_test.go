package views_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
)

// pressAll measures keys, each up to the frame that shows it.
func pressAll(r *rig, keys ...string) func() time.Duration {
	return func() time.Duration {
		took := budget.Time(func() { r.press(keys...) })
		r.drain()
		return took
	}
}

// Of all screens the slowest counts.
func TestBudgetPushKeyOnEveryScreen(t *testing.T) {
	budget.Push(t)
	r := newRig(t, faketest.Stdio(t, behave.Good), "tools")
	r.until("rpc_error")
	fill(r, "notify")
	r.press("ctrl+g")
	r.until("✓ ")
	r.rest()
	const perKey = 200 * time.Microsecond
	var slowest string
	var got, base time.Duration
	for _, s := range keyScreens {
		r.send(tui.Navigate{View: s.view, Arg: s.arg})
		r.rest()
		best := budget.Alternate(budget.Work(time.Duration(len(s.keys))*perKey), pressAll(r, s.keys...))
		t.Logf("%s: %v for %d keys, known work %v", s.view, best[1], len(s.keys), best[0])
		if slowest == "" || float64(best[1])/float64(best[0]) > float64(got)/float64(base) {
			slowest, got, base = s.view, best[1], best[0]
		}
	}
	t.Logf("the slowest is %s", slowest)
	budget.Ratio(t, "keys at 200x60 on the slowest screen, against known work", got, base, 2)
}

// lines opens a result of so many lines.
func lines(t *testing.T, n int) *rig {
	t.Helper()
	r := newRig(t, faketest.Stdio(t, behave.Good), "tools")
	r.until("rpc_error")
	fill(r, "big", fmt.Sprintf(`{"bytes":%d}`, 100*n))
	return r
}

// opened measures from the key that sends until the result is there.
func opened(r *rig) func() time.Duration {
	return func() time.Duration {
		r.press("ctrl+g")
		_, _ = r.until("reading the result")
		took, _ := r.until("line 12 the quick")
		return took
	}
}

func TestBudgetPushLongResult(t *testing.T) {
	budget.Push(t)
	long, short := lines(t, 100_000), lines(t, 10_000)
	budget.Known(t, "100,000-line result opened", opened(long), 15*time.Millisecond, 2)
	opened(short)()
	long.rest()
	short.rest()
	keys := []string{"pgdown", "pgdown", "pgup", "G", "pgup", "g"}
	best := budget.Alternate(pressAll(short, keys...), pressAll(long, keys...))
	budget.Ratio(t, "100,000-line result scrolled, against 10,000 lines", best[1], best[0], 1.3)
}

func TestBudgetPushManyTools(t *testing.T) {
	budget.Push(t)
	r := newRig(t, faketest.Stdio(t, behave.ManyTools), "tools")
	r.until("tool_0003")
	r.rest()
	budget.Known(t, "5,000 tools, 6 keys", pressAll(r, "j", "j", "pgdown", "G", "k", "g"), 2*time.Millisecond, 2)
	r.press("/")
	budget.Known(t, "5,000 tools, filter keystroke on the screen", func() time.Duration {
		r.typed("tool_00")
		r.until("100 of 5000")
		r.rest()
		start := time.Now()
		r.press("1")
		r.until("10 of 5000")
		took := time.Since(start)
		r.press("ctrl+u")
		r.rest()
		return took
	}, 4*time.Millisecond, 2)
}

func TestBudgetPushDeepSchema(t *testing.T) {
	budget.Push(t)
	r := newRig(t, faketest.Stdio(t, behave.DeepSchema), "tools")
	r.until("deep")
	r.rest()
	budget.Known(t, "moving onto a tool with a 100-level schema, drawn", func() time.Duration {
		r.press("g")
		r.rest()
		start := time.Now()
		r.press("j")
		r.until("one level down")
		return time.Since(start)
	}, 700*time.Microsecond, 2)
}

func TestBudgetPushSixtyKeys(t *testing.T) {
	budget.Push(t)
	app := live(t, tuitest.Target(faketest.Stdio(t, behave.ManyTools)))
	shown(t, app, time.Now(), "Field 0 of tool_0000")
	at := 0
	budget.Known(t, "60 keys in one write, 60 of 5,000 tools moved, on the screen", func() time.Duration {
		at += 60
		app.Settle()
		start := time.Now()
		app.Keys(strings.Repeat("j", 60))
		return shown(t, app, start, fmt.Sprintf("Field 0 of tool_%04d", at))
	}, 40*time.Millisecond, 2)
}

// What the flood adds is told by the same program with a server that sends one notification a beat.
func TestBudgetPushNotificationFlood(t *testing.T) {
	budget.Push(t)
	const perSecond = 10_000
	var measures []func() time.Duration
	flooded := live(t, tuitest.Peer("flood", (&flood{perSecond: perSecond}).serve))
	calm := live(t, tuitest.Peer("flood", (&flood{perSecond: int(time.Second / floodBeat)}).serve))
	for _, app := range []*tuitest.App{calm, flooded} {
		shown(t, app, time.Now(), "second")
		measures = append(measures, func() time.Duration {
			all := latencies(t, app, 50, func(i int) (string, string) {
				if i%2 == 0 {
					return "j", " second ─"
				}
				return "k", " first ─"
			})
			return all[len(all)*9/10]
		})
	}
	calmRev, floodedRev := calm.Manager().Journal().Rev(), flooded.Manager().Journal().Rev()
	best := budget.Alternate(measures...)
	budget.Ratio(t, "10,000 notifications/s, key to screen p90, against 200/s", best[1], best[0], 1.6)
	const more = uint64(perSecond * floodBeat / time.Second) // of them in each beat
	calmRev, floodedRev = calm.Manager().Journal().Rev()-calmRev, flooded.Manager().Journal().Rev()-floodedRev
	if floodedRev < more/2*calmRev {
		t.Errorf("%d notifications were journalled of the flood, %d of a server that sends one for %d of them", floodedRev, calmRev, more)
	}
}
