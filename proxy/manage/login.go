package manage

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/auth/browser"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// loginTime is how long a login waits for its browser.
const loginTime = 10 * time.Minute

// login is one that runs, or that is over and was not completed yet.
type login struct {
	flow, server string
	redirect     string // that was asked for; "" for one of the router's own
	ends         time.Time
	pasted       chan string // what callers bring back
	refused      chan error  // why that is not it
	done         chan struct{}
	err          error // once done is closed
	cancel       context.CancelFunc

	mu    sync.Mutex
	page  browser.Page  // to open now; none yet without a URL
	shown chan struct{} // closed when another page takes its place
}

// show takes a page to open: the first one, or another one when the authorization server wants the browser once more.
func (l *login) show(page browser.Page) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.page = page
	close(l.shown)
	l.shown = make(chan struct{})
}

// open is the page to open, once there is one or the login is over, and what is closed when it is another one.
func (l *login) open(ctx context.Context) (page browser.Page, another <-chan struct{}, err error) {
	for {
		l.mu.Lock()
		page, another = l.page, l.shown
		l.mu.Unlock()
		if page.URL != "" || l.over() {
			return page, another, nil
		}
		select {
		case <-another:
		case <-l.done:
		case <-ctx.Done():
			return page, nil, ctx.Err()
		}
	}
}

// person is whoever talks to the socket: one request shows the URL, another one brings the browser back.
type person struct {
	browser.Person
	redirect string
}

// Expect prefers the redirect that was asked for.
func (p *person) Expect(ctx context.Context, redirect string) (auth.Visit, error) {
	if p.redirect != "" {
		redirect = p.redirect
	}
	return p.Person.Expect(ctx, redirect)
}

// stringsOf reads a body whose members are texts; others are an error.
func stringsOf(body []byte, known map[string]*string) (err error) {
	walk := jsonrpc.Members(body, func(key string, v []byte) bool {
		to := known[key]
		if to == nil {
			err = usageError(http.StatusBadRequest, "unknown member %q", clip(key))
			return false
		}
		var ok bool
		if *to, ok = jsonrpc.String(v); !ok || *to == "" {
			err = usageError(http.StatusBadRequest, "%s must be a text", key)
		}
		return err == nil
	})
	return errors.Join(err, walk)
}

// startLogin implements StartMcpOAuth. A login that runs already is answered once more: there is one at a time for each server.
func (s *Server) startLogin(ctx context.Context, body []byte) ([]byte, error) {
	var name, redirect string
	if err := stringsOf(body, map[string]*string{"name": &name, "redirect_uri": &redirect}); err != nil {
		return nil, err
	}
	if name == "" {
		return nil, usageError(http.StatusBadRequest, `name of the server missing: {"name":"…"}`)
	}
	l, err := s.begin(name, redirect)
	if err != nil {
		return nil, err
	}
	page, _, err := l.open(ctx)
	if err != nil {
		return nil, err
	}
	if page.URL == "" && l.err != nil {
		s.forget(l)
		return nil, s.explainLogin(l)
	}
	return encode(struct {
		Name      string    `json:"name"`
		Flow      string    `json:"flow"`
		URL       string    `json:"authorization_url,omitempty"` // "" for a grant that needs no browser: the login is over
		Redirect  string    `json:"redirect_uri,omitempty"`
		Listening bool      `json:"listening"` // the router waits at the redirect; else CompleteMcpOAuth needs what comes there
		Expires   time.Time `json:"expires"`
	}{name, l.flow, page.URL, page.Redirect, page.Listens, l.ends.UTC().Truncate(time.Second)})
}

// begin is the login that runs at a server, or a new one.
func (s *Server) begin(name, redirect string) (*login, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	route, err := s.loginRoute(name)
	if err != nil {
		return nil, err
	}
	if l := s.logins[name]; l != nil && !l.over() {
		if redirect != "" && redirect != l.redirect {
			return nil, usageError(http.StatusConflict, "a login at %s with another redirect_uri is under way; it ends at %s", name, l.ends.UTC().Format(time.RFC3339))
		}
		return l, nil
	}
	if s.life.Err() != nil {
		return nil, failureOf(failure.Interrupted, name, "the router is stopping")
	}
	l := &login{
		flow: rand.Text(), server: name, redirect: redirect, ends: time.Now().Add(loginTime),
		shown: make(chan struct{}), pasted: make(chan string), refused: make(chan error), done: make(chan struct{}),
	}
	ctx, cancel := context.WithDeadline(s.life, l.ends)
	l.cancel = cancel
	p := &person{redirect: redirect, Person: browser.Person{
		Elsewhere: redirect != "",
		Show:      l.show,
		Paste: func(ctx context.Context) (string, error) {
			select {
			case text := <-l.pasted:
				return text, nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		},
		Note: func(err error) {
			select {
			case l.refused <- err:
			case <-ctx.Done():
			}
		},
	}}
	a := s.o.Router.Authorizer(route)
	s.logins[name] = l
	s.done.Go(func() {
		defer cancel()
		l.err = a.Login(ctx, p, auth.LoginOptions{})
		if errors.Is(l.err, context.DeadlineExceeded) {
			l.err = &failure.Error{Kind: failure.Timeout, Message: "nobody came back from the browser in time", Next: "start the login again"}
		}
		s.mu.Lock()
		if v := s.known[name]; l.err == nil && v != nil && v.state == session.NeedsLogin {
			v.state, v.err = session.Disconnected, nil
		}
		s.mu.Unlock()
		close(l.done)
		s.o.Logger.Info("login over", "agent", name, "ok", l.err == nil)
	})
	return l, nil
}

// loginRoute is the route of a server at which one can log in. s.mu is held.
func (s *Server) loginRoute(name string) (*routes.Route, error) {
	route := s.o.Router.Routes().Routes[name]
	if v := s.known[name]; route == nil && v != nil {
		route = v.route
	}
	switch {
	case route == nil:
		return nil, notFound(name)
	case route.URL == nil && route.Command == "":
		return nil, usageError(http.StatusConflict, "%s has no url and no command: nobody logs in there", name)
	case route.OAuth == nil && route.Command != "":
		return nil, usageError(http.StatusConflict, "the route of %s has no oauth; add one with auth_url and token_url to log in for it", name)
	case route.OAuth == nil:
		return nil, usageError(http.StatusConflict, "the route of %s has no oauth; add \"oauth\": {} to log in there", name)
	}
	return route, nil
}

func (l *login) over() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// completeLogin implements CompleteMcpOAuth: it takes what the browser brought back, or waits until the router's own listener
// has it, and connects the server.
func (s *Server) completeLogin(ctx context.Context, body []byte) ([]byte, error) {
	var name, flow, callback, code, state, iss string
	err := stringsOf(body, map[string]*string{"name": &name, "flow": &flow, "callback_url": &callback, "code": &code, "state": &state, "iss": &iss})
	switch {
	case err != nil:
		return nil, err
	case callback != "" && code+state+iss != "", (code == "") != (state == ""), iss != "" && code == "":
		return nil, usageError(http.StatusBadRequest, "give callback_url, or code and state, or none where the router listens")
	}
	l := s.findLogin(name, flow)
	if l == nil {
		return nil, failureOf(failure.ServerNotFound, name, "no login is under way; StartMcpOAuth starts one")
	}
	if code != "" {
		q := url.Values{"code": {code}, "state": {state}}
		if iss != "" {
			q.Set("iss", iss)
		}
		callback = "?" + q.Encode()
	}
	_, another, err := l.open(ctx)
	if err == nil && callback != "" {
		err = l.submitCallback(ctx, callback, another)
	}
	if err != nil {
		return nil, err
	}
	select {
	case <-l.done:
	case <-another:
		return nil, usageError(http.StatusConflict, "the authorization server wants the browser once more; StartMcpOAuth has the new URL")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	s.forget(l)
	if l.err != nil {
		return nil, s.explainLogin(l)
	}
	named, err := encode(map[string]string{"name": l.server})
	if err != nil {
		return nil, err
	}
	return s.connect(ctx, named)
}

// submitCallback hands over what the browser came back with; an error says why it is not that of this login, which goes on. What was handed
// over is waited for, even if nobody waits for the answer any more: else a refusal would stay, and nobody could bring another.
func (l *login) submitCallback(ctx context.Context, callback string, another <-chan struct{}) error {
	select {
	case l.pasted <- callback:
	case <-l.done:
		return nil
	case <-another:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-l.refused:
		return usageError(http.StatusBadRequest, "%v", err)
	case <-l.done:
		return nil
	case <-another:
		return nil
	}
}

// findLogin returns the login at a server, or of this flow.
func (s *Server) findLogin(name, flow string) *login {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.logins {
		if name+flow != "" && (name == "" || l.server == name) && (flow == "" || l.flow == flow) {
			return l
		}
	}
	return nil
}

// forget lets go of a login that is over.
func (s *Server) forget(l *login) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.logins[l.server] == l {
		delete(s.logins, l.server)
	}
}

// endLogin cancels the login at a server, if there is one.
func (s *Server) endLogin(name string) {
	s.mu.Lock()
	l := s.logins[name]
	delete(s.logins, name)
	s.mu.Unlock()
	if l != nil {
		l.cancel()
		<-l.done
	}
}

// explainLogin is the error of a login that failed.
func (s *Server) explainLogin(l *login) error {
	s.mu.Lock()
	route, err := s.loginRoute(l.server)
	s.mu.Unlock()
	if err != nil {
		return err // it is gone meanwhile
	}
	if errors.Is(l.err, context.Canceled) {
		return failureOf(failure.Interrupted, l.server, "the login was cancelled")
	}
	return explain(l.err, route, "")
}
