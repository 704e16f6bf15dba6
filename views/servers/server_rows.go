package servers

import (
	"cmp"
	"strings"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/views/pages"
	"github.com/mcphud/mcphud/views/pane"
)

// page is the servers, and below those that did not start why.
func (v *servers) page(c *tui.Ctx) page.Page {
	p := page.Page{Title: "Servers", Counted: true, None: [2]string{"No servers yet."}}
	if now := v.connections(); now != "" {
		p.Foot = "connections: " + now
	}
	p.Table = page.Table{
		Columns: []page.Column{{Cells: 1, On: page.Drawn}, {Cells: v.nameCol + 1, Found: true}, {Cells: 13}, {On: page.Drawn, Rest: true}, {On: page.Printed}, {On: page.Printed}},
		Len:     len(v.all), Row: func(i int) page.Row { return v.row(c, v.all[i]) },
	}
	return p
}

// shortDestination is what a server runs without the folder of the program, or what it contacts: what there is room for tells rows apart.
func shortDestination(srv config.Server) string {
	if i := strings.LastIndexAny(srv.Command, `/\`); i >= 0 {
		srv.Command = srv.Command[i+1:]
	}
	return srv.Masked().Destination()
}

func (v *servers) row(c *tui.Ctx, s *session.Session) (r page.Row) {
	srv, st := s.Config(), s.Status()
	mark, what := pane.StateMark(s, st), shortDestination(srv)
	if old := outdated(s); old != "" {
		what = old
	} else if st.Retired != "" {
		what = st.Retired + ", enter connects again"
	}
	dot := mark.Tone
	if dot == page.Good {
		dot = page.Server(s.Name())
	}
	r.Cells = []page.Text{
		{S: mark.Glyph, Tone: dot}, {S: s.Title(), Tone: page.Server(s.Name())}, {S: mark.Word, Tone: mark.Tone}, {S: what, Tone: page.Quiet}, {S: srv.Masked().Destination()}, {S: "from " + v.place(srv.Source)},
	}
	if err := cmp.Or[error](srv.Problem, st.Err); err != nil {
		r.Below = append(r.Below, text.Clip(err.Error(), 1000))
	}
	switch {
	case st.State == session.NeedsLogin && tui.Unnamed(s):
		r.Below = append(r.Below, "it names no place to log in: give it a token or an API key in a header of its configuration")
	case st.State == session.NeedsLogin:
		r.Below = append(r.Below, c.KeyOf("servers.open")+" logs in at the server under the cursor; its number does so, too")
	}
	if st.Retired != "" {
		r.Below = append(r.Below, "closed: "+st.Retired)
	}
	return r
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
	return pages.Connections(v.stats, v.pool.Limits(), " · ")
}

func (v *servers) selected() *session.Session {
	if i := v.List.Selected(); i >= 0 && i < len(v.all) {
		return v.all[i]
	}
	return nil
}
