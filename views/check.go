package views

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
	"github.com/mcphud/mcphud/views/shell"
)

// checkScreen is what is wrong with the current server: a row for each section, as it runs, with its findings below it. Navigate's Arg may
// be the name (string) of a server, which is examined at once.
type checkScreen struct {
	table   pane.Rows
	detail  pane.TextPane
	with    Checks
	server  string
	parts   []checkPart // of the server, as drawn
	rows    []checkRow
	seen    int // of the changes of them
	synced  time.Time
	least   check.Severity // findings that matter less are not listed
	only    string         // section whose findings are listed, "" for all
	moved   bool           // somebody chose a row
	ticking bool
	runs    map[string]*examination // by server
}

// checkRow is a section (finding is -1), or one of its findings.
type checkRow struct{ part, finding int32 }

// checkTick says that a time on the screen must move, or that findings wait to be listed.
type checkTick struct{}

// manyChecked is how many rows are listed again at most three times in a second.
const manyChecked = 5000

func newCheck(with Checks) *checkScreen {
	v := &checkScreen{table: pane.Rows{View: "check"}, with: with, runs: map[string]*examination{}}
	v.table.Freeze = func() (int, func(int) (string, string)) {
		parts, rows := v.parts, v.rows
		return len(rows), func(i int) (name, about string) {
			p := &parts[rows[i].part]
			if rows[i].finding < 0 {
				return p.name, p.title
			}
			f := &p.findings[rows[i].finding]
			return f.ID, f.Severity.String() + " " + f.Place.String() + " " + f.Message
		}
	}
	return v
}

func (v *checkScreen) Info() tui.Info {
	return tui.Info{ID: "check", Title: "Check", Aliases: []string{"lint", "quality", "good"}, Hidden: true, Split: 60, StackUnder: 160, Panes: []tui.PaneSpec{
		{ID: "list", Title: "Check"}, {ID: "detail", Title: "Finding"},
	}}
}

func (v *checkScreen) Actions() []tui.Action {
	g := "Check"
	return []tui.Action{
		{
			ID: "check.run", Keys: []string{"r"}, Title: "run again", Group: g, Hint: 1,
			Help: "Examine the server by all sections that only read what it lists. No tool is called.", Disabled: v.cannot,
			Now: func(c *tui.Ctx) string {
				switch {
				case offline(c) != "":
					return "connect"
				case v.runs[v.server] == nil:
					return "run"
				}
				return ""
			},
			Run: func(c *tui.Ctx) tea.Cmd {
				if offline(c) != "" {
					return c.Navigate("servers", reopen{c.Server.Name(), "check"})
				}
				return v.start(c, v.usual(c))
			},
		},
		{
			ID: "check.cancel", Keys: []string{"x"}, Title: "cancel", Group: g, Hint: 2,
			Help:   "Leave the rest out; what was found stays.",
			Hinted: func(*tui.Ctx) bool { return v.running() },
			Disabled: func(*tui.Ctx) string {
				if !v.running() {
					return "no check goes on"
				}
				return ""
			},
			Run: func(c *tui.Ctx) tea.Cmd { c.Cancel(v.runs[v.server].op); return nil },
		},
		{
			ID: "check.go", Keys: []string{"t"}, Title: "go to it", Group: g, Hint: 3,
			Help: "Go to the tool, prompt or resource that the finding is about; esc comes back.", Disabled: v.noPlace, Run: v.goTo,
		},
		{
			ID: "check.sections", Keys: []string{"o"}, Title: "choose sections", Group: g, Hint: 4,
			Help: "Choose which sections run. Those that call the server's tools ask first.", Disabled: func(c *tui.Ctx) string {
				if why := offline(c); why != "" {
					return why
				}
				return v.cannot(c)
			}, Run: v.choose,
		},
		{
			ID: "check.least", Keys: []string{"w"}, Title: "severity", Group: g, Hint: 5,
			Help: "List everything, warnings and errors, or errors only.",
			Run: func(c *tui.Ctx) tea.Cmd {
				v.least = (v.least + 1) % (check.Error + 1)
				return v.list(c)
			},
		},
		{
			ID: "check.only", Keys: []string{"f"}, Title: "section", Group: g, Hint: 6,
			Help: "List the findings of one section, or of all.", Disabled: v.nothing, Run: v.narrow,
		},
		treemapAction("check", "$"), driftAction("check"),
		{
			ID: "check.save", Keys: []string{"S"}, Title: "save report", Group: g,
			Help: "Save the report as JSON.", Disabled: v.noReport,
			Run: func(c *tui.Ctx) tea.Cmd {
				b, err := v.json()
				if err != nil {
					return c.Toast(tui.Failure, err.Error())
				}
				return pane.SaveAs(c, "check", v.server+"-check.json", append(b, '\n'))
			},
		},
	}
}

// running is whether a check of the current server goes on.
func (v *checkScreen) running() bool { x := v.runs[v.server]; return x != nil && x.op != 0 }

func (v *checkScreen) cannot(c *tui.Ctx) string {
	switch {
	case c.Server == nil:
		return "no server is open"
	case v.with.Sections == nil:
		return "there are no sections"
	case v.running():
		return "the check goes on; x cancels it"
	case c.Server.Status().State == session.Connecting:
		return offline(c)
	}
	return ""
}

func (v *checkScreen) nothing(*tui.Ctx) string {
	if len(v.parts) == 0 {
		return "nothing was examined yet"
	}
	return ""
}

func (v *checkScreen) noReport(*tui.Ctx) string {
	if x := v.runs[v.server]; x == nil || x.report == nil {
		return "there is no report yet"
	}
	return ""
}

func (v *checkScreen) json() ([]byte, error) {
	return json.MarshalIndent(v.runs[v.server].merged(), "", "  ")
}

// all are all sections; usual those that only read.
func (v *checkScreen) all(c *tui.Ctx) []CheckSection { return v.with.Sections(c.Server.Config()) }

func (v *checkScreen) usual(c *tui.Ctx) []CheckSection {
	return slices.DeleteFunc(v.all(c), func(s CheckSection) bool { return s.Calls })
}

// choose asks which sections run.
func (v *checkScreen) choose(c *tui.Ctx) tea.Cmd {
	picks := []tui.Pick{{Group: "Only reads", Title: "all that only read", Help: "what r runs", Run: func(c *tui.Ctx) tea.Cmd { return v.start(c, v.usual(c)) }}}
	for _, s := range v.all(c) {
		one := []CheckSection{s}
		p := tui.Pick{Group: "Only reads", Title: s.Name(), Help: s.Title(), Run: func(c *tui.Ctx) tea.Cmd { return v.start(c, one) }}
		if s.Calls {
			p.Group, p.Run = "Calls tools", func(c *tui.Ctx) tea.Cmd { return v.agree(c, one) }
			if c.ReadOnly {
				p.Why = "not in read-only mode"
			}
		}
		picks = append(picks, p)
	}
	return c.Pick("Run sections", picks)
}

// agree asks before sections run that call tools.
func (v *checkScreen) agree(c *tui.Ctx, sections []CheckSection) tea.Cmd {
	return c.Confirm(tui.Confirmation{
		Title: "Let " + sections[0].Name() + " call tools of " + safe.Line(c.Server.Title(), 40) + "?",
		Body: "It sends requests with arguments that nobody wrote, over a connection of its own. Only tools that are marked as read-only are called; " +
			"whether they keep that promise is up to the server.",
		Yes: "run it", OnYes: func(c *tui.Ctx) tea.Cmd { return v.start(c, sections) },
	})
}

// narrow asks whose findings are listed.
func (v *checkScreen) narrow(c *tui.Ctx) tea.Cmd {
	show := func(name string) func(*tui.Ctx) tea.Cmd {
		return func(c *tui.Ctx) tea.Cmd { v.only = name; return v.list(c) }
	}
	picks := []tui.Pick{{Title: "all sections", Run: show("")}}
	for _, p := range v.parts {
		picks = append(picks, tui.Pick{Title: p.name, Help: p.title, Run: show(p.name)})
	}
	return c.Pick("List", picks)
}

// start examines the current server.
func (v *checkScreen) start(c *tui.Ctx, sections []CheckSection) tea.Cmd {
	s := c.Server
	x := v.runs[s.Name()]
	if x == nil {
		x = &examination{}
		v.runs[s.Name()] = x
	}
	all := v.all(c)
	plain := func(list []CheckSection) (out []check.Section) {
		for _, s := range list {
			out = append(out, s.Section)
		}
		return out
	}
	x.plan(plain(all), plain(sections))
	x.began, x.err, v.moved = time.Now(), nil, false
	with, sessions := v.with, c.Sessions
	cmd, op := c.Go("check", "check of "+safe.Line(s.Title(), 60), func(ctx context.Context) (any, error) {
		rep, err := with.examine(ctx, s, sessions.Servers(), sections, x.watch(sessions.NotifyChange))
		return checked{s.Name(), x, rep, err}, ctx.Err()
	})
	x.op = op
	return tea.Batch(cmd, v.sync(c), v.tick(c))
}

// checked is the outcome of a check.
type checked struct {
	server string
	of     *examination
	report *check.Report
	err    error
}

func (v *checkScreen) Handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.SessionChanged, tui.ServerChanged, tui.FocusChanged:
		return tea.Batch(v.sync(c), v.tick(c)), true
	case tui.Navigate:
		name, asked := m.Arg.(string)
		if asked && (c.Server == nil || c.Server.Name() != name) {
			return c.NavigateOn(name, "check", name), true
		}
		cmd := v.sync(c)
		if v.cannot(c) == "" && offline(c) == "" && v.runs[v.server] == nil {
			cmd = tea.Batch(cmd, v.start(c, v.usual(c)))
		}
		return tea.Batch(cmd, v.tick(c)), true
	case checkTick:
		v.ticking = false
		return tea.Batch(v.sync(c), v.tick(c)), true
	case tui.OpDone:
		return v.finished(c, m), true
	}
	at := v.table.List.Selected()
	cmd, ok := listAndText(c, &v.table, &v.detail, msg, func() tea.Cmd { return c.FocusPane("detail") })
	if v.table.List.Selected() != at {
		v.moved, v.detail.Top = true, 0
	}
	return cmd, ok
}

// Hints say how to leave the screen.
func (v *checkScreen) Hints(*tui.Ctx) []tui.Hint { return backHint(true) }

// finished takes the outcomes of operations.
func (v *checkScreen) finished(c *tui.Ctx, m tui.OpDone) tea.Cmd {
	if cmd, ok := pane.SavedToast(c, m); ok {
		return cmd
	}
	r, ok := m.Value.(checked)
	if !ok {
		for _, x := range v.runs { // it panicked, or was cancelled before it began
			if x.op != 0 && x.op == m.Op {
				x.end()
			}
		}
		cmd, _ := v.table.Filtered(c, m)
		return tea.Batch(cmd, v.sync(c))
	}
	r.of.end()
	if r.report != nil {
		r.of.report = r.report
	}
	cancelled := errors.Is(m.Err, context.Canceled)
	if r.err != nil && !cancelled {
		r.of.err = r.err
	}
	cmd := v.sync(c)
	switch {
	case cancelled:
		return tea.Batch(cmd, c.Toast(tui.Note, "the check was cancelled; what it found stays"))
	case c.View == "check" && v.server == r.server:
		return cmd
	case r.err != nil:
		return tea.Batch(cmd, c.Toast(tui.Failure, r.err.Error()))
	}
	return tea.Batch(cmd, c.Toast(tui.Note, "check of "+c.ServerTitle(r.server)+": "+countsText(r.report.Counts)))
}

// sync takes in what is known of the current server.
func (v *checkScreen) sync(c *tui.Ctx) tea.Cmd {
	name := ""
	if c.Server != nil {
		name = c.Server.Name()
	}
	fresh := name != v.server
	if fresh {
		v.server, v.moved, v.detail.Top, v.seen = name, false, 0, -1
	}
	x := v.runs[name]
	if x == nil {
		if v.parts != nil || fresh {
			v.parts = nil
			return v.list(c)
		}
		return nil
	}
	if x.op != 0 && len(v.rows) > manyChecked && time.Since(v.synced) < 300*time.Millisecond {
		return nil // the tick comes back to them
	}
	parts, rev := x.snapshot()
	if rev == v.seen {
		return nil
	}
	v.parts, v.seen, v.synced = parts, rev, time.Now()
	return v.list(c)
}

// list makes the rows of what is known and leaves the cursor where it is; before anybody moved it, it is on what matters most.
func (v *checkScreen) list(c *tui.Ctx) tea.Cmd {
	was, had := v.at()
	part, finding := "", int32(-1)
	if had && int(was.part) < len(v.parts) {
		part, finding = v.parts[was.part].name, was.finding
	}
	v.rows = nil
	worst, best := 0, check.Severity(-1)
	for i, p := range v.parts {
		if v.only != "" && v.only != p.name {
			continue
		}
		v.rows = append(v.rows, checkRow{int32(i), -1})
		for s := check.Error; s >= v.least; s-- {
			for j := range p.findings {
				if p.findings[j].Severity == s {
					if s > best {
						best, worst = s, len(v.rows)
					}
					v.rows = append(v.rows, checkRow{int32(i), int32(j)})
				}
			}
		}
	}
	cmd := v.table.SetRows(c, checkRows{v, c})
	if !v.moved {
		v.table.List.Select(worst)
		return cmd
	}
	for i, r := range v.rows {
		if v.parts[r.part].name == part && r.finding == finding {
			v.table.List.Select(i)
			break
		}
	}
	return cmd
}

// at is the row under the cursor.
func (v *checkScreen) at() (checkRow, bool) {
	if i := v.table.List.Selected(); i >= 0 && i < len(v.rows) {
		return v.rows[i], true
	}
	return checkRow{}, false
}

// selected is the section under the cursor, and its finding there if it is on one.
func (v *checkScreen) selected() (*checkPart, *check.Finding) {
	r, ok := v.at()
	if !ok || int(r.part) >= len(v.parts) {
		return nil, nil
	}
	p := &v.parts[r.part]
	if r.finding < 0 || int(r.finding) >= len(p.findings) {
		return p, nil
	}
	return p, &p.findings[r.finding]
}

// tick keeps what moves moving.
func (v *checkScreen) tick(c *tui.Ctx) tea.Cmd {
	if c.View != "check" || v.ticking || !v.running() {
		return nil
	}
	v.ticking = true
	v.table.Rev++
	return c.After(500*time.Millisecond, func() tea.Msg { return checkTick{} })
}

// screenOf are the screens of the kinds of places.
var screenOf = map[string]string{check.OfTool: "tools", check.OfPrompt: "prompts", check.OfResource: "resources", check.OfTemplate: "templates"}

func (v *checkScreen) noPlace(*tui.Ctx) string {
	_, f := v.selected()
	switch {
	case f == nil:
		return "no finding is selected"
	case screenOf[f.Place.Kind] == "":
		return "the finding is about the server as a whole"
	}
	return ""
}

func (v *checkScreen) goTo(c *tui.Ctx) tea.Cmd {
	_, f := v.selected()
	return c.NavigateOn(v.server, screenOf[f.Place.Kind], f.Place.Name)
}

// CopyText copies a finding, the report as JSON, and the command that shows the finding or makes the same report.
func (v *checkScreen) CopyText(c *tui.Ctx, kind tui.CopyKind) tui.CopyFunc {
	p, f := v.selected()
	switch kind {
	case tui.CopyJSON:
		if v.noReport(c) == "" {
			return func() (string, error) {
				b, err := v.json()
				return string(b), err
			}
		}
	case tui.CopyValue:
		if f != nil {
			return tui.CopyString(plainFinding(*f), true)
		}
	case tui.CopyPath:
		if f != nil {
			return tui.CopyString(f.Place.Pointer, f.Place.Pointer != "")
		}
	case tui.CopyCommand:
		if f != nil && f.Repro != "" {
			return tui.CopyString(f.Repro, true)
		}
		if c.Server != nil && p != nil {
			srv, verb := c.Server.Config(), "check"
			if p.name != check.Server().Name() {
				verb += " " + p.name
			}
			return func() (string, error) { return shell.Invocation{Verb: verb}.On(srv) }
		}
	}
	return nil
}

// PageText is all findings as text.
func (v *checkScreen) PageText(*tui.Ctx) (text, ext string, ok bool) {
	var b strings.Builder
	for _, p := range v.parts {
		for i := range p.findings {
			b.WriteString(plainFinding(p.findings[i]) + "\n")
		}
	}
	return b.String(), ".txt", b.Len() > 0
}
