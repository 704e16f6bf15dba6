package call

import (
	"context"
	"sync/atomic"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/tasks"
	"github.com/mcphud/mcphud/session/wire/rpc"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pages"
	"github.com/mcphud/mcphud/views/pane"
)

// taskCall is what a running call has to do with a task.
type taskCall struct {
	start bool          // it was asked to be one, and is not waited for
	leave chan struct{} // closed to wait no longer
	left  bool          // it is closed
	id    atomic.Pointer[string]
}

// newTaskCall is that of a call that begins.
func newTaskCall(start bool) *taskCall {
	t := &taskCall{start: start, leave: make(chan struct{})}
	if start {
		t.end()
	}
	return t
}

func (t *taskCall) end() {
	if !t.left {
		t.left = true
		close(t.leave)
	}
}

// options are those of the call, whose operation has ctx.
func (t *taskCall) options(ctx context.Context) session.CallOptions {
	return session.CallOptions{OnProgress: pane.ReportTo(ctx), Task: t.start, Leave: t.leave, OnTask: func(is tasks.Task) {
		t.id.Store(&is.ID)
		p := rpc.Progress{Count: is.Progress.Count, Progress: is.Progress.Done, Total: is.Progress.Total, HasTotal: is.Progress.HasTotal, Message: is.Summary()}
		tui.Report(ctx, p)
	}}
}

// taskActions start a call as a task, and leave one to the screen of tasks.
func (v *formScreen) taskActions() []tui.Action {
	if v.kind != offer.Tools {
		return nil
	}
	return []tui.Action{
		{
			ID: "call.leave", Verb: tui.VerbTask, Title: "leave to Tasks", Group: "Result", Hint: 1, Pane: "result",
			Applies: func(*tui.Ctx) bool { return v.taskID() != "" },
			Help:    "Wait no longer for a call that became a task: it goes on, and Tasks has it.",
			Disabled: func(*tui.Ctx) string {
				if v.taskID() == "" {
					return "no task is waited for"
				}
				return ""
			},
			Run: func(*tui.Ctx) tea.Cmd { v.cur.task.end(); return nil },
		},
		{
			ID: "call.task", Verb: tui.VerbTask, Title: "call as task", Group: "Form", Hint: 8,
			Help:     "Start the call as a task and go to Tasks, where its result comes; where the server decides what becomes one, as in 2026-07-28, a call that becomes none shows its result here.",
			Disabled: v.taskless, Run: v.startTask,
		},
	}
}

// taskless is why the call cannot be started as a task.
func (v *formScreen) taskless(c *tui.Ctx) string {
	if why := v.cannot(c); why != "" {
		return why
	}
	if v.kind != offer.Tools || c.Server.TaskSupport(v.cur.item) == tasks.Forbidden {
		return "the tool does not run as a task"
	}
	return ""
}

func (v *formScreen) startTask(c *tui.Ctx) tea.Cmd {
	return v.submit(c, true)
}

// taskID is the task that the running call became, "" if it became none.
func (v *formScreen) taskID() string {
	if v.cur == nil || v.cur.op == 0 || v.cur.task == nil {
		return ""
	}
	if id := v.cur.task.id.Load(); id != nil {
		return *id
	}
	return ""
}

// leftAsTask goes to the task that a call was left as.
func (v *formScreen) leftAsTask(c *tui.Ctx, d *draft, r rpc.Reply) tea.Cmd {
	if d == v.cur {
		v.reply.Clear()
	}
	if d != v.cur || c.View != v.info.ID || c.Server == nil || c.Server.Name() != d.server {
		return c.Toast(tui.Note, "the call goes on as the task "+text.Clip(r.Task, 60))
	}
	return c.Navigate("tasks", r.Task)
}

// taskProgress says of a call that became a task what it became.
func (v *formScreen) taskProgress(c *tui.Ctx) []string {
	id := v.taskID()
	if id == "" {
		return nil
	}
	th, status := c.Theme, tasks.Working
	summary := ""
	if c.Server != nil {
		if t, ok := c.Server.Task(id); ok {
			status, summary = t.Status, t.Message
		}
	}
	mark := pages.TaskMark(status)
	out := []string{"", " " + mark.Tone.Style(th).S(mark.String()) + th.Muted.S(" · the server made a task of the call: "+safe.Line(id, 60))}
	if summary != "" {
		out = append(out, " "+th.Text.S(safe.Line(summary, 400)))
	}
	return append(out, " "+th.Muted.S("ctrl+t leaves it to Tasks, where its result comes"))
}
