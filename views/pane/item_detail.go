package pane

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
)

// ItemDetail is the detail pane of an item: what it is in words (with its schemas
// as a list of fields), and its definition as the server sent it.
type ItemDetail struct {
	view  string
	raw   bool // the definition as sent instead of the words
	words TextPane
	doc   Document

	id   string // which item; changes with its server and definition
	item offer.Item
}

// NewItemDetail is empty; view is the id of the screen, whose pane "detail" it is.
func NewItemDetail(view string) ItemDetail {
	return ItemDetail{view: view, doc: Document{view: view, pane: "detail", slot: "about"}}
}

// Actions are what the definition and its document offer.
func (a *ItemDetail) Actions(view, pane string) []tui.Action {
	return append([]tui.Action{{
		ID: view + ".definition", Keys: []string{"s"}, Title: "raw", Group: "Detail", Hint: 4,
		Help: "Switch between the definition in words and its raw JSON.",
		Run: func(c *tui.Ctx) tea.Cmd {
			a.raw = !a.raw
			return a.open(c)
		},
	}}, a.doc.actions(view, pane)...)
}

// Show takes the item to show; server tells items of the same name apart.
func (a *ItemDetail) Show(c *tui.Ctx, server string, it offer.Item) tea.Cmd {
	id := server + "\x00" + string(it.Raw)
	if id == a.id {
		return nil
	}
	a.id, a.item = id, it
	a.words.Top = 0
	return a.open(c)
}

// open loads the definition when it is what the pane shows.
func (a *ItemDetail) open(c *tui.Ctx) tea.Cmd {
	if !a.raw || a.id == "" {
		return nil
	}
	raw := a.item.Raw
	return a.doc.load(c, Source{
		Name: safe.Line(a.item.Name, 80),
		read: func() ([]byte, error) { return raw, nil },
	})
}

// Clear shows nothing.
func (a *ItemDetail) Clear() {
	a.id, a.item = "", offer.Item{}
	a.doc.clear()
}

// Handle scrolls and searches.
func (a *ItemDetail) Handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	if a.raw {
		return a.doc.Handle(c, msg)
	}
	return nil, a.words.Handle(msg)
}

// Draw fills the pane.
func (a *ItemDetail) Draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	if a.raw && a.id != "" {
		p.Badge = "raw"
		return a.doc.Draw(c, p)
	}
	if p.Same(c, a.id, a.words.Top, a.raw) {
		return nil
	}
	p.Badge = ""
	if a.id == "" {
		p.Lines = nil
		return nil
	}
	a.words.Draw(p, definitionLines(c.Theme, a.item, p.W))
	return nil
}

// Route hands a message to a list or to the definition beside it, whichever it is meant for: keys, mouse, `/` and the
// outcomes of what both started. describe shows the item under the cursor, open what a double click asks for.
func (a *ItemDetail) Route(c *tui.Ctx, list *Rows, msg tea.Msg, describe, open func(*tui.Ctx) tea.Cmd) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.FilterChanged:
		if c.Focus != "detail" {
			return tea.Batch(list.SetFilter(c, m.Text), describe(c)), true
		}
	case tui.OpDone:
		if cmd, ok := SavedToast(c, m); ok {
			return cmd, true
		}
		if cmd, ok := list.Filtered(c, m); ok {
			return tea.Batch(cmd, describe(c)), true
		}
		return a.Handle(c, msg)
	case tui.PaneMouse:
		if m.Pane == "detail" {
			return a.Handle(c, msg)
		}
	}
	if c.Focus == "detail" {
		return a.Handle(c, msg)
	}
	consumed, opened := list.MoveCursor("list", msg)
	if opened {
		return open(c), true
	}
	return describe(c), consumed
}
