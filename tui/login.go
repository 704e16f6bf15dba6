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

// Unnamed is whether a server refused us and its answer names no place to log in, as one that takes API keys does.
func Unnamed(s *session.Session) bool {
	a := s.Authorizer()
	if a == nil || s.Config().OAuth != nil {
		return false
	}
	known := a.Known()
	return known.Challenge != nil && known.Challenge.Metadata == "" && !known.LoggedIn
}

// StateWord is what the state of a server is called.
func StateWord(s *session.Session, state session.State) string {
	if state == session.NeedsLogin && Unnamed(s) {
		return "Needs a key"
	}
	return string(state)
}

// loginAction leads to the login screen from everywhere, and starts the login where the server wants one.
func loginAction() Action {
	return Action{
		ID: "app.login", Word: "login", Title: "log in", Group: "Server", Hint: 1,
		Help:   "Log in at the server where it wants that, and see every step of it; else show the login.",
		Hinted: func(c *Ctx) bool { return WantsLogin(c.Server) },
		Disabled: func(c *Ctx) string {
			switch {
			case c.Server == nil || c.app.actions.find("login") == nil:
				return "no server is open"
			case c.Server.Authorizer() == nil:
				return "it has no login: a command needs an oauth block for one"
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
