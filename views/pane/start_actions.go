package pane

import (
	"os"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/tui"
)

// VariableAction asks for the environment variable for want of which a server did not start, and starts it again on the same
// screen.
func VariableAction(view string, of func(*tui.Ctx) *session.Session) tui.Action {
	missing := func(c *tui.Ctx) string {
		if s := of(c); s != nil {
			return MissingVariable(s.Status())
		}
		return ""
	}
	return tui.Action{
		ID: view + ".variable", Verb: tui.VerbEdit, Title: "set variable and start", Group: "Server", Hint: 1,
		Help:    "Set the environment variable that a failed start asks for, for this run, and start again.",
		Applies: func(c *tui.Ctx) bool { return missing(c) != "" },
		Disabled: func(c *tui.Ctx) string {
			if missing(c) == "" {
				return "no failed start asks for a variable"
			}
			return ""
		},
		Run: func(c *tui.Ctx) tea.Cmd {
			s, name := of(c), missing(c)
			secret := mask.Secret(name)
			q := tui.Question{
				Label: name, Secret: secret,
				Check: func(value string) string {
					if value == "" {
						return "type a value; esc leaves it as it is"
					}
					return ""
				},
				OnDone: func(c *tui.Ctx, value string) tea.Cmd {
					s.SetVariable(name, value)
					screen := view
					if screen == "servers" {
						screen = "tools"
					}
					return c.Navigate("servers", Reopen{s.Name(), screen})
				},
			}
			if !secret {
				q.Initial = os.Getenv(name)
			}
			return c.Ask(q)
		},
	}
}

// CurrentServer is the server that a screen is about, nil for none.
func CurrentServer(c *tui.Ctx) *session.Session { return c.Server }
