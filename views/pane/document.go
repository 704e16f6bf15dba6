package pane

import (
	"cmp"
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/widget"
)

// Document is a pane for text of any size as it was sent: JSON as a tree that folds or as its bytes, anything else as
// lines. Reading and indexing run beside the event loop; only what is visible is drawn.
type Document struct {
	view string // id of the screen
	pane string // id of the pane
	slot string // tells documents of one screen apart

	src   Source
	gen   int // which load
	state docState
	err   error
	data  []byte
	tree  widget.JSON
	pager widget.Pager
	json  bool // data is JSON
	as    shape
	wrap  bool // long lines scroll sideways instead of wrapping

	rendered  widget.Pager
	rendering bool
	layout    layoutKey // of the rendered lines, made or asked for
	w         int       // cells of the pane, as the shell said last
	rev       int

	find  string
	found int // offset of the current hit, -1 if none
}

type docState uint8

const (
	docEmpty docState = iota
	docLoading
	docReady
)

// shape is how a document is shown.
type shape uint8

const (
	asText     shape = iota // the bytes
	asTree                  // JSON as a tree
	asRendered              // what source.render makes of it: markdown, an image
)

// layoutKey is what rendered lines depend on besides the document.
type layoutKey struct {
	w  int
	th *tui.Theme
}

// Source says what a document shows.
type Source struct {
	// Name is what a saved file is called, without its extension.
	Name string
	// Head are styled lines above the text.
	Head []string
	// None is said where there are no bytes; "" for a word that says so.
	None string
	// Painter colours lines of what is not JSON; nil for none.
	Painter widget.Painter
	// read gives the bytes. It runs beside the event loop.
	read func() ([]byte, error)
	// render makes safe, styled lines of at most w cells out of the bytes. It
	// runs beside the event loop too. Nil for what is shown as it is.
	render func(ctx context.Context, th *tui.Theme, w int, data []byte) ([]string, error)
	// ext is the extension of a saved file with its dot; "" lets the bytes decide.
	ext string
}

// docLoaded is the outcome of reading a source.
type docLoaded struct {
	doc  *Document
	gen  int
	data []byte
	text *widget.Lines
	ix   *widget.Index
}

// load shows another source once it was read.
func (d *Document) load(c *tui.Ctx, src Source) tea.Cmd {
	d.gen++
	d.src, d.state, d.err = src, docLoading, nil
	d.rev++
	gen := d.gen
	cmd, _ := c.Replace(d.view, d.slot+"document", "read", func(ctx context.Context) (any, error) {
		out := docLoaded{doc: d, gen: gen}
		data, err := src.read()
		if err != nil {
			return out, err
		}
		out.data, out.text = data, widget.NewLines(data)
		if looksLikeJSON(data) {
			if ix, err := widget.NewIndex(ctx, data); err == nil && ix.Err() == nil {
				out.ix = ix
			}
		}
		return out, ctx.Err()
	})
	return cmd
}

// looksLikeJSON is whether it is worth trying: text that is an object or array.
func looksLikeJSON(data []byte) bool {
	for _, b := range data {
		switch b {
		case ' ', '\t', '\r', '\n':
		case '{', '[':
			return true
		default:
			return false
		}
	}
	return false
}

// loaded takes what was read; false if the message is something else.
func (d *Document) loaded(m tui.OpDone) bool {
	l, ok := m.Value.(docLoaded)
	if !ok || l.doc != d {
		return false
	}
	if l.gen != d.gen {
		return true
	}
	d.rev++
	d.state, d.err, d.data, d.json = docReady, m.Err, l.data, l.ix != nil
	d.found = -1
	d.tree.SetIndex(l.ix)
	painter := d.src.Painter
	if d.json {
		painter = widget.PaintJSON
	}
	if l.text == nil { // reading failed
		l.text = widget.NewLines(nil)
	}
	d.pager.SetLines(l.text, painter)
	d.pager.SetWrap(!d.wrap)
	d.layout = layoutKey{}
	switch {
	case d.src.render != nil:
		d.as = asRendered
	case d.json:
		d.as = asTree
	default:
		d.as = asText
	}
	d.mark()
	return true
}

// shapes lists how the document can be shown.
func (d *Document) shapes() (out []shape) {
	if d.src.render != nil {
		out = append(out, asRendered)
	}
	if d.json {
		out = append(out, asTree)
	}
	return append(out, asText)
}

// render makes the lines for the pane's width when they are what shows.
func (d *Document) render(c *tui.Ctx) tea.Cmd {
	key := layoutKey{d.w, c.Theme}
	if d.as != asRendered || d.state != docReady || d.err != nil || d.w == 0 || key == d.layout {
		return nil
	}
	d.layout, d.rendering = key, true
	gen, data, render := d.gen, d.data, d.src.render
	cmd, _ := c.Replace(d.view, d.slot+"render", "render", func(ctx context.Context) (any, error) {
		lines, err := render(ctx, key.th, key.w, data)
		return docRendered{d, gen, key, lines}, err
	})
	return cmd
}

// docRendered is the outcome of rendering.
type docRendered struct {
	doc   *Document
	gen   int
	key   layoutKey
	lines []string
}

// renderedLines takes what was rendered; false if the message is something else.
func (d *Document) renderedLines(c *tui.Ctx, m tui.OpDone) bool {
	r, ok := m.Value.(docRendered)
	if !ok || r.doc != d {
		return false
	}
	if r.gen != d.gen || r.key != d.layout {
		return true
	}
	d.rendering = false
	d.rev++
	if m.Err != nil {
		r.lines = errorMessage(r.key.th, r.key.w, errorText(m.Err), "Press m to see the bytes, S to save them.")
	}
	at, _ := d.rendered.Scroll()
	d.rendered.SetStyled(r.lines)
	for range at {
		d.rendered.Key("down")
	}
	return true
}

// clear shows nothing.
func (d *Document) clear() {
	d.gen++
	d.state, d.data, d.err = docEmpty, nil, nil
	d.tree.SetIndex(nil)
	d.pager.SetText(nil, nil)
	d.rev++
}

// asTree is whether the tree is what shows.
func (d *Document) asTree() bool { return d.as == asTree }

// Handle moves in the document and searches it.
func (d *Document) Handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	consumed := false
	switch m := msg.(type) {
	case tui.Resized:
		d.w = m.Width(d.pane)
		return d.render(c), true
	case tui.OpDone:
		if d.loaded(m) {
			d.rendered.SetStyled(nil)
			return tea.Batch(d.render(c), tidy(len(d.data))), true
		}
		if d.renderedLines(c, m) {
			return nil, true
		}
		return d.hit(c, m)
	case tui.FilterChanged:
		d.find = m.Text
		d.mark()
		return d.search(c, false, true), true
	case tui.FindNext:
		return d.search(c, m.Back, false), true
	case tea.KeyPressMsg:
		switch d.as {
		case asTree:
			consumed = d.tree.Key(m.String())
		case asRendered:
			consumed = d.rendered.Key(m.String())
		default:
			consumed = d.pager.Key(m.String())
		}
	case tui.PaneMouse:
		consumed = true
		m.Y -= len(d.src.Head)
		switch d.as {
		case asTree:
			MouseTo(m, d.tree.Mouse)
		case asRendered:
			MouseTo(m, d.rendered.Mouse)
		default:
			MouseTo(m, d.pager.Mouse)
		}
	}
	if consumed {
		d.rev++
	}
	return nil, consumed
}

// moving changes while the pane waits for something.
func (d *Document) moving() any {
	if d.state == docLoading || d.rendering {
		return Tick()
	}
	return nil
}

// Draw fills the pane; it never sets a cursor.
func (d *Document) Draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	if !p.Same(c, d, d.rev, d.moving()) {
		p.Lines, p.Scroll = d.lines(c, p)
		p.Selected = 0
		if d.asTree() && d.state == docReady && d.err == nil {
			p.Selected = len(d.src.Head) + d.tree.Line()
		}
	}
	return nil
}

// lines is what the pane shows now.
func (d *Document) lines(c *tui.Ctx, p *tui.Pane) ([]string, tui.Scroll) {
	head := make([]string, 0, len(d.src.Head)+p.H)
	for _, l := range d.src.Head {
		head = append(head, paint.Cut(l, p.W))
	}
	h := max(p.H-len(head), 1)
	switch {
	case d.state == docEmpty:
		return Message(c.Theme, p.W, "Nothing is selected.", ""), tui.Scroll{}
	case d.err != nil:
		return append(head, errorMessage(c.Theme, p.W, errorText(d.err), "")...), tui.Scroll{}
	case d.state == docLoading && d.data == nil:
		return append(head, Message(c.Theme, p.W, spinner()+" Reading…", "")...), tui.Scroll{}
	case len(d.data) == 0 && d.src.render == nil:
		return append(head, Message(c.Theme, p.W, cmp.Or(d.src.None, "Empty."), "")...), tui.Scroll{}
	}
	var s tui.Scroll
	if d.as == asTree {
		d.tree.SetTheme(c.Theme)
		d.tree.SetSize(p.W, h)
		d.tree.SetFocus(p.Focused)
		head = append(head, d.tree.Lines()...)
		s.Pos, s.Total = d.tree.Scroll()
		return head, s
	}
	pager := &d.pager
	if d.as == asRendered {
		pager = &d.rendered
	}
	pager.SetTheme(c.Theme)
	pager.SetSize(p.W, h)
	head = append(head, pager.Lines()...)
	s.Pos, s.Total = pager.Scroll()
	return head, s
}
