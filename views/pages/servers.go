package pages

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/page"
)

// EntryMark is what keeps an entry from being started, empty where nothing does.
func EntryMark(srv config.Server, trusted bool) page.Mark {
	switch {
	case srv.Disabled:
		return page.Mark{Glyph: "⊘", Word: "disabled", Tone: page.Quiet}
	case srv.Problem != nil:
		return page.Mark{Glyph: tui.Unhealthy.Glyph(), Word: "cannot start", Tone: page.Bad}
	case !trusted:
		return page.Mark{Glyph: "!", Word: "not trusted", Tone: page.Warn}
	}
	return page.Mark{}
}

// ServerMark is a server's state, or what keeps its entry from being started.
func ServerMark(s *session.Session, state session.State) page.Mark {
	health := tui.HealthOf(state)
	if m := EntryMark(s.Config(), true); m.Tone == page.Bad || m.Word != "" && health == tui.Stopped {
		return m
	}
	return page.Mark{Glyph: health.Glyph(), Word: tui.StateWord(s, state), Tone: health.Tone()}
}

// Entries lists entries of configurations, and below them why some cannot be started; place is where an entry is, for people.
func Entries(all []config.Server, trusted func(config.Server) bool, place func(config.Source) string) page.Page {
	p := page.Page{Table: page.Table{
		Columns: []page.Column{{Found: true}, {}, {}, {}, {}}, Len: len(all),
		Row: func(i int) page.Row {
			s := all[i]
			m := EntryMark(s, trusted(s))
			if m.Word == "" && len(s.Inputs) > 0 {
				names := make([]string, len(s.Inputs))
				for i, in := range s.Inputs {
					names[i] = in.Name
				}
				m = page.Mark{Glyph: "?", Word: "asks for " + text.Clip(strings.Join(names, ", "), 30), Tone: page.Warn}
			}
			return page.Row{Cells: []page.Text{
				{S: s.Name, Tone: page.Server(s.Name)}, {S: s.Transport, Tone: page.Quiet}, m.Text(), {S: place(s.Source), Tone: page.Quiet}, {S: s.Masked().Destination()},
			}}
		},
	}}
	for _, s := range all {
		if s.Problem != nil {
			p.After = append(p.After, s.Name+": "+strings.TrimPrefix(mask.Text(s.Problem.Error()), fmt.Sprintf("server %q: ", s.Name)))
		}
	}
	return p
}

// Outcome is how an attempt to connect a server went.
type Outcome struct {
	Name  string
	State page.Mark
	toolset.ServerStatus
	Note string // why it is so, and what to do
}

// Outcomes lists how servers stand, and below them the pool and why.
func Outcomes(all []Outcome, pool toolset.PoolStats, limits config.Pool) page.Page {
	p := page.Page{
		After: []string{"pool: " + text.Count(pool.TotalServers, "server") + ", " + Connections(pool, limits, ", ") + "; idle connections close after " + limits.MaxIdleTime.String()},
		Table: page.Table{
			Columns: []page.Column{{Name: "SERVER"}, {Name: "STATE"}, {Name: "TOOLS"}, {Name: "LATENCY"}}, Len: len(all),
			Row: func(i int) page.Row {
				s, state := all[i], all[i].State.Text()
				state.S = strings.ToLower(state.S)
				r := page.Row{Cells: []page.Text{{S: s.Name, Tone: page.Server(s.Name)}, state, {}, {}}}
				if s.Connected {
					r.Cells[2].S, r.Cells[3].S = strconv.Itoa(s.ToolCount), text.Duration(time.Duration(s.LatencyMs*float64(time.Millisecond)))
				}
				return r
			},
		},
	}
	for _, s := range all {
		if s.Note != "" {
			p.After = append(p.After, s.Name+": "+s.Note)
		}
	}
	return p
}

// Connections are those of a pool, in a few words with sep between them.
func Connections(pool toolset.PoolStats, limits config.Pool, sep string) string {
	parts := []string{fmt.Sprintf("%d active", pool.ActiveConnections), fmt.Sprintf("%d idle", pool.IdleConnections)}
	if limits.MaxConnections > 0 {
		parts = append(parts, fmt.Sprintf("limit %d", limits.MaxConnections))
	}
	return strings.Join(parts, sep)
}
