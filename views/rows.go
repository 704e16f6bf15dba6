package views

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/widget"
)

// slowFilter is the number of rows above which a filter runs beside the event
// loop instead of on it.
const slowFilter = 2000

// rows is a list pane with the `/` filter: what every screen with a list has.
// The owner sets text before the first use.
type rows struct {
	view string // id of the screen, for the outcomes of commands
	list widget.List
	// text is what the filter looks at in row i. It may be called beside the
	// event loop, so it must read only what does not change: see freeze.
	freeze func() (n int, text func(i int) string)

	typed string // the filter as typed
	query widget.Query
	rev   int // counts what changed the rows drawn

	run     int    // counts filters: the outcome of an older one is dropped
	applied string // the filter whose rows are listed
	fresh   bool   // the rows listed were picked from the current ones
}

// filterSlot is the operation slot of filters that run beside the event loop.
const filterSlot = "filter"

// filterDone is the outcome of a filter that ran beside the event loop.
type filterDone struct {
	run  int
	pick []int32
}

// setRows says that the rows changed and filters them again.
func (r *rows) setRows(c *tui.Ctx, source widget.Rows) tea.Cmd {
	r.list.SetRows(source)
	r.rev++
	r.fresh = false
	return r.refilter(c)
}

// setFilter takes what was typed in the `/` prompt.
func (r *rows) setFilter(c *tui.Ctx, text string) tea.Cmd {
	if text == r.typed {
		return nil
	}
	r.typed = text
	r.query = widget.ParseQuery(text)
	return r.refilter(c)
}

func (r *rows) refilter(c *tui.Ctx) tea.Cmd {
	r.rev++
	r.run++
	if r.query.Empty() {
		r.list.ClearFilter()
		r.applied, r.fresh = r.typed, true
		return nil
	}
	n, text := r.freeze()
	q, run := r.query, r.run
	if n <= slowFilter {
		pick, err := q.Filter(context.Background(), n, nil, text)
		if err == nil {
			r.take(pick)
		}
		return nil
	}
	cmd, _ := c.Replace(r.view, filterSlot, "filter", func(ctx context.Context) (any, error) {
		pick, err := q.Filter(ctx, n, nil, text)
		return filterDone{run, pick}, err
	})
	return cmd
}

func (r *rows) take(pick []int32) {
	r.list.SetFilter(pick)
	r.applied, r.fresh = r.typed, true
	r.rev++
}

// done takes the outcome of a filter; false if the message is something else. After a filter that was cancelled, the one
// before it is in force again; where its rows are gone meanwhile, none is.
func (r *rows) done(c *tui.Ctx, m tui.OpDone) (cmd tea.Cmd, ok bool) {
	if m.Slot != filterSlot {
		return nil, false
	}
	f, _ := m.Value.(filterDone)
	switch {
	case m.Err == nil && f.run == r.run:
		r.take(f.pick)
	case m.Err != nil:
		r.run++
		if !r.fresh {
			r.list.ClearFilter()
			r.applied, r.fresh = "", true
		}
		r.typed, r.query = r.applied, widget.ParseQuery(r.applied)
		r.rev++
		return filterFailed(c, r.view, "list", r.applied, m.Err), true
	}
	return nil, true
}

// filterFailed keeps the shell's filter in line with the rows listed, and says why it is not what was typed.
func filterFailed(c *tui.Ctx, view, pane, applied string, err error) tea.Cmd {
	c.FilterApplied(view, pane, applied)
	if errors.Is(err, context.Canceled) {
		return c.Toast(tui.Warning, "filter cancelled: the list shows what it did before")
	}
	return c.Toast(tui.Failure, "filter failed: "+err.Error())
}

// handle moves the cursor by key or mouse. opened is true after a double click
// on a row.
func (r *rows) handle(pane string, msg tea.Msg) (consumed, opened bool) {
	switch m := msg.(type) {
	case tea.KeyPressMsg:
		consumed = r.list.Key(m.String())
	case tui.PaneMouse:
		if m.Pane != pane {
			return false, false
		}
		consumed = true
		opened = mouseTo(m, r.list.Mouse) == widget.HitOpen
	}
	if consumed {
		r.rev++
	}
	return consumed, opened
}

// mouseTo hands a mouse event of the shell to a widget.
func mouseTo(m tui.PaneMouse, to func(widget.Mouse) widget.Hit) widget.Hit {
	hit := widget.HitNone
	for range m.Wheel {
		hit = to(widget.Mouse{Kind: widget.WheelDown, X: m.X, Y: m.Y})
	}
	for range -m.Wheel {
		hit = to(widget.Mouse{Kind: widget.WheelUp, X: m.X, Y: m.Y})
	}
	switch {
	case m.Click == tea.MouseLeft && m.Double:
		hit = to(widget.Mouse{Kind: widget.DoubleClick, X: m.X, Y: m.Y})
	case m.Click == tea.MouseLeft:
		hit = to(widget.Mouse{Kind: widget.Click, X: m.X, Y: m.Y})
	}
	return hit
}

// draw fills the pane; empty says what to show when there is no row.
func (r *rows) draw(c *tui.Ctx, p *tui.Pane, empty func(w int) []string) {
	r.list.SetTheme(c.Theme)
	r.list.SetSize(p.W, p.H)
	r.list.SetFocus(p.Focused)
	if r.list.Len() == 0 {
		p.Lines, p.Scroll = empty(p.W), tui.Scroll{}
		return
	}
	p.Lines = append(p.Lines[:0], r.list.Lines()...)
	p.Scroll.Pos, p.Scroll.Total = r.list.Scroll()
}
