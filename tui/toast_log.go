package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui/widget"
)

// messagesWord is the word that shows all messages.
const messagesWord = "messages"

// messagesAction shows what the row of messages said, all of it.
func messagesAction() Action {
	return Action{
		ID: "app.messages", Word: messagesWord, Title: "messages", Group: "Program",
		Help: "Show the messages of this session, the newest first, also those that did not fit in their rows.",
		Disabled: func(c *Ctx) string {
			if len(c.app.toasts.log) == 0 {
				return "there was no message yet"
			}
			return ""
		},
		Run: func(c *Ctx) tea.Cmd { return c.Open(newMessageLog(c.Theme, c.app.toasts.log)) },
	}
}

// messageLog is an overlay with messages, whole.
type messageLog struct {
	text string
	view widget.Pager
}

func newMessageLog(t *Theme, log []Toast) *messageLog {
	var b strings.Builder
	for _, m := range slices.Backward(log) {
		b.WriteString(m.Level.glyph() + " " + m.Text + "\n")
	}
	o := &messageLog{text: strings.TrimSuffix(b.String(), "\n")}
	o.view.SetTheme(t)
	o.view.SetText([]byte(o.text), nil)
	o.view.SetWrap(true)
	return o
}

// Title names it.
func (*messageLog) Title() string { return "Messages" }

// Size fits the messages.
func (o *messageLog) Size(maxW, maxH int) (int, int) {
	w := min(maxW, 100)
	o.view.SetSize(w, maxH)
	return w, len(o.view.Lines())
}

// Hints are how to read on, and to close it.
func (o *messageLog) Hints(*Ctx) []Hint {
	out := []Hint{{"esc", "close"}}
	if !o.view.AtEnd() {
		out = append(out, Hint{"down", "read on"})
	}
	return out
}

// Handle scrolls.
func (o *messageLog) Handle(c *Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case PaneMouse:
		m.Widget(func(e widget.Mouse) { o.view.Mouse(e) })
		return nil, true
	case tea.KeyPressMsg:
		if m.String() == "q" {
			c.app.drop(o)
			return nil, true
		}
		return nil, o.view.Key(m.String())
	}
	return nil, false
}

// Draw shows as much as fits.
func (o *messageLog) Draw(c *Ctx, p *Pane) *tea.Cursor {
	o.view.SetTheme(c.Theme)
	o.view.SetSize(p.W, p.H)
	p.Lines = append(p.Lines[:0], o.view.Lines()...)
	p.Scroll.Pos, p.Scroll.Total = o.view.Scroll()
	return nil
}
