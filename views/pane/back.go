package pane

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui"
)

// StackUnder is the columns below which a form is above its result: beside it both would be cut.
const StackUnder = 110

// IsBack is whether a message is the key that leaves a screen which was opened from another, and quits on all others.
func IsBack(msg tea.Msg) bool {
	k, ok := msg.(tea.KeyPressMsg)
	return ok && k.String() == "q"
}

// ListAndText gives what is meant for them to the panes of a screen that has no number, a list and a text; open is what enter does.
func ListAndText(c *tui.Ctx, list *Rows, detail *TextPane, msg tea.Msg, open func() tea.Cmd) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.FilterChanged:
		return list.SetFilter(c, m.Text), true
	case tui.PaneMouse:
		if m.Pane == "detail" {
			return nil, detail.Handle(msg)
		}
	}
	if IsBack(msg) {
		return c.Back(), true
	}
	if c.Focus == "detail" {
		return nil, detail.Handle(msg)
	}
	consumed, opened := list.MoveCursor("list", msg)
	if opened {
		return open(), true
	}
	return nil, consumed
}

// BackHint is what IsBack does, where it does it.
func BackHint(does bool) []tui.Hint {
	if !does {
		return nil
	}
	return []tui.Hint{{Key: "q", Title: "back"}}
}
