package traffic

import (
	"context"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/check/live"
	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/session/traffic/filter"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/views/pages"
	"github.com/mcphud/mcphud/views/pane"
)

// experts lists what breaks the protocol in the traffic, by rule. Navigate's Arg may be the Seq (uint64) of an entry to whose
// finding to go.
type experts struct {
	pane.ListPage
	tab     string // of the screen
	list    *live.List
	over    func() bool // nothing comes any more
	ended   bool        // the list knows that
	report  live.Report // as far as the filter lets through
	rows    []expertRow
	folded  map[*rules.Rule]bool // as the user wants it
	filter  *filter.Filter
	ranged  string // the condition in it that another screen put there
	known   filter.Seen
	busy    bool
	again   bool   // something came meanwhile
	checked uint64 // revision of the journal that was checked
	want    uint64 // entry to go to once there are rows
	broken  *Broken
}

// expertRow is a rule, or one of its findings.
type expertRow struct {
	group   int
	finding int // -1 for the rule itself
}

// expertPause is the least time between two checks of traffic that goes on.
const expertPause = 300 * time.Millisecond

// manyFindings is from how many findings on a rule is folded by itself.
const manyFindings = 20

// NewExperts is a section of a tab. It marks the rows of the screen of frames that has the same broken, once it was opened.
func NewExperts(broken *Broken, over func() bool, tab string) *tui.Screen {
	v := &experts{tab: tab, list: live.NewList(), broken: broken, over: over, folded: map[*rules.Rule]bool{}}
	v.View, v.Page, v.About = "expert", v.page, func(c *tui.Ctx, _ int) page.Page { return v.about(c) }
	v.Freeze = func() (int, func(int) (string, string)) { return 0, nil } // its filter is one of frames
	v.Inputs = func(c *tui.Ctx) any { return [4]any{len(c.Sessions.Servers()), v.busy, v.checked, v.report.Frames} }
	return v.screen()
}

// Broken is the entries about which there is a finding, and the requests in whose exchange one is: what the screen of frames takes from the
// one of findings.
type Broken struct {
	worst map[uint64]rules.Severity
	rev   int
}

// badge says of an entry that there is an error or a warning about it; § stands for the section of the specification.
func (b *Broken) badge(th *tui.Theme, seq uint64) string {
	if b.worst[seq] < rules.Warning {
		return ""
	}
	mark := pages.SeverityMark(b.worst[seq])
	return mark.Tone.Style(th).S("§ " + live.Word(b.worst[seq]))
}

// take marks what a report is about.
func (b *Broken) take(j *journal.Journal, r *live.Report) {
	worst := map[uint64]rules.Severity{}
	for _, g := range r.Groups {
		for _, f := range g.Findings {
			worst[f.Seq] = max(worst[f.Seq], g.Rule.Severity)
			if e, ok := j.Get(f.Seq); ok && e.Root != 0 {
				worst[e.Root] = max(worst[e.Root], g.Rule.Severity)
			}
		}
	}
	b.worst = worst
}

func (v *experts) screen() *tui.Screen {
	return v.Screen(tui.Screen{
		ID: "expert", Title: "On the wire", Aliases: []string{"findings", "violations"}, Tab: v.tab, Peer: true, AllServers: true, Split: 55,
		StackUnder: pane.StackUnder,
		Panes:      []tui.PaneSpec{{ID: "list", Title: "On the wire"}, {ID: "detail", Title: "Finding"}},
		Actions:    v.actions, Handle: v.handle, Plain: v.plain, Choices: func(*tui.Ctx) []tui.Choice { return nil },
		CopyText: v.copyText, Breadcrumb: v.breadcrumb, CheckFilter: v.checkFilter, CompleteFilter: v.completeFilter,
	})
}

func (v *experts) actions() []tui.Action {
	return []tui.Action{
		{
			ID: "expert.go", Verb: tui.VerbOpen, Title: "go to frame", Group: "Expert", Hint: 1,
			Help: "Go to the frame on the traffic screen; on a rule, fold or unfold its findings.", Disabled: v.none, Run: v.open,
		},
		{
			ID: "expert.fold", Verb: tui.VerbFold, Title: "fold", Group: "Expert", Hint: 2, Pane: "list",
			Help: "Fold or unfold the findings of the rule.", Disabled: v.none, Run: v.fold,
		},
	}
}

// expertAction leads to the screen from where a frame is.
func expertAction(view string, seq func() uint64) tui.Action {
	return tui.Action{
		ID: view + ".expert", Word: "expert", Title: "on the wire", Group: "Traffic",
		Help: "List what breaks the protocol, by rule, and go to the finding about this frame.",
		Run:  func(c *tui.Ctx) tea.Cmd { return c.Navigate("expert", seq()) },
	}
}

// checkedTraffic is the outcome of a check.
type checkedTraffic struct {
	report live.Report
	broken Broken
	rev    uint64
}

// recheck asks for a check of what came since.
type recheck struct{}

// check looks at what came since, beside the event loop.
func (v *experts) check(c *tui.Ctx) tea.Cmd {
	if v.busy {
		v.again = true
		return nil
	}
	j := c.Sessions.Journal()
	rev, over := j.Rev(), v.over != nil && v.over()
	if rev == v.checked && over == v.ended && rev != 0 {
		return nil
	}
	v.ended = over
	return v.run(c, j, rev)
}

// run checks, and picks what the filter lets through.
func (v *experts) run(c *tui.Ctx, j *journal.Journal, rev uint64) tea.Cmd {
	v.busy = true
	list, only, ended := v.list, v.filter, v.ended
	cmd, _ := c.Replace(v.View, "check", "check the traffic", func(ctx context.Context) (any, error) {
		if err := list.Update(ctx, j); err != nil {
			return nil, err
		}
		if ended {
			list.Finish()
		}
		r := list.Report()
		var broken Broken
		broken.take(j, &r)
		if !only.Empty() {
			pick(ctx, &r, j, only)
		}
		return checkedTraffic{r, broken, rev}, ctx.Err()
	})
	return cmd
}

// pick leaves in a report what a filter lets through.
func pick(ctx context.Context, r *live.Report, j *journal.Journal, only *filter.Filter) {
	r.Count = [len(r.Count)]int{}
	for i := range r.Groups {
		g := &r.Groups[i]
		g.Findings = slices.DeleteFunc(g.Findings, func(f live.Finding) bool {
			e, ok := j.Get(f.Seq)
			return ctx.Err() != nil || !ok || !only.Match(j, &e)
		})
		g.Count = len(g.Findings)
		r.Count[g.Rule.Severity] += g.Count
	}
	r.Groups = slices.DeleteFunc(r.Groups, func(g live.Group) bool { return g.Count == 0 })
}

// unfolded is whether a rule's findings are listed.
func (v *experts) unfolded(g *live.Group) bool {
	if folded, said := v.folded[g.Rule]; said {
		return !folded
	}
	return len(g.Findings) <= manyFindings
}

// arrange builds the rows anew. The cursor stays on its finding.
func (v *experts) arrange(c *tui.Ctx) tea.Cmd {
	var was live.Finding
	var rule *rules.Rule
	if g, f := v.selected(); g != nil {
		rule = g.Rule
		if f != nil {
			was = *f
		}
	}
	v.rows = v.rows[:0]
	to, found := -1, false // where the cursor goes
	wanted := func(*live.Finding) bool { return false }
	if v.want != 0 {
		j := c.Sessions.Journal()
		root := func(seq uint64) uint64 { e, _ := j.Get(seq); return e.Root }
		exchange := root(v.want)
		wanted = func(f *live.Finding) bool { return f.Seq == v.want || exchange != 0 && root(f.Seq) == exchange }
	}
	for i := range v.report.Groups {
		g := &v.report.Groups[i]
		if g.Rule == rule && to < 0 {
			to = len(v.rows)
		}
		v.rows = append(v.rows, expertRow{i, -1})
		if !v.unfolded(g) && !slices.ContainsFunc(g.Findings, func(f live.Finding) bool { return wanted(&f) }) {
			continue
		}
		for k, f := range g.Findings {
			if hit := wanted(&f); hit && !found || v.want == 0 && f.Rule == rule && f.Seq == was.Seq {
				to, found = len(v.rows), found || hit
			}
			v.rows = append(v.rows, expertRow{i, k})
		}
	}
	if len(v.rows) > 0 && !v.busy {
		v.want = 0
	}
	cmd := v.Changed(c)
	if to >= 0 {
		v.List.Select(to)
	}
	return cmd
}

// selected is the rule under the cursor, and the finding unless it is on the rule itself.
func (v *experts) selected() (*live.Group, *live.Finding) {
	i := v.List.Selected()
	if i < 0 || i >= len(v.rows) || v.rows[i].group >= len(v.report.Groups) {
		return nil, nil
	}
	g := &v.report.Groups[v.rows[i].group]
	if k := v.rows[i].finding; k >= 0 && k < len(g.Findings) {
		return g, &g.Findings[k]
	}
	return g, nil
}

func (v *experts) none(*tui.Ctx) string {
	if g, _ := v.selected(); g == nil {
		return "nothing is selected"
	}
	return ""
}

func (v *experts) open(c *tui.Ctx) tea.Cmd {
	g, f := v.selected()
	switch {
	case g == nil:
		return nil
	case f == nil:
		return v.fold(c)
	}
	return c.Navigate("traffic", f.Seq)
}

func (v *experts) fold(c *tui.Ctx) tea.Cmd {
	g, _ := v.selected()
	if g == nil {
		return nil
	}
	v.folded[g.Rule] = v.unfolded(g)
	return v.arrange(c)
}

// checkFilter says what is wrong with a text as a filter of the list.
func (v *experts) checkFilter(c *tui.Ctx, text string) *tui.FilterError {
	if c.Focus != "list" {
		return nil
	}
	return pane.FilterError(filter.Options{}, text)
}

// completeFilter completes keys, and values of the journal.
func (v *experts) completeFilter(c *tui.Ctx, text string, cursor int) []tui.Completion {
	if c.Focus != "list" {
		return nil
	}
	return pane.Completions(&v.known, c, text, cursor)
}

func (v *experts) handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.Navigate:
		v.want, _ = m.Arg.(uint64)
		check := v.check(c) // what it finds may be what is wanted
		return tea.Batch(check, v.arrange(c)), true
	case tui.SessionChanged, recheck:
		if c.View != v.View {
			return nil, true
		}
		return v.check(c), true
	case pane.Range:
		text := pane.Narrowed(v.Typed, v.ranged, m)
		v.ranged = string(m)
		c.FilterApplied(v.View, "list", text)
		return v.narrow(c, text), true
	case tui.FilterChanged:
		if c.Focus == "detail" {
			return nil, true
		}
		return v.narrow(c, m.Text), true
	case tui.OpDone:
		return v.done(c, m), true
	}
	return v.Handle(c, msg, func() tea.Cmd { return v.open(c) })
}

// narrow lists what passes a filter.
func (v *experts) narrow(c *tui.Ctx, text string) tea.Cmd {
	to, err := filter.Parse(text)
	if text == v.Typed || err != nil {
		return nil
	}
	v.Typed, v.filter = text, to
	if c.View != v.View {
		v.checked = 0 // again when it is shown
		return nil
	}
	return v.run(c, c.Sessions.Journal(), v.checked)
}

// done takes the outcome of a check, and asks for the next one if something came meanwhile.
func (v *experts) done(c *tui.Ctx, m tui.OpDone) tea.Cmd {
	v.busy = false
	r, ok := m.Value.(checkedTraffic)
	if m.Err != nil || !ok {
		return nil
	}
	v.report, v.checked = r.report, r.rev
	v.broken.worst = r.broken.worst
	v.broken.rev++
	var next tea.Cmd
	if v.again {
		v.again = false
		next = c.After(expertPause, func() tea.Msg { return recheck{} })
	}
	return tea.Batch(v.arrange(c), next)
}

func (v *experts) breadcrumb(*tui.Ctx) string {
	if g, _ := v.selected(); g != nil {
		return g.Rule.ID
	}
	return ""
}

func (v *experts) copyText(c *tui.Ctx, k tui.CopyKind) tui.CopyFunc {
	g, f := v.selected()
	switch {
	case f != nil && k == tui.CopyValue:
		return tui.CopyString(expertLine(f), true)
	case f != nil && (k == tui.CopyRaw || k == tui.CopyJSON):
		return pane.CopyBody(c.Sessions.Journal(), f.Seq)
	case g != nil && k == tui.CopyPath:
		return tui.CopyString(g.Rule.Link(v.revision(g, f)), true)
	}
	return nil
}

// revision is that of a finding, or of the first one of a rule.
func (v *experts) revision(g *live.Group, f *live.Finding) string {
	switch {
	case f != nil:
		return f.Revision
	case len(g.Findings) > 0:
		return g.Findings[0].Revision
	}
	return ""
}

// expertLine is a finding in one line.
func expertLine(f *live.Finding) string {
	return fmt.Sprintf("#%d %s %s %s: %s", f.Seq, f.By, f.Rule.ID, f.Method, f.Evidence)
}
