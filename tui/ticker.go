package tui

import (
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// ticker is one line about the newest entry of the traffic.
func (w *snapshot) ticker(t *Theme, width int) string {
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
		t.Server(e.Server).S(safe.Line(w.titleOf(e.Server), 24)) + " " + t.Accent.S(safe.Line(what, max(width/2, 10)))
	switch e.Status {
	case journal.Failed:
		s += " " + t.Error.S("✗ error")
	case journal.OK:
		s += " " + t.OK.S("✓ ok")
	case journal.Cancelled:
		s += " " + t.Warn.S("cancelled")
	}
	if e.Took > 0 {
		s += " " + t.Muted.S(text.Duration(e.Took))
	}
	if e.Size > 0 {
		s += " " + t.Muted.S(text.Bytes(e.Size))
	}
	if e.Note != "" && e.Note != e.Status {
		s += " " + t.Muted.S(safe.Line(e.Note, 60))
	}
	return paint.Cut(s, width)
}
