package inbox

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer/tasks"
	"github.com/mcphud/mcphud/session/wire/rpc"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

// taskScreen lists the tasks of all servers that this program knows of, the newest first: those that were started here, and those of servers' lists. Navigate's
// Arg may be the id (string) of a task of the current server to go to.
type taskScreen struct {
	pane.ListPage
	all     []serverTask
	many    bool // servers have tasks
	reply   pane.Reply
	opened  string // the task whose result is shown, "" for none
	op      uint64
	request uint64
	err     error // why the last list of tasks did not come
	ticking bool
	running map[string]bool // tasks that were not over when they were looked at last
}

// serverTask is a task of a server.
type serverTask struct {
	server, title string
	tasks.Task
}

func (t serverTask) key() string { return t.server + "\x00" + t.ID }

// NewTasks is the screen of the tasks of all servers.
func NewTasks() *tui.Screen {
	v := &taskScreen{reply: pane.NewReply("tasks", "detail")}
	v.View, v.Page, v.About, v.Pick = "tasks", v.page, v.task, v.pick
	v.Inputs = func(*tui.Ctx) any { return v.opened }
	v.Freeze = func() (int, func(int) (string, string)) {
		all := v.all
		return len(all), func(i int) (name, about string) {
			t := all[i]
			return cmp.Or(t.Tool, t.ID), t.ID + " " + string(t.Status) + " " + t.Message + " " + t.title
		}
	}
	return v.screen()
}

func (v *taskScreen) screen() *tui.Screen {
	return v.Screen(tui.Screen{
		ID: "tasks", Title: "Tasks", Aliases: []string{"task"}, NoRail: true, AllServers: true, Tab: "inbox", Peer: true, Split: 50,
		StackUnder: pane.StackUnder,
		Panes:      []tui.PaneSpec{{ID: "list", Title: "Tasks"}, {ID: "detail", Title: "Task"}},
		Actions:    v.actions, Handle: v.handle, Draw: v.draw, Plain: v.plain,
		PageText: v.pageText, CopyText: v.copyText, Breadcrumb: v.breadcrumb, Badge: v.badge,
	})
}

func (v *taskScreen) actions() []tui.Action {
	return append([]tui.Action{
		{
			ID: "tasks.result", Verb: tui.VerbOpen, Title: "result", Group: "Tasks", Hint: 1, Pane: "list",
			Help: "Show the result of the task, once it is over.", Disabled: v.noResult, Run: v.open,
		},
		{
			ID: "tasks.cancel", Verb: tui.VerbCancel, Title: "cancel", Group: "Tasks", Hint: 2,
			Help: "Ask the server to cancel the task.", Disabled: v.over,
			Run: func(c *tui.Ctx) tea.Cmd {
				t, _ := v.selected()
				return c.Confirm(tui.Confirmation{
					Title: "Cancel the task " + safe.Line(t.ID, 60) + "?", Body: safe.Line(cmp.Or(t.Tool, "a task that was not started here"), 200) + " at " + safe.Line(t.title, 60) + ", " + string(t.Status),
					Yes: "cancel the task", No: "no",
					OnYes: func(c *tui.Ctx) tea.Cmd {
						return v.ask(c, t, "tasks/cancel", "the server was asked to cancel the task", func(ctx context.Context, s *session.Session) error {
							_, err := s.CancelTask(ctx, t.ID)
							return err
						})
					},
				})
			},
		},
		{
			ID: "tasks.refresh", Verb: tui.VerbRun, Title: "refresh", Group: "Tasks", Hint: 3,
			Help: "Ask the current server for its list of tasks, where it has one, and about the task under the cursor.", Disabled: v.noRefresh, Run: v.refresh,
		},
		{
			ID: "tasks.forget", Word: "forget", Title: "forget", Group: "Tasks", Hint: 4,
			Help: "Take the task off this list. The server is not told, and a call that waits for it ends.", Disabled: v.none,
			Run: func(c *tui.Ctx) tea.Cmd {
				t, _ := v.selected()
				if s, ok := c.Sessions.Server(t.server); ok {
					s.ForgetTask(t.ID)
				}
				v.leave()
				return tea.Batch(v.sync(c), c.Toast(tui.Note, "forgotten here; the server still has it: "+text.Clip(t.ID, 60)))
			},
		},
		{
			ID: "tasks.id", Verb: tui.VerbAdd, Title: "by id", Group: "Tasks", Hint: 5,
			Help: "Take up a task of the current server by its id, such as one that another program started.", Disabled: pane.Offline,
			Run: func(c *tui.Ctx) tea.Cmd {
				s := c.Server
				return c.Ask(tui.Question{Label: "task id", OnDone: func(c *tui.Ctx, id string) tea.Cmd {
					t := serverTask{server: s.Name(), title: s.Title(), Task: tasks.Task{ID: id}}
					return v.ask(c, t, "tasks/get", "", func(ctx context.Context, s *session.Session) error {
						_, err := s.GetTask(ctx, id)
						return err
					})
				}})
			},
		},
		{
			ID: "tasks.form", Verb: tui.VerbEdit, Title: "form", Group: "Tasks", Hint: 6,
			Help: "Open the form of the task's tool.",
			Disabled: func(c *tui.Ctx) string {
				if t, ok := v.selected(); ok && t.Tool == "" {
					return "the tool is not known: the task was not started here"
				}
				return v.none(c)
			},
			Run: func(c *tui.Ctx) tea.Cmd {
				t, _ := v.selected()
				return c.NavigateOn(t.server, "call", t.Tool)
			},
		},
	}, v.reply.Actions("tasks", "detail")...)
}

func (v *taskScreen) selected() (serverTask, bool) {
	if i := v.List.Selected(); i >= 0 && i < len(v.all) {
		return v.all[i], true
	}
	return serverTask{}, false
}

func (v *taskScreen) none(*tui.Ctx) string {
	if _, ok := v.selected(); !ok {
		return "no task is selected"
	}
	return ""
}

func (v *taskScreen) over(c *tui.Ctx) string {
	t, ok := v.selected()
	if ok && t.Status.Over() {
		return "the task is over"
	}
	return cmp.Or(v.none(c), v.away(c, t))
}

// away is why nothing can be asked about a task.
func (v *taskScreen) away(c *tui.Ctx, t serverTask) string {
	s, ok := c.Sessions.Server(t.server)
	if !ok {
		return "the server was removed"
	}
	if s.Status().State != session.Connected {
		return "the server is not connected; press 1"
	}
	return ""
}

func (v *taskScreen) noResult(c *tui.Ctx) string {
	t, ok := v.selected()
	switch {
	case ok && t.Status == tasks.InputRequired:
		return "the task waits for an answer; press 8 for the inbox"
	case ok && !t.Status.Over():
		return "the task is not over yet"
	case ok && t.Status == tasks.Unknown:
		return "the server does not know the task"
	}
	return cmp.Or(v.none(c), v.away(c, t))
}

func (v *taskScreen) noRefresh(c *tui.Ctx) string {
	if v.none(c) == "" {
		return ""
	}
	return pane.Offline(c)
}

// taskAsked is the outcome of asking about a task.
type taskAsked struct{ key, done string }

// ask makes a request about a task.
func (v *taskScreen) ask(c *tui.Ctx, t serverTask, method, done string, f func(context.Context, *session.Session) error) tea.Cmd {
	s, ok := c.Sessions.Server(t.server)
	if !ok {
		return c.Toast(tui.Warning, "the server was removed")
	}
	cmd, _ := c.Go("tasks", method+" "+safe.Line(t.ID, 60), func(ctx context.Context) (any, error) {
		return taskAsked{t.key(), done}, f(ctx, s)
	})
	return cmd
}

// listed is the outcome of asking for a list of tasks.
type listed struct{ server string }

// refresh asks for the current server's list of tasks, and about the selected one.
func (v *taskScreen) refresh(c *tui.Ctx) tea.Cmd {
	var cmds []tea.Cmd
	t, ok := v.selected()
	if ok && v.away(c, t) == "" {
		cmds = append(cmds, v.ask(c, t, "tasks/get", "", func(ctx context.Context, s *session.Session) error {
			_, err := s.GetTask(ctx, t.ID)
			return err
		}))
	}
	if s := c.Server; pane.Offline(c) == "" && (s.Supports("tasks/list") && s.Status().Era == session.Legacy || !ok) {
		cmd, _ := c.Replace("tasks", "list", "tasks/list", func(ctx context.Context) (any, error) {
			_, _, err := s.ListTasks(ctx)
			return listed{s.Name()}, err
		})
		cmds = append(cmds, cmd)
	}
	return tea.Batch(cmds...)
}

// taskResult is the outcome of asking for a result.
type taskResult struct {
	key   string
	reply rpc.Reply
}

// open shows the result of the selected task.
func (v *taskScreen) open(c *tui.Ctx) tea.Cmd {
	t, _ := v.selected()
	s, ok := c.Sessions.Server(t.server)
	if !ok {
		return nil
	}
	v.opened, v.request = t.key(), 0
	v.reply.Wait("asking for the result of " + safe.Line(t.ID, 60))
	cmd, op := c.Go("tasks", "result of "+safe.Line(cmp.Or(t.Tool, t.ID), 60), func(ctx context.Context) (any, error) {
		r, err := s.TaskResult(ctx, t.ID, session.CallOptions{OnProgress: pane.ReportTo(ctx)})
		return taskResult{t.key(), r}, err
	})
	v.op = op
	return tea.Batch(cmd, c.FocusPane("detail"))
}

// sync takes in the tasks of all servers.
func (v *taskScreen) sync(c *tui.Ctx) tea.Cmd {
	was, had := v.selected()
	n := len(v.all)
	v.all, v.many = nil, false
	first := ""
	for _, s := range c.Sessions.Servers() {
		for _, t := range s.Tasks() {
			v.many = v.many || first != "" && first != s.Name()
			first = s.Name()
			v.all = append(v.all, serverTask{s.Name(), s.Title(), t})
		}
	}
	if len(v.all)+n == 0 {
		return nil
	}
	slices.SortStableFunc(v.all, func(a, b serverTask) int { return b.Since.Compare(a.Since) })
	cmd := v.Changed(c)
	if had {
		v.moveTo(was.key())
	}
	return tea.Batch(cmd, v.announce(c), v.tick(c))
}

// announce says of tasks that ended while nobody waited for them or looked at the list.
func (v *taskScreen) announce(c *tui.Ctx) tea.Cmd {
	was := v.running
	v.running = map[string]bool{}
	note, n := "", 0
	for _, t := range v.all {
		switch {
		case !t.Status.Over():
			v.running[t.key()] = true
		case was[t.key()] && !t.Waited:
			note = "task " + cmp.Or(t.Tool, t.ID) + ": " + string(t.Status)
			n++
		}
	}
	if n == 0 || c.View == v.View && !c.Linear {
		return nil
	}
	if n > 1 {
		note = text.Count(n, "task") + " ended, the last of them: " + note
	}
	return c.Toast(tui.Note, note)
}

func (v *taskScreen) moveTo(key string) {
	if i := slices.IndexFunc(v.all, func(t serverTask) bool { return t.key() == key }); i >= 0 {
		v.List.Select(i)
	}
}

// taskTick makes ages move while tasks run.
type taskTick struct{}

func (v *taskScreen) tick(c *tui.Ctx) tea.Cmd {
	if v.ticking || c.Linear || c.View != v.View || !slices.ContainsFunc(v.all, func(t serverTask) bool { return !t.Status.Over() }) {
		return nil
	}
	v.ticking = true
	return c.After(time.Second, func() tea.Msg { return taskTick{} })
}

func (v *taskScreen) handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case taskTick:
		v.ticking = false
		v.Rev++
		return v.tick(c), true
	case tui.SessionChanged, tui.ServerChanged:
		return v.sync(c), true
	case tui.Navigate:
		cmd := v.sync(c)
		if id, ok := m.Arg.(string); ok && c.Server != nil {
			v.leave()
			v.moveTo(serverTask{server: c.Server.Name(), Task: tasks.Task{ID: id}}.key())
		}
		return tea.Batch(cmd, v.tick(c), c.FocusPane("list")), true
	case tui.Resized:
		return v.reply.Handle(c, msg)
	case tui.OpDone:
		return v.finished(c, m), true
	case tui.FilterChanged:
		if c.Focus == "detail" && v.opened != "" {
			return v.reply.Handle(c, msg)
		}
		v.leave()
		return v.SetFilter(c, m.Text), true
	case tui.PaneMouse:
		if m.Pane == "detail" {
			return v.toDetail(c, msg)
		}
	}
	if c.Focus == "detail" {
		return v.toDetail(c, msg)
	}
	was := v.List.Selected()
	consumed, opened := v.MoveCursor("list", msg)
	if consumed && v.List.Selected() != was {
		v.leave()
	}
	if opened && v.noResult(c) == "" {
		return v.open(c), true
	}
	return nil, consumed
}

// toDetail gives a message to what the detail pane shows.
func (v *taskScreen) toDetail(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	if v.opened != "" {
		return v.reply.Handle(c, msg)
	}
	return nil, v.Detail.Handle(msg)
}

// leave goes back from a result to what is known of the task.
func (v *taskScreen) leave() {
	v.opened = ""
	v.reply.Clear()
}

func (v *taskScreen) finished(c *tui.Ctx, m tui.OpDone) tea.Cmd {
	switch r := m.Value.(type) {
	case taskAsked:
		switch {
		case m.Err != nil:
			return c.Toast(tui.Failure, m.Err.Error())
		case r.done != "":
			return tea.Batch(v.sync(c), c.Toast(tui.Success, r.done))
		}
		cmd := v.sync(c)
		v.moveTo(r.key)
		return cmd
	case listed:
		v.Rev++
		if v.err = m.Err; m.Err != nil && failure.KindOf(m.Err) != failure.Usage && len(v.all) > 0 {
			return c.Toast(tui.Failure, m.Err.Error())
		}
		return v.sync(c)
	case taskResult:
		if m.Op != v.op || r.key != v.opened {
			return nil
		}
		v.op, v.request = 0, r.reply.Request
		if m.Err != nil {
			v.reply.Fail(m, v.request)
			return nil
		}
		sent := func() ([]byte, error) { return r.reply.Result, nil }
		return v.reply.Load(c, v.request, func() (pane.Verdict, []pane.Part, error) {
			res, parts := pane.ResultParts("task", r.reply.Result, sent)
			line := "✓ " + text.Bytes(len(r.reply.Result))
			if res.IsError {
				line = "✗ the tool failed (isError) · " + text.Bytes(len(r.reply.Result))
			}
			return pane.Verdict{Line: line}, parts, nil
		})
	}
	if cmd, ok := v.Filtered(c, m); ok {
		return cmd
	}
	cmd, _ := v.reply.Handle(c, m)
	return cmd
}

// badge counts the tasks that wait for an answer or run.
func (v *taskScreen) badge(*tui.Ctx) string {
	n := 0
	for _, t := range v.all {
		if !t.Status.Over() {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func (v *taskScreen) breadcrumb(*tui.Ctx) string {
	t, _ := v.selected()
	return safe.Line(cmp.Or(t.Tool, t.ID), 60)
}
