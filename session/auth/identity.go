package auth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
)

// scopeID asks for an ID token (OpenID Connect Core 1.0 section 3.1.2.1).
const scopeID = "openid"

// errNoID says that there is no ID token in an answer.
var errNoID = &Violation{ByIssuer, "OpenID Connect Core 1.0 section 3.1.3.3", "there is no id_token in its answer"}

// IdentityKey is what the login at an identity provider is kept under: it is for all servers that take its word.
func IdentityKey(issuer string) Key {
	k := Key{issuer, issuer}
	if u, err := url.Parse(issuer); err == nil {
		k.Resource = Resource(u)
	}
	return k
}

// keptIdentity is the login at the identity provider that is kept for the client of the configuration, nil for none.
func (a *Authorizer) keptIdentity(ctx context.Context) (*Credentials, error) {
	key := IdentityKey(a.server.OAuth.LogsInAt())
	found, err := a.people.Find(ctx, key.Resource)
	for _, c := range found {
		if c.Key == key && c.Token.ID != "" && c.Client.ID == a.server.OAuth.IDPClientID {
			return &c, nil
		}
	}
	return nil, err
}

// idToken is that of whoever is logged in at the identity provider: the one that is kept, or a new one by its refresh token
// or by a browser. anew is why the one that is kept does not do, nil if it may.
func (t *talk) idToken(ctx context.Context, m *Metadata, client *Client, anew error) (token string, fresh bool, err error) {
	if anew == nil && !t.other {
		if token, err = t.sameIdentity(ctx, m, client); token != "" {
			return token, false, nil
		}
		var r *Refusal
		switch {
		case errors.Is(err, errNoID), errors.As(err, &r): // the login has ended
			anew = err
		case err != nil:
			return "", false, err
		}
	}
	token, err = t.newIdentity(ctx, m, client, anew)
	return token, true, err
}

// sameIdentity is an ID token of the login that is kept, "" if there is none that is good.
func (t *talk) sameIdentity(ctx context.Context, m *Metadata, client *Client) (string, error) {
	good := func() (c *Credentials, good bool) {
		c, err := t.keptIdentity(ctx)
		if err != nil {
			t.flow.note("%s: %s", t.people.Where(), mask.Text(err.Error()))
		}
		return c, c != nil && t.opts.Now().Add(ahead).Before(c.Token.Expires)
	}
	c, ok := good()
	if c != nil && !ok && c.Token.Refresh != "" {
		if l, is := t.people.(Locker); is { // a refresh token may be good once
			unlock, err := l.Lock(ctx, c.Key)
			if err != nil {
				t.flow.note("other processes cannot be kept out: %s", mask.Text(err.Error()))
			} else {
				defer unlock()
				c, ok = good()
			}
		}
	}
	switch {
	case c == nil, !ok && c.Token.Refresh == "":
		return "", nil
	case ok:
		t.flow.note("the login at %s is used", mask.URL(m.Issuer))
		return c.Token.ID, nil
	}
	got, err := t.tokenRequest(ctx, m.at(m.Token), client, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {c.Token.Refresh}})
	if err != nil {
		return "", err
	}
	t.flow.note("the login at %s is refreshed", mask.URL(m.Issuer))
	if got.Refresh == "" {
		got.Refresh = c.Token.Refresh
	}
	return t.keepIdentity(ctx, m, client, got, func(is *Claims, _ string) string {
		if was := ParseClaims(c.Token.ID); was == nil || was.Subject != is.Subject {
			return "is about somebody else than the login was"
		}
		return ""
	})
}

// newIdentity sends a browser to the identity provider (OpenID Connect Core 1.0 section 3.1); why is what ended the login before.
func (t *talk) newIdentity(ctx context.Context, m *Metadata, client *Client, why error) (string, error) {
	if t.person == nil {
		e := &failure.Error{
			Kind: failure.OAuth, URL: mask.URL(t.server.URL), Message: "a login at the identity provider " + text.Clip(mask.URL(m.Issuer), 200) + " is needed", Next: "log in",
			Remedy: failure.LogIn, Object: mask.URL(t.server.URL), Err: why,
		}
		if why != nil {
			e.Detail = text.Clip(why.Error(), 400)
		}
		return "", e
	}
	if m.Authorize == "" {
		return "", &Violation{ByIssuer, "OpenID Connect Discovery 1.0 section 3", "the identity provider has no authorization_endpoint: nobody can log in there with a browser"}
	}
	visit, err := t.expect(ctx, nil)
	if err != nil {
		return "", err
	}
	defer func() { _ = visit.Close() }() // nothing is expected any more
	client.Redirect = visit.Redirect()
	scopes, nonce := []string{scopeID}, random()
	q := url.Values{"client_id": {client.ID}, "redirect_uri": {client.Redirect}, "nonce": {nonce}}
	if slices.Contains(m.Scopes, offline) {
		scopes = append(scopes, offline)
		q.Set("prompt", "consent") // OpenID Connect Core 1.0 section 11
	}
	if t.other {
		q.Set("prompt", "login")
	}
	q.Set("scope", strings.Join(scopes, " "))
	code, verifier, err := t.authorize(ctx, visit, m, q)
	if err != nil {
		return "", err
	}
	got, err := t.tokenRequest(ctx, m.at(m.Token), client, url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {client.Redirect}, "code_verifier": {verifier},
	})
	if err != nil {
		return "", err
	}
	return t.keepIdentity(ctx, m, client, got, func(_ *Claims, named string) string {
		if named != nonce {
			return "has not the nonce of this login"
		}
		return ""
	})
}

// keepIdentity checks the ID token of an answer (OpenID Connect Core 1.0 section 3.1.3.7), and keeps it. It comes from the token endpoint
// itself, over TLS, which takes the place of its signature there. wrong says what else is wrong with it, "" for nothing.
func (t *talk) keepIdentity(ctx context.Context, m *Metadata, client *Client, got *tokenReply, wrong func(c *Claims, nonce string) string) (string, error) {
	if got.ID == "" {
		return "", errNoID
	}
	bad := func(format string, args ...any) error {
		return &Violation{ByIssuer, "OpenID Connect Core 1.0 section 3.1.3.7", "its ID token " + fmt.Sprintf(format, args...)}
	}
	c := ParseClaims(got.ID)
	if c == nil {
		return "", bad("is not a JWT")
	}
	var more struct {
		Nonce string `json:"nonce"`
		Party string `json:"azp"`
	}
	if err := json.Unmarshal(c.Payload, &more); err != nil {
		return "", bad("has a nonce or an azp that is not a string")
	}
	switch {
	case c.Issuer != m.Issuer:
		return "", bad("is of %q, and %q was asked", text.Clip(mask.URL(c.Issuer), 200), mask.URL(m.Issuer))
	case !slices.Contains(c.Audience, client.ID):
		return "", bad("is for %q, not for the client %q", text.Clip(mask.Text(strings.Join(c.Audience, " ")), 200), text.Clip(client.ID, 100))
	case more.Party != "" && more.Party != client.ID, more.Party == "" && len(c.Audience) > 1:
		return "", bad("was given to %q, not to the client %q", text.Clip(mask.Text(more.Party), 200), text.Clip(client.ID, 100))
	case c.Subject == "":
		return "", bad("says not about whom it is")
	case !t.opts.Now().Before(c.Expires): // also without an end
		return "", bad("has expired already, or does not say when it does")
	}
	if why := wrong(c, more.Nonce); why != "" {
		return "", bad("%s", why)
	}
	login := Credentials{
		Key: IdentityKey(m.Issuer), Client: *client, Token: Token{ID: got.ID, Refresh: got.Refresh, Obtained: got.asked, Expires: c.Expires},
		TokenURL: m.Token, RevokeURL: m.Revoke,
	}
	if err := t.people.Put(ctx, login); err != nil {
		t.flow.note("the login works, and could not be kept in %s: %s", t.people.Where(), mask.Text(err.Error()))
	} else {
		t.flow.note("the login at %s is kept in %s", mask.URL(m.Issuer), t.people.Where())
	}
	return got.ID, nil
}
