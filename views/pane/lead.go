package pane

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/tui"
)

// AgainActions lead to sending again from where an exchange is shown: seq is any journal entry of it.
func AgainActions(view, in string, full bool, seq func(*tui.Ctx) uint64) []tui.Action {
	none := func(c *tui.Ctx) string {
		j, n := c.Sessions.Journal(), seq(c)
		e, ok := j.Get(n)
		if n == 0 || !ok {
			return "nothing was sent yet"
		}
		return calls.CannotSend(j, &e)
	}
	to := func(screen string, of Again) func(*tui.Ctx) tea.Cmd {
		return func(c *tui.Ctx) tea.Cmd {
			of.Seq = seq(c)
			return c.Navigate(screen, of)
		}
	}
	out := []tui.Action{
		{
			ID: view + ".sendto", Verb: tui.VerbElsewhere, Title: "send to", Group: "Again", Pane: in,
			Help: "Send the request to another server, by another path, or in another protocol version, and compare the answers.", Disabled: none, Run: to("again", Again{Choose: true}),
		},
		{
			ID: view + ".diff", Verb: tui.VerbDiff, Title: "diff", Group: "Again", Pane: in,
			Help: "Compare the answer with that of the call before.", Disabled: none, Run: to("again", Again{Earlier: true}),
		},
	}
	if full {
		out = append(out, tui.Action{
			ID: view + ".again", Verb: tui.VerbRun, Title: "send again", Group: "Again", Hint: 6, Pane: in,
			Help: "Send the request once more as it was, and compare the answers.", Disabled: none, Run: to("again", Again{}),
		}, tui.Action{
			ID: view + ".edit", Verb: tui.VerbEdit, Title: "edit and send", Group: "Again", Hint: 7, Pane: in,
			Help: "Change the params of the request, and send it.", Disabled: none, Run: to("edit", Again{}),
		})
	}
	return out
}

// DriftAction leads to the changes from a list.
func DriftAction(view string) tui.Action {
	return tui.Action{
		ID: view + ".drift", Verb: tui.VerbDiff, Title: "what changed", Group: "Server", Hint: 90,
		Help:   "List what the server changed since you looked, in its last connections too, or since the lock of the project, and what each change means.",
		Hinted: func(*tui.Ctx) bool { return false }, // the banner says it
		Run:    func(c *tui.Ctx) tea.Cmd { return c.Navigate("drift", nil) },
	}
}

// Refill, as the Arg of a Navigate to a screen with a form, opens an item with the arguments of an earlier call. What was typed for it
// before is one undo away.
type Refill struct {
	Name  string
	Value []byte // JSON, nil for none
	// Missing is how many values were secret and have to be typed again.
	Missing int
	// Run sends it at once, if nothing is missing.
	Run bool
}

// HistoryAction shows the calls of what is selected on another screen; of gives its name, "" for nothing. The hint says how many there are.
func (k *Calls) HistoryAction(id string, kind offer.Kind, of func() string) tui.Action {
	count := func() int { return k.Past(kind, of()) }
	return tui.Action{
		ID: id + ".history", Verb: tui.VerbHistory, Title: "earlier calls", Group: "Call", Hint: 4,
		Now: func(*tui.Ctx) string {
			if n := count(); n > 0 {
				return fmt.Sprintf("%d earlier", n)
			}
			return "earlier"
		},
		Hinted: func(*tui.Ctx) bool { return count() > 0 },
		Help:   "List the calls that were made of this before, in this run and in earlier ones.",
		Disabled: func(*tui.Ctx) string {
			if of() == "" {
				return "nothing is selected"
			}
			return ""
		},
		Run: func(c *tui.Ctx) tea.Cmd { return c.Navigate("history", of()) },
	}
}

// Reopen asks the servers screen to connect to a server and to go back to the screen that asked.
type Reopen struct{ Server, Screen string }

// CheckAction examines a server, from the screens where one wonders whether it is good.
func CheckAction(view string, of func(*tui.Ctx) *session.Session) tui.Action {
	return tui.Action{
		ID: view + ".check", Word: "check", Title: "check", Group: "Server", Hint: 5,
		Help:   "Find out whether the server is good: what its lists cost, and what clients, models and people stumble over.",
		Hinted: func(c *tui.Ctx) bool { s := of(c); return s != nil && s.Status().State == session.Connected },
		Disabled: func(c *tui.Ctx) string {
			if of(c) == nil {
				return "no server is open"
			}
			return ""
		},
		Run: func(c *tui.Ctx) tea.Cmd { return c.NavigateOn(of(c).Name(), "check", of(c).Name()) },
	}
}

// SkillsAction goes to the skills of a server, for the screens where one looks for them.
func SkillsAction(view string, of func(*tui.Ctx) *session.Session) tui.Action {
	return tui.Action{
		ID: view + ".skills", Word: "skills", Title: "skills", Group: "Server", Hint: 6,
		Help: "Go to the server's skills.",
		Disabled: func(c *tui.Ctx) string {
			if s := of(c); s == nil || !s.Supports(offer.Skills.Method()) {
				return "the server has no skills, or is not connected"
			}
			return ""
		},
		Run: func(c *tui.Ctx) tea.Cmd { return c.NavigateOn(of(c).Name(), "skills", nil) },
	}
}

// Asks is the question of a server that a call of a target caused and that waits for longest, 0 for none.
type Asks func(server, target string) uint64
