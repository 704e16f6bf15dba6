package tui

import (
	"slices"

	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// boxCache keeps a pane's rows between its borders for as long as neither changes.
type boxCache struct {
	box  paint.Box
	spec paint.BoxSpec
	raw  []string
	rows []string
}

// draw returns the pane within its border, r.H rows of r.W cells.
func (c *boxCache) draw(p *Pane, r Rect, t *Theme, foot string) []string {
	spec := paint.BoxSpec{
		W: r.W, H: r.H, Title: p.Title, Badge: p.Badge, Foot: foot,
		Focused: p.Focused, Theme: t, Pos: p.Scroll.Pos, Total: p.Scroll.Total,
	}
	if p.filter != "" {
		spec.Title, spec.Badge = filtered(p), "esc clears"
	}
	lines := p.Lines[:min(len(p.Lines), max(r.H-2, 0))]
	if c.rows != nil && spec == c.spec && slices.Equal(lines, c.raw) {
		return c.rows
	}
	c.spec = spec
	c.raw = append(c.raw[:0], lines...)
	c.rows = c.box.Draw(c.rows[:0], lines, spec)
	return c.rows
}

// filtered is the title of a pane that a filter is applied to: what it is and what it leaves, "Tools /page 5 of 24".
func filtered(p *Pane) string {
	tail := ""
	if p.Badge != "" {
		tail = " " + p.Badge
	}
	room := p.W - paint.Width(p.Title+tail+" /esc clears") - 6
	return p.Title + " /" + safe.Line(p.filter, max(room, 8)) + tail
}
