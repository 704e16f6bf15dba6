package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/mask"
	"github.com/mcphud/mcphud/session/text"
)

// tokenReply is an answer of the token endpoint, or an error of it (RFC 6749 sections 5.1 and 5.2).
type tokenReply struct {
	Access  string   `json:"access_token"`
	Refresh string   `json:"refresh_token"`
	Type    string   `json:"token_type"`
	Seconds *float64 `json:"expires_in"`
	Scope   *string  `json:"scope"`

	Error    string `json:"error"`
	Describe string `json:"error_description"`
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

// token asks a token endpoint for a token, as the client that the issuer knows.
func (t *talk) token(ctx context.Context, endpoint string, c *Client, form url.Values) (Token, error) {
	header := http.Header{}
	switch c.Method {
	case "client_secret_basic":
		// RFC 6749 section 2.3.1: both parts are form-encoded first.
		r := http.Request{Header: header}
		r.SetBasicAuth(url.QueryEscape(c.ID), url.QueryEscape(c.Secret))
	case "client_secret_post":
		form.Set("client_id", c.ID)
		form.Set("client_secret", c.Secret)
	default:
		form.Set("client_id", c.ID)
	}
	start := t.opts.Now()
	r, err := t.post(ctx, endpoint, "application/x-www-form-urlencoded", []byte(form.Encode()), header)
	if err != nil {
		return Token{}, err
	}
	var got tokenReply
	bad := document(r, &got)
	if got.Error != "" || r.status != http.StatusOK {
		if bad != nil || got.Error == "" {
			return Token{}, &Violation{ByIssuer, "RFC 6749 section 5.2", fmt.Sprintf("the token endpoint answered with %d %s, without an error that says why", r.status, http.StatusText(r.status))}
		}
		return Token{}, &Refusal{r.said.Replace(got.Error), r.said.Replace(got.Describe), r.status}
	}
	switch {
	case bad != nil:
		return Token{}, &Violation{ByIssuer, "RFC 6749 section 5.1", bad.Error()}
	case got.Access == "" || strings.ContainsFunc(got.Access, func(r rune) bool { return r <= ' ' || r > '~' }):
		return Token{}, &Violation{ByIssuer, "RFC 6749 section 5.1", "there is no usable access_token in its answer"}
	case !strings.EqualFold(got.Type, "Bearer") && !strings.EqualFold(got.Type, "DPoP"):
		return Token{}, &Violation{ByIssuer, "RFC 6749 section 7.1", fmt.Sprintf("token_type is %q, which is not known here", text.Clip(got.Type, 60))}
	}
	tok := Token{Access: got.Access, Refresh: got.Refresh, Type: "Bearer", Obtained: start}
	if strings.EqualFold(got.Type, "DPoP") {
		tok.Type = "DPoP"
	}
	if got.Scope != nil {
		tok.Scopes = strings.Fields(*got.Scope)
	}
	const forever = 10 * 365 * 24 * time.Hour
	if s := got.Seconds; s != nil && *s > 0 && *s < forever.Seconds() {
		tok.Expires = start.Add(time.Duration(*s * float64(time.Second)))
	}
	return tok, nil
}

// refused reports whether an authorization server sent this error code.
func refused(err error, code string) bool {
	var r *Refusal
	return errors.As(err, &r) && r.Code == code
}
