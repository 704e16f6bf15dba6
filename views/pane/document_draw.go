package pane

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"charm.land/bubbles/v2/paginator"
	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/tui/widget"
)

// shapes lists how the document can be shown, the usual one first.
func (d *Document) shapes() (out []shape) {
	tree, rendered := false, false
	for i := range d.parts {
		p := &d.parts[i]
		rendered = rendered || p.src.render != nil || p.pretty != nil
		tree = p.ix != nil
	}
	if rendered {
		out = append(out, asRendered)
	}
	if tree {
		out = append(out, asTree)
		if d.tree.Index() != nil && d.tree.Index().Objects(d.tree.Selected()) >= 0 {
			out = append(out, asTable)
		}
	}
	return append(out, asText)
}

// lastShape is whether the document is shown in the last of its shapes.
func (d *Document) lastShape() bool {
	all := d.shapes()
	return all[len(all)-1] == d.as
}

// reshape shows the document in its next shape.
func (d *Document) reshape(c *tui.Ctx) tea.Cmd {
	all := d.shapes()
	next := all[0]
	for i, f := range all {
		if f == d.as {
			next = all[(i+1)%len(all)]
			break
		}
	}
	d.rev++
	if next == asTable {
		return d.tabulate(c)
	}
	block := d.block()
	d.as = next
	if d.many() {
		d.lineView().ShowSection(block)
	}
	d.finding.recount()
	return tea.Batch(d.render(c), d.search(c, false, true))
}

// render makes the lines for the pane's width when they are what shows.
func (d *Document) render(c *tui.Ctx) tea.Cmd {
	key := layoutKey{d.w, c.Theme}
	if d.as != asRendered || d.state != docReady || d.err != nil || d.w == 0 || key == d.layout {
		return nil
	}
	d.layout, d.rendering = key, true
	gen, parts := d.gen, d.parts
	cmd, _ := c.Replace(d.view, d.slot+"render", "render", func(ctx context.Context) (any, error) {
		sections, err := renderParts(ctx, key, parts)
		return docRendered{d, gen, key, sections}, err
	})
	return cmd
}

// renderParts makes the sections of parts: what can be rendered is, up to what one document may have of it.
func renderParts(ctx context.Context, key layoutKey, parts []docPart) (out []widget.Section, err error) {
	room := widget.MaxMarkdown
	for i := range parts {
		p := &parts[i]
		switch {
		case p.src.render != nil && (len(parts) == 1 || room > 0):
			rows, err := p.src.render(ctx, key.th, key.w, p.data)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err != nil {
				rows = errorMessage(key.th, key.w, ErrorText(err), "Press m to see the bytes, s to save them.")
			}
			room -= min(len(p.data), 10*len(rows)*key.w) + 1<<10 // a picture has fewer rows than its bytes would make
			out = append(out, widget.StyledSection(rows))
		case p.pretty != nil:
			out = append(out, widget.Section{Text: p.pretty, Painter: p.painter()})
		default:
			out = append(out, widget.Section{Text: p.text, Painter: p.painter()})
		}
	}
	return out, nil
}

// docRendered is the outcome of rendering.
type docRendered struct {
	doc      *Document
	gen      int
	key      layoutKey
	sections []widget.Section
}

// renderedLines takes what was rendered; false if the message is something else.
func (d *Document) renderedLines(_ *tui.Ctx, m tui.OpDone) bool {
	r, ok := m.Value.(docRendered)
	if !ok || r.doc != d {
		return false
	}
	if r.gen != d.gen || r.key != d.layout {
		return true
	}
	d.rendering = false
	d.rev++
	at, _ := d.rendered.Scroll()
	d.rendered.SetSections(r.sections)
	d.headed = headKey{}
	d.rendered.ShowLine(at)
	d.finding.recount()
	return true
}

// headKey is what the rows above each text depend on.
type headKey struct {
	layoutKey
	as shape
}

// heads puts the rows above each of several texts: ── 2/3 text · STDOUT · 3 B ──
func (d *Document) heads(th *tui.Theme, w int) {
	key := headKey{layoutKey{w, th}, d.as}
	if !d.many() || key == d.headed {
		return
	}
	d.headed = key
	heads := make([][]string, len(d.parts))
	for i := range d.parts {
		src := &d.parts[i].src
		title := fmt.Sprintf("%d/%d %s", i+1, len(d.parts), src.title)
		rule := "── " + paint.Cut(title, max(w-6, 1)) + " "
		heads[i] = append(heads[i], th.Accent.S(rule+strings.Repeat("─", max(w-paint.Width(rule), 0))))
		heads[i] = append(heads[i], src.Head...)
		if len(d.parts[i].data) == 0 && src.render == nil {
			heads[i] = append(heads[i], th.Muted.S(cmp.Or(src.None, "empty")))
		}
	}
	if p := d.lineView(); p.Sections() == len(heads) {
		p.SetHeads(heads)
	}
}

// Draw fills the pane; it never sets a cursor.
func (d *Document) Draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	f := d.front()
	if !p.Same(c, f, f.rev, d.moving()) {
		p.Lines, p.Scroll = d.lines(c, p)
		p.Selected = f.selected()
	}
	p.Foot = d.foot()
	return nil
}

// selected is the number of the line under the cursor, from 1; 0 if there is none.
func (d *Document) selected() int {
	n := 0
	switch {
	case d.state != docReady || d.err != nil:
	case d.as == asTree:
		n = d.tree.Line()
	case d.as == asTable:
		n = d.grid.Line()
	}
	if n > 0 {
		n += len(d.src.Head)
	}
	return n
}

// foot says where one is: "/port 3/12 · block 2/3 · esc back".
func (d *Document) foot() string {
	f := d.front()
	var out []string
	if s := f.finding.String(); s != "" {
		out = append(out, s)
	}
	if f.as == asTable {
		if s := f.grid.Position(); s != "" {
			out = append(out, s)
		}
	}
	if f.many() {
		out = append(out, "block "+paginator.Model{Page: f.block(), TotalPages: len(f.parts), ArabicFormat: "%d/%d"}.View())
	}
	if f != d {
		out = append(out, "esc back")
	}
	return strings.Join(out, " · ")
}

// lines is what the pane shows now.
func (d *Document) lines(c *tui.Ctx, p *tui.Pane) ([]string, tui.Scroll) {
	if d.inner != nil {
		return d.inner.lines(c, p)
	}
	var head []string
	if !d.many() {
		for _, l := range d.src.Head {
			head = append(head, paint.Cut(l, p.W))
		}
	}
	h := max(p.H-len(head), 1)
	switch {
	case d.state == docEmpty:
		return Message(c.Theme, p.W, "Nothing is selected.", ""), tui.Scroll{}
	case d.err != nil:
		return append(head, errorMessage(c.Theme, p.W, ErrorText(d.err), "")...), tui.Scroll{}
	case d.state == docLoading && d.parts == nil:
		return append(head, Message(c.Theme, p.W, spinner()+" Reading…", "")...), tui.Scroll{}
	case !d.many() && d.size() == 0 && d.src.render == nil:
		return append(head, Message(c.Theme, p.W, cmp.Or(d.src.None, "Empty."), "")...), tui.Scroll{}
	}
	var s tui.Scroll
	switch d.as {
	case asTree:
		d.tree.SetTheme(c.Theme)
		d.tree.SetSize(p.W, h)
		d.tree.SetFocus(p.Focused)
		head = append(head, d.tree.Lines()...)
		s.Pos, s.Total = d.tree.Scroll()
	case asTable:
		d.grid.SetTheme(c.Theme)
		d.grid.SetSize(p.W, h)
		d.grid.SetFocus(p.Focused)
		head = append(head, d.grid.Lines()...)
		s.Pos, s.Total = d.grid.Scroll()
	default:
		pager := d.lineView()
		d.heads(c.Theme, p.W)
		pager.SetTheme(c.Theme)
		pager.SetSize(p.W, h)
		head = append(head, pager.Lines()...)
		s.Pos, s.Total = pager.Scroll()
	}
	return head, s
}

// innerPath is the place of a value inside another's, for jq.
func innerPath(outer, inner string) string {
	switch {
	case outer == "" || outer == ".":
		return inner
	case inner == "" || inner == ".":
		return outer
	}
	if strings.HasPrefix(inner, ".[") {
		inner = inner[1:]
	}
	return outer + inner
}

// shownPath is a path as a heading, cut at its beginning where it is long.
func shownPath(path string, w int) string {
	s := safe.Line(path, 2000)
	if n := paint.Width(s); n > w && w > 1 {
		_, s = paint.Split(s, n-w+1)
		s = "…" + s
	}
	return s
}
