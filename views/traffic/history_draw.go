package traffic

import (
	"cmp"
	"fmt"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
	"github.com/mcphud/mcphud/views/shell"
)

type historyRows struct {
	v *historyScreen
	c *tui.Ctx
}

// Len is the number of calls.
func (r historyRows) Len() int { return len(r.v.all) }

// Row is how a call went, when it was made, what was called, its name or note, how long it took and its arguments.
func (r historyRows) Row(i, w int) string {
	th, k := r.c.Theme, r.v.all[i]
	mark := " "
	switch {
	case k.ID == r.v.mark:
		mark = "▸"
	case k.Pinned || k.Name != "":
		mark = "★"
	}
	out := th.Accent.S(mark) + verdictStyle(th, k.Verdict).S(verdictGlyph(k.Verdict)) + " " + th.Muted.S(paint.Fit(dayOrTime(k.At.Time), 8)) + " "
	out += pane.Column(r.v.Query.HighlightName(safe.Line(k.Target, 60), th.Text, th.Match), 20, w) + " "
	if r.v.of == "" {
		out += th.Muted.S(paint.Fit(safe.Line(k.Server.Where(), 14), 14)) + " "
	}
	if w >= 60 { // else the detail pane says it
		out += th.Muted.S(fmt.Sprintf("%7s", text.Duration(took(k)))) + " "
	}
	if k.Name != "" {
		out += th.Accent.S(safe.Line(k.Name, 30)) + " "
	}
	if k.Note != "" {
		out += th.Info.S(safe.Line(k.Note, 60)) + " "
	}
	return out + th.Muted.S(safe.Line(string(k.Arguments), 300))
}

// dayOrTime is the time of what was today, else the day.
func dayOrTime(at time.Time) string {
	now := time.Now().Local()
	switch at = at.Local(); {
	case at.Format(time.DateOnly) == now.Format(time.DateOnly):
		return at.Format(time.TimeOnly)
	case now.Sub(at) < 300*24*time.Hour:
		return at.Format("_2 Jan")
	}
	return at.Format("Jan 2006")
}

func took(k calls.Call) time.Duration { return time.Duration(k.Took * float64(time.Millisecond)) }

func verdictGlyph(verdict string) string {
	switch verdict {
	case calls.OK:
		return "✓"
	case calls.Cancelled:
		return "⊘"
	case calls.Ongoing:
		return "…"
	}
	return "✗"
}

func verdictStyle(th *tui.Theme, verdict string) paint.Style {
	switch verdict {
	case calls.OK:
		return th.OK
	case calls.Cancelled:
		return th.Muted
	case calls.Ongoing:
		return th.Info
	}
	return th.Error
}

// verdictLine is how a call went, for the frame.
func verdictLine(k calls.Call) string {
	out := verdictGlyph(k.Verdict)
	if k.Verdict != calls.OK {
		out += " " + k.Verdict
	}
	return out + " " + text.Duration(took(k)) + " · " + text.Bytes(k.Size)
}

// callLines is what is known of a call besides its result.
func callLines(th *tui.Theme, k calls.Call) []string {
	line := func(label, value string) string {
		return th.Muted.S(paint.Fit(label, 10)) + th.Text.S(safe.Line(value, 500))
	}
	server := k.Server.Where()
	if k.Server.Protocol != "" {
		server += " · " + k.Server.Protocol
	}
	out := []string{line(fmt.Sprintf("call %d", k.ID), k.At.Local().Format(time.DateTime)+" · "+server)}
	if k.Name != "" || k.Note != "" {
		out = append(out, line("note", cmp.Or(k.Name, "-")+"  "+k.Note))
	}
	if len(k.Arguments) > 0 {
		out = append(out, line("arguments", string(jsonrpc.OneLine(k.Arguments))))
	}
	if len(k.Secrets) > 0 {
		out = append(out, line("secrets", fmt.Sprint(k.Secrets)))
	}
	if k.Message != "" {
		code := ""
		if k.Code != nil {
			code = fmt.Sprintf(" (%d)", *k.Code)
		}
		out = append(out, th.Error.S("✗ "+safe.Line(k.Message, 400)+code))
	}
	return append(out, "")
}

func (v *historyScreen) draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	if p.ID == "detail" {
		return v.drawDetail(c, p)
	}
	if p.Same(c, v.Rev, v.List.Selected(), v.err, v.everyone, v.mark, c.Server) {
		return nil
	}
	v.List.SetRows(historyRows{v, c}) // rows carry the theme
	v.DrawList(c, p, func(w int) []string { return v.empty(c, w) })
	p.Title, p.Badge, p.Foot = "History", "", ""
	if v.everyone {
		p.Title = "History of all servers"
	}
	if n := len(v.all); n > 0 {
		p.Foot = text.Count(n, "call")
		if n == mostListed {
			p.Foot = "the newest " + p.Foot
		}
		if v.Typed != "" {
			p.Badge = pane.CountBadge(v.List.Len(), n)
		}
	}
	return nil
}

// empty says why there is no call.
func (v *historyScreen) empty(c *tui.Ctx, w int) []string {
	switch {
	case v.err != nil:
		return pane.ErrorLines(c.Theme, w, v.err)
	case v.Typed != "" && len(v.all) > 0:
		return pane.NothingMatches(c.Theme, w, v.Typed)
	case !v.fresh:
		return pane.Message(c.Theme, w, "Reading the history…", "")
	case !v.everyone && c.Server != nil:
		return pane.Message(c.Theme, w, "No calls at "+safe.Line(c.Server.Title(), 60)+" yet.",
			"Calls, prompts and reads appear here, also those of the next start. Press a for all servers, 2 for the tools.")
	}
	return pane.Message(c.Theme, w, "No calls yet.", "Calls, prompts and reads appear here, also those of the next start. Press 2 for the tools.")
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
	if s := v.sessionOf(c, k); s != nil {
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

// choices are the calls, to be made again.
func (v *historyScreen) choices(*tui.Ctx) (out []tui.Choice) {
	for i := range v.List.Listed() {
		k := v.all[i]
		out = append(out, tui.Choice{
			Label: safe.Line(callLine(k), 200) + " · " + k.Verdict,
			Run: func(c *tui.Ctx) tea.Cmd {
				v.List.Select(i)
				if why := v.cannotRun(c); why != "" {
					return c.Toast(tui.Warning, why)
				}
				return v.open(c, false)
			},
		})
	}
	return out
}

// plain writes the calls, a line each.
func (v *historyScreen) plain(_ *tui.Ctx, w io.Writer) {
	if len(v.all) == 0 {
		fmt.Fprintln(w, "no calls")
	}
	for _, k := range v.all {
		fmt.Fprintf(w, "%d %s %s %s: %s\n", k.ID, k.At.Local().Format(time.DateTime), k.Verdict, safe.Line(cmp.Or(k.Name, k.Target), 120), safe.Line(string(k.Arguments), 400))
	}
}
