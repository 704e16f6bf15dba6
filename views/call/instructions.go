package call

import (
	"fmt"
	"io"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

// instructions shows what the current server tells the models that use it.
type instructions struct {
	text pane.TextPane
	of   string // server that is shown
}

// NewInstructions is the screen of what the current server tells models.
func NewInstructions() *tui.Screen { return (&instructions{}).screen() }

func (v *instructions) screen() *tui.Screen {
	return &tui.Screen{
		ID: "instructions", Title: "Instructions", Hidden: true,
		Panes:  []tui.PaneSpec{{ID: "text", Title: "Instructions"}},
		Handle: v.handle, Draw: v.draw, Plain: v.plain,
		PageText: v.pageText, CopyText: v.copyText, Hints: v.hints,
	}
}

func (v *instructions) handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	if pane.IsBack(msg) {
		return c.Back(), true
	}
	return nil, v.text.Handle(msg)
}

// hints say how to leave the screen, which has no number.
func (v *instructions) hints(*tui.Ctx) []tui.Hint { return pane.BackHint(true) }

// given are a server's instructions as it sent them.
func given(c *tui.Ctx) (s *session.Session, text string) {
	if c.Server == nil {
		return nil, ""
	}
	return c.Server, c.Server.Status().Instructions
}

func (v *instructions) draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	s, text := given(c)
	name := ""
	if s != nil {
		name = s.Name()
	}
	if v.of != name {
		v.of, v.text.Top = name, 0
	}
	if p.Same(c, name, text, v.text.Top) {
		return nil
	}
	switch {
	case s == nil:
		p.Lines, p.Scroll = pane.Message(c.Theme, p.W, "No server is open.", "Press 1 for the servers."), tui.Scroll{}
	case text == "":
		p.Lines, p.Scroll = pane.Message(c.Theme, p.W, safe.Line(s.Title(), 80)+" gives no instructions.", "Press q to go back."), tui.Scroll{}
	default:
		v.text.Draw(p, pane.InstructionLines(c.Theme, p.W, s.Title(), text))
	}
	return nil
}

func (v *instructions) copyText(c *tui.Ctx, k tui.CopyKind) tui.CopyFunc {
	_, text := given(c)
	return tui.CopyString(text, k == tui.CopyValue && text != "")
}

func (v *instructions) pageText(c *tui.Ctx) (text, ext string, ok bool) {
	_, text = given(c)
	return text, ".md", text != ""
}

func (v *instructions) plain(c *tui.Ctx, w io.Writer) {
	_, text := given(c)
	if text == "" {
		text = "no instructions"
	}
	fmt.Fprintln(w, safe.Text(text))
}
