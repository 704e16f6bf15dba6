package inbox

import (
	"io"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/tui"
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

// pick opens the result of a task that is over.
func (v *taskScreen) pick(c *tui.Ctx, _ int) tea.Cmd {
	if why := v.noResult(c); why != "" {
		return c.Toast(tui.Warning, why)
	}
	return v.open(c)
}

// plain is the result that is open, else the tasks.
func (v *taskScreen) plain(c *tui.Ctx, w io.Writer) {
	if v.opened != "" {
		v.reply.Plain(w)
		return
	}
	v.ListPage.Plain(c, w)
}
