package tui

import (
	"fmt"
	"io"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui/page"
)

// Screen is one screen: tools, traffic, logs and so on. It is made once, by the function that makes what its own functions
// are methods of, and does not change; what a screen does not need is nil. All functions run on the event loop, so they
// need no locks and must return at once.
type Screen struct {
	// ID names the screen in Navigate, in the `:` line and in tests ("tools").
	ID string
	// Title is what tabs and breadcrumbs show ("Tools").
	Title string
	// Aliases are further words the `:` line understands ("t").
	Aliases []string
	// Panes are the screen's panes in focus order, one to three. Two are drawn as list and detail, the third beside them where
	// there is room ([ThirdWidth]) and Third says so.
	Panes []PaneSpec
	// Split is the first pane's share in percent until the user moves the border; 0 means DefaultSplit.
	Split int
	// StackUnder is the columns below which the second pane goes below the first one unless the user chose otherwise; 0 is
	// beside it at every width.
	StackUnder int
	// NoRail leaves the server rail out: on a screen that lists the servers, and so is not about the current one.
	NoRail bool
	// AllServers is a screen that is not about the current server.
	AllServers bool
	// Tab is the id of the screen in the tab line that this one is a section of; "" is a screen with a tab of its own.
	Tab string
	// Peer is a section that `[` and `]` lead to, from its tab and from the other peers.
	Peer bool
	// Transient is a tab that is in the line only while it or one of its sections has a badge, or is visible.
	Transient bool

	// Actions lists every key the screen understands beyond moving around in its widgets, always the same ones; nil is none.
	Actions func() []Action
	// Handle receives whatever is meant for the screen: keys that are neither text-independent actions of the screen nor
	// consumed before, mouse events in pane coordinates ([PaneMouse]), pastes, and the messages of messages.go. It
	// reports whether it consumed the message; an unconsumed key goes on to the global actions. No screen is without it.
	Handle func(*Ctx, tea.Msg) (tea.Cmd, bool)

	// What the screen says, for each way to read it.

	// Page is all that it says. Plain (which PageText and what y v copies come from) and Choices (the actions) come from it where they are nil.
	Page func(*Ctx) page.Page

	// Draw fills one of the panes. p.W and p.H are the cells inside the border, both at least 1; the pane keeps its lines
	// from the last call, so a screen that finds [Pane.Same] true has nothing to do. It returns the cursor in pane
	// coordinates, or nil to hide it. No screen is without it.
	Draw func(*Ctx, *Pane) *tea.Cursor
	// Plain writes the screen as text without escapes or boxes: for linear mode and for copying a pane. No screen without
	// a Page is without it, and none in whose Page is what its Choices say, too.
	Plain func(*Ctx, io.Writer)
	// Choices is a numbered list in linear mode: the rows of a list, the fields of a form.
	Choices func(*Ctx) []Choice
	// PageText is the selection as it is opened in $PAGER or, to read, in $EDITOR. ext is a file name extension with its
	// dot (".json"); where it is not ok, Plain is opened.
	PageText func(*Ctx) (text, ext string, ok bool)
	// CopyText returns what makes the text that the y chord copies, nil if there is no such form of the selection. It is
	// asked at every frame, for the hints: what it returns is where copying and reading belong.
	CopyText func(*Ctx, CopyKind) CopyFunc
	// CopyShapes names the shapes that CopyConfig comes in, of which one is chosen; none where there is nothing to copy.
	CopyShapes func(*Ctx) []string
	// CopyShape copies the selection in one of them.
	CopyShape func(c *Ctx, shape string) tea.Cmd

	// What the focused pane does with keys.

	// Typing is whether text is typed: then every key goes to Handle first, and printable keys never reach an action. A
	// screen without it has no text inputs.
	Typing func(*Ctx) bool
	// Hints are what keys do where that depends on where the cursor is, such as in a form. They stand after those of the
	// actions, in the order of use.
	Hints func(*Ctx) []Hint
	// CheckFilter says what is wrong with the text of `/`, nil if nothing, and CompleteFilter lists what a text can become
	// whose cursor is at a byte: on screens whose `/` takes more than words, which have both. They are for the focused
	// pane, and may have nothing to say there.
	CheckFilter    func(c *Ctx, text string) *FilterError
	CompleteFilter func(c *Ctx, text string, cursor int) []Completion

	// What the frame around it shows.

	// Rows is how many of h rows the first pane takes where the second one is below it, both having w by h cells, borders
	// included; without it the split decides.
	Rows func(c *Ctx, w, h int) int
	// Lone is whether the first pane is all that there is to show, such as while the server is waited for.
	Lone func(*Ctx) bool
	// Third is whether the third pane has something to show: no screen with three panes is without it. It does not depend on
	// the row under the cursor, with which columns would move.
	Third func(*Ctx) bool
	// Breadcrumb is the thing being looked at ("echo"); narrow layouts and the window title show it. Others have the title of the
	// first pane there.
	Breadcrumb func(*Ctx) string
	// Badge is a count on the tab ("3"), of a section on that of a transient tab where that has none.
	Badge func(*Ctx) string
	// Banner is something to say on all screens, until somebody looked.
	Banner func(*Ctx) string

	// What the shell asks it about the servers.

	// Find is the things that the palette opens by name: those of all open servers.
	Find func(*Ctx) []Found
	// Question is the id of the question of a server to answer next; 0 leaves it to the inbox.
	Question func(*Ctx) uint64
	// Waits is whether an operation waits until somebody does something: linear mode takes lines meanwhile.
	Waits func(*Ctx) bool
	// Pending is whether what it shows is about to be asked for, or came and is not drawn: no operation runs, and linear mode's next line
	// waits all the same.
	Pending func(*Ctx) bool

	// Close releases what the screen holds, when the program ends.
	Close func()
}

// declared are the actions of the screen.
func (s *Screen) declared() []Action {
	if s.Actions == nil {
		return nil
	}
	return s.Actions()
}

// write writes the screen as text.
func (s *Screen) write(c *Ctx, w io.Writer) {
	if s.Plain != nil {
		s.Plain(c, w)
		return
	}
	fmt.Fprintln(w, c.Spoken(s.Page(c), false))
}

// Spoken is a page as text, in linear mode without its foot, which stands below the choices there. See [page.Page.Spoken].
func (c *Ctx) Spoken(p page.Page, numbered bool) string {
	if c.Linear {
		p.Foot = ""
	}
	return p.Spoken(numbered)
}

// choose is the numbered list of linear mode.
func (s *Screen) choose(c *Ctx) (out []Choice) {
	if s.Choices != nil {
		return s.Choices(c)
	}
	if s.Page == nil {
		return nil
	}
	for _, a := range s.declared() {
		if a.Disabled == nil || a.Disabled(c) == "" {
			out = append(out, Choice{Label: a.Title, Run: a.Run})
		}
	}
	return out
}

// check finds what the screen lacks.
func (s *Screen) check() (errs []error) {
	if s.ID == "" || s.Title == "" || len(s.Panes) < 1 || len(s.Panes) > 3 {
		errs = append(errs, fmt.Errorf("screen %q needs an id, a title and one to three panes", s.ID))
	}
	if s.Handle == nil || s.Draw == nil || s.Plain == nil && s.Page == nil {
		errs = append(errs, fmt.Errorf("screen %q needs Handle, Draw, and Page or Plain", s.ID))
	}
	for _, pair := range []struct {
		one, other bool
		what       string
	}{
		{s.CheckFilter == nil, s.CompleteFilter == nil, "CheckFilter and CompleteFilter"},
		{s.CopyShapes == nil, s.CopyShape == nil, "CopyShapes and CopyShape"},
		{len(s.Panes) < 3, s.Third == nil, "a third pane and Third"},
	} {
		if pair.one != pair.other {
			errs = append(errs, fmt.Errorf("screen %q needs both or none of %s", s.ID, pair.what))
		}
	}
	return errs
}

// PaneSpec describes one pane of a screen.
type PaneSpec struct {
	// ID is unique within the screen ("list", "detail").
	ID string
	// Title is the border's text until Draw sets another.
	Title string
}

// Found is one thing that a screen finds. Its name and what it says of itself are as the server sent them: there may be
// thousands, and the shell sanitises what it draws.
type Found struct {
	Kind        string // "tool"
	Name, About string
	Run         func(*Ctx) tea.Cmd
}

// FilterError is why a text is not a filter.
type FilterError struct {
	At    int    // the character where it is, from 0 on
	Why   string // what was expected there
	Valid string // the part of the text before it, which is applied while the rest is typed
}

// Completion is one of the texts that a line can become.
type Completion struct {
	Text   string // the whole line
	Cursor int    // the byte at which the cursor is then
	Label  string // what is shown of it
}

// Hint is one key of the hint bar and what it does.
type Hint struct {
	Key   string // as tea.KeyPressMsg.String has it
	Title string // "add item"
}

// Choice is one numbered line of linear mode.
type Choice struct {
	// Label is sanitised text of one line.
	Label string
	// Run is what picking the number does; it may call [Ctx.Ask] for a value.
	Run func(*Ctx) tea.Cmd
}
