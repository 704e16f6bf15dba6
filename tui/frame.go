package tui

import (
	"cmp"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui/paint"
)

// frame is the screen as drawn last; View returns it until something changes.
type frame struct {
	view   tea.View
	layout Layout
	rows   []string
	server string   // whose colour marks the selected line
	floor  string   // the row below all panes
	news   []string // rows of the newest message, over its end
	at     [4]Rect  // inner rectangles of the panes and of the rail, for the mouse
}

// railAt is where frame.at has the rail.
const railAt = 3

// View draws what changed since the last call.
func (a *App) View() (v tea.View) {
	if !a.rerender || a.crash != nil {
		return a.frame.view
	}
	a.rerender = false
	defer func() {
		if r := recover(); r != nil {
			a.crashed("View", r)
			v = a.frame.view
		}
	}()
	cursor := a.frame.draw(a)
	a.drawPictures()
	v = tea.NewView(strings.Join(a.frame.rows, "\n"))
	v.AltScreen = true
	v.Cursor = cursor
	v.WindowTitle = a.title()
	v.ProgressBar = a.progressBar()
	v.ProgramStatus = a.programStatus()
	if a.mouse.on {
		v.MouseMode = tea.MouseModeCellMotion
	}
	a.frame.view = v
	if a.cfg.Frames != nil {
		a.cfg.Frames(v)
	}
	return v
}

// draw fills rows and returns the cursor.
func (f *frame) draw(a *App) *tea.Cursor {
	f.rows = f.rows[:0]
	if a.w <= 0 || a.h <= 0 {
		return nil
	}
	f.layout = Solve(a.w, a.h, a.arrange)
	if f.layout.TooSmall {
		f.tooSmall(a)
		return nil
	}
	var cursor *tea.Cursor
	f.news = a.toasts.rows(a.ctx.Theme, a.w)
	f.rows = append(f.rows, a.tabLine(a.w))
	cursor = f.panes(a, cursor)
	f.rows = append(f.rows, f.floor)
	if !f.layout.Ticker.Empty() {
		f.rows = append(f.rows, a.tickerLine(a.w))
	}
	f.rows = append(f.rows, a.statusLine(a.w))
	if a.prompt != nil {
		line, x := a.prompt.draw(a.ctx.Theme, a.w)
		f.rows = append(f.rows, paint.Fit(line, a.w))
		cursor = tea.NewCursor(x, len(f.rows)-1)
	} else {
		f.rows = append(f.rows, a.hintLine(a.w))
	}
	f.toast(a)
	if a.covered() {
		cursor = f.overlays(a)
	}
	return cursor
}

// tooSmall says what is wrong and that keys still work.
func (f *frame) tooSmall(a *App) {
	lines := []string{"mcphud needs 40x10", "make it larger", "(keys still work)"}
	for i := range a.h {
		s := ""
		if i < len(lines) {
			s = lines[i]
		}
		f.rows = append(f.rows, paint.Fit(s, a.w))
	}
}

// panes draws the rail and the view's panes and zips their rows.
func (f *frame) panes(a *App, cursor *tea.Cursor) *tea.Cursor {
	t := a.ctx.Theme
	var columns [][]string // side by side
	f.at, f.floor = [4]Rect{}, ""
	l := f.layout
	if !l.Rail.Empty() {
		p := a.rail.pane(a, l.Rail)
		f.at[railAt] = l.Rail.Inner()
		spec := f.around(p, t, l.Rail, l.Rules[0])
		spec.Selected, spec.Mark = a.rail.marked(a)
		columns = append(columns, p.boxed.draw(p, spec))
	}
	v := a.current()
	if f.server = a.servers.current; v.AllServers || v.NoRail {
		f.server = ""
	}
	for i, spec := range v.Panes {
		r := l.Panes[i]
		if r.Empty() {
			continue
		}
		p := a.pane(v.ID, spec)
		in := r.Inner()
		p.W, p.H = max(in.W, 1), max(in.H, 1)
		p.Focused = a.place.focus == i && a.prompt == nil && !a.covered()
		p.cursor = v.Draw(&a.ctx, p)
		f.at[i] = in
		if c := p.cursor; c != nil && p.Focused {
			k := *c
			k.X += in.X
			k.Y += in.Y
			cursor = &k
		}
		p.lead = nil
		if !l.Crumbs && (i == 0 || l.Panes[0].Empty()) {
			p.lead = a.lead(p)
		}
		if i == 0 { // what is found in a text does not change what is shown
			p.filter = a.filters[v.ID+"\x00"+spec.ID]
		}
		var rule Rect
		if i+1 < len(l.Rules) {
			rule = l.Rules[i+1]
		}
		rows := p.boxed.draw(p, f.around(p, t, r, rule))
		if i == 1 && l.Below {
			last := len(columns) - 1
			columns[last] = append(columns[last][:len(columns[last]):len(columns[last])], rows...)
			continue
		}
		columns = append(columns, rows)
	}
	if len(columns) == 1 {
		f.rows = append(f.rows, columns[0]...)
		return cursor
	}
	for y := range columns[0] {
		var b strings.Builder
		n := 0
		for _, c := range columns {
			n += len(c[y])
		}
		b.Grow(n)
		for _, c := range columns {
			b.WriteString(c[y])
		}
		f.rows = append(f.rows, b.String())
	}
	return cursor
}

// around is what is drawn around a pane, with the rule behind it if there is one. What stands at its foot is in the row below
// all panes, unless another pane is between.
func (f *frame) around(p *Pane, t *Theme, at, rule Rect) paint.BoxSpec {
	spec := p.spec(t, at.W+rule.W, at.H)
	spec.Side = !rule.Empty()
	if of := cmp.Or(f.server, p.Server); of != "" {
		spec.Mark = t.Server(of)
	}
	if spec.Side && f.layout.Below {
		spec.Branch = f.layout.Panes[1].Y - at.Y
	}
	if at.Y+at.H == f.layout.Rule.Y {
		if n := len(f.news); n > 0 && at.X+spec.W-paint.Width(spec.Foot)-4 < paint.Width(f.news[n-1]) {
			spec.Foot = "" // half of it would stand behind the message
		}
		f.floor += t.Floor(spec.W, spec.Foot, spec.Side)
		spec.Foot = ""
	}
	return spec
}

// pane returns the canvas of a view's pane.
func (a *App) pane(view string, spec PaneSpec) *Pane {
	key := view + "\x00" + spec.ID
	p := a.panes[key]
	if p == nil {
		p = &Pane{ID: spec.ID, Title: spec.Title}
		a.panes[key] = p
	}
	return p
}

// toast lays the newest message over the rule below the panes; one that is longer grows upwards.
func (f *frame) toast(a *App) {
	for i, r := range f.news {
		y := f.layout.Rule.Y + 1 - len(f.news) + i
		paint.Splice(f.rows[y:y+1], []string{r}, 0, 0, paint.Width(r))
	}
}

// overlays lays the open dialogs over the frame; the cursor is the topmost's.
func (f *frame) overlays(a *App) (cursor *tea.Cursor) {
	t := a.ctx.Theme
	for i, l := range a.overlays {
		if l.hidden {
			continue
		}
		l.rect = l.place(a.w, a.h)
		in := l.rect.framed()
		p := &l.pane
		p.W, p.H = max(in.W, 1), max(in.H, 1)
		p.Focused = i == len(a.overlays)-1
		p.Title = l.overlay.Title()
		c := l.overlay.Draw(&a.ctx, p)
		spec := p.spec(t, l.rect.W, l.rect.H)
		spec.Framed, spec.Foot = true, cmp.Or(p.Foot, "esc closes")
		rows := p.boxed.draw(p, spec)
		ground := make([]string, len(rows))
		for j, r := range rows {
			ground[j] = t.Surface.S(reground(r, t))
		}
		paint.Splice(f.rows, ground, l.rect.X, l.rect.Y, l.rect.W)
		cursor = nil
		if c != nil {
			k := *c
			k.X += in.X
			k.Y += in.Y
			cursor = &k
		}
	}
	return cursor
}

// reground puts the overlay's ground back wherever a style inside the row ends its own.
func reground(row string, t *Theme) string {
	open := t.Surface.Open()
	if open == "" || !strings.Contains(row, groundEnd) {
		return row
	}
	return strings.ReplaceAll(row, groundEnd, open)
}

// groundEnd is what paint ends a background colour with.
const groundEnd = "\x1b[49m"

// title is the window's title.
func (a *App) title() string {
	s := a.crumbs()
	if s == "" {
		return "mcphud"
	}
	return "mcphud: " + s
}

// progressBar is the terminal's own progress bar: of the newest call, nil when nothing runs.
func (a *App) progressBar() *tea.ProgressBar {
	ops := a.ops.list()
	for i := len(ops) - 1; i >= 0; i-- {
		if ops[i].Quiet {
			continue
		}
		if f, ok := Fraction(ops[i].Progress); ok {
			return tea.NewProgressBar(tea.ProgressBarDefault, int(f*100))
		}
		return tea.NewProgressBar(tea.ProgressBarIndeterminate, 0)
	}
	return nil
}
