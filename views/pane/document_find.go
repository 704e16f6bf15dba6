package pane

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/tui/widget"
)

// docHit is the outcome of a search.
type docHit struct {
	doc        *Document
	gen        int
	start, end int
	back       bool
	wrapped    bool
}

// mark highlights what is searched.
func (d *Document) mark() {
	d.rev++
	d.tree.SetQuery(d.find)
	d.pager.SetQuery(d.find)
}

// search looks for the next hit beside the event loop, and goes on from the
// other end where there is none. fresh starts at what is visible.
func (d *Document) search(c *tui.Ctx, back, fresh bool) tea.Cmd {
	if d.find == "" || d.state != docReady || len(d.data) == 0 {
		return nil
	}
	from := d.found
	switch {
	case fresh && !d.asTree():
		from = d.pager.Top()
	case fresh || from < 0:
		from = 0
	case !back:
		from++
	}
	gen, data, text := d.gen, d.data, d.find
	cmd, _ := c.Replace(d.view, d.slot+"find", "search", func(ctx context.Context) (any, error) {
		out := docHit{doc: d, gen: gen, back: back}
		var err error
		out.start, out.end, err = widget.Find(ctx, data, text, from, back)
		if err == nil && out.start < 0 {
			out.wrapped = true
			again := 0
			if back {
				again = len(data)
			}
			out.start, out.end, err = widget.Find(ctx, data, text, again, back)
		}
		return out, err
	})
	return cmd
}

// hit takes the outcome of a search.
func (d *Document) hit(c *tui.Ctx, m tui.OpDone) (tea.Cmd, bool) {
	h, ok := m.Value.(docHit)
	if !ok || h.doc != d {
		return nil, false
	}
	if m.Err != nil || h.gen != d.gen {
		return nil, true
	}
	if h.start < 0 {
		d.found = -1
		d.rev++
		return c.Toast(tui.Note, fmt.Sprintf("no match for %q", safe.Line(d.find, 60))), true
	}
	d.found = h.start
	d.rev++
	d.tree.Show(h.start)
	d.pager.Show(h.start, h.end)
	if h.wrapped {
		return c.Toast(tui.Note, "search wrapped around"), true
	}
	return nil, true
}
