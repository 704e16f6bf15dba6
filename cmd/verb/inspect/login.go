package inspect

import (
	"context"
	"slices"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/inspector"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/config"
)

// storedLogin says whether a stored login is to be used. That there is none is an error.
func (a *app) storedLogin(ctx context.Context, r *inspector.Request) (bool, error) {
	wanted, err := r.Stored()
	if err != nil || !wanted {
		return false, err
	}
	logins, err := a.Logins(config.Settings{})
	if err != nil {
		return false, err
	}
	found, err := logins.Store.Find(ctx, cli.ResourceOf(config.Server{URL: r.ServerURL}))
	if err != nil {
		return false, cli.UnreadableLogins(err)
	}
	if !slices.ContainsFunc(found, func(c auth.Credentials) bool { return c.Token.Access != "" }) {
		return false, r.NoLogin(logins.Store.Where())
	}
	return true, nil
}

// prepareLogin prepares for the login of a server: what we are to it, and where browsers come back to.
func (a *app) prepareLogin(r *inspector.Request, s config.Server) error {
	document, err := r.Document()
	if err != nil {
		return err
	}
	callback, err := r.Callback()
	if err != nil || s.URL == "" {
		return err
	}
	s.OAuth.RedirectURI, a.NoLogin = callback, r.StoredAuthOnly
	if document == "" {
		return nil
	}
	logins, err := a.Logins(config.Settings{})
	if err != nil {
		return err
	}
	logins.Document = document
	return nil
}
