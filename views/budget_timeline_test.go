package views_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
	"github.com/mcphud/mcphud/views/traffic"
)

// The timeline of a million frames, and then of 10,000 more each second, answers keys at once and counts every call.
func TestBudgetTimeline(t *testing.T) {
	budget.Skip(t)
	const calls, perSecond = 500_000, 10_000
	j, m := filled(t)
	at := time.Now().Add(-time.Hour)
	n := 0
	call := func(begin time.Time) {
		id, tool := fmt.Sprint(n), fmt.Sprint("tool", n%50)
		server := fmt.Sprint("s", n%3)
		j.Append(journal.Entry{Server: server, Conn: 1, Dir: journal.Out, Kind: journal.Request, ID: id, Method: "tools/call", Tool: tool, Time: begin}, []byte(`{"method":"tools/call"}`))
		j.Append(journal.Entry{Server: server, Conn: 1, Dir: journal.In, Kind: journal.Response, ID: id, Time: begin.Add(time.Duration(n%90) * time.Millisecond)}, []byte(`{"result":{}}`))
		n++
	}
	for range calls {
		call(at.Add(time.Duration(n) * time.Millisecond))
	}
	app := tuitest.Start(t, tuitest.Views(views.Watch(traffic.Foreign{})...), tuitest.Size(200, 60), tuitest.Sessions(m))
	app.Settle()
	start := time.Now()
	app.Send(tui.Navigate{View: "timeline"})
	budget.Ceiling(t, "timeline of 1,000,000 frames, first drawn", shown(t, app, start, "500000 calls"), 2*time.Second)
	budget.Ceiling(t, "timeline of 1,000,000 frames, key to screen p99", p99(func() []time.Duration {
		return latencies(t, app, 50, func(i int) (string, string) {
			if i%2 == 0 {
				return "g", "#1 ✓" // of the lane that the newest call is on
			}
			return "G", "#499999 ✓"
		})
	}), 20*time.Millisecond)

	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for tick := time.NewTicker(10 * time.Millisecond); ; {
			select {
			case <-stop:
				tick.Stop()
				return
			case <-tick.C:
				for range perSecond / 2 / 100 {
					call(time.Now())
				}
			}
		}
	}()
	budget.Ceiling(t, "timeline at 10,000 frames/s, key to screen p99", typing(t, app), 20*time.Millisecond)
	close(stop)
	<-done
	shown(t, app, time.Now(), fmt.Sprintf("%d calls", n))
	assert.NotContains(t, app.Screen(), "counting")
}
