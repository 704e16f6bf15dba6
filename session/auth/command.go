package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/diagnosis"
)

// ofCommand is what the resources of commands begin with.
const ofCommand = "command:"

// ResourceOf is what the login for a server is kept under: its URL, or a command's name with a hash of what it runs and of where the
// login is, so that a changed command is not given what another one got; "" where there is none.
func ResourceOf(s config.Server) string {
	if u, _, err := config.Endpoint(s.URL); s.URL != "" && err == nil {
		return Resource(u)
	}
	if !s.NeedsToken() {
		return ""
	}
	pinned := ""
	if s.Source.NeedsTrust() {
		pinned = s.Source.File + "\x00" + s.Fingerprint()
	}
	o, name := s.OAuth, s.Name
	if s.Given != "" {
		name = s.Given
	}
	b, err := json.Marshal([]any{name, s.Command, append([]string{}, s.Args...), s.Cwd, o.AuthURL, o.TokenURL, o.MetadataURL, o.ClientID, pinned})
	if err != nil { // texts only: cannot happen
		return ""
	}
	sum := sha256.Sum256(b)
	return ofCommand + url.PathEscape(text.Clip(name, 100)) + "#" + hex.EncodeToString(sum[:8])
}

// Given is a server as it is started: a command that needs a token has one that is good now in its environment. A nil Authorizer is
// one where nobody logs in.
func (a *Authorizer) Given(ctx context.Context, cfg config.Server) (config.Server, error) {
	if err := cfg.CheckToken(); err != nil { // what the command line added was not judged before
		return cfg, &failure.Error{Kind: failure.Usage, Stage: "configuration", Message: err.Error(), Next: "correct the entry, or what was added to its environment", Err: err}
	}
	switch {
	case !cfg.NeedsToken():
		return cfg, nil
	case a == nil:
		return cfg, &failure.Error{Kind: failure.OAuth, Stage: "authorizing", Message: "the command is started with the token of a login, and nobody logs in here", Next: "log in with mcphud auth login"}
	}
	token, err := a.startToken(ctx)
	if err != nil {
		return cfg, err
	}
	return cfg.WithToken(token), nil
}

// startToken is the token that a command is started with. It cannot be renewed while the command runs, so that is done before, unless
// the greater part of its time is left.
func (a *Authorizer) startToken(ctx context.Context) (string, error) {
	c, err := a.credentials(ctx)
	if err != nil {
		return "", err
	}
	if a.adopt(ctx) {
		c = a.creds.Load()
	} else if c != nil && a.dropForgotten(ctx, c) {
		c = nil
	}
	machine, used := a.server.OAuth.ByMachine(), ""
	if c != nil {
		used = c.Token.Access
	}
	switch now := a.opts.Now(); {
	case machine && (used == "" || a.expiresSoon(c, now)):
		err = a.renewOnce(ctx, used, func(ctx context.Context) error { return a.obtain(ctx, nil) })
	case used != "" && c.Token.Refresh != "" && a.expiresSoon(c, now):
		err = a.renewAhead(ctx, c)
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if c = a.creds.Load(); c != nil && c.Token.Access != "" && !a.refusedBefore(c) && !c.isExpired(a.opts.Now()) {
		return c.Token.Access, nil // also where it could not be renewed now
	}
	return "", a.noToken(c, err)
}

// expiresSoon reports whether the token in c is to be renewed before a start.
func (a *Authorizer) expiresSoon(c *Credentials, now time.Time) bool {
	if a.refusedBefore(c) {
		return !a.refusesNew(c) // another one would be refused as well
	}
	left, life := c.Token.Expires.Sub(now), c.Token.Expires.Sub(c.Token.Obtained)
	return c.Token.Expires.IsZero() || left < life/2
}

// refusedBefore reports whether a command said that the token is not good.
func (a *Authorizer) refusedBefore(c *Credentials) bool {
	bad := a.badToken.Load()
	return bad != nil && *bad == c.Token.Access
}

// isExpired reports whether the token has expired.
func (c *Credentials) isExpired(now time.Time) bool {
	return !c.Token.Expires.IsZero() && !now.Before(c.Token.Expires)
}

// noToken is the error of a command that cannot be started for want of a token; err is why it was not renewed, nil if nobody tried.
func (a *Authorizer) noToken(c *Credentials, err error) error {
	e := &failure.Error{
		Kind: failure.OAuth, Stage: "authorizing", Message: "the server needs a login", Next: "log in", Remedy: failure.LogIn,
		Object: a.server.Name, URL: mask.URL(a.place()),
	}
	ended, r := a.ended.Load(), (*Refusal)(nil)
	a.mu.Lock()
	unread := a.unread
	a.mu.Unlock()
	switch {
	case a.server.OAuth.ByMachine() && err != nil:
		return err
	case c == nil && unread != nil:
		e.Detail = unreadableText(unread)
	case ended != nil:
		e.Message, e.Detail, e.Next = "the login has ended", *ended, "log in again"
	case c == nil || c.Token.Access == "":
	case errors.As(err, &r):
		e.Message, e.Detail, e.Next = "the token could not be renewed", text.Clip(err.Error(), 400), "log in again"
	case err != nil: // the authorization server is away, which a login would not change
		e.Message, e.Next, e.Remedy = "the token has expired", "try again later, or log in again", ""
		if a.refusedBefore(c) {
			e.Message = "the server says that its token is not good"
		}
		e.Message += ", and could not be renewed: " + text.Clip(err.Error(), 400)
	case a.refusedBefore(c):
		e.Message, e.Next = "the server says that its token is not good", "log in again"
	default:
		e.Message, e.Next = "the token has expired, and the authorization server gave nothing to renew it with", "log in again"
	}
	a.wanted.Store(e.Remedy == failure.LogIn)
	return e
}

// place is where the login is, as the configuration has it.
func (a *Authorizer) place() string {
	o := a.server.OAuth
	for _, s := range []string{o.AuthURL, o.TokenURL, o.MetadataURL} {
		if s != "" {
			return s
		}
	}
	return ""
}

// Started takes in how a command came up that was Given a token: nil, or why it did not. It reports whether it is worth starting once
// more, with a token that was renewed since the first one was refused; else the error says what Judge does. A nil Authorizer gives err back.
//
// No protocol has a command say that its token is not good: it exits, and its stderr is looked through (diagnosis.TokenRefused).
func (a *Authorizer) Started(ctx context.Context, cfg config.Server, err error) (again bool, _ error) {
	if a == nil || !cfg.NeedsToken() {
		return false, err
	}
	c := a.creds.Load()
	untried := a.refusesNew(c)
	judged, refused := a.Judge(err)
	if !refused {
		return false, judged
	}
	if !untried && (c.Token.Refresh != "" || a.server.OAuth.ByMachine()) {
		if _, bad := a.startToken(ctx); bad == nil {
			return true, judged
		}
	}
	return false, judged
}

// Judge takes in how a command came up: nil, or why it did not. It is the same error, or what that is for whoever logs in, where the
// command says that its token is not good: that token is renewed before the next start.
func (a *Authorizer) Judge(err error) (_ error, refused bool) {
	a.mu.Lock()
	f := a.flow
	a.mu.Unlock()
	if err == nil {
		a.wanted.Store(false)
		a.fresh.Store(false)
		if f != nil {
			f.finish(StepRetry, Done, nil)
		}
		return nil, false
	}
	e, c := (*failure.Error)(nil), a.creds.Load()
	if !errors.As(err, &e) || e.Kind == failure.OAuth || c == nil {
		return err, false
	}
	said := diagnosis.TokenRefused(append(strings.Split(e.Detail, "\n"), e.Message))
	if said == "" {
		return err, false
	}
	a.badToken.Store(&c.Token.Access)
	hide := strings.NewReplacer(c.Token.Access, mask.Hidden)
	n := *e
	n.Kind, n.Message, n.Detail = failure.OAuth, hide.Replace(e.Message), hide.Replace(e.Detail)
	n.Reason = "the server says that its token is not good: " + hide.Replace(said)
	n.Next, n.Remedy, n.Object = "log in again; if that does not help, it may want a token of another kind", failure.LogIn, a.server.Name
	if a.server.OAuth.ByMachine() {
		n.Next, n.Remedy = "ask whoever runs the authorization server what this client may do", ""
	}
	a.wanted.Store(n.Remedy == failure.LogIn)
	if f != nil {
		f.finish(StepRetry, Failed, &n)
	}
	a.change()
	return &n, true
}

// Wanted reports whether nothing goes on here until somebody logs in.
func (a *Authorizer) Wanted() bool { return a.wanted.Load() || a.Refused() != nil }

// commandType is the type of a token that is a command's business, such as Slack's "bot".
func commandType(said string) string {
	if plainType.MatchString(said) {
		return said
	}
	return "Bearer"
}

// plainType matches a token_type that can be shown as it is.
var plainType = regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`)
