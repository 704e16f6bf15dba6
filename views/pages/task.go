package pages

import (
	"cmp"
	"fmt"
	"time"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer/tasks"
	"github.com/mcphud/mcphud/tui/page"
)

// TaskMark is the status of a task.
func TaskMark(s tasks.Status) page.Mark {
	switch s {
	case tasks.Working:
		return page.Mark{Glyph: "…", Word: "working", Tone: page.Busy}
	case tasks.InputRequired:
		return page.Mark{Glyph: "?", Word: "asks", Tone: page.Warn}
	case tasks.Completed:
		return page.Mark{Glyph: "✓", Word: "completed", Tone: page.Good}
	case tasks.Failed:
		return page.Mark{Glyph: "✗", Word: "failed", Tone: page.Bad}
	case tasks.Cancelled:
		return page.Mark{Glyph: "⊘", Word: "cancelled", Tone: page.Quiet}
	case tasks.Unknown:
		return page.Mark{Glyph: "!", Word: "unknown", Tone: page.Warn}
	}
	return page.Mark{Word: string(s)}
}

// Roughly is a time in its two largest units at most.
func Roughly(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd", int(d.Hours())/24)
}

// Tasks lists tasks; server is that of one, "" where all have the same.
func Tasks(all []tasks.Task, server func(i int) string) page.Page {
	now := time.Now()
	return page.Page{None: [2]string{"no tasks"}, Table: page.Table{
		Columns: []page.Column{{On: page.Printed}, {Cells: 11}, {On: page.Printed}, {Cells: 22, Found: true, On: page.Drawn}, {Cells: 6, Right: true, On: page.Drawn}, {On: page.Printed}, {}, {}},
		Len:     len(all),
		Row: func(i int) page.Row {
			t := all[i]
			note := text.FirstLine(cmp.Or(t.Progress.Message, t.Message))
			if t.Problem != nil {
				note = t.Problem.Error()
			}
			// A text has nothing that changes by itself: in linear mode each change is a line.
			since := "since " + When(cmp.Or(t.Created, t.Since), now)
			if until, limited := t.Expires(); limited {
				since += ", kept until " + When(until, now)
			}
			return page.Row{Cells: []page.Text{
				{S: t.ID},
				TaskMark(t.Status).Text(),
				{S: t.Tool},
				{S: cmp.Or(t.Tool, t.ID)},
				{S: Roughly(time.Since(t.Since)), Tone: page.Quiet},
				{S: since},
				{S: text.Clip(server(i), 20), Tone: page.Quiet},
				{S: note, Tone: page.Quiet},
			}}
		},
	}}
}

// Task is what is known of a task of a server, with what can be done about it here.
func Task(t tasks.Task, server string, notes ...string) page.Page {
	p := page.Page{Title: cmp.Or(t.Tool, t.ID)}
	since := "known here for " + Roughly(time.Since(t.Since))
	if t.Tool != "" {
		since = "called " + Roughly(time.Since(t.Since)) + " ago"
	}
	p.Styled("status", TaskMark(t.Status).Text(since)).Field("message", cmp.Or(t.Message, t.Progress.Message))
	if g := t.Progress; g.Count > 0 {
		if !g.HasTotal {
			g.Total = 0
		}
		p.Progress("progress", g.Done, g.Total)
		if g.Message != t.Message {
			p.Field("", g.Message)
		}
	}
	if t.Problem != nil {
		p.Styled("problem", page.Text{S: t.Problem.Error(), Tone: page.Bad})
	}
	p.Field("ttl", cmp.Or(lifetime(t), "without a limit"))
	every := "less and less often: the server does not say"
	if t.Interval > 0 {
		every = "every " + text.Duration(t.Wait(1))
	}
	if !t.Status.Over() {
		p.Field("asked", every+", last "+Roughly(time.Since(t.Seen))+" ago")
	}
	for _, s := range notes {
		p.Line(page.Plain, "").Note(s)
	}
	p.Line(page.Plain, "").Field("task", t.ID).Field("tool", t.Tool).Field("server", server)
	if !t.Created.IsZero() {
		p.Field("created", t.Created.Local().Format(time.DateTime))
	}
	if !t.Updated.IsZero() {
		p.Field("updated", t.Updated.Local().Format(time.DateTime))
	}
	return p
}

// lifetime is how long the server keeps a task, "" where it has no limit.
func lifetime(t tasks.Task) string {
	until, limited := t.Expires()
	switch left := time.Until(until); {
	case !limited:
		return ""
	case left <= 0:
		return text.Duration(t.TTL) + ", which have passed"
	default:
		return text.Duration(t.TTL) + ", " + Roughly(left) + " left"
	}
}
