package tui

import (
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/themes"
	"github.com/mcphud/mcphud/tui/paint"
)

// Without colours the healths differ by their glyph, which is one cell wide, as a spinner is.
func TestHealthAndSpinner(t *testing.T) {
	th := paint.New(themes.All()[0], colorprofile.NoTTY)
	seen := map[string]bool{}
	for h := Stopped; h <= Locked; h++ {
		m := h.Mark(th)
		if paint.Width(m) != 1 {
			t.Errorf("%q is not one cell", m)
		}
		seen[m] = true
	}
	if len(seen) != 5 {
		t.Errorf("healths look alike: %v", seen)
	}
	for state, want := range map[session.State]Health{
		session.Connected: Healthy, session.Connecting: Changing, session.Failed: Unhealthy, session.Disconnected: Stopped,
		session.NeedsLogin: Locked,
	} {
		assert.Equalf(t, HealthOf(state), want, "%s", state)
	}
	frames := map[string]bool{}
	for d := time.Duration(0); d < 4*time.Second; d += beatTime {
		s := Spinner(d)
		if paint.Width(s) != 1 {
			t.Fatalf("%q", s)
		}
		frames[s] = true
	}
	assert.Equalf(t, len(frames), 11, "frames")
}

// Of an error that does not fit the reason is shown rather than what it led to.
func TestReasonKeepsWhatLedToAnError(t *testing.T) {
	const e = "the server exited with status 1: FATAL: lost the database"
	for w, want := range map[int]string{80: e, 30: "FATAL: lost the database", 20: "lost the database", 4: "lost the database"} {
		assert.Equalf(t, reason(e, w), want, "in %d cells", w)
	}
}
