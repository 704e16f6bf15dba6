package auth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
)

// LoginOptions is what a person wants of a login.
type LoginOptions struct {
	Other bool // log in as somebody else: the authorization server is asked to show its own login
}

// Login gets a token with the help of a person, for what the server last refused. It ends with ctx. Only one runs at a time.
//
// Afterwards the token is in use and kept, but whether the server takes it only the next request tells: the step StepRetry runs until then. Errors
// are *failure.Error of stage "login", which wrap a *Violation or a *Refusal where there was one; those of ctx are as they are.
func (a *Authorizer) Login(ctx context.Context, p Person, o LoginOptions) error {
	if err := a.checkNoHeader(); err != nil {
		return err
	}
	f, ch, done, err := a.start()
	if err != nil {
		return err
	}
	defer done()
	t := a.talk(f, p)
	if err := t.login(ctx, ch, o); err != nil {
		f.end(Failed, err)
		return t.loginError(err)
	}
	f.begin(StepRetry)
	return nil
}

// start makes the flow that is shown from now on, for what the server last refused. Only one runs at a time, until done.
func (a *Authorizer) start() (f *Flow, ch *Challenge, done func(), err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.running {
		return nil, nil, nil, &failure.Error{Kind: failure.OAuth, URL: mask.URL(a.server.URL), Message: "a login at this server is under way already", Next: "finish or cancel that one"}
	}
	a.running = true
	a.flow = newFlow(a.opts.Now, a.change)
	return a.flow, a.challenge, func() {
		a.mu.Lock()
		a.running = false
		a.mu.Unlock()
		a.change()
	}, nil
}

// talk makes what a flow talks with; f is nil where nobody looks.
func (a *Authorizer) talk(f *Flow, p Person) *talk {
	if f == nil {
		f = newFlow(a.opts.Now, func() {})
	}
	t := &talk{Authorizer: a, flow: f, person: p, near: a.configuredHosts()}
	if c := a.creds.Load(); c != nil {
		if u, err := url.Parse(c.TokenURL); err == nil {
			t.near[u.Host] = true // whoever logged in there was asked
		}
	}
	return t
}

// loginError is the error of a login: what happened, and whether a clock is to blame.
func (t *talk) loginError(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var e *failure.Error
	if !errors.As(err, &e) {
		e = &failure.Error{Kind: failure.OAuth, URL: mask.URL(t.server.URL), Message: err.Error(), Err: err}
	} else {
		c := *e
		e = &c
	}
	if steps := t.flow.Steps(); t.guess && len(steps) > 0 && steps[len(steps)-1].Name == StepRegister {
		e = t.noLogin(err)
		shown := *e
		shown.Stage = "login"
		t.flow.step(func(s *Step) { s.Err, s.Broken = &shown, nil }) // nobody said that there is an authorization server, so none broke a rule
	}
	e.Stage = "login"
	if e.Next == "" {
		e.Next = nextStep(err)
		if t.server.OAuth.ByMachine() && violation(err) == nil && !isRefusal(err, "access_denied") {
			e.Next = "check what the authorization server knows of this client"
		}
	}
	if t.skew.Abs() > wrongClock {
		e.Detail = strings.TrimSpace(e.Detail + "\n" + clockIsOff(t.skew, "the authorization server"))
		e.Next = "set the clock of this machine, then log in again"
	}
	return e
}

func clockIsOff(skew time.Duration, by string) string {
	return fmt.Sprintf("the clock here is off by %s, as %s sees it", text.Duration(skew.Abs()), by)
}

// nextStep is what the user can do about a login that failed.
func nextStep(err error) string {
	if v := violation(err); v != nil {
		switch v.By {
		case ByServer:
			return "report it to the server's author"
		case ByIssuer:
			return "report it to whoever runs the authorization server"
		case ByUser:
			return "correct the configuration, then log in again"
		}
	}
	if isRefusal(err, "access_denied") {
		return "log in again, and allow it"
	}
	return "log in again"
}

// noLogin is the error of a server that wants credentials of another kind, as far as one can see.
func (t *talk) noLogin(err error) *failure.Error {
	if t.open {
		return &failure.Error{Kind: failure.OAuth, URL: mask.URL(t.server.URL), Err: err, Message: "the server does not ask for a login, and names no authorization server", Next: "use it without a login"}
	}
	return &failure.Error{
		Kind: failure.OAuth, URL: mask.URL(t.server.URL), Err: err, Message: "the server wants credentials, and nothing says where to get them by a login",
		Next: `give credentials, such as an "Authorization: Bearer …" header`, Remedy: failure.GiveHeader,
	}
}

// Discover goes through the steps of a login that need nobody and leave nothing behind: what the server and its authorization
// server say of themselves. The flow is there with an error, too.
func (a *Authorizer) Discover(ctx context.Context, p Person) (*Flow, error) {
	a.mu.Lock()
	ch := a.challenge
	a.mu.Unlock()
	t := a.talk(newFlow(a.opts.Now, func() {}), p)
	d, err := t.discover(ctx, ch)
	if err == nil {
		t.flow.begin(StepRegister)
		if !a.server.OAuth.ByMachine() {
			err = d.server.forBrowsers()
		}
		if err == nil {
			t.flow.note("%s", t.identity(d.server))
			t.flow.end(Done, nil)
		}
	}
	if err != nil {
		t.flow.end(Failed, err)
		return t.flow, t.loginError(err)
	}
	return t.flow, nil
}

// identity says how the authorization server would know us.
func (t *talk) identity(m *Metadata) string {
	switch o := t.server.OAuth; {
	case o.LogsInAt() != "":
		return "a token would be got by the grant " + o.Grant + ", by a login at the identity provider " + mask.URL(o.LogsInAt())
	case o.ByMachine():
		return "a token would be got by the grant " + o.Grant + ", without a person"
	case o != nil && o.ClientID != "":
		return "a login would use the client_id of the configuration"
	case t.opts.Document != "" && m.TakesDocuments:
		return "a login would use the metadata document " + t.opts.Document
	case m.Register != "":
		return "a login would register at " + mask.URL(m.Register)
	}
	return "the authorization server takes registered clients only: a client_id is needed in the configuration"
}

// discovery is what was found out before a login.
type discovery struct {
	server   *Metadata // of the authorization server
	key      Key       // that credentials are kept under
	scopes   []string  // to ask for; none leaves it to the authorization server
	audience string    // for the parameter resource; "" for none
	bound    bool      // tokens have to be bound to a key
}

// login goes through the steps.
func (t *talk) login(ctx context.Context, ch *Challenge, o LoginOptions) error {
	d, err := t.discover(ctx, ch)
	if err != nil {
		return err
	}
	if t.server.OAuth.ByMachine() {
		t.other = o.Other
		return t.machine(ctx, d)
	}
	return t.code(ctx, d, o)
}

// static reports whether the configuration names the endpoints.
func (a *Authorizer) static() bool {
	o := a.server.OAuth
	return o != nil && o.TokenURL != "" && (o.AuthURL != "" || o.ByMachine())
}

// discover finds the authorization server: as the configuration names its endpoints, or its metadata; else as the server names it (RFC 9728); else,
// as in revision 2025-03-26, at the server's own origin.
func (t *talk) discover(ctx context.Context, ch *Challenge) (*discovery, error) {
	t.flow.begin(StepResource)
	var (
		res *resourceMetadata
		m   *Metadata
		err error
	)
	if t.static() {
		t.flow.note("the configuration names the endpoints")
		t.flow.end(Skipped, nil)
		t.flow.begin(StepServer)
		m = &Metadata{Issuer: cmp.Or(t.server.OAuth.AuthURL, t.server.OAuth.TokenURL), Authorize: t.server.OAuth.AuthURL, Token: t.server.OAuth.TokenURL, Challenges: []string{"S256"}, unnamed: true}
		if err := t.checkEndpoints(ctx, m); err != nil {
			return nil, err
		}
		t.flow.end(Skipped, nil)
	} else if at := t.metadataURL(); at != "" {
		t.flow.note("the configuration names the authorization server's metadata")
		t.flow.end(Skipped, nil)
		t.flow.begin(StepServer)
		if m, err = t.metadata(ctx, at); err == nil {
			err = t.replace(ctx, m)
		}
		if err != nil {
			return nil, err
		}
		t.flow.end(Done, nil)
	} else if t.url == nil {
		return nil, &Violation{ByUser, "RFC 6749 section 3", "a command needs auth_url and token_url, or metadata_url, in its oauth block"}
	} else {
		if ch == nil {
			if ch, err = t.probe(ctx); err != nil {
				return nil, err
			}
		}
		if res, err = t.resource(ctx, ch); err != nil {
			return nil, err
		}
		t.flow.end(Done, nil)
		t.flow.begin(StepServer)
		if res == nil || len(res.Servers) == 0 {
			m, err = t.legacy(ctx)
		} else {
			if len(res.Servers) > 1 {
				t.flow.note("%d authorization servers are named; the first one is asked", len(res.Servers))
			}
			m, err = t.issuer(ctx, res.Servers[0])
		}
		if err == nil {
			err = t.replace(ctx, m)
		}
		if err != nil {
			return nil, err
		}
		t.flow.end(Done, nil)
	}
	if !t.guess {
		t.flow.edit(func() { t.flow.issuer = m.Issuer })
	}
	key := Key{t.keptAs, m.Issuer}
	scopes := t.scopes(ch, res, m, key)
	if size := len(strings.Join(scopes, " ")); size > maxScopes {
		return nil, &Violation{ByServer, "RFC 6749 section 3.3", fmt.Sprintf("it asks for %d scopes of %s, more than fit into the URL of a login", len(scopes), text.Bytes(int64(size)))}
	}
	return &discovery{m, key, scopes, t.audience(res), t.bound(ch, res, m)}, nil
}

// maxScopes bounds the scopes of a login, in bytes.
const maxScopes = 16 << 10

// offline is the scope that brings a refresh token (OpenID Connect Core 1.0 section 11).
const offline = "offline_access"

// audience is what requests name as the resource (RFC 8707); "" for a command, which has no URI.
func (t *talk) audience(res *resourceMetadata) string {
	switch {
	case t.url == nil:
		return ""
	case res != nil:
		return res.Resource
	}
	return t.keptAs
}

// scopes are those to ask for: what the server's challenge names, else what the configuration does, else all that the resource knows, else none.
// A step-up adds to those that were granted. offline_access is asked for where it is offered.
func (t *talk) scopes(ch *Challenge, res *resourceMetadata, m *Metadata, key Key) (scopes []string) {
	o := t.server.OAuth
	switch {
	case ch != nil && len(ch.Scopes) > 0:
		scopes = slices.Clone(ch.Scopes)
		if o != nil {
			scopes = union(o.Scopes, scopes)
		}
	case o != nil && len(o.Scopes) > 0:
		scopes = slices.Clone(o.Scopes)
	case res != nil:
		scopes = slices.Clone(res.Scopes)
	}
	if c := t.creds.Load(); c != nil && c.Key == key && ch.StepUp() {
		scopes = union(c.Token.Scopes, scopes)
	}
	if slices.Contains(m.Scopes, offline) && (len(m.Grants) == 0 || slices.Contains(m.Grants, "refresh_token")) {
		scopes = union(scopes, []string{offline})
	}
	return scopes
}

// probe asks the server without a token, to hear what it wants.
func (t *talk) probe(ctx context.Context) (*Challenge, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, t.url.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/event-stream")
	r, err := t.send(req)
	if err != nil {
		return nil, err
	}
	if r.status != http.StatusUnauthorized {
		t.open = true
		t.flow.note("the server does not ask for a login: it answers with %d %s", r.status, http.StatusText(r.status))
		return nil, nil
	}
	return challengeOf(&http.Response{StatusCode: r.status, Header: r.header}), nil
}

// knownClient is what an earlier login left: it is for the same issuer, or nothing.
func (t *talk) knownClient(ctx context.Context, key Key) *Client {
	found, err := t.opts.Store.Find(ctx, key.Resource)
	if err != nil {
		t.flow.note("%s: %s", t.opts.Store.Where(), mask.Text(err.Error()))
	}
	for _, c := range found {
		if c.Key == key && c.Client.Origin == Registered {
			return &c.Client
		}
	}
	return nil
}
