package traffic

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pages"
	"github.com/mcphud/mcphud/views/pane"
	"github.com/mcphud/mcphud/views/shell"
)

// page lists the calls, with the star before those that are kept, and the mark before the one to compare with.
func (v *historyScreen) page(c *tui.Ctx) page.Page {
	p := pages.Calls(v.all, v.of == "", func(k calls.Call) string {
		switch {
		case k.ID == v.mark:
			return "▸"
		case k.Pinned || k.Name != "":
			return "★"
		}
		return " "
	})
	p.Title, p.None = "History", [2]string{"No calls yet.", "Calls, prompts and reads appear here, also those of the next start. Press 2 for the tools."}
	if v.everyone {
		p.Title = "All servers"
	}
	switch n := len(v.all); {
	case v.err != nil:
		p.None = [2]string{"✗ " + v.err.Error(), ""}
	case !v.fresh:
		p.None = [2]string{"Reading the history…", ""}
	case n == mostListed:
		p.Foot = "the newest " + text.Count(n, "call")
	case n > 0:
		p.Foot = text.Count(n, "call")
	case !v.everyone && c.Server != nil:
		p.None = [2]string{"No calls at " + c.Server.Title() + " yet.", "Calls, prompts and reads appear here, also those of the next start. Press m for all servers, 2 for the tools."}
	}
	return p
}

func (v *historyScreen) draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	if p.ID == "detail" {
		return v.drawDetail(c, p)
	}
	return v.ListPage.Draw(c, p)
}

func (v *historyScreen) drawDetail(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	p.Title, p.Badge, p.Foot = "Call", "", ""
	k, ok := v.selected()
	switch {
	case !ok:
		p.Lines, p.Scroll = nil, tui.Scroll{}
		return nil
	}
	p.Title = safe.Line(k.Target, 120)
	return v.reply.Draw(c, p)
}

// copyText copies what the cursor is on.
func (v *historyScreen) copyText(c *tui.Ctx, k tui.CopyKind) tui.CopyFunc {
	call, ok := v.selected()
	switch {
	case !ok:
		return nil
	case k == tui.CopyCommand:
		return v.command(c, call)
	case c.Focus == "detail" && k != tui.CopyPath:
		return v.reply.Doc.CopyText(k)
	case k == tui.CopyPath:
		return tui.CopyString(call.Target, true)
	}
	return tui.CopyBytes(call.Arguments)
}

// command is the mcphud command that makes a call again, without its secrets.
func (v *historyScreen) command(c *tui.Ctx, k calls.Call) tui.CopyFunc {
	srv, ok := k.Server.Config()
	s := v.sessionOf(c, k)
	if s != nil {
		srv, ok = s.Config(), true
	}
	if !ok {
		return tui.CopyString(fmt.Sprintf("mcphud history run %d", k.ID), true)
	}
	i := shell.Invocation{Verb: "tools call", Operands: []string{k.Target}}
	switch k.Method {
	case "resources/read":
		i.Verb = "resources read"
	case "prompts/get":
		i.Verb = "prompts get"
		_ = jsonrpc.Members(k.Unmasked(), func(name string, value []byte) bool {
			s, _ := jsonrpc.String(value)
			i.Operands = append(i.Operands, name+"="+s)
			return true
		})
	default:
		if args := k.Unmasked(); len(args) > 0 {
			i.Flags = []string{"--args", string(args)}
		}
	}
	for _, word := range session.MetaWords(k.UnmaskedMeta()) {
		i.Flags = append(i.Flags, "--meta", word)
	}
	if k.Timeout > 0 {
		i.Flags = append(i.Flags, "--timeout", k.Timeout.String())
	}
	if s != nil {
		i = pane.WithMeta(s, i)
	}
	return pane.CopyCommand(srv, i)
}

// pageText is the result, or the arguments.
func (v *historyScreen) pageText(c *tui.Ctx) (text, ext string, ok bool) {
	if c.Focus == "detail" {
		return v.reply.Doc.PageText()
	}
	k, ok := v.selected()
	return string(k.Arguments), ".json", ok
}

// pick opens the form of a call.
func (v *historyScreen) pick(c *tui.Ctx, _ int) tea.Cmd {
	if why := v.cannotRun(c); why != "" {
		return c.Toast(tui.Warning, why)
	}
	return v.open(c, false)
}
