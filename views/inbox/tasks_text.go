package inbox

import (
	"cmp"
	"fmt"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
	"github.com/mcphud/mcphud/views/shell"
)

func (v *taskScreen) copyText(c *tui.Ctx, k tui.CopyKind) tui.CopyFunc {
	t, ok := v.selected()
	if !ok {
		return nil
	}
	if v.opened != "" && c.Focus == "detail" && k != tui.CopyCommand && k != tui.CopyPath {
		return v.reply.Doc.CopyText(k)
	}
	switch k {
	case tui.CopyValue, tui.CopyPath:
		return tui.CopyString(t.ID, true)
	case tui.CopyJSON, tui.CopyRaw:
		return tui.CopyBytes(t.Raw)
	case tui.CopyCommand:
		if s, ok := c.Sessions.Server(t.server); ok {
			verb := "tasks get"
			if t.Status.Over() {
				verb = "tasks result"
			}
			return pane.CopyCommand(s.Config(), pane.WithMeta(s, shell.Invocation{Verb: verb, Operands: []string{t.ID}}))
		}
	}
	return nil
}

func (v *taskScreen) pageText(*tui.Ctx) (text, ext string, ok bool) {
	if v.opened != "" {
		return v.reply.Doc.PageText()
	}
	t, ok := v.selected()
	return string(jsonrpc.OneLine(t.Raw)), ".json", ok
}

// choices are the results of what is over, and what else can be done with a task.
func (v *taskScreen) choices(*tui.Ctx) (out []tui.Choice) {
	for i := range v.List.Listed() {
		t := v.all[i]
		out = append(out, tui.Choice{
			Label: safe.Line(cmp.Or(t.Tool, t.ID), 120) + " · " + string(t.Status),
			Run: func(c *tui.Ctx) tea.Cmd {
				v.moveTo(t.key())
				if why := v.noResult(c); why != "" {
					return c.Toast(tui.Warning, why)
				}
				return v.open(c)
			},
		})
	}
	return out
}

func (v *taskScreen) plain(c *tui.Ctx, w io.Writer) {
	if v.opened != "" {
		v.reply.Plain(w)
		return
	}
	if len(v.all) == 0 {
		fmt.Fprintln(w, "no tasks")
	}
	for _, t := range v.all {
		// Nothing that changes by itself: in linear mode each change is a line.
		fmt.Fprintf(w, "%s %s %s since %s", t.Status, safe.Line(cmp.Or(t.Tool, "?"), 120), safe.Line(t.ID, 120), t.Since.Format(time.TimeOnly))
		if until, limited := t.Expires(); limited {
			fmt.Fprintf(w, ", kept until %s", until.Format(time.DateTime))
		}
		if m := taskMessage(t); m != "" {
			fmt.Fprintf(w, ": %s", safe.Line(m, 400))
		}
		if t.Problem != nil {
			fmt.Fprintf(w, "; %s", safe.Line(t.Problem.Error(), 400))
		}
		fmt.Fprintln(w)
	}
}
