package auth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
)

const (
	// renewGrace is how long a renewal goes on after the request that wanted it was cancelled: its answer may have the only
	// refresh token that is good from now on.
	renewGrace = 2 * time.Second
	// renewPause is how long a token that is about to end is used as it is, after it could not be renewed.
	renewPause = 10 * time.Second
)

// renewing is what those share who want a new token.
type renewing struct {
	busy   chan struct{}          // held by who gets one, of capacity 1
	rounds atomic.Uint64          // how many have tried
	pause  atomic.Int64           // until when nobody tries ahead of time, in ns since 1970
	ended  atomic.Pointer[string] // why the login in use cannot be refreshed any more

	// Of who holds busy.
	failed   error  // how the last round ended
	evidence string // what the authorization server refused, see obtain
	refusal  error
}

// renewOnce gets a new token for all who wait for one; used is the token that is not good any more. With refresh tokens that are good once
// (OAuth 2.1 section 4.3.1), two renewals at the same time would end the login.
func (a *Authorizer) renewOnce(ctx context.Context, used string, get func(context.Context) error) error {
	before := a.rounds.Load()
	select {
	case a.busy <- struct{}{}:
		defer func() { <-a.busy }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if c := a.creds.Load(); c != nil && c.Token.Access != "" && c.Token.Access != used {
		return nil // somebody was faster
	}
	if a.rounds.Load() != before && a.failed != nil {
		return a.failed // that of who was waited for
	}
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(renewGrace, cancel) })()
	err := get(work)
	if work.Err() == nil && !errors.Is(err, errNobody) { // which is about one refusal
		a.failed = err
		a.rounds.Add(1)
	}
	if err != nil {
		a.pause.Store(a.opts.Now().Add(renewPause).UnixNano())
	}
	return err
}

// canRenew reports whether c can be renewed ahead of time.
func (a *Authorizer) canRenew(c *Credentials) bool {
	return (c.Token.Refresh != "" || a.server.OAuth.ByMachine()) && a.opts.Now().UnixNano() >= a.pause.Load()
}

// adopt uses what another process has got since, and kept; false where there is nothing newer than what is in use.
func (a *Authorizer) adopt(ctx context.Context) bool {
	found, err := a.opts.Store.Find(ctx, a.keptAs)
	if err != nil && len(found) == 0 {
		return false // a login may help
	}
	c := a.creds.Load()
	for _, f := range found {
		if f.Token.Access != "" && (c == nil || f.Token.Access != c.Token.Access && f.Token.Obtained.After(c.Token.Obtained)) {
			a.fresh.Store(true)
			a.ended.Store(nil)
			a.creds.Store(&f)
			a.kept.Store(true)
			a.mu.Lock()
			a.challenge = nil
			a.mu.Unlock()
			a.change()
			return true
		}
	}
	return false
}

// dropForgotten drops what another process has logged out of, so that it does not come back.
func (a *Authorizer) dropForgotten(ctx context.Context, c *Credentials) bool {
	found, err := a.opts.Store.Find(ctx, c.Resource)
	if err != nil || !a.kept.Load() || slices.ContainsFunc(found, func(f Credentials) bool { return f.Key == c.Key }) {
		return false
	}
	if a.creds.CompareAndSwap(c, nil) {
		why := "another program has logged out"
		a.ended.Store(&why)
	}
	return true
}

// renewAhead changes the refresh token into a new token, once for all who wait, where the one of c is about to end.
func (a *Authorizer) renewAhead(ctx context.Context, c *Credentials) error {
	return a.renewOnce(ctx, c.Token.Access, func(ctx context.Context) error {
		if !a.canRenew(c) {
			return a.failed // that of who was faster
		}
		return a.talk(nil, nil).renew(ctx)
	})
}

// renew gets a new token in the place of the one in use. A refresh token is good once, so other processes are kept out.
func (t *talk) renew(ctx context.Context) error {
	c := t.creds.Load()
	if c == nil {
		return nil // forgotten meanwhile
	}
	if l, ok := t.opts.Store.(Locker); ok {
		unlock, err := l.Lock(ctx, c.Key)
		if err == nil {
			defer unlock()
		} else {
			t.flow.note("other processes cannot be kept out: %s", mask.Text(err.Error()))
		}
	}
	if t.adopt(ctx) {
		t.flow.note("another process has a newer token, which is used")
		return nil
	}
	if t.dropForgotten(ctx, c) {
		return fmt.Errorf("%w: another program has logged out", errNobody)
	}
	tok, err := t.renewToken(ctx, c)
	n := *c
	switch {
	case isRefusal(err, "invalid_grant"):
		n.Token.Refresh = ""
	case isRefusal(err, "invalid_client") && c.Client.Origin == Registered:
		n.Client, n.Token.Refresh = Client{}, "" // the next login registers anew
	case err != nil:
		return err
	default:
		if tok.Refresh == "" {
			tok.Refresh = c.Token.Refresh
		}
		if tok.Scopes == nil {
			tok.Scopes = c.Token.Scopes
		}
		n.Token = tok
	}
	if t.dropForgotten(ctx, c) {
		return fmt.Errorf("%w: another program has logged out meanwhile", errNobody)
	}
	if !t.creds.CompareAndSwap(c, &n) {
		return nil // somebody has logged in, or out, meanwhile
	}
	if err != nil {
		why := text.Clip(err.Error(), 400)
		t.ended.Store(&why)
		_ = t.opts.Store.Put(ctx, n) // err says more
		return err
	}
	if bad := t.save(ctx, &n); bad != nil {
		t.flow.note("the token is good, and could not be kept in %s: %s", t.opts.Store.Where(), mask.Text(bad.Error()))
	}
	return nil
}

// renewToken asks for a new token.
func (t *talk) renewToken(ctx context.Context, c *Credentials) (tok Token, err error) {
	if c.Token.Proof != nil {
		if t.proof, err = newProver(c.Token.Proof); err != nil {
			return tok, err
		}
	}
	if t.server.OAuth.ByMachine() {
		return t.grant(ctx, t.at(c, c.TokenURL), &c.Client, c.Token.Scopes, c.Audience)
	}
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {c.Token.Refresh}}
	if c.Audience != "" {
		form.Set("resource", c.Audience)
	}
	return t.token(ctx, t.at(c, c.TokenURL), &c.Client, form)
}

// Refresh gets a new token now, because a person wants one. Its Flow is in Status.
func (a *Authorizer) Refresh(ctx context.Context) error {
	if err := a.checkNoHeader(); err != nil {
		return err
	}
	c, err := a.credentials(ctx)
	if err != nil {
		return err
	}
	machine := a.server.OAuth.ByMachine()
	if !machine && (c == nil || c.Token.Refresh == "") {
		e := &failure.Error{Kind: failure.OAuth, URL: mask.URL(a.server.URL), Stage: "refresh", Message: "there is no login to refresh", Next: "log in", Remedy: failure.LogIn}
		if c != nil && c.Token.Access != "" {
			e.Message, e.Next = "the authorization server gave no refresh token", "log in again"
		}
		return e
	}
	f, ch, done, err := a.start()
	if err != nil {
		return err
	}
	defer done()
	t, used := a.talk(f, nil), ""
	if c != nil {
		used = c.Token.Access
	}
	get := t.renew
	if machine {
		get = func(ctx context.Context) error { return t.login(ctx, ch, LoginOptions{}) }
	} else {
		f.begin(StepRefresh)
	}
	err = a.renewOnce(ctx, used, get)
	f.end(Done, err)
	if err != nil {
		return t.loginError(err)
	}
	return nil
}
