package tui

import (
	"strings"

	"github.com/mcphud/mcphud/session/journal"
	"github.com/mcphud/mcphud/tui/safe"
)

// world is the shell's snapshot of all servers. It is taken when the sessions
// say that something changed, so that drawing asks nobody and takes no locks.
type world struct {
	current string
	rows    []serverRow
	latest  journal.Entry // newest traffic
	traffic bool          // there is any
	seen    uint64        // revision of the journal
	tail    []journal.Entry
	release func() // lets go of the current server
}

// serverRow is one server as rail and status bar show it.
type serverRow struct {
	name, transport, version string
	stateWord                string // as in session.State
	detail                   string // countdown or reason
	err                      string
	moving                   bool // changes by itself
}

// connected is whether the server can be asked.
func (r *serverRow) connected() bool { return r.stateWord == "Connected" }

// state is the state as glyph and word.
func (r *serverRow) state(t *Theme) string {
	st, glyph := t.Muted, "○"
	switch r.stateWord {
	case "Connected":
		st, glyph = t.OK, "●"
	case "Connecting":
		st, glyph = t.Warn, "◐"
	case "Error":
		st, glyph = t.Error, "✗"
	}
	s := glyph + " " + r.stateWord
	if r.detail != "" {
		s += " " + r.detail
	}
	return st.S(safe.Line(s, 40))
}

// row finds a server by name, nil if there is none.
func (w *world) row(name string) *serverRow {
	for i := range w.rows {
		if w.rows[i].name == name {
			return &w.rows[i]
		}
	}
	return nil
}

func (w *world) names() (out []string) {
	for i := range w.rows {
		out = append(out, w.rows[i].name)
	}
	return out
}

// moving is whether a countdown or a spinner must be redrawn.
func (w *world) moving() bool {
	for i := range w.rows {
		if w.rows[i].moving {
			return true
		}
	}
	return false
}

// lastError is the current server's error.
func (w *world) lastError() string {
	if r := w.row(w.current); r != nil {
		first, _, _ := strings.Cut(r.err, "\n")
		return first
	}
	return ""
}
