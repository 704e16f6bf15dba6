package call

import (
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/views/pane"
)

// NewInstructions is the screen of what the current server tells the models that use it.
func NewInstructions() *tui.Screen {
	v := pane.TextPage{Page: func(c *tui.Ctx) page.Page {
		text := given(c)
		switch p := (page.Page{None: [2]string{"No server is open.", "Press 1 for the servers."}}); {
		case c.Server == nil:
			return p
		case text == "":
			p.None = [2]string{c.Server.Title() + " gives no instructions.", "Press q to go back."}
			return p
		default:
			return *p.Note("What "+c.Server.Title()+" tells the models that use it, as it was sent:").Line(page.Plain, "").Text(page.Plain, text)
		}
	}}
	return v.Screen(tui.Screen{
		ID: "instructions", Title: "Instructions", Tab: "servers",
		Panes: []tui.PaneSpec{{ID: "text", Title: "Instructions"}},
		PageText: func(c *tui.Ctx) (text, ext string, ok bool) {
			text = given(c)
			return text, ".md", text != ""
		},
		CopyText: func(c *tui.Ctx, k tui.CopyKind) tui.CopyFunc {
			text := given(c)
			return tui.CopyString(text, k == tui.CopyValue && text != "")
		},
	})
}

// given are a server's instructions as it sent them.
func given(c *tui.Ctx) string {
	if c.Server == nil {
		return ""
	}
	return c.Server.Status().Instructions
}
