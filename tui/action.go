package tui

import (
	"cmp"

	tea "charm.land/bubbletea/v2"
)

// Action is one thing a user can do. The same literal feeds key dispatch, the hint bar, `?` help, the palette, the `:`
// line, linear mode and the key table of KEYS.md, so that help cannot differ from what a key does.
type Action struct {
	// ID is unique in the program and starts with the view's id ("tools.call"); it is also the word for the `:` line
	// and for key bindings in the config.
	ID string
	// Verb gives the action its keys: those of the verb on every screen.
	Verb Verb
	// Word is a short name for the `:` line ("theme"), beside the id. It is required where there is no key.
	Word string
	// Keys are those of the shell's own actions and of the user's choice, named as tea.KeyPressMsg.String gives them
	// ("ctrl+p", "space", "G"). Two keys with a space between are a chord ("y v").
	Keys []string
	// Arg does it with what follows the word on the `:` line, and Args lists what can follow; both may be nil.
	Arg  func(*Ctx, string) tea.Cmd
	Args func(*Ctx) []string
	// Applies is whether it is about what is there now; where not, its key does the next thing with the same verb. Nil is always.
	Applies func(*Ctx) bool
	// Title is a short imperative for the hint bar and palette ("call tool").
	Title string
	// Now is what it does at present where Title does not say it ("give up" instead of "cancel"), "" where it does. Nil
	// means that Title always says it.
	Now func(*Ctx) string
	// Help is one sentence for the help overlay. It is required.
	Help string
	// Group is the heading in help ("Move", "Call").
	Group string
	// Hint > 0 shows the action in the hint bar; lower numbers come first, from 70 on beside those of the shell.
	Hint int
	// Hinted is whether the hint bar shows it now, where Hint > 0; nil is always.
	Hinted func(*Ctx) bool
	// Danger marks what changes something outside mcphud in a way that cannot
	// be taken back. It is unbound under --read-only.
	Danger bool
	// Pane limits the action to one pane of its view; "" is any pane.
	Pane string
	// Disabled gives the reason why the action cannot run now, "" if it can. Nil means always possible.
	Disabled func(*Ctx) string
	// Run does it. It must return at once; slow work goes into [Ctx.Go].
	Run func(*Ctx) tea.Cmd
}

// applies is whether a is about what is there now.
func (a *Action) applies(c *Ctx) bool { return a.Applies == nil || a.Applies(c) }

// title is what a does at present.
func (a *Action) title(c *Ctx) string {
	if a.Now != nil {
		return cmp.Or(a.Now(c), a.Title)
	}
	return a.Title
}

// reason says why a cannot run now, "" if it can.
func (a *Action) reason(c *Ctx) string {
	if a.Danger && c.ReadOnly {
		return "not in read-only mode"
	}
	if a.Disabled != nil {
		return a.Disabled(c)
	}
	return ""
}
