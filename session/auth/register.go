package auth

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/mcphud/mcphud/session/text"
)

// registration is dynamic client registration, both ways (RFC 7591 sections 2 and 3.2.1).
type registration struct {
	Name         string   `json:"client_name,omitempty"`
	Redirects    []string `json:"redirect_uris,omitempty"`
	Grants       []string `json:"grant_types,omitempty"`
	Responses    []string `json:"response_types,omitempty"`
	Method       string   `json:"token_endpoint_auth_method,omitempty"`
	Application  string   `json:"application_type,omitempty"`
	Scope        string   `json:"scope,omitempty"`
	ID           string   `json:"client_id,omitempty"`
	Secret       string   `json:"client_secret,omitempty"`
	SecretExpiry int64    `json:"client_secret_expires_at,omitempty"`

	Error    string `json:"error,omitempty"`
	Describe string `json:"error_description,omitempty"`
}

// identify finds out how the authorization server knows us: by the configuration, by a metadata document, by an earlier registration
// with this redirect, or by a new one.
func (t *talk) identify(ctx context.Context, m *Metadata, known *Client, redirect string) (*Client, error) {
	if o := t.server.OAuth; o != nil && o.ClientID != "" {
		c := &Client{ID: o.ClientID, Secret: o.ClientSecret, Redirect: redirect, Origin: Configured}
		c.Method = method(m.Methods, c.Secret != "")
		t.flow.note("client_id %s, from the configuration", text.Clip(c.ID, 100))
		return c, nil
	}
	if t.opts.Document != "" && m.TakesDocuments {
		t.flow.note("client_id %s, a metadata document", t.opts.Document)
		return &Client{ID: t.opts.Document, Method: "none", Redirect: redirect, Origin: Document}, nil
	}
	if known != nil && known.ID != "" && known.Redirect == redirect && (known.Expires.IsZero() || t.opts.Now().Before(known.Expires)) {
		t.flow.note("client_id %s, registered earlier", text.Clip(known.ID, 100))
		return known, nil
	}
	if m.Register == "" {
		return nil, &Violation{ByUser, "MCP authorization: Client Registration Approaches", "the authorization server takes registered clients only: a client_id is needed in the configuration"}
	}
	return t.register(ctx, m, redirect)
}

// register makes a new registration.
func (t *talk) register(ctx context.Context, m *Metadata, redirect string) (*Client, error) {
	want := registration{
		Name: "mcphud", Redirects: []string{redirect}, Grants: []string{"authorization_code", "refresh_token"}, Responses: []string{"code"},
		Method: method(m.Methods, true), Application: "native",
	}
	body, err := json.Marshal(want)
	if err != nil {
		return nil, err
	}
	r, err := t.post(ctx, m.Register, "application/json", body, nil)
	if err != nil {
		return nil, err
	}
	var got registration
	if err := document(r, &got); err != nil || r.status != http.StatusCreated && r.status != http.StatusOK {
		if err == nil && got.Error != "" {
			return nil, &Refusal{got.Error, r.said.Replace(got.Describe), r.status}
		}
		return nil, &Violation{ByIssuer, "RFC 7591 section 3.2", fmt.Sprintf("the registration endpoint answered with %d %s and no client", r.status, http.StatusText(r.status))}
	}
	if got.ID == "" {
		return nil, &Violation{ByIssuer, "RFC 7591 section 3.2.1", "there is no client_id in its answer"}
	}
	c := &Client{ID: got.ID, Secret: got.Secret, Method: got.Method, Redirect: redirect, Origin: Registered}
	if c.Method == "" {
		c.Method = want.Method
	}
	if got.SecretExpiry > 0 {
		c.Expires = time.Unix(got.SecretExpiry, 0)
	}
	t.flow.note("client_id %s, registered now", text.Clip(c.ID, 100))
	return c, nil
}

// method chooses how to prove who we are at the token endpoint: the strongest that both sides know.
func method(offered []string, secret bool) string {
	if !secret {
		return "none"
	}
	if len(offered) == 0 {
		return "client_secret_basic" // the default of RFC 8414 section 2
	}
	for _, m := range []string{"client_secret_basic", "client_secret_post", "none"} {
		if slices.Contains(offered, m) {
			return m
		}
	}
	return offered[0]
}
