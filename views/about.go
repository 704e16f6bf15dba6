package views

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
)

// about is the detail pane of an item: what it is in words (with its schemas
// as a list of fields), and its definition as the server sent it.
type about struct {
	view  string
	raw   bool // the definition as sent instead of the words
	words textPane
	doc   document

	id   string // which item; changes with its server and definition
	item session.Item
}

func newAbout(view string) about {
	return about{view: view, doc: document{view: view, pane: "detail", slot: "about"}}
}

func (a *about) actions(view, pane string) []tui.Action {
	return append([]tui.Action{{
		ID: view + ".definition", Keys: []string{"s"}, Title: "as sent", Group: "Detail", Hint: 4,
		Help: "Switch between the definition in words and as the server sent it.",
		Run: func(c *tui.Ctx) tea.Cmd {
			a.raw = !a.raw
			return a.open(c)
		},
	}}, a.doc.actions(view, pane)...)
}

// show takes the item to show; server tells items of the same name apart.
func (a *about) show(c *tui.Ctx, server string, it session.Item) tea.Cmd {
	id := server + "\x00" + string(it.Raw)
	if id == a.id {
		return nil
	}
	a.id, a.item = id, it
	a.words.top = 0
	return a.open(c)
}

// open loads the definition when it is what the pane shows.
func (a *about) open(c *tui.Ctx) tea.Cmd {
	if !a.raw || a.id == "" {
		return nil
	}
	raw := a.item.Raw
	return a.doc.load(c, source{
		name: safe.Line(a.item.Name, 80),
		read: func() ([]byte, error) { return raw, nil },
	})
}

func (a *about) clear() {
	a.id, a.item = "", session.Item{}
	a.doc.clear()
}

func (a *about) Handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	if a.raw {
		return a.doc.Handle(c, msg)
	}
	return nil, a.words.handle(msg)
}

func (a *about) draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	if a.raw && a.id != "" {
		p.Badge = "as sent"
		return a.doc.draw(c, p)
	}
	if p.Same(c, a.id, a.words.top, a.raw) {
		return nil
	}
	p.Badge = ""
	if a.id == "" {
		p.Lines = nil
		return nil
	}
	a.words.draw(p, definitionLines(c.Theme, a.item, p.W))
	return nil
}
