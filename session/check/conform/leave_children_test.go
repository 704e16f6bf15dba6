package conform

import (
	"runtime"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/sessiontest"
)

// A server that leaves a child behind has that waited for once. It still has its own time to leave each time: it leaves properly.
func TestWhatIsLeftBehindIsWaitedForOnce(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("what is left behind is known on Linux only, and not waited for elsewhere")
	}
	const busy = 300 * time.Millisecond // far more than a process has that is not waited for
	cfg := faketest.Stdio(t, behave.Good)
	cfg.Args = append([]string{"-c", `sleep 1000 & "$0" "$@"; sleep 0.3`, cfg.Command}, cfg.Args...)
	cfg.Command = "sh"
	_, s := sessiontest.Open(t, session.Options{}, cfg)
	o, err := check.Take(t.Context(), s)
	require.NoError(t, err)
	target, err := newTarget(&check.Subject{Offer: o, Session: s}, 20*time.Second, time.Minute)
	require.NoError(t, err)
	target.others = 100 * time.Millisecond
	for i, want := range []time.Duration{target.others, hardly} {
		c := target.connection(rev2511)
		if got := c.leaveGrace(); got.Input != time.Minute || got.Others != want {
			t.Errorf("process %d has %+v, want a minute and %v for what it leaves behind", i+1, got, want)
		}
		require.NoError(t, c.open(t.Context()))
		c.close()
		if e := c.pipe.exit; e.Forced != "" || e.Left == 0 || e.Took < busy {
			t.Errorf("process %d: %+v", i+1, e)
		}
	}
}
