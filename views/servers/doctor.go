package servers

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	doc "github.com/mcphud/mcphud/session/check/doctor"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
	"github.com/mcphud/mcphud/views/shell"
)

// doctor is the diagnosis of the current server: a row for each stage, as it happens, with what was seen and what to do. Navigate's
// Arg may be the name (string) of a server, whose diagnosis is begun.
type doctor struct {
	pane.ListPage
	options doc.Options
	where   config.Options
	server  string
	steps   []doc.Step // of the server, as drawn
	seen    int        // of the changes of them
	follows bool       // the cursor goes with the stage that runs, and to the first that failed
	ticking bool
	runs    Diagnoses
}

// Diagnoses are those of this run by the name of the server.
type Diagnoses map[string]*diagnosis

// diagnosis is what is known of one server.
type diagnosis struct {
	op     uint64 // 0 once it is over
	began  time.Time
	report *doc.Report // nil before it is over

	mu    sync.Mutex
	steps []doc.Step
	rev   int
}

// take keeps what is said of a step.
func (d *diagnosis) take(s doc.Step) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rev++
	for i := range d.steps {
		if d.steps[i].ID == s.ID {
			d.steps[i] = s
		}
	}
}

// snapshot is all steps, and how often one changed.
func (d *diagnosis) snapshot() ([]doc.Step, int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.steps), d.rev
}

// doctorTick says that a time on the screen must move.
type doctorTick struct{}

// NewDoctor is the screen that says why a server does not connect. It keeps what it found in runs.
func NewDoctor(o doc.Options, where config.Options, runs Diagnoses) *tui.Screen {
	v := &doctor{options: o, where: where, follows: true, runs: runs}
	v.View, v.Page, v.About, v.Inputs = "doctor", v.page, v.stage, func(*tui.Ctx) any { return [2]any{v.seen, v.running()} }
	return v.screen()
}

func (v *doctor) screen() *tui.Screen {
	return v.Screen(tui.Screen{
		ID: "doctor", Title: "Doctor", Aliases: []string{"diagnose", "why"}, Tab: "servers", Split: 48,
		Panes:   []tui.PaneSpec{{ID: "list", Title: "Doctor"}, {ID: "detail", Title: "Stage"}},
		Actions: v.actions, Handle: v.handle, CopyText: v.copyText,
	})
}

func (v *doctor) actions() []tui.Action {
	g := "Doctor"
	return []tui.Action{
		{
			ID: "doctor.run", Verb: tui.VerbRun, Title: "run again", Group: g, Hint: 1,
			Help: "Look at the server, from the first stage on. No tool is called.",
			Disabled: func(c *tui.Ctx) string {
				switch {
				case c.Server == nil:
					return "no server is open"
				case v.running():
					return "the diagnosis goes on; x cancels it"
				}
				return ""
			},
			Now: func(c *tui.Ctx) string {
				if c.Server != nil && v.runs[c.Server.Name()] == nil {
					return "run"
				}
				return ""
			},
			Run: v.start,
		},
		{
			ID: "doctor.cancel", Verb: tui.VerbCancel, Title: "cancel", Group: g, Hint: 2,
			Help:    "Leave the rest out; what was started is ended.",
			Applies: func(*tui.Ctx) bool { return v.running() },
			Disabled: func(*tui.Ctx) string {
				if !v.running() {
					return "no diagnosis goes on"
				}
				return ""
			},
			Run: func(c *tui.Ctx) tea.Cmd { c.Cancel(v.runs[v.server].op); return nil },
		},
		{
			ID: "doctor.save", Verb: tui.VerbSave, Title: "save report", Group: g, Hint: 3,
			Help: "Save the report as JSON, for a bug report. Secrets are hidden in it.", Disabled: v.noReport,
			Run: func(c *tui.Ctx) tea.Cmd {
				b, err := v.json()
				if err != nil {
					return c.Toast(tui.Failure, err.Error())
				}
				return pane.SaveAs(c, "doctor", v.server+"-doctor.json", append(b, '\n'))
			},
		},
		pane.VariableAction("doctor", pane.CurrentServer),
	}
}

// running is whether a diagnosis of the current server goes on.
func (v *doctor) running() bool { d := v.runs[v.server]; return d != nil && d.op != 0 }

func (v *doctor) noReport(*tui.Ctx) string {
	if d := v.runs[v.server]; d == nil || d.report == nil {
		return "there is no report yet"
	}
	return ""
}

// json is the report for others.
func (v *doctor) json() ([]byte, error) {
	return json.MarshalIndent(v.runs[v.server].report, "", "  ")
}

// start looks at the current server.
func (v *doctor) start(c *tui.Ctx) tea.Cmd {
	s := c.Server
	d := &diagnosis{began: time.Now(), steps: doc.Plan(s.Config())}
	options, where, sessions := v.options, v.where, c.Sessions
	cmd, op := c.Go("doctor", "doctor of "+safe.Line(s.Title(), 60), func(ctx context.Context) (any, error) {
		r := doc.Run(ctx, patient(s, where), options, func(st doc.Step) {
			d.take(st)
			sessions.NotifyChange()
		})
		return diagnosed{s.Name(), d, &r}, ctx.Err()
	})
	d.op = op
	v.runs[s.Name()] = d
	v.follows = true
	return tea.Batch(cmd, v.sync(c), v.tick(c))
}

// patient is a server with what its file's reader says of it.
func patient(s *session.Session, where config.Options) doc.Target {
	t := doc.Target{Server: s.Config()}
	if t.Server.Source.File != "" {
		set, _ := config.Load(where) // what cannot be read is a warning of the set
		t.Warnings = doc.WarningsOf(set, t.Server)
	}
	return t
}

// diagnosed is the outcome of a diagnosis.
type diagnosed struct {
	server string
	of     *diagnosis
	report *doc.Report
}

func (v *doctor) handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.SessionChanged, tui.ServerChanged, tui.FocusChanged:
		return tea.Batch(v.sync(c), v.tick(c)), true
	case tui.Navigate:
		name, asked := m.Arg.(string)
		if asked && (c.Server == nil || c.Server.Name() != name) {
			return c.NavigateOn(name, "doctor", name), true
		}
		cmd := v.sync(c)
		if c.Server != nil && !v.running() && (asked || v.runs[v.server] == nil) {
			cmd = tea.Batch(cmd, v.start(c))
		}
		return tea.Batch(cmd, v.tick(c)), true
	case doctorTick:
		v.ticking = false
		return v.tick(c), true
	case tui.OpDone:
		return v.finished(c, m), true
	}
	at := v.List.Selected()
	cmd, ok := v.Handle(c, msg, func() tea.Cmd { return c.FocusPane("detail") })
	if v.List.Selected() != at {
		v.follows = false
	}
	return cmd, ok
}

// finished takes the outcomes of operations.
func (v *doctor) finished(c *tui.Ctx, m tui.OpDone) tea.Cmd {
	if cmd, ok := pane.SavedToast(c, m); ok {
		return cmd
	}
	if r, ok := m.Value.(diagnosed); ok {
		r.of.op, r.of.report = 0, r.report
		cmd := v.sync(c)
		switch e := r.report.Err(); {
		case errors.Is(m.Err, context.Canceled):
			return tea.Batch(cmd, c.Toast(tui.Note, "the diagnosis was cancelled; nothing of it is left"))
		case c.View == "doctor" && v.server == r.server:
			return cmd
		case e != nil:
			return tea.Batch(cmd, c.Toast(tui.Failure, e.Error()))
		}
		return tea.Batch(cmd, c.Toast(tui.Success, "nothing failed at "+c.ServerTitle(r.server)))
	}
	for _, d := range v.runs { // it panicked, or was cancelled before it began
		if d.op == m.Op {
			d.op = 0
		}
	}
	cmd, _ := v.Filtered(c, m)
	return tea.Batch(cmd, v.sync(c))
}

// sync takes in what is known of the current server.
func (v *doctor) sync(c *tui.Ctx) tea.Cmd {
	name := ""
	if c.Server != nil {
		name = c.Server.Name()
	}
	if name != v.server {
		v.server, v.follows = name, true
	}
	d := v.runs[name]
	if d == nil {
		v.steps = nil
		return v.Changed(c)
	}
	v.steps, v.seen = d.snapshot()
	cmd := v.Changed(c)
	if v.follows {
		v.List.Select(v.telling())
	}
	return cmd
}

// telling is the stage that says most: the first that failed, else the one that runs, else the first with a warning.
func (v *doctor) telling() int {
	for _, want := range []doc.Status{doc.Failed, doc.Running, doc.Warning} {
		if i := slices.IndexFunc(v.steps, func(s doc.Step) bool { return s.Status == want }); i >= 0 {
			return i
		}
	}
	return 0
}

// tick keeps the time of the stage that runs moving.
func (v *doctor) tick(c *tui.Ctx) tea.Cmd {
	if c.View != "doctor" || v.ticking || !v.running() {
		return nil
	}
	v.ticking = true
	v.Rev++
	return c.After(time.Second, func() tea.Msg { return doctorTick{} })
}

// copyText copies the report as JSON, the evidence of a stage, and the command that makes the same report.
func (v *doctor) copyText(c *tui.Ctx, kind tui.CopyKind) tui.CopyFunc {
	switch kind {
	case tui.CopyJSON:
		if v.noReport(c) != "" {
			return nil
		}
		return func() (string, error) {
			b, err := v.json()
			return string(b), err
		}
	case tui.CopyValue:
		if s := v.selected(); s != nil {
			rows := v.rows()
			return tui.CopyString(rows.Table.Spoken(v.List.Selected()), true)
		}
	case tui.CopyCommand:
		if c.Server != nil {
			srv := c.Server.Config()
			return func() (string, error) { return shell.Invocation{Verb: "doctor"}.On(srv) }
		}
	}
	return nil
}

// selected is the stage under the cursor, nil for none.
func (v *doctor) selected() *doc.Step {
	if i := v.List.Selected(); i >= 0 && i < len(v.steps) {
		return &v.steps[i]
	}
	return nil
}
