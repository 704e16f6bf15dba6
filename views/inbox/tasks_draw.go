package inbox

import (
	"cmp"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer/tasks"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pages"
	"github.com/mcphud/mcphud/views/pane"
)

// page lists the tasks of all servers, or says why there is none, and how one comes here.
func (v *taskScreen) page(c *tui.Ctx) page.Page {
	all := make([]tasks.Task, len(v.all))
	for i, t := range v.all {
		all[i] = t.Task
	}
	p := pages.Tasks(all, func(i int) string {
		if v.many {
			return v.all[i].title
		}
		return ""
	})
	switch {
	case len(all) > 0:
		p.Foot = text.Count(len(all), "task")
	case pane.Offline(c) != "":
		p.None = [2]string{"No tasks: " + pane.Offline(c) + ".", "A call that goes on at the server after it was answered is a task; it appears here."}
	case !offersTasks(c.Server):
		p.None = [2]string{"No tasks: " + c.Server.Title() + " does not offer any.", "Press 2 for its tools, 1 for another server."}
	case v.err != nil && c.Server.Status().Era == session.Legacy:
		p.None = [2]string{"✗ " + pane.ErrorText(v.err), "Press r to ask again, a to take up a task by its id."}
	case c.Server.Status().Era == session.Modern:
		p.None = [2]string{"No tasks yet.", "The server makes a task of a call that takes long. Press ctrl+t in a tool's form (2) to start such a call without waiting for it, " +
			"or a to take up a task by its id: 2026-07-28 has no list of tasks."}
	default:
		p.None = [2]string{"No tasks yet.", "Press ctrl+t in a tool's form (2) to call it as a task, r to ask for the server's list, or a to take up a task by its id."}
	}
	return p
}

// offersTasks is whether a server has tasks in the dialect of its era.
func offersTasks(s *session.Session) bool { return s.Supports("tasks/get") }

// task is what is known of a task.
func (v *taskScreen) task(_ *tui.Ctx, i int) page.Page {
	t, note := v.all[i], []string{}
	switch {
	case t.Status == tasks.InputRequired && t.Problem == nil:
		note = append(note, "The task waits for an answer: press 8 for the inbox.")
	case t.Status == tasks.Unknown:
		note = append(note, "It expired, or another session started it. d forgets it.")
	case t.Status.Over():
		note = append(note, "Press enter for the result.")
	}
	return pages.Task(t.Task, t.title, note...)
}

func (v *taskScreen) draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	if p.ID == "detail" && v.opened != "" {
		p.Title, p.Badge, p.Foot = "Task", "", ""
		if t, ok := v.selected(); ok {
			p.Title = safe.Line(cmp.Or(t.Tool, t.ID), 120)
		}
		return v.reply.Draw(c, p)
	}
	return v.ListPage.Draw(c, p)
}
