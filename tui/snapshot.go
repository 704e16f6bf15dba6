package tui

import (
	"strings"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// snapshot is the shell's snapshot of all servers. It is taken when the sessions
// say that something changed, so that drawing asks nobody and takes no locks.
type snapshot struct {
	current string
	rows    []serverRow
	latest  journal.Entry // newest traffic but health checks
	upTo    uint64        // traffic up to here was looked at
	traffic bool          // there is any
	seen    uint64        // revision of the journal
	tail    []journal.Entry
	lost    string           // why the journal is not all kept, "" if it is
	looked  *session.Session // whose screen is visible; nil on the list of servers
	release func()           // lets go of looked
	missed  bool             // looked has no connection any more, and no view was told
}

// serverRow is one server as rail and status bar show it.
type serverRow struct {
	name               string // key of the session
	title              string // what it is called
	transport, version string
	state              session.State
	called             string // the state in a word or three
	detail             string // countdown or reason
	err                string // all of it
	reason             string // what of it the status bar says
	moving             bool   // changes by itself
	software           string // serverInfo: name and version
	latency            string
	meta               string // of every request
	insecure           bool   // nobody vouches for it
	client             string // what another client it is shown, "" for none
}

// connected is whether the server can be asked.
func (r *serverRow) connected() bool { return r.state == session.Connected }

// mark is the state as glyph and word.
func (r *serverRow) mark(t *Theme) string {
	h := HealthOf(r.state)
	return r.dot(t) + " " + h.Style(t).S(r.word())
}

// dot is the state as a glyph: in the colour of the server while all is well.
func (r *serverRow) dot(t *Theme) string {
	h := HealthOf(r.state)
	if h == Healthy {
		return t.Server(r.name).S(h.Glyph())
	}
	return h.Mark(t)
}

// word is the state with its countdown.
func (r *serverRow) word() string {
	s := r.called
	if r.detail != "" {
		s += " " + r.detail
	}
	return safe.Line(s, 40)
}

// about is what the rail says of the current server, below the list.
func (w *snapshot) about(t *Theme, width int) []string {
	r := w.row(w.current)
	if r == nil || !r.connected() {
		return nil
	}
	out := []string{"", " " + t.Server(r.name).And(t.Bold).S(safe.Line(r.title, width-2))}
	for _, s := range []string{r.software, r.transport, r.version, r.latency} {
		if s != "" {
			out = append(out, " "+t.Muted.S(paint.Cut(safe.Line(s, 200), width-2)))
		}
	}
	return out
}

// single says that there is nothing to choose between: one server, or one that is open.
func (w *snapshot) single() bool {
	open := 0
	for i := range w.rows {
		if w.rows[i].state != session.Disconnected {
			open++
		}
	}
	return len(w.rows) < 2 || open == 1
}

// row finds a server by name, nil if there is none.
func (w *snapshot) row(name string) *serverRow {
	for i := range w.rows {
		if w.rows[i].name == name {
			return &w.rows[i]
		}
	}
	return nil
}

// titleOf is what to call the server of that name.
func (w *snapshot) titleOf(name string) string {
	if r := w.row(name); r != nil {
		return r.title
	}
	return name
}

func (w *snapshot) names() (out []string) {
	for i := range w.rows {
		out = append(out, w.rows[i].name)
	}
	return out
}

// moving is whether a countdown or a spinner must be redrawn.
func (w *snapshot) moving() bool {
	for i := range w.rows {
		if w.rows[i].moving {
			return true
		}
	}
	return false
}

// lastError is the current server's error, else that of the journal.
func (w *snapshot) lastError() string {
	if r := w.row(w.current); r != nil && r.reason != "" {
		first, _, _ := strings.Cut(r.reason, "\n")
		return first
	}
	return w.lost
}
