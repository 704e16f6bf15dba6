package main

import (
	"context"
	"errors"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/failure"
)

// maxLogins is how often one command logs in before it believes that no login helps.
const maxLogins = 3

// loggedIn does something, and does it again after each login that it turned out to need.
func (a *app) loggedIn(ctx context.Context, s *session.Session, do func() error) error {
	for range maxLogins {
		err := do()
		var e *failure.Error
		if a.person == nil || !errors.As(err, &e) || e.Remedy != failure.LogIn {
			return err
		}
		if err := s.Authorizer().Login(ctx, a.person, auth.LoginOptions{}); err != nil {
			return err
		}
	}
	return do()
}
