package views_test

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
	"github.com/mcphud/mcphud/views/traffic"
)

// A menu of what the row has, each of which narrows the list, or with its sign takes rows off it.
func TestFilterOnThis(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, add := wired(t, 120, 40)
		for _, id := range []string{"1", "2", "3"} {
			e, body := call(id, "tool"+id)
			add(0, e, body)
		}
		e, body := answer("2", "x")
		add(7, e, body)
		app.Sleep(time.Second).Press("g", "down", ":only").Overlay("Filter on this").Has("method:=tools/call", "tool:=tool2", "id:2", "server:=files", "status:ok", "kind:req", "at:", ">=7ms")
		app.Type("tool2").Press("enter").View("traffic").Pane("list").Rows(tuitest.Contains("tool2"))
		app.Pane("list").Has("/tool:=tool2")
		app.Press("esc").Pane("list").Has("tool1", "tool2", "tool3")
		app.Press("g", ":exclude").Overlay("Filter out this").Has("-id:1")
		app.Type("id:1").Press("enter").Pane("list").HasNot("tool1").Has("tool2", "tool3")
		app.Press("g", ":exclude").Type("status").Press("enter").Pane("list").Rows(tuitest.Contains("tool3"))
		app.Pane("list").Has("/-id:1 -status:ok")
	})
}

// Marks and notes stand on their rows, can be gone through, and are in the journal file for whoever opens it.
func TestMarksAndNotes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "session.jsonl")
	synctest.Test(t, func(t *testing.T) {
		j := journal.New(journal.Options{Dir: t.TempDir(), File: file})
		m := session.NewManager(session.Options{Journal: j})
		defer func() {
			_ = m.Close()
			_ = j.Close()
		}()
		app := tuitest.Start(t, tuitest.Views(views.Watch(traffic.Foreign{})...), tuitest.Size(160, 40), tuitest.Sessions(m))
		for _, id := range []string{"1", "2", "3", "4"} {
			e, body := call(id, "tool"+id)
			e.Server, e.Conn = "files", 1
			j.Append(e, []byte(body))
			e, body = answer(id, "x")
			e.Server, e.Conn = "files", 1
			j.Append(e, []byte(body))
			time.Sleep(time.Millisecond)
		}
		app.Sleep(time.Second).Press("g", "space").View("traffic").Pane("list").Has("→◆files tools/call tool1", "4 · 8 frames")
		app.Press("down", "down", ":note").Prompt("note").Answer("why so slow?").Pane("list").Has("tool3 #3 ✎ why so slow?")
		app.Pane("frame").Has("✎ why so slow?")
		app.Press("/").Type("slow?").Press("enter").Pane("list").Rows(tuitest.Contains("tool3"))
		app.Press("/", "ctrl+u").Type("mark:yes").Press("enter").Pane("list").Rows(tuitest.Contains("tool1"), tuitest.Contains("tool3"))
		app.Press("g", "space").Pane("list").Rows(tuitest.Contains("tool3"))
		app.Press("esc", "g", "space", "G", "space", "space").Pane("list").HasNot("◆files tools/call tool4")
		app.Press(":previousmark").Pane("list").Selected("tool3")
		app.Press(":previousmark").Pane("list").Selected("tool1")
		app.Press(":nextmark").Pane("list").Selected("tool3")
		app.Press(":nextmark").Toast("no further mark in this direction")
		app.Press(":frames").Pane("list").Has("→◆files req").HasNot("annotation")
		app.Press(":frames")
	})
	j, err := journal.Open(file, journal.Options{Dir: t.TempDir()})
	require.NoError(t, err)
	m := session.NewManager(session.Options{Journal: j})
	t.Cleanup(func() {
		_ = m.Close()
		_ = j.Close()
	})
	app := tuitest.Start(t, tuitest.Views(views.Watch(traffic.Foreign{})...), tuitest.Size(160, 40), tuitest.Sessions(m))
	app.View("traffic").Pane("list").Has("→◆files tools/call tool1", "tool3 #3 ✎ why so slow?", "→ files tools/call tool4")
	app.Press("/").Type("mark:yes").Press("enter").Pane("list").Rows(tuitest.Contains("tool1"), tuitest.Contains("tool3"))
}
