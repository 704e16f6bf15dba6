package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
)

// code is the authorization code grant with PKCE (OAuth 2.1 section 4.1). A registration that the authorization server has forgotten is made
// again, once; that takes the person to the browser a second time.
func (t *talk) code(ctx context.Context, d *discovery, o LoginOptions) error {
	t.flow.begin(StepRegister)
	if err := d.server.forBrowsers(); err != nil {
		return err
	}
	if t.person == nil {
		return &failure.Error{Kind: failure.OAuth, Message: "nobody is here to log in", Next: "log in where there is a browser"}
	}
	known := t.knownClient(ctx, d.key)
	err := t.browse(ctx, d, o, known)
	// It has forgotten the client, or gives it no more than what it was registered for.
	if known != nil && (isRefusal(err, "invalid_client") || isRefusal(err, "unauthorized_client") || isRefusal(err, "invalid_scope")) {
		t.flow.note("client_id %s does not do any more: registering anew", text.Clip(known.ID, 100))
		t.flow.end(Failed, err)
		t.flow.begin(StepRegister)
		err = t.browse(ctx, d, o, nil)
	}
	return err
}

// browse sends a browser to log in; known is an earlier registration, nil for none.
func (t *talk) browse(ctx context.Context, d *discovery, o LoginOptions, known *Client) error {
	m, scopes := d.server, d.scopes
	visit, err := t.expect(ctx, known)
	if err != nil {
		return err
	}
	defer func() { _ = visit.Close() }() // nothing is expected any more
	client, err := t.identify(ctx, d, known, visit.Redirect())
	if err != nil {
		return err
	}
	if d.bound {
		if err := t.bind(m); err != nil {
			return err
		}
	}
	t.flow.end(Done, nil)

	t.flow.begin(StepAuthorize)
	q := url.Values{"client_id": {client.ID}, "redirect_uri": {client.Redirect}}
	if d.audience != "" {
		q.Set("resource", d.audience)
	}
	if t.proof != nil {
		q.Set("dpop_jkt", t.proof.thumbprint()) // RFC 9449 section 10
	}
	if len(scopes) > 0 {
		q.Set("scope", strings.Join(scopes, " "))
		t.flow.note("asked for: %s", text.Clip(strings.Join(scopes, " "), 400))
	}
	switch {
	case o.Other:
		q.Set("prompt", "login")
	case slices.Contains(scopes, offline):
		q.Set("prompt", "consent") // OpenID Connect Core 1.0 section 11
	}
	code, verifier, err := t.authorize(ctx, visit, m, q)
	if err != nil {
		return err
	}
	t.flow.end(Done, nil)

	t.flow.begin(StepToken)
	form := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {client.Redirect}, "code_verifier": {verifier}}
	if d.audience != "" {
		form.Set("resource", d.audience)
	}
	tok, err := t.token(ctx, m.at(m.Token), client, form)
	if err != nil {
		return err
	}
	t.keep(ctx, d, client, tok)
	t.flow.end(Done, nil)
	return nil
}

// authorize sends a browser away with these parameters, and returns the code that it brings back, and what proves that it is ours (RFC 7636).
// Parameters of the configuration (config.OAuth.Params) are added, but replace none of those that make the login safe. Only what has our state is taken
// for the answer: any page can send a browser to the redirect.
func (t *talk) authorize(ctx context.Context, visit Visit, m *Metadata, params url.Values) (code, verifier string, err error) {
	to, err := url.Parse(m.Authorize)
	if err != nil {
		return "", "", err // usable has parsed it
	}
	q := to.Query()
	if o := t.server.OAuth; o != nil {
		for name, value := range o.Params {
			if name != "scope" { // the others that must not be replaced follow
				q.Set(name, value)
			}
		}
	}
	maps.Copy(q, params)
	verifier, state := random(), random()
	sum := sha256.Sum256([]byte(verifier))
	q.Set("response_type", "code")
	q.Set("code_challenge", base64.RawURLEncoding.EncodeToString(sum[:]))
	q.Set("code_challenge_method", "S256")
	q.Set("state", state)
	to.RawQuery = q.Encode()
	t.flow.step(func(s *Step) { s.URL = to.String() })
	back, err := visit.Go(ctx, to, func(u *url.URL) bool { return u.Query().Get("state") == state })
	if err != nil {
		return "", "", err
	}
	code, err = returnedCode(back, m)
	return code, verifier, err
}

// forBrowsers checks that a person can log in there, and safely.
func (m *Metadata) forBrowsers() error {
	switch {
	case m.Authorize == "":
		return &Violation{ByIssuer, "RFC 8414 section 2", "it has no authorization_endpoint: nobody can log in there with a browser"}
	case !slices.Contains(m.Challenges, "S256"):
		return &Violation{ByIssuer, "MCP authorization: Authorization Code Protection", "its metadata does not say that it knows PKCE with S256, without which a code can be stolen"}
	}
	return nil
}

// expect makes ready for the browser: at the redirect that is configured, or registered from an earlier login, else anywhere.
func (t *talk) expect(ctx context.Context, known *Client) (Visit, error) {
	if o := t.server.OAuth; o != nil && o.RedirectURI != "" {
		return t.person.Expect(ctx, o.RedirectURI)
	}
	if known != nil && known.Redirect != "" {
		v, err := t.person.Expect(ctx, known.Redirect)
		if err == nil {
			return v, nil
		}
		t.flow.note("%s is not free: registering anew", known.Redirect)
	}
	return t.person.Expect(ctx, "")
}

// returnedCode is the code that a browser brings back, after its iss was compared (RFC 9207 section 2.4).
func returnedCode(back *url.URL, m *Metadata) (string, error) {
	q := back.Query()
	for _, name := range slices.Sorted(maps.Keys(q)) {
		if len(q[name]) > 1 {
			return "", &Violation{ByIssuer, "RFC 6749 section 3.1", fmt.Sprintf("%q is given twice in what the browser brought back", text.Clip(name, 60))}
		}
	}
	iss, named := q.Get("iss"), q.Has("iss")
	switch {
	case named && !m.unnamed && iss != m.Issuer:
		return "", &Violation{ByIssuer, "RFC 9207 section 2.4", fmt.Sprintf("iss is %q, and the login was sent to %q", text.Clip(mask.URL(iss), 200), mask.URL(m.Issuer))}
	case !named && m.NamesItself:
		return "", &Violation{ByIssuer, "RFC 9207 section 2.4", "there is no iss in what the browser brought back, and its metadata promises one"}
	case q.Get("error") != "":
		return "", &Refusal{Code: q.Get("error"), Describe: q.Get("error_description")}
	case q.Get("code") == "":
		return "", &Violation{ByIssuer, "RFC 6749 section 4.1.2", "there is neither code nor error in what the browser brought back"}
	}
	return q.Get("code"), nil
}

// random is a value that nobody guesses, of 43 characters (RFC 7636 section 4.1).
func random() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}
