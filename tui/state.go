package tui

// Probe asks the App to describe itself, on the event loop: for tests and for
// whatever else drives the program from outside.
type Probe struct {
	Do func(State)
}

// State describes the App at one moment.
type State struct {
	View, Focus string
	Crumbs      string
	Server      string
	Theme       string
	Ops         []Op
	// Toasts has the message on the screen if there is one, Messages all of the last 200.
	Toasts, Messages []Toast
	// Failures are the errors that nobody acknowledged yet.
	Failures []string
	// Overlays are the titles of the open dialogs, the topmost last.
	Overlays []string
	// Prompt is the label and text of the prompt line, "" when it is closed.
	Prompt string
	// Panes are the inner rectangles of the visible panes by pane id, with
	// "rail", and "overlay" for the topmost dialog.
	Panes map[string]Rect
	// Scroll is what the visible panes said last, Selected the number of the line under the cursor in each, from 1.
	Scroll   map[string]Scroll
	Selected map[string]int
	Layout   Layout
}

func (a *App) state() State {
	s := State{
		View: a.place.view, Focus: a.paneID(), Crumbs: a.crumbs(), Server: a.servers.current, Theme: a.look.palette.Name,
		Ops: a.ops.list(), Messages: append([]Toast(nil), a.toasts.log...), Failures: a.toasts.failures(),
		Panes: map[string]Rect{}, Scroll: map[string]Scroll{}, Selected: map[string]int{}, Layout: a.frame.layout,
	}
	if t, ok := a.toasts.shown(); ok {
		s.Toasts = append(s.Toasts, t.Toast)
	}
	for _, l := range a.overlays {
		if l.hidden {
			continue
		}
		s.Overlays = append(s.Overlays, l.overlay.Title())
		s.Panes["overlay"], s.Selected["overlay"] = l.rect.framed(), l.pane.Selected
	}
	if a.prompt != nil {
		s.Prompt = a.prompt.label + a.prompt.edit.Value()
	}
	for i, p := range a.current().Panes {
		if r := a.frame.at[i]; !r.Empty() {
			s.Panes[p.ID] = r
			drawn := a.pane(a.place.view, p)
			s.Scroll[p.ID], s.Selected[p.ID] = drawn.Scroll, drawn.Selected
		}
	}
	if r := a.frame.at[railAt]; !r.Empty() {
		s.Panes["rail"], s.Selected["rail"] = r, a.rail.p.Selected
	}
	return s
}
