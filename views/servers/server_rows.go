package servers

import (
	"fmt"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

// serverRows draws the list of servers.
type serverRows struct {
	v *servers
	c *tui.Ctx
}

// Len is the number of servers.
func (r serverRows) Len() int { return len(r.v.all) }

// Row is a server's state, name and target.
func (r serverRows) Row(i, w int) string {
	th, s := r.c.Theme, r.v.all[i]
	srv, st := s.Config(), s.Status()
	glyph, word, style := pane.StateMark(th, s, st)
	name := r.v.Query.Highlight(safe.Line(s.Title(), 200), th.Text, th.Match)
	out := pane.Column(style.S(glyph)+" "+name, r.v.nameCol+2, w) + "  " + style.S(pane.Pad(word, 12))
	what := pane.Target(srv)
	if old := outdated(s); old != "" {
		what = old
	} else if st.Retired != "" {
		what = st.Retired + ", enter connects again"
	}
	if room := w - paint.Width(out) - 2; room > 8 {
		out += "  " + th.Muted.S(paint.Cut(safe.Line(what, 4*room), room))
	}
	return out
}

// count takes in the pool's statistics.
func (v *servers) count() {
	if v.pool != nil {
		v.stats = v.pool.Stats()
	}
}

// connections is the pool in a few words, "" while nothing is connected.
func (v *servers) connections() string {
	if v.stats.ActiveConnections+v.stats.IdleConnections == 0 {
		return ""
	}
	out := fmt.Sprintf("%d active · %d idle", v.stats.ActiveConnections, v.stats.IdleConnections)
	if limit := v.pool.Limits().MaxConnections; limit > 0 {
		out += fmt.Sprintf(" · limit %d", limit)
	}
	return out
}

func (v *servers) selected() *session.Session {
	if i := v.List.Selected(); i >= 0 && i < len(v.all) {
		return v.all[i]
	}
	return nil
}
