package auth

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/mcphud/mcphud/session/failure"
	"github.com/mcphud/mcphud/session/mask"
	"github.com/mcphud/mcphud/session/text"
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

// recover gets a better token after a refusal, where that needs nobody.
func (a *Authorizer) recover(req *http.Request, ch *Challenge) (again bool, err error) {
	ctx := req.Context()
	c, used := a.creds.Load(), bearer(req)
	switch {
	case c != nil && c.Token.Access != "" && used != c.Token.Access:
		return true, nil // somebody was faster
	case a.adopt(ctx):
		return true, nil
	case a.server.OAuth.ByMachine():
		return a.recoverByMachine(ctx, ch, used)
	case ch.Status != http.StatusUnauthorized || c == nil || c.Token.Refresh == "" || a.fresh.Load():
		return false, nil // another token of the same kind would be refused as well
	}
	if err = a.renew(ctx, used); err == nil {
		return true, nil
	}
	a.change()
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	var e *failure.Error
	if !errors.As(err, &e) {
		if errors.As(a.needsLogin(ch), &e) {
			e.Message, e.Detail, e.Err = "the login has ended", text.Clip(err.Error(), 400), err
		}
		return false, e
	}
	later := *e
	later.Stage, later.Message = "authorizing", "the token cannot be refreshed: "+e.Message
	return false, &later
}

// recoverByMachine gets a token by the grant of the configuration.
func (a *Authorizer) recoverByMachine(ctx context.Context, ch *Challenge, used string) (again bool, err error) {
	if used != "" && a.fresh.Load() {
		e := &failure.Error{
			Kind: failure.OAuth, Status: ch.Status, URL: mask.URL(a.server.URL), Stage: "authorizing", Message: "the server does not take the token that it asked for",
			Next: "ask its operator what this client may do", Detail: text.Clip(mask.Text(strings.TrimSpace(ch.Error+" "+ch.Describe)), 400),
		}
		return false, e
	}
	err = a.once(ctx, used, func(ctx context.Context) error { return a.obtain(ctx, ch) })
	if err != nil {
		a.change()
	}
	return err == nil, err
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
	if c.Token.Proof != nil {
		return a.attachBound(req, c)
	}
	req.Header.Set("Authorization", "Bearer "+c.Token.Access)
	return nil
}
