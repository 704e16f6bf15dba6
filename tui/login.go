package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
)

// WantsLogin is whether a server refuses something until somebody logs in; s may be nil.
func WantsLogin(s *session.Session) bool {
	if s == nil {
		return false
	}
	a := s.Authorizer()
	return s.Status().State == session.NeedsLogin || a != nil && a.Refused() != nil
}

// loginAction leads to the login screen from everywhere, and starts the login where the server wants one.
func loginAction() Action {
	return Action{
		ID: "app.login", Keys: []string{"L"}, Title: "log in", Group: "Server", Hint: 1,
		Help:   "Log in at the server where it wants that, and see every step of it; else show the login.",
		Hinted: func(c *Ctx) bool { return WantsLogin(c.Server) },
		Disabled: func(c *Ctx) string {
			switch {
			case c.Server == nil || c.app.actions.find("login") == nil:
				return "no server is open"
			case c.Server.Authorizer() == nil:
				return "only servers over HTTP know a login"
			}
			return ""
		},
		Run: func(c *Ctx) tea.Cmd {
			if WantsLogin(c.Server) {
				return c.Navigate("login", LogIn{})
			}
			return c.Navigate("login", nil)
		},
	}
}
