package tui

import (
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// layer is an open overlay.
type layer struct {
	overlay Overlay
	pane    Pane
	rect    Rect // outer rectangle, as drawn last
	grace   Grace
	hidden  bool // it has the keys, and is not drawn yet
}

// top is the overlay that has the keys.
func (a *App) top() *layer {
	if n := len(a.overlays); n > 0 {
		return a.overlays[n-1]
	}
	return nil
}

// covered is whether an overlay is drawn.
func (a *App) covered() bool {
	return slices.ContainsFunc(a.overlays, func(l *layer) bool { return !l.hidden })
}

func (a *App) push(o Overlay, unsolicited bool) {
	l := &layer{overlay: o}
	l.pane.ID = "overlay"
	if unsolicited {
		l.grace.Start()
	}
	a.overlays = append(a.overlays, l)
}

func (a *App) pop() tea.Cmd {
	l := a.top()
	if l == nil {
		return nil
	}
	cmd, _ := l.overlay.Handle(&a.ctx, Close{})
	a.overlays = a.overlays[:len(a.overlays)-1]
	return cmd
}

// drop takes an overlay away without asking it, wherever it is in the stack.
func (a *App) drop(o Overlay) {
	for i, l := range a.overlays {
		if l.overlay == o {
			a.overlays = append(a.overlays[:i:i], a.overlays[i+1:]...)
			return
		}
	}
}

// key gives a key to the overlay; esc closes it unless it consumed the key.
func (l *layer) key(a *App, m tea.KeyPressMsg) tea.Cmd {
	if l.grace.Swallows() {
		return nil
	}
	cmd, ok := l.overlay.Handle(&a.ctx, m)
	if !ok && m.String() == "esc" {
		return join(cmd, a.pop())
	}
	return cmd
}

// hintLine shows the dialog's keys, and no others: none else work while it is open.
func (l *layer) hintLine(c *Ctx, w int) string {
	hints := l.overlay.Hints(c)
	if hints == nil {
		hints = []Hint{{"esc", "close"}}
	}
	var bar []key.Binding
	for _, h := range hints {
		bar = append(bar, binding(h.Key, safe.Line(h.Title, 40)))
	}
	return paint.Fit(keyBar(c.Theme, w, bar), w)
}

// place is where an overlay goes: in the middle, a little above it.
func (l *layer) place(w, h int) Rect {
	ow, oh := l.overlay.Size(max(w-4, 1), max(h-4, 1))
	if ow+2 > w-6 { // a stripe beside it would show nothing but frames
		ow = w - 2
	}
	ow, oh = min(max(ow, 1), w-2), min(max(oh, 1), h-2)
	return Rect{X: (w - ow - 2) / 2, Y: (h - oh - 2) / 3, W: ow + 2, H: oh + 2}
}
