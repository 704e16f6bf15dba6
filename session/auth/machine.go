package auth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
)

// Grants and kinds of tokens, as they are named on the wire.
const (
	grantClient   = "client_credentials"                              // RFC 6749 section 4.4
	grantBearer   = "urn:ietf:params:oauth:grant-type:jwt-bearer"     // RFC 7523
	grantExchange = "urn:ietf:params:oauth:grant-type:token-exchange" // RFC 8693
	tokenID       = "urn:ietf:params:oauth:token-type:id_token"
	tokenJAG      = "urn:ietf:params:oauth:token-type:id-jag"
	typeJAG       = "oauth-id-jag+jwt"
)

// wireGrants are the grants at the authorization server of the resource.
var wireGrants = map[string]string{config.GrantClient: grantClient, config.GrantEnterprise: grantBearer, config.GrantWorkload: grantBearer}

// configuredHosts are the hosts that the configuration names: they may be nearer than the server looks, which may itself be a name of
// this network.
func (a *Authorizer) configuredHosts() map[string]bool {
	near := map[string]bool{}
	if a.url != nil {
		near[a.url.Host] = true
	}
	if o := a.server.OAuth; o != nil {
		named := []string{o.AuthURL, o.TokenURL, o.IDPIssuer, o.IDPTokenURL}
		if a.url == nil {
			named = append(named, o.MetadataURL)
		}
		for _, s := range named {
			if u, err := url.Parse(s); err == nil && u.Host != "" {
				near[u.Host] = true
			}
		}
	}
	return near
}

// obtain gets a token by the grant of the configuration, for what the server refused. What the authorization server has refused
// is not sent again, until it changes or a person asks for it.
func (a *Authorizer) obtain(ctx context.Context, ch *Challenge) error {
	evidence, err := a.evidenceOf(ctx)
	if err == nil && a.refusal != nil && evidence == a.evidence {
		return a.refusal
	}
	f, _, done, busy := a.start()
	if busy == nil {
		defer done()
	} else {
		f = nil // a person's login is shown
	}
	t := a.talk(f, nil)
	if err == nil {
		err = t.login(ctx, ch, LoginOptions{})
	}
	a.refusal = nil
	if err != nil {
		t.flow.end(Failed, err)
		err = t.loginError(err)
		if r := (*Refusal)(nil); errors.As(err, &r) {
			a.refusal, a.evidence = err, evidence
		}
		return err
	}
	t.flow.begin(StepRetry)
	return nil
}

// evidenceOf is what the grant of the configuration shows to get a token.
func (a *Authorizer) evidenceOf(ctx context.Context) (string, error) {
	o := a.server.OAuth
	if o.LogsInAt() != "" {
		if c, err := a.keptIdentity(ctx); err == nil && c != nil { // a login helps otherwise
			return c.Token.ID, nil
		}
		return "", nil
	}
	switch o.Grant {
	case config.GrantWorkload:
		return secretText("assertion", o.Assertion, o.AssertionFile)
	case config.GrantEnterprise:
		return secretText("id_token", o.IDToken, o.IDTokenFile)
	}
	if o.PrivateKey == "" && o.PrivateKeyFile == "" {
		return o.ClientSecret, nil
	}
	return secretText("private_key", o.PrivateKey, o.PrivateKeyFile)
}

// machine gets a token without a person.
func (t *talk) machine(ctx context.Context, d *discovery) error {
	o, m := t.server.OAuth, d.server
	t.flow.begin(StepRegister)
	client, err := t.configuredClient(ctx, d)
	if err != nil {
		return err
	}
	if client.ID == "" && o.Grant != config.GrantWorkload {
		return &Violation{ByUser, "RFC 6749 section 2.2", "the grant " + o.Grant + " needs a client_id"}
	}
	if o.Grant == config.GrantClient && client.Method == "none" {
		return &Violation{ByUser, "RFC 6749 section 4.4", "the grant client_credentials needs a client_secret or a private_key, by a method that the authorization server takes"}
	}
	if wire := wireGrants[o.Grant]; len(m.Grants) > 0 && !slices.Contains(m.Grants, wire) {
		t.flow.note("its metadata does not offer the grant %s: it is asked all the same", wire)
	}
	if d.bound {
		if err := t.bind(m); err != nil {
			return err
		}
	}
	t.flow.end(Done, nil)
	if o.Grant != config.GrantEnterprise {
		t.flow.begin(StepToken)
	}
	tok, err := t.grant(ctx, m.at(m.Token), client, d.scopes, d.audience)
	if err != nil {
		return err
	}
	t.keep(ctx, d, client, tok)
	t.flow.end(Done, nil)
	return nil
}

// grant asks the authorization server of the resource for a token.
func (t *talk) grant(ctx context.Context, to endpoint, client *Client, scopes []string, audience string) (Token, error) {
	form := url.Values{"grant_type": {wireGrants[t.server.OAuth.Grant]}}
	switch evidence, err := t.evidenceOf(ctx); {
	case err != nil:
		return Token{}, err
	case t.server.OAuth.Grant == config.GrantWorkload:
		if err := t.mayShow("assertion", evidence, to); err != nil {
			return Token{}, err
		}
		form.Set("assertion", evidence)
	case t.server.OAuth.Grant == config.GrantEnterprise:
		jag, err := t.authorityOf(ctx, evidence, to, scopes, audience)
		if err != nil {
			return Token{}, err
		}
		t.flow.end(Done, nil)
		t.flow.begin(StepToken)
		form.Set("assertion", jag)
	}
	if audience != "" {
		form.Set("resource", audience)
	}
	if len(scopes) > 0 {
		form.Set("scope", strings.Join(scopes, " "))
	}
	t.flow.note("by the grant %s", t.server.OAuth.Grant)
	return t.token(ctx, to, client, form)
}

// mayShow checks a JWT of the configuration before it is shown to an authorization server that the MCP server named: it is good,
// and for that one (RFC 7523 section 3). Else a server could collect what is good elsewhere.
func (t *talk) mayShow(name, token string, to endpoint) error {
	wrong := func(format string, args ...any) error {
		return &Violation{ByUser, "RFC 7523 section 3", name + fmt.Sprintf(format, args...)}
	}
	c := ParseClaims(token)
	if c == nil {
		return wrong(" is not a JWT")
	}
	if err := t.checkExpiry(name, c); err != nil {
		return err
	}
	if t.static() {
		return nil // where it is sent to is configured as well
	}
	for _, aud := range c.Audience {
		if strings.TrimSuffix(aud, "/") == strings.TrimSuffix(to.aud, "/") || aud == to.url {
			return nil
		}
	}
	return wrong(" is for %s, and the authorization server is %s: name its token_url if that is meant", text.Clip(mask.Text(strings.Join(c.Audience, " ")), 200), mask.URL(to.aud))
}

// checkExpiry refuses a JWT of the configuration that has expired, before it is sent: the authorization server would only say invalid_grant.
func (t *talk) checkExpiry(name string, c *Claims) error {
	if c == nil || c.Expires.IsZero() || t.opts.Now().Before(c.Expires) {
		return nil
	}
	return &Violation{ByUser, "RFC 7519 section 4.1.4", fmt.Sprintf("%s has expired at %s: renew it", name, c.Expires.UTC().Format(time.RFC3339))}
}

// authorityOf is the ID-JAG for the authorization server of the resource: by the ID token of the configuration, or by that of whoever is logged in.
func (t *talk) authorityOf(ctx context.Context, idToken string, to endpoint, scopes []string, audience string) (string, error) {
	defer func(p *prover) { t.proof = p }(t.proof)
	t.proof = nil // it binds what the other one gives
	if t.server.OAuth.LogsInAt() == "" {
		t.flow.begin(StepExchange)
		if err := t.checkExpiry("id_token", ParseClaims(idToken)); err != nil {
			return "", err
		}
		idp, client, err := t.identityProvider(ctx)
		if err != nil {
			return "", err
		}
		return t.exchangeID(ctx, idp, client, idToken, to, scopes, audience)
	}
	var ended error
	for {
		t.flow.begin(StepIdentity)
		idp, client, err := t.identityProvider(ctx)
		if err != nil {
			return "", err
		}
		token, fresh, err := t.idToken(ctx, idp, client, ended)
		if err != nil {
			return "", err
		}
		t.flow.end(Done, nil)
		t.flow.begin(StepExchange)
		jag, err := t.exchangeID(ctx, idp, client, token, to, scopes, audience)
		if fresh || !isRefusal(err, "invalid_grant") {
			return jag, err
		}
		ended = err
		t.flow.end(Failed, err)
	}
}

// exchangeID changes an ID token, at who issued it, into an ID-JAG for the authorization server of the resource.
func (t *talk) exchangeID(ctx context.Context, idp *Metadata, client *Client, idToken string, to endpoint, scopes []string, audience string) (string, error) {
	form := url.Values{
		"grant_type": {grantExchange}, "requested_token_type": {tokenJAG}, "subject_token": {idToken}, "subject_token_type": {tokenID},
		"audience": {to.aud}, "resource": {audience},
	}
	if len(scopes) > 0 {
		form.Set("scope", strings.Join(scopes, " "))
	}
	got, err := t.tokenRequest(ctx, idp.at(idp.Token), client, form)
	if err != nil {
		return "", err
	}
	wrong := func(what string) error {
		return &Violation{ByIssuer, "Enterprise-Managed Authorization, Token Exchange", "the identity provider gave " + what}
	}
	if got.Issued != tokenJAG {
		return "", wrong(fmt.Sprintf("a token of type %q, not an ID-JAG", text.Clip(got.Issued, 100)))
	}
	if c := ParseClaims(got.Access); c == nil || c.Type != typeJAG {
		return "", wrong("an ID-JAG that is not a JWT of type " + typeJAG)
	}
	t.flow.note("ID-JAG of %s for %s", mask.URL(idp.Issuer), mask.URL(to.aud))
	return got.Access, nil
}

// identityProvider is where ID tokens are exchanged, and who we are there.
func (t *talk) identityProvider(ctx context.Context) (*Metadata, *Client, error) {
	o := t.server.OAuth
	client := &Client{ID: o.IDPClientID, Secret: o.IDPClientSecret, Method: method(nil, o.IDPClientSecret != "", false), Origin: Configured}
	if o.IDPTokenURL != "" && o.LogsInAt() == "" {
		return &Metadata{Issuer: o.IDPTokenURL, Token: o.IDPTokenURL, unnamed: true}, client, nil
	}
	switch {
	case o.IDPIssuer == "":
		return nil, nil, &Violation{ByUser, "Enterprise-Managed Authorization", "the grant enterprise_managed needs an idp_issuer or idp_token_url"}
	case o.LogsInAt() != "" && o.IDPClientID == "":
		return nil, nil, &Violation{ByUser, "OpenID Connect Core 1.0 section 3.1.2.1", "a login at the identity provider needs an idp_client_id"}
	}
	m, err := t.issuer(ctx, o.IDPIssuer)
	if err != nil {
		return nil, nil, err
	}
	if client.Method = method(m.Methods, o.IDPClientSecret != "", false); client.Method == "" {
		return nil, nil, unknownMethod(m)
	}
	if o.IDPTokenURL != "" {
		m.Token = o.IDPTokenURL
	}
	return m, client, nil
}

// checkNoHeader refuses what the configuration has settled already.
func (a *Authorizer) checkNoHeader() error {
	if !a.given {
		return nil
	}
	return &failure.Error{Kind: failure.Usage, URL: mask.URL(a.server.URL), Message: "the configuration has an Authorization header, which is used instead of a login", Next: "remove that header to log in"}
}
