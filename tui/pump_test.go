package tui

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// 10,000 changes a second wake the program 30 times a second and a few times
// more in the beginning, and the last change is never missed.
func TestPumpCoalesces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		changed := make(chan struct{}, 1)
		var rev, seen, got atomic.Uint64
		stop := startPump(changed, nil, rev.Load, func(m tea.Msg) {
			got.Add(1)
			seen.Store(m.(SessionChanged).Rev)
		})
		for range 10_000 {
			rev.Add(1)
			select {
			case changed <- struct{}{}:
			default:
			}
			time.Sleep(100 * time.Microsecond)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got.Load() > 36 || seen.Load() != rev.Load() {
			t.Errorf("%d messages, the last of revision %d of %d", got.Load(), seen.Load(), rev.Load())
		}
		stop()
	})
}

// After some quiet, what follows a first change is not kept waiting: the steps
// of connecting come within a few milliseconds.
func TestPumpIsQuickAfterQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		changed := make(chan struct{}, 1)
		var got atomic.Uint64
		stop := startPump(nil, changed, func() uint64 { return 0 }, func(tea.Msg) { got.Add(1) })
		for range 3 {
			time.Sleep(time.Second)
			before, start := got.Load(), time.Now()
			for range 3 {
				changed <- struct{}{}
				synctest.Wait()
			}
			for got.Load() < before+3 {
				time.Sleep(time.Millisecond)
			}
			if took := time.Since(start); took > 15*time.Millisecond {
				t.Errorf("three changes took %v", took)
			}
		}
		stop()
	})
}

func TestCoalescerKeepsEveryNotch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCoalescer()
		events, notches := 0, 0
		take := func(m tea.Msg) {
			if w, ok := m.(wheel); ok {
				events++
				notches += w.notches
			}
		}
		for range 100 {
			take(c.filter(nil, tea.MouseWheelMsg{Button: tea.MouseWheelDown}))
		}
		for c.waiting {
			take(c.filter(nil, wheelFlush{}))
		}
		if events != 2 || notches != 100 {
			t.Errorf("100 notches became %d events of %d notches", events, notches)
		}
		moves := 0
		for range 100 {
			if c.filter(nil, tea.MouseMotionMsg{}) != nil {
				moves++
			}
			time.Sleep(4 * time.Millisecond)
		}
		if moves != 25 {
			t.Errorf("100 motions in 0.4 s became %d", moves)
		}
		if k := (tea.KeyPressMsg{Code: 'a'}); c.filter(nil, k) != tea.Msg(k) {
			t.Error("a key did not pass")
		}
	})
}

// A terminal that no longer reads holds the program for exitTime at most.
func TestWatchdogEndsAProgramThatCannotExit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		code := make(chan int, 1)
		d := newWatchdog(func(c int) { code <- c })
		d.arm()
		start := time.Now()
		if got := <-code; got == 0 || time.Since(start) != exitTime {
			t.Errorf("ended with %d after %v", got, time.Since(start))
		}
		d = newWatchdog(func(c int) { code <- c })
		d.arm()
		d.stop()
		d.arm()
		time.Sleep(time.Hour)
		select {
		case <-code:
			t.Error("it ended the program after it was stopped")
		default:
		}
	})
}

// Overlays that nobody asked for do not take keys that were meant for
// something else.
func TestUnsolicitedOverlayHasGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &App{actions: &actionSet{}}
		yes := 0
		q := newConfirm(Confirmation{Title: "t", OnYes: func(*Ctx) tea.Cmd { yes++; return nil }})
		a.ctx.app = a
		a.push(q, true)
		press := func() { a.top().key(a, pressOf("y")) }
		for range 5 { // somebody is typing
			time.Sleep(200 * time.Millisecond)
			press()
		}
		if yes != 0 {
			t.Fatal("typing answered the question")
		}
		time.Sleep(graceQuiet + time.Millisecond)
		press()
		if yes != 1 {
			t.Errorf("after the grace the key counted %d times", yes)
		}
		a.push(q, true)
		for range 20 { // typing on and on is not locked out for ever
			if a.top() == nil {
				break
			}
			time.Sleep(100 * time.Millisecond)
			press()
		}
		if yes != 2 {
			t.Errorf("after %v of typing the key counted %d times", graceMost, yes)
		}
	})
}

func TestRecallSurvivesARestart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sub", "history")
	var r recall
	r.load(file)
	r.add("tools")
	r.add("traffic")
	r.add("tools")
	require.NoError(t, r.save())
	var s recall
	s.load(file)
	s.begin()
	assert.Equalf(t, s.move(true, "typed"), "tools", "up")
	assert.Equalf(t, s.move(true, ""), "traffic", "up again")
	s.move(false, "")
	assert.Equalf(t, s.move(false, ""), "typed", "down to the end")
	if st, err := os.Stat(file); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v, %v", st.Mode(), err)
	}
}

func TestPressOf(t *testing.T) {
	for _, k := range []string{"enter", "ctrl+p", "shift+tab", "G", "?", "space", "alt+b", "ctrl+enter", "pgdown", "+", "ctrl++", "\\"} {
		if got := pressOf(k).String(); got != k {
			t.Errorf("pressOf(%q) is called %q", k, got)
		}
	}
}
