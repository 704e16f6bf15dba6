package auth

import (
	"context"
	"net/http"
	"net/url"
)

// accepted notes that the server took a request, with whatever token that had.
func (a *Authorizer) accepted(resp *http.Response) {
	if resp.StatusCode >= 400 || !a.fresh.Load() || !a.fresh.CompareAndSwap(true, false) {
		return
	}
	a.mu.Lock()
	f := a.flow
	a.mu.Unlock()
	if f != nil {
		f.finish(StepRetry, Done, nil)
	}
}

// recover gets a better token after a 401, where that needs nobody.
func (a *Authorizer) recover(req *http.Request, _ *Challenge) (again bool, err error) {
	c := a.creds.Load()
	if c == nil || c.Token.Access == "" {
		return false, nil
	}
	used := bearer(req)
	switch {
	case used != c.Token.Access:
		return used != "", nil // somebody was faster
	case a.fresh.Load() || c.Token.Refresh == "":
		return false, nil // another one of the same kind would be refused as well
	}
	if err := a.renew(req.Context(), used); err != nil {
		return false, req.Context().Err() // a login may help
	}
	return true, nil
}

// renew changes the refresh token into a new token, once for all who wait; used is the token that is too old.
func (a *Authorizer) renew(ctx context.Context, used string) error {
	select {
	case a.busy <- struct{}{}:
		defer func() { <-a.busy }()
	case <-ctx.Done():
		return ctx.Err()
	}
	c := a.creds.Load()
	if c == nil || c.Token.Access != used {
		return nil // somebody was faster
	}
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {c.Token.Refresh}}
	if c.Audience != "" {
		form.Set("resource", c.Audience)
	}
	t := a.talk(nil, nil)
	tok, err := t.token(ctx, c.TokenURL, &c.Client, form)
	if err != nil {
		return err
	}
	if tok.Refresh == "" {
		tok.Refresh = c.Token.Refresh
	}
	if tok.Scopes == nil {
		tok.Scopes = c.Token.Scopes
	}
	n := *c
	n.Token = tok
	return a.use(ctx, &n)
}

// bearer is the token of a request, "" for none.
func bearer(req *http.Request) string {
	h := req.Header.Get("Authorization")
	for i := range len(h) {
		if h[i] == ' ' {
			return h[i+1:]
		}
	}
	return ""
}

// attach puts the token into a request.
func (a *Authorizer) attach(req *http.Request, c *Credentials) error {
	req.Header.Set("Authorization", "Bearer "+c.Token.Access)
	return nil
}
