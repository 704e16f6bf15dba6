package inspect

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/cmd/inspector"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/config"
)

// loginPoll is how often --wait-for-auth looks for a login.
const loginPoll = 500 * time.Millisecond

// keptURLs are the URLs of servers whose login has a token, and where those are kept.
func (a *app) keptURLs(ctx context.Context) (where string, urls []string, err error) {
	logins, err := a.Logins(config.Settings{})
	if err != nil {
		return "", nil, err
	}
	where = logins.Store.Where()
	found, err := logins.Store.Find(ctx, "")
	if err != nil {
		return where, nil, cli.UnreadableLogins(err)
	}
	for _, c := range found {
		if at := inspector.Href(mask.URL(c.Resource)); c.Token.Access != "" && !slices.Contains(urls, at) {
			urls = append(urls, at)
		}
	}
	return where, urls, nil
}

// inspectLogins prints what the command line asks of the stored logins. No server is asked.
func (a *app) inspectLogins(ctx context.Context, r *inspector.Request) error {
	where, urls, err := a.keptURLs(ctx)
	if err != nil {
		return err
	}
	line := inspector.Logins(where, urls)
	if !r.ListStoredAuth {
		s := config.Server{Transport: config.HTTP, URL: inspector.Href(r.ServerURL), Unnamed: true}
		if line, err = r.Handoff(where, a.LoginCommand(s, nil)); err != nil {
			return err
		}
	}
	return (&output.Printer{W: output.Stdout{File: a.Out}, Tty: output.Terminal(a.Out)}).Line(json.RawMessage(line))
}

// storedLogin says whether a stored login is to be used. That there is none, also after waiting for one, is an error.
func (a *app) storedLogin(ctx context.Context, r *inspector.Request) (bool, error) {
	wanted, err := r.Stored()
	if err != nil || !wanted {
		return false, err
	}
	deadline := time.Now().Add(r.Patience())
	for {
		where, urls, err := a.keptURLs(ctx)
		if err != nil {
			return false, err
		}
		found, err := a.Login.Store.Find(ctx, cli.ResourceOf(config.Server{URL: r.ServerURL}))
		if err != nil {
			return false, cli.UnreadableLogins(err)
		}
		if slices.ContainsFunc(found, func(c auth.Credentials) bool { return c.Token.Access != "" }) {
			return true, nil
		}
		left := time.Until(deadline)
		if left <= 0 {
			return false, r.NoLogin(where, urls)
		}
		select {
		case <-time.After(min(left, loginPoll)):
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// inspectorLogin prepares for the login of a server: what we are to it, where browsers come back to, and whether a stored one is forgotten.
func (a *app) inspectorLogin(ctx context.Context, r *inspector.Request, sel inspector.Selection) error {
	document, err := r.Document()
	if err != nil {
		return err
	}
	callback, err := r.Callback()
	if err != nil {
		return err
	}
	if sel.Server.URL == "" {
		if r.Relogin {
			return inspector.NoURL()
		}
		return nil
	}
	sel.Server.OAuth.RedirectURI, a.NoLogin = callback, r.StoredAuthOnly
	logins, err := a.Logins(config.Settings{})
	if err != nil {
		return err
	}
	if document != "" {
		logins.Document = document
	}
	if _, _, err := config.Endpoint(sel.Server.URL); err != nil || !r.Relogin {
		return nil // connecting says what is wrong with the URL
	}
	login := auth.New(sel.Server, *logins)
	if sel.KeepGrant {
		return login.Discard(ctx)
	}
	if err := login.Forget(ctx); err != nil {
		return err
	}
	for _, step := range login.Status().Flow.Steps() {
		if step.State == auth.Failed && !r.Quiet {
			a.Note("warning: the login was forgotten here, and could not be revoked: " + cli.ErrorText(step.Err))
		}
	}
	return nil
}
