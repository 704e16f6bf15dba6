//go:build unix

package views_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
	"github.com/mcphud/mcphud/views/traffic"
)

// cpu is the processor time that this process used.
func cpu(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// talk appends calls with a report of progress and an answer each: n frames in all, a third of them calls.
func talk(j *journal.Journal, from, n int) {
	for i := range n {
		id := fmt.Sprint((from + i) / 3)
		var e journal.Entry
		var body string
		switch (from + i) % 3 {
		case 0:
			e, body = call(id, "tool"+id[len(id)-1:])
		case 1:
			e, body = progress(id, 1)
		default:
			e, body = answer(id, "some text that a tool says of what it did and found")
		}
		e.Server, e.Conn = "files", 1
		j.Append(e, []byte(body))
	}
}

// Live traffic of 10,000 frames a second costs less than a core, and all of it is on the screen.
func TestBudgetLiveTraffic(t *testing.T) {
	budget.Skip(t)
	const perSecond, seconds = 10_000, 3
	j, m := filled(t)
	app := tuitest.Start(t, tuitest.Views(views.Watch(traffic.Foreign{})...), tuitest.Size(120, 40), tuitest.Sessions(m))
	shown(t, app, time.Now(), "Traffic")
	const beat = 5 * time.Millisecond
	before, start, sent := cpu(t), time.Now(), 0
	for sent < perSecond*seconds {
		due := min(int(time.Since(start).Seconds()*perSecond), perSecond*seconds)
		talk(j, sent, due-sent)
		sent = due
		time.Sleep(beat)
	}
	spent, took := cpu(t)-before, time.Since(start)
	shown(t, app, time.Now(), fmt.Sprintf("%d · %d frames", sent/3, sent))
	budget.Ceiling(t, "10,000 frames/s in traffic, processor time for a second of them", time.Duration(float64(spent)/took.Seconds()), time.Second)
	app.Press(":frames")
	shown(t, app, time.Now(), fmt.Sprintf(" %d ─╮", sent))
}

// A million frames are filtered into exchanges.
func TestBudgetFilterMillionFrames(t *testing.T) {
	budget.Skip(t)
	n := 1_000_000
	if budget.Race() {
		n = 30_000
	}
	j := journal.New(journal.Options{Dir: t.TempDir(), Entries: n + 1000})
	m := session.NewManager(session.Options{Journal: j})
	t.Cleanup(func() {
		_ = m.Close()
		_ = j.Close()
	})
	talk(j, 0, n-n%3)
	n -= n % 3
	app := tuitest.Start(t, tuitest.Views(views.Watch(traffic.Foreign{})...), tuitest.Size(120, 40), tuitest.Sessions(m))
	shown(t, app, time.Now(), fmt.Sprintf("%d · %d frames", n/3, n))
	tool := 0
	got := budget.Best(func() time.Duration {
		tool = (tool + 1) % 10
		start := time.Now()
		app.Keys(fmt.Sprintf("/\x15tool:=tool%d -text:zz\r", tool)) // ctrl+u
		for {                                                       // until no other tool is listed
			took := shown(t, app, start, fmt.Sprintf("tools/call tool%d #", tool))
			if s := app.Screen(); !strings.Contains(s, fmt.Sprintf("tools/call tool%d #", (tool+1)%10)) && !strings.Contains(s, fmt.Sprintf("tools/call tool%d #", (tool+9)%10)) {
				return took
			}
			app.Wait()
		}
	})
	budget.Ceiling(t, "1,000,000 frames filtered into exchanges, on the screen", got, 5*time.Second)
}
