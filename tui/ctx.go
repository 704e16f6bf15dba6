package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
)

// Ctx is a view's handle on the shell. The shell owns it and sets its fields before each call into a view; views read
// them, call its methods on the event loop only, and never keep field values across calls.
type Ctx struct {
	// Sessions holds all servers and the journal; Server is the current one, nil when there is none.
	Sessions *session.Manager
	Server   *session.Session
	// View is the id of the visible screen, Focus the id of its focused pane.
	View, Focus string
	// Theme is the palette cut for the terminal's colours. It never changes; a
	// new theme is a new pointer, which is what caches compare.
	Theme *Theme
	// Width and Height are the terminal's size in cells.
	Width, Height int
	// ReadOnly is --read-only: Danger actions are unbound.
	ReadOnly bool
	// Linear is linear mode: no screen, one line per change.
	Linear bool

	app *App
}

// Go runs fn in a goroutine as an operation that shows in the status bar, is cancelled by x, ctrl+c and [Ctx.Cancel]
// through fn's context, and ends in an OpDone for the given view. It returns the command to hand back to the shell and
// the operation's id. fn may call [Report] with its context.
func (c *Ctx) Go(view, label string, fn func(context.Context) (any, error)) (tea.Cmd, uint64) {
	return c.app.ops.start(opSpec{view: view, label: label, fn: fn})
}

// Replace is Go for work of which only the latest matters (reading what the cursor is on): an operation of the same
// view and slot is cancelled, and its OpDone is dropped. It does not count as a call when the program is asked to quit.
func (c *Ctx) Replace(view, slot, label string, fn func(context.Context) (any, error)) (tea.Cmd, uint64) {
	return c.app.ops.start(opSpec{view: view, slot: slot, label: label, quiet: true, fn: fn})
}

// Cancel cancels an operation; its OpDone still comes, with Err
// context.Canceled. It reports whether the operation was running.
func (c *Ctx) Cancel(op uint64) bool { return c.app.ops.cancel(op) }

// Ops lists the running operations, oldest first.
func (c *Ctx) Ops() []Op { return c.app.ops.list() }

// Render prepares lines in a goroutine and yields a Rendered for the view. Unlike Go it is not shown and cannot be
// cancelled: for colouring, wrapping and filtering, not for I/O.
func (c *Ctx) Render(view, key string, fn func() ([]string, error)) tea.Cmd {
	return func() tea.Msg {
		lines, err := fn()
		return Rendered{View: view, Key: key, Lines: lines, Err: err}
	}
}

// HasScreen is whether there is a screen of that id.
func (c *Ctx) HasScreen(id string) bool { return c.app.actions.find(id) != nil }

// Navigate goes to another screen and delivers arg to it.
func (c *Ctx) Navigate(view string, arg any) tea.Cmd {
	return c.app.now(Navigate{View: view, Arg: arg})
}

// NavigateOn makes a server the current one and goes to a screen.
func (c *Ctx) NavigateOn(server, view string, arg any) tea.Cmd {
	return c.app.now(Navigate{Server: server, View: view, Arg: arg})
}

// After yields what f makes after a time, or nothing where the program ends before.
func (c *Ctx) After(d time.Duration, f func() tea.Msg) tea.Cmd { return c.app.after(d, f) }

// Return goes back to a screen that was visited before, else to a screen as [Ctx.Navigate] does without remembering this one.
func (c *Ctx) Return(view string) tea.Cmd { return c.app.now(returnTo{view}) }

// BackTo goes back to the last visit of one of some screens, else to the screen before.
func (c *Ctx) BackTo(views ...string) tea.Cmd { return c.app.now(backTo{views}) }

// Back goes to the screen before.
func (c *Ctx) Back() tea.Cmd { return c.app.now(Back{}) }

// Toast shows a short message. text is sanitised by the shell.
func (c *Ctx) Toast(level Level, text string) tea.Cmd {
	return emit(Toast{Level: level, Text: text})
}

// Open shows an overlay that the user asked for.
func (c *Ctx) Open(o Overlay) tea.Cmd { return c.app.now(Open{Overlay: o}) }

// Confirm asks a yes-or-no question.
func (c *Ctx) Confirm(q Confirmation) tea.Cmd { return c.app.now(askConfirm{q}) }

// Ask asks for one line of text.
func (c *Ctx) Ask(q Question) tea.Cmd { return c.app.now(askQuestion{q}) }

// Search opens the `/` prompt of a screen that is there to be searched, if it is still the visible one.
func (c *Ctx) Search(view string) tea.Cmd { return c.app.now(search{view}) }

// FocusPane gives the keys to a pane of the visible view.
func (c *Ctx) FocusPane(id string) tea.Cmd { return c.app.now(focusPane{id}) }

// SelectServer makes another registered server the current one.
func (c *Ctx) SelectServer(name string) tea.Cmd { return c.app.now(selectServer{name}) }

// ServerTitle is what to call the server of a journal entry.
func (c *Ctx) ServerTitle(name string) string { return c.app.servers.titleOf(name) }

// Version is the version that runs.
func (c *Ctx) Version() string { return c.app.cfg.Version }

// Filter is the text of the `/` prompt for the visible view's focused pane.
func (c *Ctx) Filter() string { return c.app.filters[c.app.filterKey()] }

// FilterApplied sets the text of the `/` prompt to what a pane really shows, after its view could not carry out a filter.
func (c *Ctx) FilterApplied(view, pane, text string) { c.app.keepFilter(view+"\x00"+pane, text) }

// Copy puts text on the clipboard: by OSC 52, and with the system's clipboard
// command where there is one. what names it in the toast ("result").
func (c *Ctx) Copy(what, text string) tea.Cmd { return c.app.copyText(what, text) }

// Edit opens text in $VISUAL or $EDITOR in a private temporary file with the
// given extension (".json") and delivers an [Edited] with tag to view.
func (c *Ctx) Edit(view, tag, text, ext string) tea.Cmd {
	return c.app.editText(view, tag, text, ext)
}

// Page opens text in $PAGER.
func (c *Ctx) Page(text, ext string) tea.Cmd { return c.app.pageText(text, ext) }

// now puts off what decides where keys go until the message at hand has been dealt with, and no longer: a key that was typed right behind
// the one that opened something is for what it opened. The command is nil, for callers that return one.
func (a *App) now(m tea.Msg) tea.Cmd {
	a.soon = append(a.soon, m)
	return nil
}

// mostSoon bounds what one message can lead to within an update. What is beyond that comes as messages of its own, so that screens which
// send each other back and forth do not stop the program.
const mostSoon = 100

// settle deals with what was put off.
func (a *App) settle() (cmd tea.Cmd) {
	for n := 0; len(a.soon) > 0; n++ {
		m := a.soon[0]
		a.soon = a.soon[1:]
		if n >= mostSoon {
			cmd = join(cmd, emit(m))
			continue
		}
		a.sync()
		cmd = join(cmd, a.dispatch(m))
	}
	return cmd
}

// Messages of the shell to itself, made by the methods above.
type (
	setFilter    struct{ text string }
	askConfirm   struct{ q Confirmation }
	askQuestion  struct{ q Question }
	focusPane    struct{ id string }
	search       struct{ view string }
	selectServer struct{ name string }
	returnTo     struct{ view string }
	backTo       struct{ views []string }
	settled      struct{}
)

// emit turns a message into a command.
func emit(m tea.Msg) tea.Cmd { return func() tea.Msg { return m } }
