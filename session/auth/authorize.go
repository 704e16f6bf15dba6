package auth

import (
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
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// ahead is how long before its end a token is refreshed.
const ahead = 30 * time.Second

// New makes the authorizer of a server over HTTP, or of a command that needs a token. Nothing is read or sent before the first request. What a
// machine's grant gives is kept in memory only: the store's credentials for the same URL are a person's.
func New(server config.Server, o Options) *Authorizer {
	people := o.Store
	if o.Store == nil || server.OAuth.ByMachine() { // a person's login at this server is not for the program, nor the other way round
		o.Store = NewMemory()
	}
	if people == nil {
		people = o.Store
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	a := &Authorizer{server: server, opts: o, people: people, helper: newHelper(server, o.helperTimeout), renewing: renewing{busy: make(chan struct{}, 1)}}
	for name := range server.Headers {
		a.given = a.given || strings.EqualFold(name, "Authorization")
	}
	if u, _, err := config.Endpoint(server.URL); err == nil {
		a.url = u
	}
	a.keptAs = ResourceOf(server)
	return a
}

// Kept is the authorizer of whatever has these credentials, to forget them.
func Kept(c Credentials, o Options) *Authorizer {
	a := New(config.Server{Name: c.Resource, URL: c.Resource}, o)
	a.keptAs = c.Resource
	return a
}

// Journal says where exchanges with authorization servers are journalled from now on.
func (a *Authorizer) Journal(tap transport.Tap) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tap = tap
}

// OnChange calls changed after everything that Status and Flow show. It must not block.
func (a *Authorizer) OnChange(changed func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.changed = changed
}

// overHTTP is the scheme of the requests that a scheme stands for: a WebSocket begins with one.
func overHTTP(scheme string) string {
	switch scheme {
	case "ws":
		return "http"
	case "wss":
		return "https"
	}
	return scheme
}

// Resource is the canonical URI of a server (RFC 8707 section 2): scheme and host in lower case, no fragment, no port that the
// scheme has anyhow (RFC 3986 section 6.2.3).
func Resource(u *url.URL) string {
	c := *u
	c.Scheme, c.Host, c.Fragment, c.RawFragment, c.User = overHTTP(strings.ToLower(c.Scheme)), strings.ToLower(c.Host), "", "", nil
	if c.Path == "/" && c.RawQuery == "" {
		c.Path = ""
	}
	if p := c.Port(); p == "443" && c.Scheme == "https" || p == "80" && c.Scheme == "http" {
		c.Host = strings.TrimSuffix(c.Host, ":"+p)
	}
	return c.String()
}

// Authorize implements transport.Authorizer: it attaches the token, refreshed ahead of time. Without one the request goes out as it is, and the
// server says what it wants. An Authorization header of the configuration wins over a login, one that a headers helper printed as well.
func (a *Authorizer) Authorize(req *http.Request) error {
	if a.helper != nil {
		if err := a.helper.set(req); err != nil || a.helper.authorizes() {
			return err
		}
	}
	if a.given {
		return nil
	}
	c, err := a.credentials(req.Context())
	if err != nil || c == nil || c.Token.Access == "" {
		return err
	}
	if c.needsRefresh(a.opts.Now()) && a.canRenew(c) {
		// A server that is down, or refuses, is no reason to keep back a token that may still be good: the answer tells.
		if err := a.renewAhead(req.Context(), c); err != nil && req.Context().Err() != nil {
			return req.Context().Err()
		}
		if c = a.creds.Load(); c == nil {
			return nil
		}
	}
	return a.attach(req, c)
}

// needsRefresh reports whether the token ends so soon that it is better refreshed. One that lives shortly is used for most of its life.
func (c *Credentials) needsRefresh(now time.Time) bool {
	if c.Token.Expires.IsZero() {
		return false
	}
	return now.Add(min(ahead, c.Token.Expires.Sub(c.Token.Obtained)/4)).After(c.Token.Expires)
}

// credentials are what is in use; the first time what the store has, nil for none. A store that cannot be read is an error only where it is known
// to have a login for this server; else the request goes without, and the next one looks again.
func (a *Authorizer) credentials(ctx context.Context) (*Credentials, error) {
	if c := a.creds.Load(); c != nil {
		return c, nil
	}
	a.reading.Lock()
	defer a.reading.Unlock()
	a.mu.Lock()
	loaded := a.loaded
	a.mu.Unlock()
	if loaded || a.keptAs == "" {
		return a.creds.Load(), nil
	}
	found, err := a.opts.Store.Find(ctx, a.keptAs)
	found = slices.DeleteFunc(found, func(c Credentials) bool { return c.Token.ID != "" }) // of the identity provider at this URL, not for it
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && len(found) > 0: // there is a login, which cannot be used now
		return nil, &failure.Error{
			Kind: failure.OAuth, URL: mask.URL(a.server.URL), Stage: "reading the credentials", Err: err,
			Message: unreadableText(err), Next: "unlock it, or log in again", Remedy: failure.LogIn, Object: mask.URL(a.server.URL),
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.unread = err; !a.loaded && len(found) > 0 {
		a.creds.Store(&found[0])
		a.kept.Store(true)
	}
	a.loaded = a.loaded || err == nil // else the next request looks again; a server without a login is not its business
	return a.creds.Load(), nil
}

// unreadableText is an error of the store, for people.
func unreadableText(err error) string {
	return "the credentials cannot be read: " + text.Clip(mask.Text(err.Error()), 400)
}

// Answered implements transport.Authorizer: a refused token is refreshed; what else there is takes a person, and is an error with the remedy
// failure.LogIn. A 403 counts only where it asks for more scopes (RFC 6750 section 3.1). The challenge is kept until a token answers it: Login goes
// by it.
func (a *Authorizer) Answered(req *http.Request, resp *http.Response) (again bool, err error) {
	if a.wantsNonce(req, resp) {
		return true, nil
	}
	given := a.given
	if a.helper != nil {
		if again, err := a.helper.handleResponse(req, resp); again || err != nil {
			return again, err
		}
		given = given || a.helper.authorizes()
	}
	if given || resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
		a.noteAccepted(req, resp)
		return false, nil
	}
	ch := challengeOf(resp)
	if resp.StatusCode == http.StatusForbidden && !ch.StepUp() {
		return false, nil // more credentials of the same kind change nothing
	}
	if again, err = a.recover(req, ch); again {
		return true, nil
	}
	a.mu.Lock()
	a.challenge = ch
	a.unmet.Store(true)
	f := a.flow
	a.mu.Unlock()
	if err != nil {
		return false, err
	}
	err = a.needsLogin(ch)
	if e := (*failure.Error)(nil); errors.As(err, &e) && a.creds.Load() != nil {
		if skew, ok := skewOf(resp.Header, a.opts.Now()); ok && skew.Abs() > wrongClock {
			e.Detail = strings.TrimSpace(e.Detail + "\n" + clockIsOff(skew, "the server"))
		}
	}
	if f != nil {
		f.finish(StepRetry, Failed, err)
	}
	a.change()
	return false, err
}

// needsLogin is the error of a request that only a login helps.
func (a *Authorizer) needsLogin(ch *Challenge) error {
	e := &failure.Error{
		Kind: failure.OAuth, Status: ch.Status, URL: mask.URL(a.server.URL), Stage: "authorizing", Message: fmt.Sprintf("the server wants a login (%d %s)", ch.Status, http.StatusText(ch.Status)),
		Next: "log in", Remedy: failure.LogIn, Object: mask.URL(a.server.URL),
	}
	switch {
	case ch.StepUp():
		e.Message = "the login does not cover this"
		if len(ch.Scopes) > 0 {
			e.Message += ": the server asks for " + text.Clip(strings.Join(ch.Scopes, " "), 200)
		}
		e.Next = "log in again, with more rights"
		if c := a.creds.Load(); c != nil && len(ch.Scopes) > 0 && len(union(c.Token.Scopes, ch.Scopes)) == len(c.Token.Scopes) {
			e.Message += ", which the login has"
			e.Next = "log in as somebody who may do this"
		}
	case a.creds.Load() != nil && a.fresh.Load():
		e.Message = "the server does not take the new token"
		e.Next = "log in again; if that does not help, report it to the server's author"
	case a.creds.Load() != nil:
		e.Message = "the server does not take the token any more"
		e.Next = "log in again"
	}
	a.mu.Lock()
	unread := a.unread
	a.mu.Unlock()
	if unread != nil && a.creds.Load() == nil {
		e.Detail = unreadableText(unread)
	} else if why := a.ended.Load(); why != nil && !ch.StepUp() {
		e.Message, e.Detail = "the login has ended", *why
	} else if ch.Describe != "" {
		e.Detail = text.Clip(mask.Text(ch.Describe), 400)
	}
	return e
}

// union adds scopes, without any twice.
func union(a, b []string) []string {
	all, seen := slices.Clone(a), make(map[string]bool, len(a)+len(b))
	for _, s := range a {
		seen[s] = true
	}
	for _, s := range b {
		if !seen[s] {
			seen[s] = true
			all = append(all, s)
		}
	}
	return all
}
