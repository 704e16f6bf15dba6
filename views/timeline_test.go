package views_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
	"github.com/mcphud/mcphud/views/traffic"
)

// played adds to a journal 40 calls of three tools at two servers within four seconds: one in eight fails, one is cancelled, one
// waits, one reports progress and asks.
func played(j *journal.Journal, at time.Time) {
	add := func(after time.Duration, server string, d journal.Dir, k journal.Kind, id, method, body string) {
		j.Append(journal.Entry{Server: server, Conn: 1, Dir: d, Kind: k, ID: id, Method: method, Time: at.Add(after)}, []byte(body))
	}
	for i := range 40 {
		server, tool := "files", []string{"read", "write"}[i%2]
		if i%4 == 3 {
			server, tool = "kb", "search"
		}
		begin, id := time.Duration(i)*100*time.Millisecond, fmt.Sprint(i+1)
		took := time.Duration(20+i*7%150) * time.Millisecond
		add(begin, server, journal.Out, journal.Request, id, "tools/call", fmt.Sprintf(`{"id":%s,"method":"tools/call","params":{"name":%q,"_meta":{"progressToken":%s}}}`, id, tool, id))
		switch {
		case i == 39:
		case i == 20:
			add(begin+took, server, journal.Out, journal.Notification, "", "notifications/cancelled", fmt.Sprintf(`{"method":"notifications/cancelled","params":{"requestId":%s}}`, id))
		case i%8 == 5:
			add(begin+took, server, journal.In, journal.ErrorResponse, id, "", fmt.Sprintf(`{"id":%s,"error":{"code":-32603,"message":"no"}}`, id))
		default:
			if i == 10 {
				for k := range 4 {
					add(begin+time.Duration(k+1)*100*time.Millisecond, server, journal.In, journal.Notification, "", "notifications/progress", fmt.Sprintf(`{"method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`, id, k))
				}
				took = 500 * time.Millisecond
			}
			add(begin+took, server, journal.In, journal.Response, id, "", fmt.Sprintf(`{"id":%s,"result":{}}`, id))
		}
	}
}

// The calls stand in lanes, the numbers below them; keys zoom, move and open, and a range narrows every screen.
func TestTimeline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, m := filled(t)
		app := tuitest.Start(t, tuitest.Views(views.Watch(traffic.Foreign{Over: func() bool { return true }})...), tuitest.Size(80, 24), tuitest.Sessions(m))
		app.Press(":").Type("timeline").Press("enter").View("timeline").Pane("lanes").Has("No calls yet.")
		app.Press("q")
		played(j, time.Date(2026, 11, 22, 10, 31, 0, 0, time.Local))
		app.Sleep(time.Second)
		app.Press(":timeline").View("timeline").Pane("lanes").Has("40 calls", "files", "kb", "10:31:00", "━✗", "⊘", "┿━┿", "…", "tools/call search #40 … unanswered", "▼")
		app.Pane("numbers").Has("read", "write", "search", "50 %", "500ms", "sorted by calls")
		app.Press("g").Pane("lanes").Has("tools/call search #4 ✓ ok 41ms at 10:31:00.300")
		app.Press("k").Pane("lanes").Has("#3 ✓ ok 34ms at 10:31:00.200")
		app.Press("right").Pane("lanes").Has("#5 ✓ ok")
		app.Press("+", "+").Pane("lanes").Has("40 calls · 1s", "10:31:00.").HasNot("⊘")
		app.Press("pgdown", "pgdown").Pane("lanes").Has("10:31:01.303", "10:31:02.140")
		app.Press(":fit").Pane("lanes").Has("all", "⊘")

		app.Press("space").Toast("the range begins here").Pane("lanes").Has("space ends it")
		app.Press("right", "right", "space").Pane("lanes").Has("10:31:00.400 to 10:31:00.", "esc all the time", "╞", "╡")
		app.Pane("numbers").Has("read", "write", "62ms").HasNot("search")
		app.Press("q").View("traffic").Pane("list").Has("/at:10:31:00.400..10:31:00.662", "#5", "#7").HasNot("#4 ", "#9 ")
		app.Press(":timeline", "esc").Pane("numbers").Has("20 ")
		app.Press("q").View("traffic").Pane("list").Has("#39").HasNot("/at:")

		app.Press(":timeline", "/").Type("tool:se").Press("tab", "enter").Pane("lanes").Has("/tool:search", "10 calls", "kb").HasNot("files")
		app.Pane("numbers").Has("search").HasNot("write")
		app.Press("/").Type("tool:nosuch").Press("enter").Pane("lanes").Has("Nothing matches")
		app.Press("esc").Pane("lanes").Has("40 calls", "files", "kb", "tools/call search #40")
		app.Press("/").Type("id:7").Press("enter").Pane("lanes").Has("tools/call read #7")
		app.Press("esc").Pane("lanes").Has("40 calls", "files", "kb")
		app.Press("tab").Pane("numbers").Focused()
		app.Press(":sort").Pane("numbers").Has("sorted by errors").Selected("read")
		app.Press("g").Pane("numbers").Selected("write")
		app.Press("enter").View("traffic").Pane("list").Has("/tool:=write method:=tools/call", "write").HasNot("search")
		app.Press("esc", ":timeline", "shift+tab", "g", "enter").View("traffic").Pane("list").Has("frames of tools/call")
	})
}

// What servers say is harmless on the screen, and clocks that jump, many lanes and a window of nothing break nothing.
func TestTimelineHostile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, m := filled(t)
		app := tuitest.Start(t, tuitest.Views(views.Watch(traffic.Foreign{})...), tuitest.Size(80, 24), tuitest.Sessions(m))
		for i, year := range []int{2026, 1970, 2200, 1, 2026} {
			j.Append(journal.Entry{
				Server: "\x1b[31mevil\x1b[2J", Conn: 1, Dir: journal.Out, Kind: journal.Request, ID: fmt.Sprint(i), Method: "tools/call",
				Tool: "\x1b]0;x\a", Time: time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC),
			}, nil)
			j.Append(journal.Entry{Server: "\x1b[31mevil\x1b[2J", Conn: 1, Dir: journal.In, Kind: journal.Response, ID: fmt.Sprint(i), Time: time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)}, nil)
		}
		for i := range 150 {
			j.Append(journal.Entry{Server: fmt.Sprint("s", i), Conn: 1, Dir: journal.Out, Kind: journal.Request, ID: "1", Method: "ping"}, nil)
		}
		app.Sleep(time.Second)
		app.Press(":timeline").View("timeline").Press(":probes").Pane("lanes").Has("155 calls")
		for range 30 {
			app.Press("+")
		}
		for range 60 {
			app.Press("-", "down", "left", "pgup")
		}
		app.Press("g", "space", "G", "space", "tab", ":sort", ":sort", ":sort", ":sort", ":sort", ":sort", ":sort").Resize(40, 10).Resize(200, 60)
		app.View("timeline").Pane("numbers").Has("ping")
	})
}
