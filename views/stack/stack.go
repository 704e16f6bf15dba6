// Package stack is the screen of the processes that run below this program, through the interface [Stack].
package stack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/tui/widget"
	"github.com/mcphud/mcphud/views/pane"
	"github.com/mcphud/mcphud/views/shell"
)

// Stack is the processes that the stack screen shows and steers. Its methods
// are safe for concurrent use, and but for the last three return at once.
type Stack interface {
	// Processes are all of them as they are now, always in the same order.
	Processes() []Process
	// Log is what a process wrote, and what happened to it, since the line with that number. Old lines are forgotten.
	Log(name string, after uint64) []ProcessLine
	// Rev grows with every change of a process or log.
	Rev() uint64

	// Run starts processes that do not run, Restart ends them first, Stop ends
	// them; all, if none is named. They return when that is done.
	Run(ctx context.Context, names ...string) error
	Restart(ctx context.Context, names ...string) error
	Stop(ctx context.Context, names ...string) error
}

// Process is one process of a [Stack].
type Process struct {
	Name   string     `json:"name"`
	Kind   string     `json:"kind"`  // what it is: agent, router, server
	State  string     `json:"state"` // in a word
	Health tui.Health `json:"-"`

	PID      int       `json:"pid,omitempty"` // 0 where there is no process
	Port     int       `json:"port,omitempty"`
	URL      string    `json:"url,omitempty"`
	Started  time.Time `json:"started,omitzero"`
	RetryAt  time.Time `json:"retryAt,omitzero"` // of the next start, after a failure
	Restarts int       `json:"restarts"`
	Err      string    `json:"error,omitempty"` // why it failed

	// What it tells about itself; Known is false if it does not.
	Known    bool  `json:"-"`
	Requests int64 `json:"requests"`
	Running  int   `json:"running"`
	Queued   int   `json:"queued"`

	// Servers are the names by which it is in the list of servers.
	Servers []string `json:"servers,omitempty"`
}

// ProcessLine is one line of a process' log, as it came.
type ProcessLine struct {
	Seq  uint64
	Time time.Time
	Note bool // what happened to the process, not what it wrote
	Text string
}

// stack lists processes with their state, and the log of the one under the cursor. Navigate's Arg may be the name (string) of a server
// whose process is looked for.
type stack struct {
	of    Stack
	table widget.Table
	all   []Process
	rev   uint64
	drawn int // counts what changed the table besides the processes
	typed string
	query widget.Query
	log   processLog
}

// NewStack is the screen of the processes of a stack; nil for none.
func NewStack(of Stack) *tui.Screen {
	return (&stack{of: of, rev: ^uint64(0)}).screen()
}

func (v *stack) screen() *tui.Screen {
	return &tui.Screen{
		ID: "stack", Title: "Stack", Aliases: []string{"processes", "ps"}, NoRail: true, Split: 55, Tab: "servers", Peer: v.of != nil,
		Panes:   []tui.PaneSpec{{ID: "list", Title: "Stack"}, {ID: "detail", Title: "Process"}},
		Actions: v.actions, Handle: v.handle, Draw: v.draw, Plain: v.plain,
		Choices: v.choices, PageText: v.pageText, CopyText: v.copyText, CopyShapes: v.copyShapes, CopyShape: v.copyShape,
		Breadcrumb: v.breadcrumb,
	}
}

// actions are none where there is no stack: they would only be in the way when somebody looks for another.
func (v *stack) actions() []tui.Action {
	if v.of == nil {
		return nil
	}
	one := func(id string, verb tui.Verb, title, help string, hint int, danger bool, disabled func(*tui.Ctx) string, run func(context.Context, ...string) error) tui.Action {
		return tui.Action{
			ID: "stack." + id, Verb: verb, Title: title, Group: "Process", Hint: hint, Help: help, Danger: danger, Disabled: disabled,
			Run: func(c *tui.Ctx) tea.Cmd {
				p, _ := v.selected()
				return v.order(c, title+" "+safe.Line(p.Name, 60), run, p.Name)
			},
		}
	}
	every := func(id, title, help string, danger bool, run func(context.Context, ...string) error) tui.Action {
		return tui.Action{
			ID: "stack." + id, Word: id, Title: title, Group: "Stack", Help: help, Danger: danger, Disabled: v.empty,
			Run: func(c *tui.Ctx) tea.Cmd { return v.order(c, title, run) },
		}
	}
	start := one("start", tui.VerbRun, "start", "Start the process now, also one that waits to be restarted.", 3, false, v.running, v.run)
	start.Applies = func(c *tui.Ctx) bool { return v.none(c) == "" && v.running(c) == "" }
	actions := []tui.Action{
		{
			ID: "stack.log", Verb: tui.VerbOpen, Title: "log", Group: "Process", Hint: 1, Pane: "list", Help: "Go to what the process writes.",
			Disabled: v.none, Run: func(c *tui.Ctx) tea.Cmd { return c.FocusPane("detail") },
		},
		{
			ID: "stack.open", Verb: tui.VerbElsewhere, Title: "open as server", Group: "Process", Hint: 2,
			Help: "Connect to the process as an MCP server and go to its tools.", Disabled: v.closed, Run: v.open,
		},
		start,
		one("restart", tui.VerbRun, "restart", "Let the process finish what it is doing, end it, and start it again.", 3, true, v.none, v.restart),
		one("stop", tui.VerbCancel, "stop", "Let the process finish what it is doing, and end it.", 4, true, v.notRunning, v.stop),
		every("restart-all", "restart all", "Restart every process of the stack.", true, v.restart),
		every("stop-all", "stop all", "Stop every process of the stack, those that depend on others first.", true, v.stop),
		every("start-all", "start all", "Start every process of the stack that does not run.", false, v.run),
	}
	return append(actions, v.log.actions()...)
}

func (v *stack) restart(ctx context.Context, names ...string) error {
	return v.of.Restart(ctx, names...)
}

func (v *stack) stop(ctx context.Context, names ...string) error { return v.of.Stop(ctx, names...) }

func (v *stack) run(ctx context.Context, names ...string) error { return v.of.Run(ctx, names...) }

// ordered is the outcome of an order to the stack, about one process or all of them.
type ordered struct {
	label string
	names []string
}

func (v *stack) order(c *tui.Ctx, label string, do func(context.Context, ...string) error, names ...string) tea.Cmd {
	cmd, _ := c.Go("stack", label, func(ctx context.Context) (any, error) { return ordered{label, names}, do(ctx, names...) })
	return cmd
}

// failed says why an order failed. The label names the one process that it was about.
func (o ordered) failed(err error) string {
	why := err.Error()
	for _, name := range o.names {
		why = strings.TrimPrefix(why, name+": ")
	}
	return o.label + ": " + why
}

func (v *stack) selected() (Process, bool) {
	if i := v.table.Selected(); i >= 0 && i < len(v.all) {
		return v.all[i], true
	}
	return Process{}, false
}

func (v *stack) empty(*tui.Ctx) string {
	if len(v.all) == 0 {
		return "there is no stack"
	}
	return ""
}

func (v *stack) none(c *tui.Ctx) string {
	if why := v.empty(c); why != "" {
		return why
	}
	if _, ok := v.selected(); !ok {
		return "no process is selected"
	}
	return ""
}

func (v *stack) running(c *tui.Ctx) string {
	if p, ok := v.selected(); ok && (p.Health == tui.Healthy || p.Health == tui.Changing) {
		return "it is " + p.State + " already"
	}
	return v.none(c)
}

func (v *stack) notRunning(c *tui.Ctx) string {
	if p, ok := v.selected(); ok && p.Health == tui.Stopped {
		return "it is not running"
	}
	return v.none(c)
}

func (v *stack) closed(c *tui.Ctx) string {
	p, ok := v.selected()
	switch {
	case !ok:
		return v.none(c)
	case v.server(c, p) == "":
		return "it is not in the list of servers"
	case p.Health != tui.Healthy:
		return "it is not ready"
	}
	return ""
}

// server is the name by which a process can be opened, "" for none.
func (v *stack) server(c *tui.Ctx, p Process) string {
	i := slices.IndexFunc(p.Servers, func(name string) bool { _, ok := c.Sessions.Server(name); return ok })
	if i < 0 {
		return ""
	}
	return p.Servers[i]
}

func (v *stack) open(c *tui.Ctx) tea.Cmd {
	p, _ := v.selected()
	return c.Navigate("servers", v.server(c, p))
}

func (v *stack) handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.SessionChanged:
		v.sync()
		return nil, true
	case tui.Navigate:
		v.sync()
		if server, ok := m.Arg.(string); ok {
			v.find(c, server)
		}
		return nil, true
	case tui.FilterChanged:
		if c.Focus == "detail" {
			v.log.search(m.Text)
		} else {
			v.filter(m.Text)
		}
		return nil, true
	case tui.FindNext:
		return v.log.next(c, m.Back), true
	case tui.OpDone:
		if m.Slot == pane.EntrySlot {
			return pane.CopiedAs(c, m), true
		}
		if cmd, ok := pane.SavedToast(c, m); ok {
			return cmd, true
		}
		if r, ok := m.Value.(ordered); ok {
			v.sync()
			switch {
			case errors.Is(m.Err, context.Canceled): // of the waiting, that is
				return c.Toast(tui.Note, r.label+" continues in the background"), true
			case m.Err != nil:
				return c.Toast(tui.Failure, r.failed(m.Err)), true
			}
			return c.Toast(tui.Success, r.label+": done"), true
		}
		return nil, true
	case tui.PaneMouse:
		if m.Pane == "detail" {
			return nil, v.log.mouse(m)
		}
		opened := pane.MouseTo(m, v.table.Mouse) == widget.HitOpen
		v.moved()
		if opened {
			return c.FocusPane("detail"), true
		}
		return nil, true
	case tea.KeyPressMsg:
		if c.Focus == "detail" {
			return nil, v.log.key(m.String())
		}
		if v.table.Key(m.String()) {
			v.moved()
			return nil, true
		}
	}
	return nil, false
}

// find puts the cursor on the process that a server is, whatever the filter leaves out.
func (v *stack) find(c *tui.Ctx, server string) {
	i := slices.IndexFunc(v.all, func(p Process) bool { return slices.Contains(p.Servers, server) })
	if i < 0 {
		return
	}
	if v.typed != "" {
		v.filter("")
		c.FilterApplied("stack", "list", "")
	}
	v.table.Select(i)
	v.moved()
}

// sync takes in the processes.
func (v *stack) sync() {
	if v.of == nil || v.of.Rev() == v.rev {
		return
	}
	v.rev = v.of.Rev()
	v.all = v.of.Processes()
	v.table.SetCells(stackCells{v, nil})
	v.refilter()
	v.moved()
}

// moved shows the log of the process under the cursor.
func (v *stack) moved() {
	v.drawn++
	p, ok := v.selected()
	if !ok {
		v.log.show(nil, "")
		return
	}
	v.log.show(v.of, p.Name)
}

func (v *stack) filter(text string) {
	v.typed, v.query = text, widget.ParseQuery(text)
	v.refilter()
	v.moved()
}

func (v *stack) refilter() {
	if v.query.Empty() {
		v.table.ClearFilter()
		return
	}
	pick, err := v.query.Filter(context.Background(), len(v.all), func(i int) (name, about string) {
		p := &v.all[i]
		return p.Name, p.Kind + " " + p.State + " " + p.URL + " " + p.Err
	})
	if err == nil { // nobody cancels it
		v.table.SetFilter(pick)
	}
}

func (v *stack) breadcrumb(*tui.Ctx) string {
	p, _ := v.selected()
	return safe.Line(p.Name, 40)
}

func (v *stack) copyText(c *tui.Ctx, k tui.CopyKind) tui.CopyFunc {
	p, ok := v.selected()
	if !ok {
		return nil
	}
	srv := config.Server{Name: p.Name, Transport: config.HTTP, URL: p.URL}
	switch {
	case k == tui.CopyValue && c.Focus == "detail":
		text := v.log.text()
		return tui.CopyString(text, text != "")
	case k == tui.CopyValue, k == tui.CopyPath:
		return tui.CopyString(p.URL, p.URL != "")
	case k == tui.CopyJSON:
		return func() (string, error) {
			b, err := json.MarshalIndent(p, "", "  ")
			return string(b), err
		}
	case !strings.HasPrefix(p.URL, "http"): // it does not speak MCP
		return nil
	case k == tui.CopyCommand && p.Kind != "router":
		return pane.CopyCommand(srv, shell.Invocation{})
	case k == tui.CopyConfig && p.Kind != "router":
		return tui.CopyString(pane.EntryText(srv), true)
	}
	return nil
}

func (v *stack) pageText(*tui.Ctx) (text, ext string, ok bool) {
	text = v.log.text()
	return text, ".log", text != ""
}

func (v *stack) choices(*tui.Ctx) (out []tui.Choice) {
	for i, p := range v.all {
		out = append(out, tui.Choice{Label: safe.Line(p.Name, 80) + " (" + p.State + ")", Run: func(*tui.Ctx) tea.Cmd {
			v.table.Select(i)
			v.moved()
			return nil
		}})
	}
	return out
}

func (v *stack) plain(_ *tui.Ctx, w io.Writer) {
	v.sync()
	if len(v.all) == 0 {
		fmt.Fprintln(w, noStack)
	}
	for _, p := range v.all {
		fmt.Fprintf(w, "%s %s %s", safe.Line(p.Name, 80), p.State, safe.Line(p.URL, 200))
		if p.Err != "" {
			fmt.Fprintf(w, " %s", safe.Line(p.Err, 400))
		}
		fmt.Fprintln(w)
	}
	for _, p := range v.all {
		if q, _ := v.selected(); q.Name == p.Name {
			fmt.Fprint(w, safe.Text(v.log.text()))
		}
	}
}
