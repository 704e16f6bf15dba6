package pane

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check/cost"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
)

// Weight is how many items there are and how large their definitions, of tools also what a model that is given them pays for
// each question, where that was counted.
func Weight(n int, plural string, item func(int) offer.Item, counted []cost.Entry) string {
	size := 0
	for i := range n {
		size += len(item(i).Raw)
	}
	out := text.Count(n, strings.TrimSuffix(plural, "s")) + " · " + text.Bytes(size)
	if len(counted) > 0 {
		out += " ≈ " + Tokens(cost.Total(counted).Tokens)
	}
	return out
}

// Tokens is a number of tokens: "950 tok", "1.2k tok", "38k tok".
func Tokens(n int) string {
	switch {
	case n >= 10_000:
		return fmt.Sprintf("%dk tok", (n+500)/1000)
	case n >= 1000:
		return fmt.Sprintf("%.1fk tok", float64(n)/1000)
	}
	return fmt.Sprintf("%d tok", n)
}

// budgeted is the title of a pane of w cells for a list that may take so many tokens: what it takes of them, and where that is too
// much (over) what to do.
func (p *ItemList) budgeted(c *tui.Ctx, title string, w int) (_ string, over bool) {
	if len(p.counted) == 0 || p.hidden > 0 { // who gets a part of the list pays less
		return title, false
	}
	all := cost.Total(p.counted).Tokens
	if all <= p.Budget {
		return fmt.Sprintf("%s · %d of %d tok", title, all, p.Budget), false
	}
	title += fmt.Sprintf(" ! %d of %d tok", all, p.Budget)
	key := c.KeyOf(p.View + ".check")
	if key == "" || p.Typed != "" { // the filter stands behind it
		return title, true
	}
	for _, do := range []string{": over the budget, " + key + " says what to drop", ", see " + key} {
		if paint.Width(title+do) <= w-4 {
			return title + do, true
		}
	}
	return title + ", " + key, true
}

// costSlot is the operation slot of what counts tokens.
const costSlot = "cost"

// costOf is which listing is counted.
type costOf struct {
	server  string
	listing uint64
	hidden  int
}

// countedCost is the outcome of counting the tokens of a listing.
type countedCost struct {
	of      costOf
	entries []cost.Entry
}

// count counts what the tools that are listed cost, beside the event loop, if nobody did yet.
func (p *ItemList) count(c *tui.Ctx) tea.Cmd {
	of := costOf{p.Server, p.Listing.Rev, p.hidden}
	if p.kind != offer.Tools || of == p.counting {
		return nil
	}
	p.counting, p.counted = of, nil
	items := p.Listing.Items
	if len(items) == 0 {
		return nil
	}
	cmd, _ := c.Replace(p.View, costSlot, "count tokens", func(ctx context.Context) (any, error) {
		return countedCost{of, cost.All(ctx, of.server, offer.Tools, items)}, ctx.Err()
	})
	return cmd
}

// Counted takes what the tools cost; false if the message is something else.
func (p *ItemList) Counted(m tui.OpDone) bool {
	if m.Slot != costSlot {
		return false
	}
	if r, ok := m.Value.(countedCost); ok && m.Err == nil && r.of == p.counting && len(r.entries) == len(p.Listing.Items) {
		p.counted = r.entries
		p.cols, p.foot = NewItemColumns(len(p.Listing.Items), p.row), p.weight()
		p.Rev++
	}
	return true
}
