package views_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session/check/cost"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
	"github.com/mcphud/mcphud/views/traffic"
)

// A glance, and the time that it takes to read a screen.
const (
	glance = 700 * time.Millisecond
	pause  = 2500 * time.Millisecond
)

// TestFilms makes the films that README and the manual show, of about 20 s each.
func TestFilms(t *testing.T) {
	for _, film := range []struct {
		name string
		make func(t *testing.T) *tuitest.Film
	}{
		{"demo", filmOfCall},
		{"tap", filmOfTap},
		{"check", filmOfCheck},
	} {
		t.Run(film.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				film.make(t).SVG("../testdata/screens/film-"+film.name+".svg", 15*time.Second, 25*time.Second)
			})
		})
	}
}

// filmOfCall finds a tool, fills in its form, calls it, and looks at the frames.
func filmOfCall(t *testing.T) *tuitest.Film {
	a := stage(t, scene{at: "tools", opts: agent()}, tuitest.Size(80, 24))
	f := a.Film().Hold(pause)
	f.Press(glance, "/").Type("add").Press(glance, "enter", "enter")
	f.Type("19").Press(glance, "tab").Type("23").Hold(glance)
	f.Press(pause, "ctrl+g")
	a.Idle()
	f.Hold(pause).Press(pause, "t").Press(glance, "down").Press(pause, "enter")
	return f.Press(glance, "esc").Press(glance, "esc").Hold(pause)
}

// filmOfTap watches what another program says to its server.
func filmOfTap(t *testing.T) *tuitest.Film {
	j, m := filled(t)
	a := tuitest.Start(t, tuitest.Views(views.Watch(traffic.Foreign{Empty: func() (what, next string) {
		return "Nobody has said anything yet.", "Start the client whose entry runs mcphud tap."
	}})...), tuitest.Size(80, 24), tuitest.Sessions(m))
	f := a.Film().Hold(pause)
	at := time.Date(2026, 11, 21, 10, 11, 12, 0, time.UTC)
	say := func(d journal.Dir, k journal.Kind, id, method, body string, took time.Duration) {
		at = at.Add(took)
		e := journal.Entry{Server: "files", Conn: 1, Dir: d, Kind: k, ID: id, Method: method, Time: at}
		if strings.Contains(body, `"error":`) {
			e.Status = journal.Failed
		}
		j.Append(e, []byte(body))
		a.Sleep(time.Second)
	}
	for _, x := range []struct{ id, method, ask, answer string }{
		{"1", "initialize", `"params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"an editor","version":"3.1"}}`, `"result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"files","version":"1.2.0"},"capabilities":{"tools":{}}}`},
		{"2", "tools/list", `"params":{}`, `"result":{"tools":[{"name":"read"},{"name":"write"}]}`},
		{"3", "tools/call", `"params":{"name":"read","arguments":{"path":"notes.txt"}}`, `"result":{"content":[{"type":"text","text":"Buy milk."}]}`},
		{"4", "tools/call", `"params":{"name":"write","arguments":{"path":"notes.txt"}}`, `"error":{"code":-32602,"message":"text is missing"}`},
	} {
		say(journal.Out, journal.Request, x.id, x.method, `{"jsonrpc":"2.0","id":`+x.id+`,"method":"`+x.method+`",`+x.ask+`}`, 300*time.Millisecond)
		f.Hold(glance)
		say(journal.In, journal.Response, x.id, x.method, `{"jsonrpc":"2.0","id":`+x.id+`,`+x.answer+`}`, 7*time.Millisecond)
		f.Hold(2 * glance)
	}
	f.Press(glance, "G").Hold(pause).Press(glance, "/").Type("status:error").Press(pause, "enter")
	return f.Press(glance, "esc").Hold(pause)
}

// filmOfCheck finds out what is wrong with a server.
func filmOfCheck(t *testing.T) *tuitest.Film {
	opts := append(agent(), tuitest.Views(views.All(views.Deps{Checks: checks(trial{"lint", picky}, &cost.Section{Budget: 1000})})...), tuitest.Size(80, 24), tuitest.At("tools", nil), tuitest.Latency(3100*time.Microsecond))
	a := tuitest.Start(t, opts...).Idle()
	f := a.Film().Hold(pause).Press(glance, ":").Type("check").Press(glance, "enter")
	a.Idle()
	f.Hold(pause)
	f.Press(pause, "down", "down").Press(glance, "down", "down", "down")
	return f.Press(pause, "down").Press(pause, "down")
}
