package views

import (
	"fmt"
	"io"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/text"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// registry lists the tools of all servers in one list, under the names that
// they have across servers. Its filter knows source:mcp, source:local and
// server:NAME besides words.
type registry struct {
	rows
	about about
	tools *session.Registry
	all   []session.RegisteredTool
	at    uint64 // revision of tools that is in all
}

func newRegistry(tools *session.Registry) *registry {
	if tools == nil {
		tools = session.NewRegistry()
	}
	return &registry{rows: rows{view: "registry"}, about: newAbout("registry"), tools: tools}
}

func (v *registry) Info() tui.Info {
	return tui.Info{ID: "registry", Title: "All tools", Aliases: []string{"all", "all-tools"}, Hidden: true, Panes: []tui.PaneSpec{
		{ID: "list", Title: "Tools of all servers"}, {ID: "detail", Title: "Tool"},
	}}
}

func (v *registry) Actions() []tui.Action {
	return append([]tui.Action{{
		ID: "registry.open", Keys: []string{"enter"}, Title: "call", Group: "All tools", Hint: 1,
		Help: "Go to the tool's server and open the tool's form.", Disabled: v.none, Run: v.open,
	}}, v.about.actions("registry", "detail")...)
}

func (v *registry) selected() (session.RegisteredTool, bool) {
	if i := v.list.Selected(); i >= 0 && i < len(v.all) {
		return v.all[i], true
	}
	return session.RegisteredTool{}, false
}

func (v *registry) none(*tui.Ctx) string {
	t, ok := v.selected()
	switch {
	case !ok:
		return "nothing is selected"
	case t.Source != session.MCP:
		return "this tool runs in this program, which has no form for it"
	}
	return ""
}

func (v *registry) open(c *tui.Ctx) tea.Cmd {
	t, _ := v.selected()
	return c.NavigateOn(t.Server, "call", t.Tool)
}

// sync takes in the registry when it changed, and leaves the cursor on its tool.
func (v *registry) sync(c *tui.Ctx) tea.Cmd {
	rev := v.tools.Rev()
	if rev == v.at {
		return nil
	}
	was, had := v.selected()
	v.all, v.at = v.tools.List(), rev
	all := v.all
	v.freeze = func() (int, func(int) string) {
		return len(all), func(i int) string { return registryText(all[i]) }
	}
	cmd := v.setRows(c, registryRows{v, c})
	for i := range all {
		if had && all[i].Name == was.Name {
			v.list.Select(i)
			break
		}
	}
	return cmd
}

// registryText is what the filter looks at.
func registryText(t session.RegisteredTool) string {
	return t.Name + " source:" + strings.ToLower(string(t.Source)) + " server:" + t.Server + " " + t.Item.Title + " " + text.Clip(t.Item.Description, 2000)
}

type registryRows struct {
	v *registry
	c *tui.Ctx
}

// Len is the number of tools of all servers.
func (r registryRows) Len() int { return len(r.v.all) }

// Row is a tool's name across servers, marks, and what it says of itself.
func (r registryRows) Row(i, w int) string {
	th, t := r.c.Theme, r.v.all[i]
	out := r.v.query.Highlight(safe.Line(t.Name, 300), th.Text, th.Match)
	if t.Source == session.Local {
		out += " " + th.Info.S("local")
	}
	if mark := itemMark(th, t.Item); mark != "" {
		out += " " + mark
	}
	if room := w - paint.Width(out) - 2; room > 8 && t.Item.Description != "" {
		out += "  " + th.Muted.S(paint.Cut(safe.Line(text.FirstLine(t.Item.Description), 4*room), room))
	}
	return out
}

func (v *registry) Handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.SessionChanged, tui.ServerChanged, tui.Navigate:
		return tea.Batch(v.sync(c), v.describe(c)), true
	case tui.FilterChanged:
		if c.Focus == "detail" {
			return v.about.Handle(c, msg)
		}
		return tea.Batch(v.setFilter(c, m.Text), v.describe(c)), true
	case tui.OpDone:
		if cmd, ok := v.done(c, m); ok {
			return tea.Batch(cmd, v.describe(c)), true
		}
		return v.about.Handle(c, msg)
	case tui.PaneMouse:
		if m.Pane == "detail" {
			return v.about.Handle(c, msg)
		}
	}
	if c.Focus == "detail" {
		return v.about.Handle(c, msg)
	}
	consumed, opened := v.handle("list", msg)
	if opened && v.none(c) == "" {
		return v.open(c), true
	}
	return v.describe(c), consumed
}

func (v *registry) describe(c *tui.Ctx) tea.Cmd {
	t, ok := v.selected()
	if !ok {
		v.about.clear()
		return nil
	}
	return v.about.show(c, t.Server, t.Item)
}

func (v *registry) Draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	if p.ID == "detail" {
		if t, ok := v.selected(); ok {
			p.Title = safe.Line(t.Name, 120)
		}
		return v.about.draw(c, p)
	}
	if p.Same(c, v.rev, v.list.Selected()) {
		return nil
	}
	v.list.SetRows(registryRows{v, c}) // rows carry the theme
	v.draw(c, p, func(w int) []string {
		if v.typed != "" {
			return nothingMatches(c.Theme, w, v.typed)
		}
		return message(c.Theme, w, "No server's tools are known yet.", "They are listed here when a server connects: press 1 for the servers.")
	})
	p.Badge = counted(v.list.Len(), len(v.all))
	return nil
}

func (v *registry) Breadcrumb(*tui.Ctx) string {
	t, _ := v.selected()
	return safe.Line(t.Name, 60)
}

func (v *registry) CopyText(_ *tui.Ctx, k tui.CopyKind) tui.CopyFunc {
	t, ok := v.selected()
	if !ok {
		return nil
	}
	switch k {
	case tui.CopyValue:
		return tui.CopyString(t.Name, true)
	case tui.CopyJSON, tui.CopyRaw:
		return tui.CopyBytes(t.Item.Raw)
	}
	return nil
}

func (v *registry) Choices(*tui.Ctx) (out []tui.Choice) {
	for i, t := range v.all {
		if t.Source == session.MCP {
			out = append(out, tui.Choice{Label: safe.Line(t.Name, 120) + about1(t.Item), Run: func(c *tui.Ctx) tea.Cmd { v.list.Select(i); return v.open(c) }})
		}
	}
	return out
}

func (v *registry) Plain(_ *tui.Ctx, w io.Writer) {
	for _, t := range v.all {
		fmt.Fprintf(w, "%s%s\n", safe.Line(t.Name, 300), about1(t.Item))
	}
}
