package tui

import (
	"time"

	"github.com/mcphud/mcphud/session/journal"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// feed is where the world's snapshot comes from.
type feed interface {
	// servers appends one row for each registered server to dst.
	servers(dst []serverRow, now time.Time) []serverRow
	// last is the newest entry of the traffic; ok is false when there is none.
	last() (e journal.Entry, ok bool)
}

// refresh takes a new snapshot.
func (w *world) refresh(a *App) {
	if a.feed == nil {
		return
	}
	w.rows = a.feed.servers(w.rows[:0], time.Now())
	w.latest, w.traffic = a.feed.last()
	if w.current == "" && len(w.rows) > 0 {
		name := w.rows[0].name
		if w.row(a.cfg.Server) != nil {
			name = a.cfg.Server
		}
		w.choose(a, name)
	}
}

// choose makes a server the current one and reports whether it is known.
func (w *world) choose(a *App, name string) bool {
	if w.row(name) == nil {
		return false
	}
	w.current = name
	a.bindServer(name)
	return true
}

// ticker is one line about the newest entry of the traffic.
func (w *world) ticker(t *Theme, width int) string {
	if !w.traffic {
		return t.Muted.S(" no traffic yet")
	}
	e := w.latest
	arrow, st := "·", t.Muted
	switch e.Dir {
	case journal.Out:
		arrow, st = "→", t.Accent
	case journal.In:
		arrow, st = "←", t.Accent2
	}
	what := e.Method
	if what == "" {
		what = e.Kind.String()
	}
	if e.Tool != "" {
		what += " " + e.Tool
	}
	s := " " + t.Muted.S(e.Time.Format("15:04:05.000")) + " " + st.S(arrow) + " " +
		t.Text.S(safe.Line(e.Server, 24)) + " " + t.Accent.S(safe.Line(what, max(width/2, 10)))
	switch e.Status {
	case journal.Failed:
		s += " " + t.Error.S("✗ error")
	case journal.OK:
		s += " " + t.OK.S("✓ ok")
	case journal.Cancelled:
		s += " " + t.Warn.S("cancelled")
	}
	if e.Took > 0 {
		s += " " + t.Muted.S(e.Took.Round(time.Millisecond/10).String())
	}
	if e.Size > 0 {
		s += " " + t.Muted.S(byteSize(int64(e.Size)))
	}
	if e.Note != "" {
		s += " " + t.Muted.S(safe.Line(e.Note, 60))
	}
	return paint.Cut(s, width)
}
