package tui

import tea "charm.land/bubbletea/v2"

// Overlay is a dialog over the screen. The topmost one gets all keys, pastes
// and mouse events; Esc closes it unless Handle consumed the key.
type Overlay interface {
	// Title is sanitised plain text for the frame.
	Title() string
	// Size is the wanted inner size, given the largest possible one.
	Size(maxW, maxH int) (w, h int)
	// Handle works like a screen's. Every open overlay also gets the OpDone and Rendered messages whose View is not a
	// screen's id, so an overlay that runs work picks a name of its own. A command that yields [Close] ends it.
	Handle(*Ctx, tea.Msg) (tea.Cmd, bool)
	// Draw works like a screen's; the pane's id is "overlay".
	Draw(*Ctx, *Pane) *tea.Cursor
	// Hints are its keys, in the order of use, and all that the hint bar shows meanwhile; nil where esc alone is to be said.
	Hints(*Ctx) []Hint
}

// Confirmation is a yes-or-no question. No is what enter answers unless another answer was chosen.
type Confirmation struct {
	// Title and Body are sanitised text; Body may have several lines.
	Title, Body string
	// Yes and No label the answers ("call write_file", "cancel").
	Yes, No string
	// Danger draws the answers in the colour of danger, and takes a yes only once all of Body was on the screen.
	Danger bool
	// OnYes and OnNo run after the answer; either may be nil.
	OnYes, OnNo func(*Ctx) tea.Cmd
	// Unsolicited marks a question that no key has caused, as in [Open].
	Unsolicited bool
	// Also are further ways to say yes.
	Also []Answer
}

// Answer is a way to say yes that has a key of its own.
type Answer struct {
	Key   string // a letter other than y, n, q, h, j, k and l
	Label string // "yes, and to this tool from now on"
	Run   func(*Ctx) tea.Cmd
}

// Question asks for one line of text in the prompt line.
type Question struct {
	// Label comes before the text ("save as").
	Label string
	// Initial is the text to start from.
	Initial string
	// Secret shows dots in place of what is typed.
	Secret bool
	// Complete gives completions for the text so far; nil for none.
	Complete func(text string) []string
	// Check gives a reason why the text cannot be accepted, "" if it can; nil accepts everything.
	Check func(text string) string
	// OnDone runs when enter was pressed, OnCancel after Esc; OnCancel may be nil.
	OnDone   func(c *Ctx, text string) tea.Cmd
	OnCancel func(*Ctx) tea.Cmd
}
