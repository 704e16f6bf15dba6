package proxy

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
)

// authorizing sends requests with the token of a login, over Streamable HTTP; HTTP+SSE has the authorizer in its transport.
type authorizing struct {
	flow.Upstream
	auth *auth.Authorizer
}

// maxAttempts is how often a request is sent, each time with better credentials.
const maxAttempts = 3

// RoundTrip sends a request, and once more when a refused token was replaced.
func (u *authorizing) RoundTrip(r *http.Request) (*http.Response, error) {
	for attempt := 1; ; attempt++ {
		if err := u.auth.Authorize(r); err != nil {
			return nil, err
		}
		res, err := u.Upstream.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		again, err := u.auth.Answered(r, res)
		if err == nil && (!again || attempt == maxAttempts) {
			return res, nil
		}
		_, _ = io.CopyN(io.Discard, res.Body, maxRefusal) // so that its connection can be used again
		_ = res.Body.Close()
		if err != nil {
			return nil, err
		}
		next := r.Clone(r.Context())
		if r.GetBody != nil {
			if next.Body, err = r.GetBody(); err != nil {
				return nil, err
			}
		}
		r = next
	}
}

// authorized is an agent that wants a login. That of a caller is for the router, and goes no further.
type authorized struct {
	flow.Upstream
	agent  string // its name
	log    *slog.Logger
	said   atomic.Bool // that it needs a login: once until a request succeeds
	forget func()      // takes its authorizer out of Router.logins
}

// RoundTrip sends a request. What only a person can help is said in words for callers: a 401 would be about their own tokens.
func (u *authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := u.Upstream.RoundTrip(r)
	var e *failure.Error
	if err == nil {
		u.said.Store(false)
		return res, nil
	}
	if !errors.As(err, &e) || e.Kind != failure.OAuth {
		return nil, err
	}
	f := &jsonrpc.RequestError{
		Kind: jsonrpc.KindOAuth, Status: http.StatusBadGateway, Err: err,
		Message: "Agent '" + u.agent + "' cannot be used: " + mask.Text(e.Message),
	}
	if e.Remedy == failure.LogIn {
		if u.said.CompareAndSwap(false, true) {
			u.log.Warn("agent needs a login: StartMcpOAuth starts one", "agent", u.agent, "url", e.URL, "error", mask.Text(e.Message))
		}
		f.Message = "Agent '" + u.agent + "' needs a login: " + mask.Text(e.Message) + "; whoever runs the router has to log in there"
	}
	return nil, f
}

// Close ends the way to the agent.
func (u *authorized) Close() error {
	u.forget()
	return u.Upstream.Close()
}

// authorizer has the credentials for an agent in force; nil for one that needs none.
func (r *Router) authorizer(agent string) *auth.Authorizer {
	a, _ := r.logins.Load(agent)
	found, _ := a.(*auth.Authorizer)
	return found
}

// LoginStatus is about the login at an agent, as /status shows it. It has no secrets.
type LoginStatus struct {
	State   string     `json:"state"` // "logged in", "logged out", or "needs login" when the agent refused the last request
	Issuer  string     `json:"issuer,omitempty"`
	Scopes  []string   `json:"scopes,omitempty"`
	Expires *time.Time `json:"expires,omitempty"` // of the token; it may be refreshed by itself
	Refresh bool       `json:"refresh"`           // there is a refresh token
	Where   string     `json:"where,omitempty"`   // credentials are kept; for those who may call all agents
}

// needsLogin is a state of /status, of an agent and of its login.
const needsLogin = "needs login"

// login is the state of the login at an agent, nil for one that needs none.
func (r *Router) login(route *routes.Route) *LoginStatus {
	a := r.authorizer(route.Name)
	if a == nil {
		return nil
	}
	st := a.Status()
	l := &LoginStatus{State: "logged out", Issuer: mask.URL(st.Issuer), Scopes: st.Scopes, Refresh: st.Refresh, Where: st.Where}
	switch {
	case a.Wanted():
		l.State = needsLogin
	case st.LoggedIn:
		l.State = "logged in"
	}
	if !st.Expires.IsZero() {
		at := st.Expires.UTC()
		l.Expires = &at
	}
	return l
}
