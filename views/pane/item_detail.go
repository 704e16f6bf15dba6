package pane

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/tui/widget"
)

// ItemDetail is the detail pane of an item: what it is in words, with its schemas as lists of fields, and its definition
// as the server sent it.
type ItemDetail struct {
	view  string
	raw   bool // the definition as sent instead of the words
	words TextPane
	doc   Document
	calls *Calls
	last  lastResult

	id     string // which item; changes with its server and definition
	server string
	definition
	w      int // cells of the pane, as the shell said last
	render struct {
		layoutKey
		id   string
		open bool
	}
	stop  context.CancelFunc // ends the rendering of the description
	rev   int                // counts what changed the words
	drawn int                // counts what was rendered of them
}

// unfoldKey shows all that an item says of itself.
const unfoldKey = "space"

// NewItemDetail is empty; view is the id of the screen, whose pane "detail" it is. The screens share calls.
func NewItemDetail(view string, kind offer.Kind, calls *Calls) ItemDetail {
	return ItemDetail{
		view: view, doc: Document{view: view, pane: "detail", slot: "about"}, calls: calls, stop: func() {},
		last:       lastResult{view: view, reply: NewReply(view, LastPane)},
		definition: definition{kind: kind, open: kind == offer.Resources}, // what they hold is what they are about
	}
}

// Actions are what the definition and its document offer: the ways in which JSON is shown are some of those in which a definition is.
func (a *ItemDetail) Actions(view, pane string) []tui.Action {
	doc := a.doc.actions(view, pane)
	for i := range doc {
		if doc[i].Verb == tui.VerbShow {
			doc[i].Verb = ""
		}
	}
	return append([]tui.Action{
		{
			ID: view + ".definition", Verb: tui.VerbShow, Title: "raw", Group: "Detail",
			Help: "Show the definition in words, as a JSON tree, or as sent.",
			Run: func(c *tui.Ctx) tea.Cmd {
				if c.Focus == LastPane {
					return a.last.reply.Doc.front().reshape(c)
				}
				if a.raw && c.Focus == pane && !a.doc.front().lastShape() {
					return a.doc.front().reshape(c)
				}
				a.raw = !a.raw
				return a.load(c)
			},
		},
		{
			ID: view + ".unfold", Verb: tui.VerbFold, Word: "expand", Title: "more", Group: "Detail", Hint: 6,
			Help: "Show all that the definition says, or fold it again; in raw JSON, fold what is under the cursor.",
			Disabled: func(*tui.Ctx) string {
				if !a.raw && !a.open && !a.folded {
					return "all of it is on the screen"
				}
				return ""
			},
			Run: func(c *tui.Ctx) tea.Cmd {
				if a.raw {
					cmd, _ := a.doc.Handle(c, tui.PressOf(unfoldKey))
					return cmd
				}
				a.open = !a.open
				a.rev++
				return a.prepare(c)
			},
		},
	}, doc...)
}

// LastActions are those of the last result, on a screen that has its pane; the link that it is or has is opened by the screen's own action.
func (a *ItemDetail) LastActions() []tui.Action { return a.last.actions() }

// Link is the resource that the focused last result is or links to, "" if none.
func (a *ItemDetail) Link(c *tui.Ctx) string { return a.last.link(c) }

// LinkAction opens it, on a screen without another action of that verb.
func (a *ItemDetail) LinkAction(view, group string) tui.Action {
	return tui.Action{
		ID: view + ".link", Verb: tui.VerbElsewhere, Title: "open resource", Group: group, Hint: 7,
		Help:    "Read the resource that the last result is or links to.",
		Applies: func(c *tui.Ctx) bool { return a.Link(c) != "" },
		Run:     func(c *tui.Ctx) tea.Cmd { return c.NavigateOn(a.server, "resources", a.Link(c)) },
	}
}

// Show takes the item to show; server tells items of the same name apart.
func (a *ItemDetail) Show(c *tui.Ctx, server string, it offer.Item) tea.Cmd {
	id := server + "\x00" + string(it.Raw)
	if id == a.id {
		return tea.Batch(a.showLast(c), a.prepare(c))
	}
	a.id, a.server, a.item, a.mark = id, server, it, offer.Mark{}
	a.words.Top = 0
	return tea.Batch(a.showLast(c), a.load(c), a.prepare(c))
}

func (a *ItemDetail) showLast(c *tui.Ctx) tea.Cmd {
	if a.id == "" {
		return nil
	}
	return a.last.show(c, a.calls, callKey{a.server, methods[a.kind], a.item.Name})
}

// Marked says what became of the item that is shown since somebody looked; it stays as long as the item is shown.
func (a *ItemDetail) Marked(m offer.Mark) {
	if m != (offer.Mark{}) && m != a.mark {
		a.mark = m
		a.rev++
	}
}

// renderDelay is how long the cursor rests on an item before its description is rendered.
const renderDelay = 50 * time.Millisecond

// prepare renders the description beside the screen where it is markdown; until then it is shown as it is.
func (a *ItemDetail) prepare(c *tui.Ctx) tea.Cmd {
	want := a.render
	want.layoutKey, want.id, want.open = layoutKey{a.w, c.Theme}, a.id, a.open
	if want == a.render {
		return nil
	}
	a.stop()
	a.render, a.prose = want, nil
	a.rev++
	about := a.about()
	if a.w == 0 || !looksLikeMarkdown(about) {
		return nil
	}
	ctx, stop := context.WithCancel(context.Background())
	a.stop = stop
	return c.Render(a.view, fmt.Sprint("about", a.rev), func() ([]string, error) {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(renderDelay):
		}
		doc, err := widget.Markdown(ctx, want.th, about, want.w)
		return doc.Lines, err
	})
}

// looksLikeMarkdown is whether rendering a text would change how it reads.
func looksLikeMarkdown(s string) bool {
	for _, sign := range []string{"**", "`", "](", "\n#", "\n- ", "\n* ", "\n1. "} {
		if strings.Contains("\n"+s, sign) {
			return true
		}
	}
	return false
}

// load reads the definition when it is what the pane shows.
func (a *ItemDetail) load(c *tui.Ctx) tea.Cmd {
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
	a.id, a.item, a.prose, a.render.id = "", offer.Item{}, nil, ""
	a.stop()
	a.doc.clear()
}

// Handle scrolls and searches.
func (a *ItemDetail) Handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.Resized:
		a.w = m.Width("detail")
		cmd, _ := a.doc.Handle(c, msg)
		a.last.w = m.Width(LastPane)
		last, _ := a.last.reply.Handle(c, msg)
		return tea.Batch(cmd, last, a.showLast(c), a.prepare(c)), true
	case tui.Rendered:
		if m.Err == nil && m.Key == fmt.Sprint("about", a.rev) && len(m.Lines) > 0 {
			a.prose = m.Lines
			a.drawn++
		}
		return nil, true
	}
	if a.raw {
		return a.doc.Handle(c, msg)
	}
	return nil, a.words.Handle(msg)
}

// DrawLast fills the pane of the last result.
func (a *ItemDetail) DrawLast(c *tui.Ctx, p *tui.Pane) *tea.Cursor { return a.last.draw(c, p, a.kind) }

// CopyLast copies from the last result.
func (a *ItemDetail) CopyLast(k tui.CopyKind) tui.CopyFunc { return a.last.reply.Doc.CopyText(k) }

// PageLast is the text of the last result that is shown.
func (a *ItemDetail) PageLast() (text, ext string, ok bool) { return a.last.reply.Doc.PageText() }

// Draw fills the pane.
func (a *ItemDetail) Draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	p.Foot = ""
	if a.raw && a.id != "" {
		p.Badge = "raw"
		return a.doc.Draw(c, p)
	}
	p.Badge = ""
	switch {
	case a.id == "":
	case a.item.Destructive():
		p.Badge = "⚠ destructive"
	case a.item.ReadOnly():
		p.Badge = "✓ read-only"
	}
	if a.id != "" && a.item.App != "" {
		p.Badge = strings.TrimPrefix(p.Badge+" · ◫ app", " · ")
	}
	if a.id != "" {
		p.Foot = a.calls.Last(a.server, a.kind, cmp.Or(a.item.URI, a.item.Name))
	}
	if p.Same(c, a.id, a.words.Top, a.raw, a.rev, a.drawn) {
		return nil
	}
	if a.id == "" {
		p.Lines, p.Scroll = nil, tui.Scroll{}
		return nil
	}
	a.words.Draw(p, a.fit(c.Theme, p.W, p.H))
	return nil
}

// Route hands a message to a list or to the definition beside it, whichever it is meant for: keys, mouse, `/` and the
// outcomes of what both started. describe shows the item under the cursor, open what a double click asks for.
func (a *ItemDetail) Route(c *tui.Ctx, list *Rows, msg tea.Msg, describe, open func(*tui.Ctx) tea.Cmd) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.FilterChanged:
		if c.Focus != "detail" && c.Focus != LastPane {
			return tea.Batch(list.SetFilter(c, m.Text), describe(c)), true
		}
	case tui.OpDone:
		if cmd, ok := SavedToast(c, m); ok {
			return cmd, true
		}
		if cmd, ok := list.Filtered(c, m); ok {
			return tea.Batch(cmd, describe(c)), true
		}
		if cmd, ok := a.last.reply.Handle(c, msg); ok {
			return cmd, true
		}
		return a.Handle(c, msg)
	case tui.Resized, tui.Rendered:
		return a.Handle(c, msg)
	case tui.PaneMouse:
		if m.Pane == "detail" {
			return a.Handle(c, msg)
		}
		if m.Pane == LastPane {
			return a.last.reply.Handle(c, msg)
		}
	}
	switch c.Focus {
	case "detail":
		return a.Handle(c, msg)
	case LastPane:
		return a.last.reply.Handle(c, msg)
	}
	consumed, opened := list.MoveCursor("list", msg)
	if opened {
		return open(c), true
	}
	return describe(c), consumed
}
