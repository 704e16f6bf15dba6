package conform

import (
	"runtime"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/sessiontest"
)

// A server that leaves a child behind is waited for once: the processes that follow have hardly any time.
func TestWhatIsLeftBehindIsWaitedForOnce(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("what is left behind is known on Linux only, and not waited for elsewhere")
	}
	cfg := faketest.Stdio(t, behave.Good)
	cfg.Args = append([]string{"-c", `sleep 1000 & exec "$0" "$@"`, cfg.Command}, cfg.Args...)
	cfg.Command = "sh"
	_, s := sessiontest.Open(t, session.Options{}, cfg)
	o, err := check.Take(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	target, err := newTarget(&check.Subject{Offer: o, Session: s}, 20*time.Second, 100*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []time.Duration{100 * time.Millisecond, 0} {
		c := target.connection(rev2511)
		if got := c.grace(); got != want {
			t.Errorf("process %d has %v, want %v", i+1, got, want)
		}
		if err := c.open(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.close()
		if e := c.pipe.exit; e.Forced != "" || e.Left == 0 {
			t.Errorf("process %d: %+v", i+1, e)
		}
	}
}
