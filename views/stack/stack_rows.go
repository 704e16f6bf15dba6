package stack

import (
	"fmt"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/tui/widget"
	"github.com/mcphud/mcphud/views/pages"
	"github.com/mcphud/mcphud/views/pane"
)

const noStack = "No stack is running."

// stackCells is the table. A column that does not fit is left out, the last first; the detail pane has all of it.
type stackCells struct {
	v  *stack
	th *tui.Theme
}

// stackColumns are the columns, given how wide names are.
func stackColumns(name int) []widget.Column {
	return []widget.Column{
		{Title: "process", Width: max(name, 7) + 2},
		{Title: "state", Width: 10},
		{Title: "up", Width: 7, Right: true},
		{Title: "port", Width: 5, Right: true},
		{Title: "pid", Width: 7, Right: true},
		{Title: "calls", Width: 6, Right: true},
		{Title: "queue", Width: 5, Right: true},
		{Title: "restarts", Width: 8, Right: true},
	}
}

// Len is the number of processes.
func (s stackCells) Len() int { return len(s.v.all) }

// Cell is one figure of a process; what is not known stays empty.
func (s stackCells) Cell(i, c int) string {
	p, th := &s.v.all[i], s.th
	if th == nil {
		return ""
	}
	figure := func(n int64, known bool) string {
		if !known {
			return ""
		}
		return th.Text.S(strconv.FormatInt(n, 10))
	}
	switch c {
	case 0:
		return p.Health.Mark(th) + " " + s.v.query.Highlight(safe.Line(p.Name, 100), th.Text, th.Match)
	case 1:
		return p.Health.Style(th).S(p.State)
	case 2:
		return th.Text.S(p.up())
	case 3:
		return figure(int64(p.Port), p.Port != 0)
	case 4:
		return figure(int64(p.PID), p.PID != 0)
	case 5:
		return figure(p.Requests, p.Known)
	case 6:
		return figure(int64(p.Queued), p.Known && p.Kind != "router")
	case 7:
		if p.Restarts > 0 {
			return th.Warn.S(strconv.Itoa(p.Restarts))
		}
		return th.Muted.S("0")
	}
	return ""
}

// up is how long the process has been there, "" if it is not.
func (p *Process) up() string {
	if p.PID == 0 || p.Started.IsZero() {
		return ""
	}
	return pages.Roughly(time.Since(p.Started))
}

func (v *stack) draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	// Uptimes and countdowns change by themselves.
	if p.Same(c, v.rev, v.drawn, v.log.rev, v.table.Selected(), time.Now().Unix()) {
		return nil
	}
	if p.ID == "detail" {
		v.detail(c, p)
		return nil
	}
	p.Badge = pane.CountBadge(v.table.Len(), len(v.all))
	if v.table.Len() == 0 {
		p.Scroll, p.Selected = tui.Scroll{}, 0
		switch {
		case v.typed != "":
			p.Lines = pane.NothingMatches(c.Theme, p.W, v.typed)
		default:
			p.Badge = ""
			p.Lines = pane.Message(c.Theme, p.W, noStack, "mcphud demo starts one and opens it here; mcphud up runs one from a file, mcphud.stack.yaml, and mcphud URL opens what it serves.")
		}
		return nil
	}
	v.table.SetTheme(c.Theme)
	v.table.SetColumns(stackColumns(pane.Widest(len(v.all), pane.NameColumn, func(i int) string { return v.all[i].Name })))
	v.table.SetSize(p.W, p.H)
	v.table.SetFocus(p.Focused)
	v.table.SetCells(stackCells{v, c.Theme})
	p.Lines = append(p.Lines[:0], v.table.Lines()...)
	p.Scroll.Pos, p.Scroll.Total = v.table.Scroll()
	p.Selected = v.table.Line()
	return nil
}

// detail is everything about a process, and its log below.
func (v *stack) detail(c *tui.Ctx, p *tui.Pane) {
	pr, ok := v.selected()
	p.Badge, p.Scroll = "", tui.Scroll{}
	if !ok {
		p.Title = "Process"
		p.Lines = pane.Message(c.Theme, p.W, "No process is selected.", "")
		return
	}
	p.Title = safe.Line(pr.Name, 80)
	p.Lines = append(p.Lines[:0], pr.head(c.Theme, p.W)...)
	room := p.H - len(p.Lines)
	if room < 3 { // the log is what the pane is for
		keep := max(p.H-3, 0)
		p.Lines, room = p.Lines[:min(keep, len(p.Lines))], p.H-min(keep, len(p.Lines))
	}
	lines := v.log.draw(c.Theme, p.W, room)
	p.Lines = append(p.Lines, lines...)
	p.Badge = v.log.badge()
	p.Scroll.Pos, p.Scroll.Total = v.log.pager.Scroll()
}

// head is what is known about a process, in a few lines.
func (p *Process) head(th *tui.Theme, w int) []string {
	var d page.Page
	state := []page.Text{{S: p.State, Tone: p.Health.Tone()}}
	if up := p.up(); up != "" {
		state = append(state, page.Text{S: "· up", Tone: page.Quiet}, page.Text{S: up})
	}
	if left := tui.Countdown(p.RetryAt); left != "" && p.Health == tui.Unhealthy {
		state = append(state, page.Text{S: "· next start in", Tone: page.Quiet}, page.Text{S: left})
	}
	d.Styled("state", page.Text{S: p.Health.Glyph(), Tone: p.Health.Tone()}, state...).Field("error", p.Err).Field("url", p.URL)
	about := p.Kind
	if p.PID != 0 {
		about += fmt.Sprintf(" · pid %d", p.PID)
	}
	about += " · " + text.Count(p.Restarts, "restart")
	d.Field("process", about)
	switch {
	case !p.Known:
	case p.Kind == "router": // where event streams are open for as long as clients listen
		d.Field("requests", fmt.Sprintf("%d · %d open", p.Requests, p.Running))
	default:
		d.Field("calls", fmt.Sprintf("%d · running %d · queued %d", p.Requests, p.Running, p.Queued))
	}
	return append(d.Lines(th, w), "")
}
