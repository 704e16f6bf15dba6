package pane

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/widget"
)

// slowFilter is the number of rows, and slowQuery the bytes of a query, above which a filter runs beside the event loop
// instead of on it.
const (
	slowFilter = 2000
	slowQuery  = 200
)

// Rows is a list pane with the `/` filter: what every screen with a list has.
// The owner sets View and Freeze before the first use.
type Rows struct {
	View string // id of the screen, for the outcomes of commands
	List widget.List
	// Freeze is the number of rows, and what the filter looks at in row i: what it is called, and what else it says. It may
	// be called beside the event loop, so it must read only what does not change.
	Freeze func() (n int, text func(i int) (name, about string))

	Typed string // the filter as typed
	Query widget.Query
	Rev   int // counts what changed the rows drawn

	run     int    // counts filters: the outcome of an older one is dropped
	applied string // the filter whose rows are listed
	fresh   bool   // the rows listed were picked from the current ones
}

// filterSlot is the operation slot of filters that run beside the event loop.
const filterSlot = "filter"

// filterOutcome is the outcome of a filter that ran beside the event loop.
type filterOutcome struct {
	run  int
	pick []int32
}

// SetRows says that the rows changed and filters them again.
func (r *Rows) SetRows(c *tui.Ctx, source widget.Rows) tea.Cmd {
	r.List.SetRows(source)
	r.Rev++
	r.fresh = false
	return r.refilter(c)
}

// SetFilter takes what was typed in the `/` prompt.
func (r *Rows) SetFilter(c *tui.Ctx, text string) tea.Cmd {
	if text == r.Typed {
		return nil
	}
	r.Typed = text
	r.Query = widget.ParseQuery(text)
	return r.refilter(c)
}

func (r *Rows) refilter(c *tui.Ctx) tea.Cmd {
	r.Rev++
	r.run++
	if r.Query.Empty() {
		r.List.ClearFilter()
		r.applied, r.fresh = r.Typed, true
		return nil
	}
	n, text := r.Freeze()
	q, run := r.Query, r.run
	if n <= slowFilter && len(r.Typed) <= slowQuery {
		r.Settle()
		return nil
	}
	cmd, _ := c.Replace(r.View, filterSlot, "filter", func(ctx context.Context) (any, error) {
		pick, err := q.Filter(ctx, n, text)
		return filterOutcome{run, pick}, err
	})
	return cmd
}

// Settle lists at once what was typed, for whoever acts on the row under the cursor before the filter is done.
func (r *Rows) Settle() {
	if r.fresh && r.applied == r.Typed {
		return
	}
	n, text := r.Freeze()
	if pick, err := r.Query.Filter(context.Background(), n, text); err == nil { // nobody cancels it
		r.take(pick)
	}
}

// take lists what a filter found. The cursor goes to the best row while one types, and stays on its row when rows changed.
func (r *Rows) take(pick []int32) {
	r.List.SetFilter(pick)
	if r.applied != r.Typed {
		r.List.First()
	}
	r.applied, r.fresh = r.Typed, true
	r.Rev++
}

// Filtered takes the outcome of a filter; false if the message is something else. After a filter that was cancelled, the one
// before it is in force again; where its rows are gone meanwhile, none is.
func (r *Rows) Filtered(c *tui.Ctx, m tui.OpDone) (cmd tea.Cmd, ok bool) {
	if m.Slot != filterSlot {
		return nil, false
	}
	f, _ := m.Value.(filterOutcome)
	switch {
	case m.Err == nil && f.run == r.run:
		r.take(f.pick)
	case m.Err != nil:
		r.run++
		if !r.fresh {
			r.List.ClearFilter()
			r.applied, r.fresh = "", true
		}
		r.Typed, r.Query = r.applied, widget.ParseQuery(r.applied)
		r.Rev++
		return filterFailed(c, r.View, "list", r.applied, m.Err), true
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

// MoveCursor moves the cursor by key or mouse. opened is true after a double click on a row.
func (r *Rows) MoveCursor(pane string, msg tea.Msg) (consumed, opened bool) {
	switch m := msg.(type) {
	case tea.KeyPressMsg:
		consumed = r.List.Key(m.String())
	case tui.PaneMouse:
		if m.Pane != pane {
			return false, false
		}
		consumed = true
		opened = MouseTo(m, r.List.Mouse) == widget.HitOpen
	}
	if consumed {
		r.Rev++
	}
	return consumed, opened
}

// MouseTo hands a mouse event of the shell to a widget.
func MouseTo(m tui.PaneMouse, to func(widget.Mouse) widget.Hit) widget.Hit {
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

// DrawList fills the pane; empty says what to show when there is no row.
func (r *Rows) DrawList(c *tui.Ctx, p *tui.Pane, empty func(w int) []string) {
	r.List.SetTheme(c.Theme)
	r.List.SetSize(p.W, p.H)
	r.List.SetFocus(p.Focused)
	if r.List.Len() == 0 {
		p.Lines, p.Scroll, p.Selected = empty(p.W), tui.Scroll{}, 0
		return
	}
	p.Lines = append(p.Lines[:0], r.List.Lines()...)
	p.Scroll.Pos, p.Scroll.Total = r.List.Scroll()
	p.Selected = r.List.Line()
}
