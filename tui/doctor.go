package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
)

// FailedToConnect is whether the last attempt to connect a server failed; s may be nil.
func FailedToConnect(s *session.Session) bool { return s != nil && s.Status().State == session.Failed }

// doctorAction leads to the diagnosis of the current server from everywhere.
func doctorAction() Action {
	return Action{
		ID: "app.doctor", Verb: VerbDoctor, Word: "doctor", Title: "doctor", Group: "Server", Hint: 2,
		Help:   "Find out why the server does not connect, or whether it does all that it declares, stage by stage.",
		Hinted: func(c *Ctx) bool { return c.View != "doctor" && FailedToConnect(c.Server) },
		Disabled: func(c *Ctx) string {
			if c.Server == nil || c.app.actions.find("doctor") == nil {
				return "no server is open"
			}
			return ""
		},
		Run: func(c *Ctx) tea.Cmd { return c.Navigate("doctor", c.Server.Name()) },
	}
}

// goodAction leads to the examination of the current server from everywhere.
func goodAction() Action {
	return Action{
		ID: "app.check", Word: "check", Title: "check", Group: "Server",
		Help: "Find out whether the server is good: what its lists cost, and what clients, models and people stumble over.",
		Disabled: func(c *Ctx) string {
			if c.Server == nil || c.app.actions.find("check") == nil {
				return "no server is open"
			}
			return ""
		},
		Run: func(c *Ctx) tea.Cmd { return c.Navigate("check", c.Server.Name()) },
	}
}
