package tui

import (
	"io"

	tea "charm.land/bubbletea/v2"
)

// View is one screen: tools, traffic, logs and so on. All methods run on the
// event loop, so they need no locks and must return at once.
type View interface {
	// Info says what the screen is. It must always return the same value.
	Info() Info
	// Actions lists every key the screen understands beyond moving around in
	// its widgets. It must always return the same actions.
	Actions() []Action
	// Handle receives whatever is meant for the screen: keys that are neither text-independent actions of the view nor
	// consumed before, mouse events in pane coordinates ([PaneMouse]), pastes, and the messages of messages.go. It
	// reports whether it consumed the message; an unconsumed key goes on to the global actions.
	Handle(*Ctx, tea.Msg) (tea.Cmd, bool)
	// Draw fills one of the panes named by Info. p.W and p.H are the cells inside the border, both at least 1; the pane
	// keeps its lines from the last call, so a view that finds [Pane.Same] true has nothing to do. It returns the
	// cursor in pane coordinates, or nil to hide it.
	Draw(*Ctx, *Pane) *tea.Cursor
	// Plain writes the screen as text without escapes or boxes: for linear mode and for copying a pane.
	Plain(*Ctx, io.Writer)
}

// Info describes a screen.
type Info struct {
	// ID names the screen in Navigate, in the `:` line and in tests ("tools").
	ID string
	// Title is what tabs and breadcrumbs show ("Tools").
	Title string
	// Aliases are further words the `:` line understands ("t").
	Aliases []string
	// Panes are the screen's panes in focus order, one or two. Two are drawn as list and detail.
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
	// Spare is a screen whose tab is the first to go where there is no room, as long as it has no badge.
	Spare bool
	// Hidden leaves the screen out of the number keys and the tab line: it is
	// reached from another screen. The palette still lists it.
	Hidden bool
}

// PaneSpec describes one pane of a screen.
type PaneSpec struct {
	// ID is unique within the screen ("list", "detail").
	ID string
	// Title is the border's text until Draw sets another.
	Title string
}

// Finder is implemented by views whose things the palette opens by name: those of all open servers.
type Finder interface {
	Find(*Ctx) []Found
}

// Found is one thing of a [Finder]. Its name and what it says of itself are as the server sent them: there may be thousands,
// and the shell sanitises what it draws.
type Found struct {
	Kind        string // "tool"
	Name, About string
	Run         func(*Ctx) tea.Cmd
}

// FilterLanguage is implemented by views whose `/` takes more than words. Both methods are for the focused pane, and may have
// nothing to say there.
type FilterLanguage interface {
	// CheckFilter says what is wrong with a text; nil if nothing.
	CheckFilter(c *Ctx, text string) *FilterError
	// CompleteFilter lists what a text can become whose cursor is at a byte.
	CompleteFilter(c *Ctx, text string, cursor int) []Completion
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

// Typer is implemented by views with text inputs. While Typing is true every
// key goes to Handle first, and printable keys never reach an action.
type Typer interface {
	Typing(*Ctx) bool
}

// Hinter is implemented by views with a pane in which what a key does depends on where the cursor is, such as a form.
// Its hints stand after those of the view's actions; they are in the order of use.
type Hinter interface {
	Hints(*Ctx) []Hint
}

// Hint is one key of the hint bar and what it does.
type Hint struct {
	Key   string // as tea.KeyPressMsg.String has it
	Title string // "add item"
}

// Sizer is implemented by views whose first pane is as tall as what is in it where the second one is below.
type Sizer interface {
	// Rows is how many of h rows the first pane takes, both panes having w by h cells, borders included.
	Rows(c *Ctx, w, h int) int
}

// Loner is implemented by views whose first pane is sometimes all that there is to show, such as one that waits for its server.
type Loner interface {
	Lone(*Ctx) bool
}

// Badger is implemented by views that show a count on their tab ("3").
type Badger interface {
	Badge(*Ctx) string
}

// Bannerer is implemented by views that have something to say on all screens, until somebody looked.
type Bannerer interface {
	Banner(*Ctx) string
}

// Waiter is implemented by views of which an operation may wait until somebody does something: linear mode takes lines meanwhile.
type Waiter interface {
	Waits(*Ctx) bool
}

// Asker is implemented by views that know which question of a server to answer next.
type Asker interface {
	// Question is its id; 0 leaves it to the inbox.
	Question(*Ctx) uint64
}

// Breadcrumber is implemented by views that name the thing being looked at
// ("echo"); narrow layouts and the window title show it.
type Breadcrumber interface {
	Breadcrumb(*Ctx) string
}

// Copier is implemented by views whose selection can be copied with the y chord.
type Copier interface {
	// CopyText returns what makes the text, nil if the view has no such form of its selection. It is asked at every
	// frame, for the hints: what it returns is where copying and reading belong.
	CopyText(*Ctx, CopyKind) CopyFunc
}

// CopyFunc makes the text to copy.
type CopyFunc func() (string, error)

// CopyString is a text that is at hand; nil if ok is false.
func CopyString(text string, ok bool) CopyFunc {
	if !ok {
		return nil
	}
	return func() (string, error) { return text, nil }
}

// CopyBytes is a text that is at hand as bytes that do not change; nil if there are none.
func CopyBytes(text []byte) CopyFunc {
	if len(text) == 0 {
		return nil
	}
	return func() (string, error) { return string(text), nil }
}

// CopyKind is what the y chord copies; its value is the chord's second key.
type CopyKind byte

// The forms in which a selection can be copied.
const (
	CopyValue   CopyKind = 'v' // the value itself
	CopyPath    CopyKind = 'p' // path of the value, or the URI
	CopyJSON    CopyKind = 'j' // JSON as on the wire
	CopyCommand CopyKind = 'c' // the mcphud command that does the same
	CopyCurl    CopyKind = 'u' // the curl command that does the same
	CopyRaw     CopyKind = 'r' // the raw frame
	CopyConfig  CopyKind = 'm' // a server's entry in a configuration file
)

// ShapeCopier is implemented by views whose CopyConfig comes in several shapes, of which one is chosen.
type ShapeCopier interface {
	// CopyShapes names them; nil where there is nothing to copy.
	CopyShapes(*Ctx) []string
	// CopyShape copies the selection in one of them.
	CopyShape(c *Ctx, shape string) tea.Cmd
}

// Pager is implemented by views whose selection can be opened in $PAGER or, to
// read, in $EDITOR. ext is a file name extension with its dot (".json").
type Pager interface {
	PageText(*Ctx) (text, ext string, ok bool)
}

// Chooser is implemented by views that offer a numbered list in linear mode: the rows of a list, the fields of a form.
type Chooser interface {
	Choices(*Ctx) []Choice
}

// Choice is one numbered line of linear mode.
type Choice struct {
	// Label is sanitised text of one line.
	Label string
	// Run is what picking the number does; it may call [Ctx.Ask] for a value.
	Run func(*Ctx) tea.Cmd
}

// Closer is implemented by views that hold something to release when the program ends.
type Closer interface {
	Close()
}
