package pane

import (
	"context"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/tui/widget"
)

// mostHits is how many matches are counted.
const mostHits = 10_000

// finding is what is searched in a document, and where its current match is.
type finding struct {
	find    string
	found   int   // offset of the current match, -1 if none
	hits    []int // where all begin, at most mostHits; nil until they were counted
	looked  bool  // the outcome of a search is there
	wrapped bool  // the search went on from the other end
}

func (f *finding) reset() { f.found, f.hits, f.looked, f.wrapped = -1, nil, false, false }

// recount forgets where matches are: other texts are shown.
func (f *finding) recount() { f.found, f.hits = -1, nil }

// String says which match is shown of how many: "/port 3/12".
func (f *finding) String() string {
	if f.find == "" || !f.looked {
		return ""
	}
	s := "/" + safe.Line(f.find, 24) + " "
	if f.found < 0 {
		return s + "no match"
	}
	at, _ := slices.BinarySearch(f.hits, f.found)
	n := fmt.Sprint(len(f.hits))
	if len(f.hits) == mostHits {
		n += "+"
	}
	if s += fmt.Sprintf("%d/%s", at+1, n); f.wrapped {
		s += " wrapped"
	}
	return s
}

// docHit is the outcome of a search.
type docHit struct {
	doc        *Document
	gen        int
	start, end int
	hits       []int
	wrapped    bool
}

// mark highlights what is searched.
func (d *Document) mark() {
	d.rev++
	d.finding.reset()
	d.tree.SetQuery(d.find)
	d.grid.SetQuery(d.find)
	d.pager.SetQuery(d.find)
	d.rendered.SetQuery(d.find)
}

// texts are what a search looks at.
func (d *Document) texts() [][]byte {
	if d.as == asTree || d.as == asTable {
		return [][]byte{d.parts[0].data}
	}
	return d.lineView().Texts()
}

// search looks for the next match beside the event loop, and goes on from the
// other end where there is none. fresh starts at what is visible.
func (d *Document) search(c *tui.Ctx, back, fresh bool) tea.Cmd {
	if d.find == "" || d.state != docReady || d.err != nil || d.size() == 0 {
		return nil
	}
	from := d.found
	switch {
	case fresh && d.as != asTree && d.as != asTable:
		from = d.lineView().Top()
	case fresh || from < 0:
		from = 0
	case !back:
		from++
	}
	gen, texts, text, hits := d.gen, d.texts(), d.find, d.hits
	cmd, _ := c.Replace(d.view, d.slot+"find", "search", func(ctx context.Context) (any, error) {
		out := docHit{doc: d, gen: gen, hits: hits}
		var err error
		out.start, out.end, err = widget.FindIn(ctx, texts, text, from, back)
		if err == nil && out.start < 0 && (back || from > 0) {
			out.wrapped = true
			again := 0
			if back {
				again = 1 << 62
			}
			out.start, out.end, err = widget.FindIn(ctx, texts, text, again, back)
		}
		if err == nil && hits == nil && out.start >= 0 {
			out.hits, err = widget.FindAll(ctx, texts, text, mostHits)
		}
		return out, err
	})
	return cmd
}

// hit takes the outcome of a search; false if the message is something else.
func (d *Document) hit(m tui.OpDone) bool {
	h, ok := m.Value.(docHit)
	if !ok || h.doc != d {
		return false
	}
	if m.Err != nil || h.gen != d.gen {
		return true
	}
	d.looked, d.wrapped, d.hits, d.found = true, h.wrapped, h.hits, h.start
	d.rev++
	if h.start < 0 {
		return true
	}
	switch d.as {
	case asTree:
		d.tree.Show(h.start)
	case asTable:
		d.grid.Show(h.start)
	default:
		d.lineView().Show(h.start, h.end)
	}
	return true
}
