package auth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
)

// tokenReply is an answer of the token endpoint, or an error of it (RFC 6749 sections 5.1 and 5.2).
type tokenReply struct {
	Access  string          `json:"access_token"`
	Refresh string          `json:"refresh_token"`
	ID      string          `json:"id_token"` // OpenID Connect Core 1.0 section 3.1.3.3
	Type    string          `json:"token_type"`
	Issued  string          `json:"issued_token_type"` // RFC 8693 section 2.2.1
	Seconds json.RawMessage `json:"expires_in"`        // a number, from some servers a string
	Scope   *string         `json:"scope"`

	Error    string `json:"error"`
	Describe string `json:"error_description"`

	asked time.Time // when it was asked for: expires_in counts from then, so that the time on the way is not added
}

// Refusal is an error that an authorization server sent.
type Refusal struct {
	Code     string // "invalid_grant" …
	Describe string
	Status   int // of HTTP; 0 if it came with the browser
}

// Error gives code and description.
func (e *Refusal) Error() string {
	s := "the authorization server refused: " + text.Clip(e.Code, 100)
	if e.Describe != "" {
		s += ": " + text.Clip(mask.Text(e.Describe), 400)
	}
	return s
}

// isRefusal reports whether an authorization server sent this error code.
func isRefusal(err error, code string) bool {
	var r *Refusal
	return errors.As(err, &r) && r.Code == code
}

// endpoint is one that knows clients: of tokens, or of revocation.
type endpoint struct {
	url  string
	aud  string   // to whom a client proves itself by a JWT
	algs []string // by which that may be signed; nil if nobody says
}

// at is an endpoint of an authorization server.
func (m *Metadata) at(url string) endpoint {
	if m.unnamed {
		return endpoint{url, url, m.SigningAlgs}
	}
	return endpoint{url, m.Issuer, m.SigningAlgs}
}

// at is an endpoint of the issuer of these credentials.
func (t *talk) at(c *Credentials, url string) endpoint {
	if t.static() {
		return endpoint{url: url, aud: url}
	}
	return endpoint{url: url, aud: c.Issuer}
}

// method chooses how to prove who we are at the token endpoint: the strongest that both sides know; "" if there is none.
func method(offered []string, secret, key bool) string {
	switch {
	case key:
		return "private_key_jwt"
	case !secret:
		return "none"
	case len(offered) == 0:
		return "client_secret_basic" // the default of RFC 8414 section 2
	}
	for _, m := range []string{"client_secret_basic", "client_secret_post", "none"} {
		if slices.Contains(offered, m) {
			return m
		}
	}
	return ""
}

// authenticate proves in a request who we are.
func (t *talk) authenticate(to endpoint, c *Client, form url.Values, header http.Header) error {
	switch c.Method {
	case "client_secret_basic":
		// RFC 6749 section 2.3.1: both parts are form-encoded first.
		r := http.Request{Header: header}
		r.SetBasicAuth(url.QueryEscape(c.ID), url.QueryEscape(c.Secret))
		return nil
	case "private_key_jwt":
		s, err := newSigner(t.server.OAuth, to.algs)
		if err != nil {
			return err
		}
		assertion, err := s.assertion(c.ID, to.aud, t.opts.Now())
		if err != nil {
			return &Violation{ByUser, "RFC 7523 section 2.2", "the private key does not sign: " + err.Error()}
		}
		form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
		form.Set("client_assertion", assertion)
	case "client_secret_post":
		form.Set("client_secret", c.Secret)
	}
	if c.ID != "" {
		form.Set("client_id", c.ID)
	}
	return nil
}

// tokenRequest sends a token request as that client, and once more where a DPoP proof has to have a nonce.
func (t *talk) tokenRequest(ctx context.Context, to endpoint, c *Client, form url.Values) (*tokenReply, error) {
	nonce := ""
	for {
		header := http.Header{}
		if err := t.authenticate(to, c, form, header); err != nil {
			return nil, err
		}
		if t.proof != nil {
			u, err := url.Parse(to.url)
			if err != nil {
				return nil, err
			}
			proof, err := t.proof.prove(http.MethodPost, u, "", nonce, t.opts.Now())
			if err != nil {
				return nil, err
			}
			header.Set("DPoP", proof)
		}
		got := &tokenReply{asked: t.opts.Now()}
		r, err := t.post(ctx, to.url, "application/x-www-form-urlencoded", []byte(form.Encode()), header)
		if err != nil {
			return nil, err
		}
		bad := document(r, got)
		switch {
		case got.Error == "use_dpop_nonce" && t.proof != nil && nonce == "" && nonceOf(r.header) != "":
			nonce = nonceOf(r.header)
			t.flow.note("the authorization server wants its nonce in the DPoP proof: asked again with it")
			continue
		case r.status >= 500, r.status == http.StatusTooManyRequests, got.Error == "temporarily_unavailable", got.Error == "server_error":
			v := &Violation{ByIssuer, "RFC 6749 section 5", fmt.Sprintf("the token endpoint answered with %d %s", r.status, http.StatusText(r.status))}
			return nil, &failure.Error{Kind: failure.OAuth, Status: r.status, URL: mask.URL(to.url), Err: v, Message: string(v.By) + " is out of order: " + v.What, Next: "try again later"}
		case got.Error != "":
			return nil, &Refusal{r.said.Replace(got.Error), r.said.Replace(got.Describe), r.status}
		case r.status != http.StatusOK:
			return nil, &Violation{ByIssuer, "RFC 6749 section 5.2", fmt.Sprintf("the token endpoint answered with %d %s, without an error that says why", r.status, http.StatusText(r.status))}
		case bad != nil:
			return nil, &Violation{ByIssuer, "RFC 6749 section 5.1", bad.Error()}
		case max(len(got.Access), len(got.Refresh), len(got.ID)) > maxToken || got.Scope != nil && len(*got.Scope) > maxScopes:
			return nil, &Violation{ByIssuer, "RFC 6749 section 5.1", "its tokens or scopes are longer than any server takes"}
		case got.Access == "" || strings.ContainsFunc(got.Access, func(r rune) bool { return r <= ' ' || r > '~' }):
			return nil, &Violation{ByIssuer, "RFC 6749 section 5.1", "there is no usable access_token in its answer"}
		}
		return got, nil
	}
}

// token asks a token endpoint for an access token, as the client that the issuer knows.
func (t *talk) token(ctx context.Context, to endpoint, c *Client, form url.Values) (Token, error) {
	got, err := t.tokenRequest(ctx, to, c, form)
	if err != nil {
		return Token{}, err
	}
	tok := Token{Access: got.Access, Refresh: got.Refresh, Type: "Bearer", Obtained: got.asked}
	switch bound := strings.EqualFold(got.Type, "DPoP"); {
	case bound && t.proof != nil:
		tok.Type, tok.Proof = "DPoP", t.proof.der
	case bound:
		return Token{}, &Violation{ByIssuer, "RFC 9449 section 5", "it gave a token that is bound to a key, and was shown none"}
	case t.url == nil: // how it is used is the command's business
		tok.Type = commandType(got.Type)
	case !strings.EqualFold(got.Type, "Bearer"):
		return Token{}, &Violation{ByIssuer, "RFC 6749 section 7.1", fmt.Sprintf("token_type is %q, which is not known here", text.Clip(got.Type, 60))}
	case t.proof != nil:
		return Token{}, &Violation{ByIssuer, "RFC 9449 section 5", "it gave a token that anybody can use, and was asked for one that is bound to a key"}
	}
	if got.Scope != nil {
		tok.Scopes = strings.Fields(*got.Scope)
		if t.url == nil { // Slack and GitHub write commas
			tok.Scopes = strings.FieldsFunc(*got.Scope, func(r rune) bool { return r == ',' || r == ' ' })
		}
	}
	const forever = 10 * 365 * 24 * time.Hour
	if s, err := strconv.ParseFloat(string(bytes.Trim(got.Seconds, `"`)), 64); err == nil && s > 0 && s < forever.Seconds() {
		tok.Expires = got.asked.Add(time.Duration(s * float64(time.Second)))
	}
	return tok, nil
}

// keep makes a new token what is used from now on. That it cannot be kept is a note of the step, and no error: it is good until the program ends.
func (t *talk) keep(ctx context.Context, d *discovery, client *Client, tok Token) {
	if tok.Scopes == nil {
		tok.Scopes = d.scopes // RFC 6749 section 5.1: as asked for
	}
	c := &Credentials{Key: d.key, Client: *client, Token: tok, Audience: d.audience, TokenURL: d.server.Token, RevokeURL: d.server.Revoke}
	if err := t.use(ctx, c); err != nil {
		t.flow.note("the login works, and could not be kept in %s: %s", t.opts.Store.Where(), mask.Text(err.Error()))
		return
	}
	t.flow.note("kept in %s", t.opts.Store.Where())
}
