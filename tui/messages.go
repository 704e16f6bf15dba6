package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui/widget"
)

// SessionChanged says that something in the sessions or the journal changed.
// It arrives at most every 33 ms and goes to every view and open overlay; they read snapshots.
type SessionChanged struct {
	// Rev is the manager's revision.
	Rev uint64
}

// ServerChanged says that another server became the current one ([Ctx.Server],
// nil when there is none). It goes to every view.
type ServerChanged struct {
	Name string
}

// Looked says that a screen of the current server became visible, whose connection was closed for lack of use. It goes to every
// view.
type Looked struct{}

// OpDone is the outcome of [Ctx.Go]. It goes to the view that started it,
// visible or not. Err is context.Canceled when the user cancelled.
type OpDone struct {
	Op    uint64 // as returned by Go
	View  string // the view that started it
	Slot  string // as given to Replace, "" from Go
	Gen   uint64 // how many operations the slot had
	Label string
	Value any
	Err   error
	Took  time.Duration
}

// Rendered is the outcome of [Ctx.Render]: lines prepared off the event loop.
type Rendered struct {
	View  string
	Key   string
	Lines []string
	Err   error
}

// Navigate asks for another screen, and is then delivered to that screen.
type Navigate struct {
	View string
	// Arg is what the receiving view documents (a tool's name, a frame's Seq).
	Arg any
	// Server makes this server current first; "" keeps the current one.
	Server string
}

// LogIn, as the Arg of a Navigate to the screen "login", starts the login at the current server. Again does once more what the
// server refused, on the screen that asked; nil for nothing.
type LogIn struct{ Again func(*Ctx) tea.Cmd }

// Back asks for the screen before. On the first screen it does nothing.
type Back struct{}

// Open asks for an overlay.
type Open struct {
	Overlay Overlay
	// Unsolicited marks an overlay that nobody at the keyboard asked for: it swallows keys until 425 ms of quiet, 1.5 s
	// at most, so that typing never answers it by accident.
	Unsolicited bool
}

// Close asks for the topmost overlay to go away. It is also delivered to that overlay's Handle before it goes.
type Close struct{}

// Level grades a toast.
type Level uint8

// The levels of toasts. An error stays until a key is pressed.
const (
	Note Level = iota
	Success
	Warning
	Failure
)

// Toast asks for a short message in the row below the panes.
type Toast struct {
	Level Level
	Text  string
}

// ThemeChanged says that colours changed; every view's cached lines are stale ([Pane.Same] knows).
type ThemeChanged struct{}

// Beat arrives every 100 ms, only while an operation runs or a session's state
// shows a countdown; it goes to the visible view.
type Beat struct {
	Now time.Time
}

// FilterChanged carries the text of the `/` prompt to the focused view while
// it is typed. Esc in the prompt sends the empty text.
type FilterChanged struct {
	Text string
	// Done is true once the prompt is closed.
	Done bool
}

// FindNext asks for the next hit of the filter or search (n), or with Back for the one before (N).
type FindNext struct {
	Back bool
}

// Edited is what came back from $EDITOR.
type Edited struct {
	View string
	// Tag is as given to [Ctx.Edit].
	Tag string
	// Text is the file's content, unchanged by the shell.
	Text string
	// Changed is whether it differs from what was given.
	Changed bool
	Err     error
}

// PaneMouse is a mouse event inside a pane, in the pane's inner coordinates.
type PaneMouse struct {
	Pane string
	X, Y int
	// Wheel is -1 or +1 for each notch up or down (several when coalesced).
	Wheel int
	// Click is the button that went down, tea.MouseNone otherwise.
	Click tea.MouseButton
	// Double is a second click at the same place within 400 ms.
	Double bool
	// Motion is a drag with a button held.
	Motion bool
	Mod    tea.KeyMod
}

// Widget gives the event to a widget's Mouse method, once for each notch of a
// wheel. Drags and other buttons than the left one are not for widgets.
func (m PaneMouse) Widget(f func(widget.Mouse)) {
	e := widget.Mouse{X: m.X, Y: m.Y}
	switch {
	case m.Wheel != 0:
		e.Kind = widget.WheelDown
		n := m.Wheel
		if n < 0 {
			e.Kind, n = widget.WheelUp, -n
		}
		for range n {
			f(e)
		}
	case m.Click == tea.MouseLeft && m.Double:
		e.Kind = widget.DoubleClick
		f(e)
	case m.Click == tea.MouseLeft:
		e.Kind = widget.Click
		f(e)
	}
}

// FocusChanged says that another pane of the visible view has the keys, or that the view is the visible one again.
type FocusChanged struct {
	Pane string
}

// printed is text that goes to stdout in linear mode.
type printed struct{ text string }
