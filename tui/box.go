package tui

import (
	"slices"

	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// boxCache keeps a pane's rows with what is around them for as long as neither changes.
type boxCache struct {
	box  paint.Box
	spec paint.BoxSpec
	raw  []string
	rows []string
}

// spec is what is around a pane that takes w by h cells.
func (p *Pane) spec(t *Theme, w, h int) paint.BoxSpec {
	return paint.BoxSpec{
		W: w, H: h, Title: p.Title, Badge: p.Badge, Foot: p.Foot, Warn: p.Warn,
		Focused: p.Focused, Theme: t, Pos: p.Scroll.Pos, Total: p.Scroll.Total, Selected: p.Selected, Mark: t.Accent,
	}
}

// draw returns the pane with what is around it, spec.H rows of spec.W cells.
func (c *boxCache) draw(p *Pane, spec paint.BoxSpec) []string {
	right := spec.Badge
	if spec.Foot != "" && !spec.Framed {
		right += " · " + spec.Foot
	}
	spec.Title = p.heading(spec.W - 8 - paint.Width(right))
	if p.filter != "" {
		spec.Title, spec.Badge = filtered(p)
	}
	lines := p.Lines[:min(len(p.Lines), max(spec.H-1, 0))]
	if c.rows != nil && spec == c.spec && slices.Equal(lines, c.raw) {
		return c.rows
	}
	c.spec = spec
	c.raw = append(c.raw[:0], lines...)
	c.rows = c.box.Draw(c.rows[:0], lines, spec)
	return c.rows
}

// filtered are title and badge of a pane that a filter is applied to: what it is and what it leaves ("Tools /page 5 of 24"),
// and how it goes away where there is room for that.
func filtered(p *Pane) (title, badge string) {
	tail := ""
	if p.Badge != "" {
		tail = " " + p.Badge
	}
	badge = "esc clears"
	room := p.W - 6 - paint.Width(p.Title+" /"+tail)
	text := safe.Line(p.filter, max(room, 8))
	if room -= paint.Width(text); room < paint.Width(badge) {
		badge = ""
	}
	return p.heading(room-paint.Width(badge)+paint.Width(p.Title)) + " /" + text + tail, badge
}
