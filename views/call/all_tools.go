package call

import (
	"cmp"
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/text"
	counts "github.com/mcphud/mcphud/session/check/cost"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

// allTools lists the tools of all servers in one list, under the names that they have across servers. Its filter knows
// source:mcp, source:local and server:NAME besides words.
type allTools struct {
	pane.ListPage
	about  pane.ItemDetail
	tools  *toolset.Registry
	calls  *pane.Calls
	all    []toolset.RegisteredTool
	cols   pane.ItemColumns
	weight string
	tokens []counts.Entry // what each tool costs, nil before it was counted
	at     uint64         // revision of tools that is in all
	copies int            // of them
	opened bool           // the cursor was put where it is
}

// NewAllTools is the screen of the tools of all servers, from r; calls has what came of them.
func NewAllTools(tools *toolset.Registry, calls *pane.Calls) *tui.Screen {
	if tools == nil {
		tools = toolset.NewRegistry()
	}
	v := &allTools{about: pane.NewItemDetail("toolset", offer.Tools, calls), tools: tools, calls: calls}
	v.View, v.Page, v.Line, v.Inputs = "toolset", v.page, v.line, func(*tui.Ctx) any { return v.calls.Rev }
	v.Pick = func(c *tui.Ctx, _ int) tea.Cmd { return v.open(c) }
	v.Freeze = func() (int, func(int) (string, string)) { return 0, nil }
	return v.screen()
}

func (v *allTools) screen() *tui.Screen {
	return v.Screen(tui.Screen{
		ID: "toolset", Title: "All tools", Aliases: []string{"all", "all-tools"}, Tab: "tools", Peer: true, AllServers: true, Split: listSplit,
		Panes:   []tui.PaneSpec{{ID: "list", Title: "All tools"}, {ID: "detail", Title: "Tool"}, {ID: pane.LastPane, Title: "Last result"}},
		Actions: v.actions, Handle: v.handle, Draw: v.draw, CopyText: v.copyText, Breadcrumb: v.breadcrumb,
		Third: func(*tui.Ctx) bool { return v.calls.Answered("", offer.Tools) },
	})
}

func (v *allTools) actions() []tui.Action {
	return append([]tui.Action{{
		ID: "toolset.routed", Word: "routed", Title: "routed copies", Group: "All tools",
		Help: "List also what a router offers of a server that is in the list itself, or leave it out.",
		Run: func(c *tui.Ctx) tea.Cmd {
			keep := "on"
			if routed(c) {
				keep = "off"
			}
			cmd := c.Prefer(routedPreference, keep)
			v.at--
			return tea.Batch(cmd, v.sync(c))
		},
	}, {
		ID: "toolset.open", Verb: tui.VerbOpen, Title: "call", Group: "All tools", Hint: 1,
		Help: "Go to the tool's server and open the tool's form.", Disabled: v.none, Run: v.open,
	}, appAction("toolset", "All tools", &v.about, func() (server string, it offer.Item) {
		t, _ := v.selected()
		return t.Server, t.Item
	})}, append(v.about.Actions("toolset", "detail"), v.about.LastActions()...)...)
}

// routedPreference keeps whether copies that a router offers are listed too.
const routedPreference = "toolset.routed"

func routed(c *tui.Ctx) bool { return c.Preference(routedPreference) == "on" }

func (v *allTools) selected() (toolset.RegisteredTool, bool) {
	if i := v.List.Selected(); i >= 0 && i < len(v.all) {
		return v.all[i], true
	}
	return toolset.RegisteredTool{}, false
}

func (v *allTools) none(*tui.Ctx) string {
	t, ok := v.selected()
	switch {
	case !ok:
		return "nothing is selected"
	case t.Source != toolset.MCP:
		return "this tool runs in this program, which has no form for it"
	}
	return ""
}

func (v *allTools) open(c *tui.Ctx) tea.Cmd {
	v.Settle()
	if why := v.none(c); why != "" {
		return c.Toast(tui.Warning, why)
	}
	t, _ := v.selected()
	return c.NavigateOn(t.Server, "call", t.Tool)
}

// sync takes in the registry when it changed, and leaves the cursor on its tool once somebody saw it.
func (v *allTools) sync(c *tui.Ctx) tea.Cmd {
	rev := v.tools.Rev()
	if rev == v.at {
		return nil
	}
	was, had := v.selected()
	v.all, v.at = v.tools.List(), rev
	direct := withoutCopies(v.all)
	if v.copies = len(v.all) - len(direct); !routed(c) {
		v.all = direct
	}
	slices.SortStableFunc(v.all, func(a, b toolset.RegisteredTool) int { // not by who connected first
		return cmp.Or(strings.Compare(string(b.Source), string(a.Source)), strings.Compare(a.Server, b.Server))
	})
	if c.ReadOnly {
		v.all = slices.DeleteFunc(slices.Clone(v.all), func(t toolset.RegisteredTool) bool { return !t.Item.ReadOnly() })
	}
	all, titles := v.all, map[string]string{}
	for _, t := range all {
		titles[t.Server] = c.ServerTitle(t.Server)
	}
	v.Freeze = func() (int, func(int) (string, string)) {
		return len(all), func(i int) (name, about string) { return allToolsText(all[i], titles[all[i].Server]) }
	}
	v.tokens = nil
	v.weigh()
	count, _ := c.Replace("toolset", "cost", "count tokens", func(ctx context.Context) (any, error) {
		out := allCounted{rev, make([]counts.Entry, 0, len(all))}
		for i, t := range all {
			if i%100 == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			out.entries = append(out.entries, counts.Of(t.Server, offer.Tools, t.Item))
		}
		return out, nil
	})
	cmd := tea.Batch(count, v.Changed(c))
	for i := range all {
		if had && v.opened && all[i].Name == was.Name {
			v.List.Select(i)
			break
		}
	}
	return cmd
}

// allCounted is what the tools of a revision of the registry cost.
type allCounted struct {
	rev     uint64
	entries []counts.Entry
}

// weigh says what all tools weigh, and makes their columns.
func (v *allTools) weigh() {
	v.cols = pane.NewItemColumns(len(v.all), v.row)
	v.weight = pane.Weight(len(v.all), "tools", func(i int) offer.Item { return v.all[i].Item }, v.tokens)
	v.Rev++
}

// allToolsText is what the filter looks at.
func allToolsText(t toolset.RegisteredTool, title string) (name, about string) {
	return cmp.Or(t.Tool, t.Name), t.Name + " source:" + strings.ToLower(string(t.Source)) + " server:" + t.Server + " server:" + title + " " + t.Item.Title + "\n" + text.Clip(t.Item.Description, 2000)
}

// page is the tools of all servers.
func (v *allTools) page(c *tui.Ctx) page.Page {
	foot := v.weight
	if v.copies > 0 && !routed(c) {
		foot = strings.TrimPrefix(foot+" · "+text.Count(v.copies, "routed copy", "routed copies")+" left out (:routed)", " · ")
	}
	return page.Page{
		Title: "All tools", Foot: foot, Counted: true, None: [2]string{"No tools yet.", "They are listed here when a server connects: press 1 for the servers."},
		Table: page.Table{Columns: []page.Column{{Found: true}}, Len: len(v.all), Row: func(i int) page.Row {
			return page.Row{Cells: []page.Text{{S: v.all[i].Name + pane.Summary(v.all[i].Item)}}}
		}},
	}
}

// line is a tool's marks, its own name, its server, and what it says of itself.
func (v *allTools) line(c *tui.Ctx, i, w int) string {
	row := v.row(i)
	row.Calls = v.calls.Count(row.Group, offer.Tools, row.Name)
	return v.cols.Row(c.Theme, v.Query, row, w)
}

func (v *allTools) row(i int) pane.ItemRow {
	t := v.all[i]
	row := pane.ItemRow{Item: t.Item, Name: cmp.Or(t.Tool, t.Name), Group: cmp.Or(t.Server, "local")}
	if i < len(v.tokens) {
		row.Tokens = v.tokens[i].Tokens
	}
	return row
}

func (v *allTools) handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.OpDone:
		if r, ok := m.Value.(allCounted); ok && r.rev == v.at {
			v.tokens = r.entries
			v.weigh()
			return nil, true
		}
	case tui.SessionChanged, tui.ServerChanged, tui.Navigate:
		v.calls.Sync(c.Sessions.Journal())
		cmd := v.sync(c)
		if _, ok := msg.(tui.Navigate); ok {
			v.opened = true
		}
		return tea.Batch(cmd, v.describe(c)), true
	}
	if pane.IsBack(msg) {
		return c.Back(), true
	}
	return v.about.Route(c, &v.Rows, msg, v.describe, func(c *tui.Ctx) tea.Cmd {
		if v.none(c) != "" {
			return v.describe(c)
		}
		return v.open(c)
	})
}

func (v *allTools) describe(c *tui.Ctx) tea.Cmd {
	t, ok := v.selected()
	if !ok {
		v.about.Clear()
		return nil
	}
	return v.about.Show(c, t.Server, t.Item)
}

func (v *allTools) draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	t, ok := v.selected()
	p.Server = t.Server
	switch p.ID {
	case pane.LastPane:
		return v.about.DrawLast(c, p)
	case "detail":
		p.Title = "Tool"
		if ok {
			p.Title = safe.Line(t.Name, 120)
		}
		return v.about.Draw(c, p)
	}
	return v.ListPage.Draw(c, p)
}

func (v *allTools) breadcrumb(*tui.Ctx) string {
	t, _ := v.selected()
	return safe.Line(t.Name, 60)
}

func (v *allTools) copyText(c *tui.Ctx, k tui.CopyKind) tui.CopyFunc {
	t, ok := v.selected()
	if !ok {
		return nil
	}
	if c.Focus == pane.LastPane {
		return v.about.CopyLast(k)
	}
	switch k {
	case tui.CopyValue:
		return tui.CopyString(t.Name, true)
	case tui.CopyJSON, tui.CopyRaw:
		return tui.CopyBytes(t.Item.Raw)
	}
	return nil
}

// withoutCopies leaves out what a router offers of servers that are in the list themselves: a tool of the same definition, under its full
// name or at a server that is called after it, NAME@ROUTER.
func withoutCopies(all []toolset.RegisteredTool) []toolset.RegisteredTool {
	type definition struct{ schema, about string }
	of := func(t *toolset.RegisteredTool) definition {
		return definition{string(t.Item.InputSchema), t.Item.Description}
	}
	direct := map[definition][]int{}
	for i := range all {
		direct[of(&all[i])] = append(direct[of(&all[i])], i)
	}
	return slices.DeleteFunc(slices.Clone(all), func(t toolset.RegisteredTool) bool {
		return slices.ContainsFunc(direct[of(&t)], func(i int) bool {
			u := &all[i]
			return u.Server != t.Server && (t.Tool == toolset.FullName(u.Server, u.Tool) || t.Tool == u.Tool && strings.HasPrefix(t.Server, u.Server+"@"))
		})
	})
}
