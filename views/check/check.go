// Package check is the screens that say whether a server is good, and what it changed since it was accepted.
package check

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/contract"
	"github.com/mcphud/mcphud/session/check/cost"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pages"
	"github.com/mcphud/mcphud/views/pane"
	"github.com/mcphud/mcphud/views/shell"
)

// checkScreen is what is wrong with the current server: a row for each section, as it runs, with its findings below it. Navigate's Arg may
// be the name (string) of a server, which is examined at once.
type checkScreen struct {
	table   pane.Rows
	detail  pane.TextPane
	with    Checks
	lock    *contract.Project // nil for none
	server  string
	parts   []checkPart // of the server, as drawn
	rows    []checkRow
	seen    int // of the changes of them
	synced  time.Time
	least   check.Severity // findings that matter less are not listed
	only    string         // section whose findings are listed, "" for all
	moved   bool           // somebody chose a row
	ruleCol int            // cells of the longest rule that is listed,
	wordCol int            // and of its name in its section
	asked   string         // section that somebody chose to run, "" for several
	goal    string         // section to stand on, until somebody moves; "" for none
	wanted  string         // server that is examined once it is connected, "" for none
	ticking bool
	runs    map[string]*examination // by server
}

// checkRow is a section (finding is -1), or one of its findings.
type checkRow struct{ part, finding int32 }

// checkTick says that a time on the screen must move, or that findings wait to be listed.
type checkTick struct{}

// manyChecked is how many rows are listed again at most three times in a second.
const manyChecked = 5000

// NewCheck is the screen of what is wrong with a server.
func NewCheck(with Checks, lock *contract.Project) *tui.Screen {
	v := &checkScreen{table: pane.Rows{View: "check"}, with: with, lock: lock, runs: map[string]*examination{}}
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
	return v.screen()
}

func (v *checkScreen) screen() *tui.Screen {
	return &tui.Screen{
		ID: "check", Title: "Check", Aliases: []string{"lint", "quality", "good", "cost"}, Split: 60, StackUnder: 160,
		Panes:   []tui.PaneSpec{{ID: "list", Title: "Check"}, {ID: "detail", Title: "Finding"}},
		Actions: v.actions, Handle: v.handle, Draw: v.draw, Page: v.page,
		PageText: v.pageText, CopyText: v.copyText, Hints: v.hints, Rows: v.firstRows,
	}
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
	x.began, x.err, v.moved, v.wanted, v.asked = time.Now(), nil, false, "", ""
	if len(sections) == 1 && len(all) > 1 {
		v.asked = sections[0].Name()
	}
	with, sessions := v.with, c.Sessions
	cmd, op := c.Go("check", "check of "+safe.Line(s.Title(), 60), func(ctx context.Context) (any, error) {
		rep, err := with.examine(ctx, s, sessions.Servers(), sections, x.watch(sessions.NotifyChange), x.absent)
		return checked{s.Name(), x, rep, err}, ctx.Err()
	})
	x.op = op
	return tea.Batch(cmd, v.sync(c), v.tick(c))
}

// due examines the server that the screen is about as soon as that can be: one that was not examined yet, or that r connected to.
func (v *checkScreen) due(c *tui.Ctx) tea.Cmd {
	if c.View != "check" || v.cannot(c) != "" || pane.Offline(c) != "" || v.runs[v.server] != nil && v.wanted != v.server {
		return nil
	}
	return v.start(c, v.usual(c))
}

// checked is the outcome of a check.
type checked struct {
	server string
	of     *examination
	report *check.Report
	err    error
}

func (v *checkScreen) handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.SessionChanged, tui.ServerChanged, tui.FocusChanged:
		return tea.Batch(v.sync(c), v.due(c), v.tick(c)), true
	case tui.Navigate:
		name, asked := m.Arg.(string)
		if asked && (c.Server == nil || c.Server.Name() != name) {
			return c.NavigateOn(name, "check", name), true
		}
		return tea.Batch(v.sync(c), v.due(c), v.tick(c)), true
	case checkTick:
		v.ticking = false
		return tea.Batch(v.sync(c), v.tick(c)), true
	case tui.OpDone:
		return v.finished(c, m), true
	}
	at := v.table.List.Selected()
	cmd, ok := pane.ListAndText(c, &v.table, &v.detail, msg, func() tea.Cmd { return c.FocusPane("detail") })
	if v.table.List.Selected() != at {
		v.moved, v.detail.Top = true, 0
	}
	return cmd, ok
}

// hints say how to leave the screen.
func (v *checkScreen) hints(*tui.Ctx) []tui.Hint { return pane.BackHint(true) }

// finished takes the outcomes of operations.
func (v *checkScreen) finished(c *tui.Ctx, m tui.OpDone) tea.Cmd {
	if cmd, ok := pane.SavedToast(c, m); ok {
		return cmd
	}
	if cmd, ok := acceptDone(c, m); ok {
		return tea.Batch(cmd, v.compareAgain(c, m))
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
	return tea.Batch(cmd, c.Toast(tui.Note, "check of "+c.ServerTitle(r.server)+": "+r.report.Counts.String()))
}

// compareAgain runs the section of the lock, which was written.
func (v *checkScreen) compareAgain(c *tui.Ctx, m tui.OpDone) tea.Cmd {
	if m.Err != nil || c.Server == nil || v.cannot(c) != "" || pane.Offline(c) != "" {
		return nil
	}
	only := slices.DeleteFunc(v.all(c), func(s CheckSection) bool { return s.Name() != contractSection })
	if len(only) == 0 {
		return nil
	}
	return v.start(c, only)
}

// The section that compares with the lock, and that which counts tokens.
var (
	contractSection = (&contract.Section{}).Name()
	costSection     = (&cost.Section{}).Name()
)

// sync takes in what is known of the current server.
func (v *checkScreen) sync(c *tui.Ctx) tea.Cmd {
	name := ""
	if c.Server != nil {
		name = c.Server.Name()
	}
	fresh := name != v.server
	if fresh {
		v.server, v.moved, v.asked, v.detail.Top, v.seen = name, false, "", 0, -1
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

// list makes the rows of what is known and leaves the cursor where it is; before anybody moved it, it is on what matters most, of the
// section that somebody asked for.
func (v *checkScreen) list(c *tui.Ctx) tea.Cmd {
	was, had := v.at()
	part, finding := "", int32(-1)
	if had && int(was.part) < len(v.parts) {
		part, finding = v.parts[was.part].name, was.finding
	}
	v.rows, v.ruleCol, v.wordCol = nil, 0, 0
	worst, best := 0, check.Severity(-1)
	for i, p := range v.parts {
		if v.only != "" && v.only != p.name {
			continue
		}
		counts := v.asked == "" || v.asked == p.name || p.name == check.Server().Name()
		if v.goal == p.name {
			worst, best = len(v.rows), check.Error
		} else if v.asked == p.name && best < check.Info {
			worst = len(v.rows)
		}
		v.rows = append(v.rows, checkRow{int32(i), -1})
		for s := check.Error; s >= v.least; s-- {
			for j := range p.findings {
				if p.findings[j].Severity == s {
					if counts && s > best {
						best, worst = s, len(v.rows)
					}
					id := p.findings[j].ID
					v.ruleCol, v.wordCol = max(v.ruleCol, len(id)), max(v.wordCol, len(id)-strings.IndexByte(id, '/')-1)
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

// copyText copies a finding, the report as JSON, and the command that shows the finding or makes the same report.
func (v *checkScreen) copyText(c *tui.Ctx, kind tui.CopyKind) tui.CopyFunc {
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
			all := pages.Finding(f)
			return tui.CopyString(all.Spoken(false), true)
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

// pageText is the report.
func (v *checkScreen) pageText(c *tui.Ctx) (text, ext string, ok bool) {
	if v.noReport(c) != "" {
		return "", "", false
	}
	return v.report(), ".txt", true
}
