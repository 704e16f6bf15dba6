package inbox

import (
	"cmp"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer/tasks"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/tui/widget"
	"github.com/mcphud/mcphud/views/pane"
)

type taskRows struct {
	v *taskScreen
	c *tui.Ctx
}

// Len is the number of tasks at all servers.
func (r taskRows) Len() int { return len(r.v.all) }

// Row is a task's status, tool, age and what it says of itself; the id where there is room.
func (r taskRows) Row(i, w int) string {
	th, t := r.c.Theme, r.v.all[i]
	out := paint.Fit(pane.TaskMark(th, t.Status), 11) + " "
	name := r.v.Query.HighlightName(safe.Line(cmp.Or(t.Tool, t.ID), 60), th.Text, th.Match)
	out += pane.Column(name, 22, w) + " " + th.Muted.S(fmt.Sprintf("%6s", age(t))) + " "
	if r.v.many {
		out += th.Muted.S(safe.Line(t.title, 20)) + " "
	}
	note := taskMessage(t)
	if t.Problem != nil {
		note = t.Problem.Error()
	}
	return out + th.Muted.S(safe.Line(cmp.Or(note, t.ID), 300))
}

// age is how long ago a task was first heard of.
func age(t serverTask) string { return pane.Roughly(time.Since(t.Since)) }

// lifetime is how long the server keeps a task, "" where it has no limit.
func lifetime(t serverTask) string {
	until, limited := t.Expires()
	switch left := time.Until(until); {
	case !limited:
		return ""
	case left <= 0:
		return text.Duration(t.TTL) + ", which have passed"
	default:
		return text.Duration(t.TTL) + ", " + pane.Roughly(left) + " left"
	}
}

func taskMessage(t serverTask) string { return text.FirstLine(cmp.Or(t.Progress.Message, t.Message)) }

func (v *taskScreen) draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	if p.ID == "detail" {
		return v.drawDetail(c, p)
	}
	if p.Same(c, v.Rev, v.List.Selected(), c.Server, v.err, pane.Offline(c)) {
		return nil
	}
	v.List.SetRows(taskRows{v, c}) // rows carry the theme
	v.DrawList(c, p, func(w int) []string { return v.empty(c, w) })
	p.Badge, p.Foot = "", ""
	if n := len(v.all); n > 0 {
		p.Foot = text.Count(n, "task")
		if v.Typed != "" {
			p.Badge = pane.CountBadge(v.List.Len(), n)
		}
	}
	return nil
}

// empty says why there is no task, and how one comes here.
func (v *taskScreen) empty(c *tui.Ctx, w int) []string {
	say := func(what, next string) []string { return pane.Message(c.Theme, w, what, next) }
	switch {
	case v.Typed != "" && len(v.all) > 0:
		return pane.NothingMatches(c.Theme, w, v.Typed)
	case pane.Offline(c) != "":
		return say("No tasks: "+pane.Offline(c)+".", "A call that goes on at the server after it was answered is a task; it appears here.")
	case !offersTasks(c.Server):
		return say("No tasks: "+safe.Line(c.Server.Title(), 60)+" does not offer any.", "Press 2 for its tools, 1 for another server.")
	case v.err != nil && c.Server.Status().Era == session.Legacy:
		return append(pane.ErrorLines(c.Theme, w, v.err), say("", "Press r to ask again, u to take up a task by its id.")...)
	case c.Server.Status().Era == session.Modern:
		return say("No tasks yet.", "The server makes a task of a call that takes long. Press f6 in a tool's form (2) to start such a call without waiting for it, "+
			"or u to take up a task by its id: 2026-07-28 has no list of tasks.")
	}
	return say("No tasks yet.", "Press f6 in a tool's form (2) to call it as a task, r to ask for the server's list, or u to take up a task by its id.")
}

// offersTasks is whether a server has tasks in the dialect of its era.
func offersTasks(s *session.Session) bool { return s.Supports("tasks/get") }

func (v *taskScreen) drawDetail(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	t, ok := v.selected()
	p.Title, p.Badge, p.Foot = "Task", "", ""
	if ok {
		p.Title = safe.Line(cmp.Or(t.Tool, t.ID), 120)
	}
	if v.opened != "" {
		return v.reply.Draw(c, p)
	}
	if v.at != t.key() {
		v.at, v.detail.Top = t.key(), 0
	}
	if p.Same(c, v.Rev, t.key(), v.detail.Top, v.opened) {
		return nil
	}
	if !ok {
		p.Lines, p.Scroll = []string{}, tui.Scroll{}
		return nil
	}
	v.detail.Draw(p, taskLines(c.Theme, p.W, t))
	return nil
}

// taskLines is what is known of a task.
func taskLines(th *tui.Theme, w int, t serverTask) []string {
	d := pane.NewDetails(th, w)
	since := "called " + age(t) + " ago"
	if t.Tool == "" {
		since = "known here for " + age(t)
	}
	d.Styled("status", pane.TaskMark(th, t.Status)+th.Muted.S(" · "+since))
	if m := cmp.Or(t.Message, t.Progress.Message); m != "" {
		d.Row("message", m)
	}
	if g := t.Progress; g.Count > 0 {
		total := 0.0
		if g.HasTotal {
			total = g.Total
		}
		d.Styled("progress", widget.Bar(th, max(min(w-15, 60), 1), g.Done, total))
		if g.Message != "" && g.Message != t.Message {
			d.Row("", g.Message)
		}
	}
	if t.Problem != nil {
		d.Lines = append(d.Lines, pane.ErrorLines(th, w, t.Problem)...)
	}
	d.Row("ttl", cmp.Or(lifetime(t), "without a limit"))
	every := "less and less often: the server does not say"
	if t.Interval > 0 {
		every = "every " + text.Duration(t.Wait(1))
	}
	if !t.Status.Over() {
		d.Row("asked", every+", last "+pane.Roughly(time.Since(t.Seen))+" ago")
	}
	switch {
	case t.Status == tasks.InputRequired && t.Problem == nil:
		d.Note("", "The task waits for an answer: press 8 for the inbox.")
	case t.Status == tasks.Unknown:
		d.Note("", "It expired, or another session started it. d forgets it.")
	case t.Status.Over():
		d.Note("", "Press enter for the result.")
	}
	d.Lines = append(d.Lines, "")
	d.Row("task", t.ID)
	if t.Tool != "" {
		d.Row("tool", t.Tool)
	}
	d.Row("server", t.title)
	if !t.Created.IsZero() {
		d.Row("created", t.Created.Local().Format(time.DateTime))
	}
	if !t.Updated.IsZero() {
		d.Row("updated", t.Updated.Local().Format(time.DateTime))
	}
	return d.Lines
}
