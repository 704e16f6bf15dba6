package pane

import (
	"bytes"
	"context"
	"encoding/json"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/widget"
)

// Document is a pane for text of any size as it was sent: JSON as a tree that folds, as a table or as its bytes, anything
// else as lines; several texts below each other. Reading and indexing run beside the event loop; only what is visible is
// drawn.
type Document struct {
	view string // id of the screen
	pane string // id of the pane
	slot string // tells documents of one screen apart

	src   Source
	gen   int // which load
	state docState
	err   error
	parts []docPart
	tree  widget.JSON
	grid  widget.JSONTable
	pager widget.Pager
	as    shape
	wrap  bool // long lines scroll sideways instead of wrapping

	rendered  widget.Pager
	rendering bool
	layout    layoutKey // of the rendered lines, made or asked for
	headed    headKey   // of the rows above each part
	w         int       // cells of the pane, as the shell said last
	rev       int

	inner *Document // value that was opened in this one, nil if none is

	finding
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
	asTable                 // an array of objects as a table
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
	// Note is a styled line above the first of several texts.
	Note string
	// Exchange is whether all frames of the exchange are shown, of which this is the request.
	Exchange bool
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
	// title is said of it where it is one of several: plain, safe.
	title string
	// uri is that of a resource or link, to follow; as sent.
	uri string
	// blocks are several sources to show below each other, in place of read; split finds them beside the event loop, nil or none
	// for what is one.
	blocks []Source
	split  func() []Source
	// quoted marks each line as a server's, also in linear mode.
	quoted bool
	// path is where the text is in a larger one, for jq.
	path string
}

// docPart is one text of a document.
type docPart struct {
	src    Source
	data   []byte
	text   *widget.Lines
	pretty *widget.Lines // JSON over several lines, of what is one of several; nil for none
	ix     *widget.Index // of JSON, where it is the only one; nil for none
}

// painter colours the part's lines.
func (p *docPart) painter() widget.Painter {
	if p.ix != nil || p.pretty != nil {
		return widget.PaintJSON
	}
	return p.src.Painter
}

// maxPretty is up to what size JSON beside other texts is written over several lines.
const maxPretty = 1 << 20

// readPart reads a source; alone says that nothing is shown beside it.
func readPart(ctx context.Context, src Source, alone bool) (docPart, error) {
	p := docPart{src: src}
	data, err := src.read()
	if err != nil {
		return p, err
	}
	p.data, p.text = data, widget.NewLines(data)
	if !looksLikeJSON(data) {
		return p, nil
	}
	if alone {
		if ix, err := widget.NewIndex(ctx, data); err == nil && ix.Err() == nil {
			p.ix = ix
		}
		return p, nil
	}
	var b bytes.Buffer
	if src.render == nil && len(data) <= maxPretty && json.Indent(&b, data, "", "  ") == nil {
		p.pretty = widget.NewLines(b.Bytes())
	}
	return p, nil
}

// docLoaded is the outcome of reading a source.
type docLoaded struct {
	doc   *Document
	gen   int
	parts []docPart
}

// load shows another source once it was read.
func (d *Document) load(c *tui.Ctx, src Source) tea.Cmd {
	d.gen++
	d.src, d.state, d.err, d.inner = src, docLoading, nil, nil
	d.rev++
	gen := d.gen
	cmd, _ := c.Replace(d.view, d.slot+"document", "read", func(ctx context.Context) (any, error) {
		out := docLoaded{doc: d, gen: gen}
		list := src.blocks
		if src.split != nil {
			list = src.split()
		}
		if len(list) == 0 {
			list = []Source{src}
		}
		for _, s := range list {
			p, err := readPart(ctx, s, len(list) == 1)
			if err != nil {
				return out, err
			}
			out.parts = append(out.parts, p)
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
func (d *Document) loaded(c *tui.Ctx, m tui.OpDone) bool {
	l, ok := m.Value.(docLoaded)
	if !ok || l.doc != d {
		return false
	}
	if l.gen != d.gen {
		return true
	}
	d.rev++
	d.state, d.err, d.parts = docReady, m.Err, l.parts
	if m.Err != nil {
		d.parts = nil
	}
	var ix *widget.Index
	sections := make([]widget.Section, len(d.parts))
	for i := range d.parts {
		p := &d.parts[i]
		ix = p.ix
		sections[i] = widget.Section{Text: p.text, Painter: p.painter()}
	}
	d.tree.SetIndex(ix)
	d.grid.SetData(nil)
	d.pager.SetSections(sections)
	d.wrap = c.Preference(wrapPreference) == wrapWord(true)
	d.pager.SetWrap(!d.wrap)
	d.rendered.SetSections(nil)
	d.rendered.SetWrap(true)
	d.layout, d.headed, d.rendering = layoutKey{}, headKey{}, false
	d.as = d.shapes()[0]
	d.finding.reset()
	d.mark()
	return true
}

// many is whether several texts are shown below each other.
func (d *Document) many() bool { return len(d.parts) > 1 }

// current is the text that is read: the only one, or the one at the top. Nil while there is none.
func (d *Document) current() *docPart {
	if i := d.block(); i >= 0 && i < len(d.parts) && d.state == docReady && d.err == nil {
		return &d.parts[i]
	}
	return nil
}

// block is the number of the text that is read.
func (d *Document) block() int {
	if len(d.parts) < 2 {
		return 0
	}
	return d.lineView().Section()
}

// lineView is the pager that shows lines: until they are rendered the one of the texts as they are.
func (d *Document) lineView() *widget.Pager {
	if d.as == asRendered && (d.rendered.Sections() > 0 || !d.many()) {
		return &d.rendered
	}
	return &d.pager
}

// size is the bytes of all texts.
func (d *Document) size() (n int) {
	for i := range d.parts {
		n += len(d.parts[i].data)
	}
	return n
}

// front is the document that has the keys: this one, or what was opened in it.
func (d *Document) front() *Document {
	for d.inner != nil {
		d = d.inner
	}
	return d
}

// clear shows nothing.
func (d *Document) clear() {
	d.gen++
	d.state, d.parts, d.err, d.inner = docEmpty, nil, nil, nil
	d.tree.SetIndex(nil)
	d.grid.SetData(nil)
	d.pager.SetSections(nil)
	d.rendered.SetSections(nil)
	d.rev++
}

// Handle moves in the document and searches it.
func (d *Document) Handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.Resized: // also when the settings changed
		d.w = m.Width(d.pane)
		if sideways := c.Preference(wrapPreference) == wrapWord(true); d.state == docReady && sideways != d.wrap {
			d.wrap = sideways
			d.pager.SetWrap(!sideways)
			d.rev++
		}
		if d.inner != nil {
			cmd, _ := d.inner.Handle(c, msg)
			return tea.Batch(cmd, d.render(c)), true
		}
		return d.render(c), true
	case tui.OpDone:
		return d.done(c, m)
	}
	if d.inner != nil {
		return d.opened(c, msg)
	}
	switch m := msg.(type) {
	case tui.FilterChanged:
		d.find = m.Text
		d.mark()
		return d.search(c, false, true), true
	case tui.FindNext:
		return d.search(c, m.Back, false), true
	case tea.KeyPressMsg:
		return d.key(c, m.String())
	case tui.PaneMouse:
		return d.mouse(c, m), true
	}
	return nil, false
}

// done takes outcomes of the document's commands; false if the message is something else.
func (d *Document) done(c *tui.Ctx, m tui.OpDone) (tea.Cmd, bool) {
	switch {
	case d.loaded(c, m):
		return tea.Batch(d.render(c), tidy(d.size())), true
	case d.renderedLines(c, m), d.tabled(m), d.hit(m):
		return nil, true
	case d.inner != nil:
		return d.inner.done(c, m)
	}
	return nil, false
}

// key moves in what is shown, and opens what is under the cursor.
func (d *Document) key(c *tui.Ctx, k string) (tea.Cmd, bool) {
	ok := false
	switch d.as {
	case asTree:
		ok = d.tree.Key(k)
	case asTable:
		ok = d.grid.Key(k)
	default:
		if k == "enter" {
			break
		}
		ok = d.lineView().Key(k)
	}
	if ok {
		d.rev++
		return nil, true
	}
	if k == "enter" || k == "space" {
		return d.open(c)
	}
	return nil, false
}

func (d *Document) mouse(c *tui.Ctx, m tui.PaneMouse) (cmd tea.Cmd) {
	d.rev++
	if !d.many() {
		m.Y -= len(d.src.Head)
	}
	switch d.as {
	case asTree:
		if MouseTo(m, d.tree.Mouse); m.Double && d.tree.Leaf() {
			cmd, _ = d.open(c)
		}
	case asTable:
		if MouseTo(m, d.grid.Mouse) == widget.HitOpen {
			cmd, _ = d.open(c)
		}
	default:
		MouseTo(m, d.lineView().Mouse)
	}
	return cmd
}

// moving changes while the pane waits for something.
func (d *Document) moving() any {
	f := d.front()
	if d.state == docLoading || d.rendering || f.state == docLoading || f.rendering {
		return Tick()
	}
	return nil
}
