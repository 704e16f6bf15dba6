package views_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/tui/tuitest"
)

// A call that became a task has its hops, from its result and from the Tasks screen, and the keys of the result say so.
func TestHopsOfATask(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		synctest.Test(t, func(t *testing.T) {
			k := &worker{modern: true, took: 2500 * time.Millisecond}
			app := workshop(t, k, tuitest.Size(size[0], size[1]), tuitest.SessionOptions(func(o *session.Options) { o.Tracing = session.TraceAll }))
			fillIn(app, "work").Press("ctrl+g")
			app.Sleep(5*time.Second).Pane("result").Has("the work is done", "t frames · :hops")
			app.Press(":hops").View("trace").Pane("list").Has("client tools/call work → worker", "3s", "task, polled 3 times")
			app.Pane("list").HasNot("tasks/get", "unaccounted", "✗")
			app.Press("q", "t").View("traffic").Pane("list").Has("tools/call work")
			app.Press("8", "]").View("tasks").Press("enter").Pane("detail").Has("the work is done")
			app.Press(":hops").View("trace").Pane("list").Has("client tools/call work → worker", "task, polled 3 times")
			fillIn(app, "work").Press("ctrl+g").Sleep(1500 * time.Millisecond)
			app.Press(":").Type("trace").Press("enter").View("trace").Press(":next").Pane("list").Has("… client tools/call work → worker", "… task, polled once")
		})
	}
}
