package pane

import (
	"context"
	"path"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/widget"
)

// open shows what is under the cursor whole, in the document's place: a string of the tree, a row of the table, one of
// several texts. esc goes back.
func (d *Document) open(c *tui.Ctx) (tea.Cmd, bool) {
	if d.state != docReady || d.err != nil {
		return nil, false
	}
	src, ok := d.underCursor(c.Theme)
	if !ok {
		return nil, false
	}
	d.inner = &Document{view: d.view, pane: d.pane, slot: d.slot + "in", w: d.w, wrap: d.wrap}
	d.rev++
	return d.inner.load(c, src), true
}

// underCursor is what enter opens.
func (d *Document) underCursor(th *tui.Theme) (Source, bool) {
	if d.as == asText || d.as == asRendered {
		p := d.current()
		if p == nil || !d.many() {
			return Source{}, false
		}
		src := p.src
		src.Head = append([]string{th.Muted.S(src.title)}, src.Head...)
		return src, true
	}
	value, at := d.tree.Value(), d.tree.Path()
	if d.as == asTable {
		ix, node := d.tree.Index(), d.grid.Row()
		if node < 0 {
			return Source{}, false
		}
		value, at = ix.Value(node), ix.Path(node)
	}
	if len(value) == 0 {
		return Source{}, false
	}
	at = innerPath(d.src.path, at)
	data := value
	switch value[0] {
	case '"':
		data = viewOf(widget.Unquote(value))
	case '{', '[':
	default:
		if d.as == asTree {
			return Source{}, false
		}
	}
	src := Source{Name: d.src.Name, path: at, read: bytesOf(data), None: "An empty string."}
	src.Head = []string{th.Muted.S(shownPath(at, max(d.w-14, 10)) + " · " + text.Bytes(len(data)))}
	if isMarkdown("", data) {
		src.render, src.ext = renderMarkdown, ".md"
	}
	return src, true
}

// opened gives a message to what was opened; esc closes it.
func (d *Document) opened(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	if cmd, ok := d.inner.Handle(c, msg); ok {
		return cmd, true
	}
	if k, ok := msg.(tea.KeyPressMsg); !ok || k.String() != "esc" {
		return nil, false
	}
	return d.close(c), true
}

// close goes back to what the innermost document was opened in.
func (d *Document) close(*tui.Ctx) tea.Cmd {
	for d.inner.inner != nil {
		d = d.inner
	}
	d.inner = nil
	d.rev++
	return nil
}

// tabulate shows the array of objects that the tree's cursor is in as a table, once its columns were found.
func (d *Document) tabulate(c *tui.Ctx) tea.Cmd {
	ix := d.tree.Index()
	node := ix.Objects(d.tree.Selected())
	gen := d.gen
	cmd, _ := c.Replace(d.view, d.slot+"table", "find the columns", func(ctx context.Context) (any, error) {
		t, err := widget.NewTableData(ctx, ix, node)
		return docTable{d, gen, t}, err
	})
	return cmd
}

// docTable is the outcome of finding columns.
type docTable struct {
	doc  *Document
	gen  int
	data *widget.TableData
}

// tabled takes a table; false if the message is something else.
func (d *Document) tabled(m tui.OpDone) bool {
	t, ok := m.Value.(docTable)
	if !ok || t.doc != d {
		return false
	}
	if t.gen == d.gen && m.Err == nil {
		d.as = asTable
		d.grid.SetData(t.data)
		d.grid.Reveal(d.tree.Selected())
		d.rev++
	}
	return true
}

// saveName is a name with an extension: its own, unless the text is known to be something else.
func saveName(name, ext string) string {
	have := path.Ext(name)
	if strings.EqualFold(have, ext) || len(have) > 1 && len(have) < 7 && (ext == ".txt" || ext == ".bin") {
		return name
	}
	return name + ext
}
