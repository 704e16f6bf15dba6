package auth

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
)

// noteAccepted notes that the server took a request, with whatever token that had.
func (a *Authorizer) noteAccepted(req *http.Request, resp *http.Response) {
	if resp.StatusCode < 400 && a.unmet.Load() && bearer(req) != "" {
		a.unmet.Store(false)
		a.change()
	}
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

// untakenFor is how long a token that the server has never taken is held to be one that it does not take.
const untakenFor = time.Minute

// refusesNew reports whether the server refuses a token that is new, as it would another one. One that is older may have ended,
// although the server took no request with it: it may have refused them all for another reason.
func (a *Authorizer) refusesNew(c *Credentials) bool {
	return a.fresh.Load() && (c == nil || a.opts.Now().Sub(c.Token.Obtained) < untakenFor)
}

// errNobody says that only a person can get a better token.
var errNobody = errors.New("a login is needed")

// recover gets a better token after a refusal, where that needs nobody.
func (a *Authorizer) recover(req *http.Request, ch *Challenge) (again bool, err error) {
	ctx, used := req.Context(), bearer(req)
	err = a.renewOnce(ctx, used, func(ctx context.Context) error {
		c := a.creds.Load()
		switch {
		case a.adopt(ctx):
			return nil
		case a.server.OAuth.ByMachine():
			if used != "" && a.refusesNew(c) {
				return a.notTaken(ch)
			}
			return a.obtain(ctx, ch)
		case ch.Status != http.StatusUnauthorized || c == nil || c.Token.Refresh == "" || a.refusesNew(c):
			return errNobody // another token of the same kind would be refused as well
		}
		return a.talk(nil, nil).renew(ctx)
	})
	if err == nil {
		return true, nil
	}
	a.change()
	var e *failure.Error
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case errors.Is(err, errNobody) || a.ended.Load() != nil:
		return false, nil
	case !errors.As(err, &e):
		why := "cannot refresh the token: " + err.Error()
		if errors.As(a.needsLogin(ch), &e) {
			e.Detail = text.Clip(strings.TrimSpace(e.Detail+"\n"+why), 400)
		}
	case !a.server.OAuth.ByMachine():
		later := *e
		later.Stage, later.Message = "authorizing", "the token cannot be refreshed: "+e.Message
		e = &later
	}
	return false, e
}

// notTaken is the error of a token that was got for what the server asked for.
func (a *Authorizer) notTaken(ch *Challenge) error {
	return &failure.Error{
		Kind: failure.OAuth, Status: ch.Status, URL: mask.URL(a.server.URL), Stage: "authorizing", Message: "the server does not take the token that it asked for",
		Next: "ask its operator what this client may do", Detail: text.Clip(mask.Text(strings.TrimSpace(ch.Error+" "+ch.Describe)), 400),
	}
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
