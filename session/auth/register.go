package auth

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
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
	Bound        bool     `json:"dpop_bound_access_tokens,omitempty"` // RFC 9449 section 5.2
	ID           string   `json:"client_id,omitempty"`
	Secret       string   `json:"client_secret,omitempty"`
	SecretExpiry int64    `json:"client_secret_expires_at,omitempty"`

	Error    string `json:"error,omitempty"`
	Describe string `json:"error_description,omitempty"`
}

// identify finds out how the authorization server knows us: by the configuration, by a metadata document, by an earlier registration
// with this redirect, or by a new one.
func (t *talk) identify(ctx context.Context, d *discovery, known *Client, redirect string) (*Client, error) {
	m := d.server
	if o := t.server.OAuth; o != nil && o.ClientID != "" {
		c, err := t.configuredClient(ctx, d)
		if err == nil {
			c.Redirect = redirect
		}
		return c, err
	}
	if t.opts.Document != "" && m.TakesDocuments {
		if isDocumented(redirect) {
			t.flow.note("client_id %s, a metadata document", t.opts.Document)
			return &Client{ID: t.opts.Document, Method: "none", Redirect: redirect, Origin: Document}, nil
		}
		t.flow.note("the metadata document does not have the redirect %s", mask.URL(redirect))
	}
	if known != nil && known.ID != "" && known.Redirect == redirect && (known.Expires.IsZero() || t.opts.Now().Before(known.Expires)) {
		t.flow.note("client_id %s, registered earlier", text.Clip(known.ID, 100))
		return known, nil
	}
	if m.Register == "" {
		return nil, &Violation{ByUser, "MCP authorization: Client Registration Approaches", "the authorization server takes registered clients only: a client_id is needed in the configuration"}
	}
	return t.register(ctx, d, redirect)
}

// configuredClient is who the configuration says that we are.
func (t *talk) configuredClient(ctx context.Context, d *discovery) (*Client, error) {
	o, m := t.server.OAuth, d.server
	found, _ := t.opts.Store.Find(ctx, d.key.Resource) // what cannot be read binds nothing
	for _, c := range found {
		if c.Client.Origin == Configured && c.Client.ID == o.ClientID && c.Issuer != d.key.Issuer {
			return nil, &Violation{ByServer, "MCP authorization: Authorization Server Binding", fmt.Sprintf("it sends to %s now, and the client_id of the configuration belongs to %s", mask.URL(d.key.Issuer), mask.URL(c.Issuer))}
		}
	}
	c := &Client{ID: o.ClientID, Secret: o.ClientSecret, Origin: Configured, Method: method(m.Methods, o.ClientSecret != "", o.PrivateKey != "" || o.PrivateKeyFile != "")}
	if c.Method == "" {
		return nil, unknownMethod(m)
	}
	t.flow.note("client_id %s, from the configuration, proven by %s", text.Clip(c.ID, 100), c.Method)
	return c, nil
}

func unknownMethod(m *Metadata) error {
	return &Violation{ByIssuer, "RFC 8414 section 2", "its token endpoint wants clients to prove themselves by " + text.Clip(strings.Join(m.Methods, ", "), 200) + ", which is not possible here"}
}

// register makes a new registration.
func (t *talk) register(ctx context.Context, d *discovery, redirect string) (*Client, error) {
	m := d.server
	want := registration{
		Name: "mcphud", Redirects: []string{redirect}, Grants: []string{"authorization_code", "refresh_token"}, Responses: []string{"code"},
		Method: method(m.Methods, true, false), Application: "web", Scope: strings.Join(d.scopes, " "), Bound: d.bound,
	}
	if u, err := url.Parse(redirect); err == nil && (u.Scheme != "https" || listen.ReachOf(u) == listen.Machine) {
		want.Application = "native"
	}
	if want.Method == "" {
		return nil, unknownMethod(m)
	}
	got, err := t.postRegistration(ctx, m.Register, want)
	if isRefusal(err, "invalid_client_metadata") && want.Scope != "" {
		// RFC 7591 section 2: which scopes a client may ask for is up to the authorization server, and some know only their own ones here.
		t.flow.note("registering without scopes, after %s", err)
		want.Scope = ""
		got, err = t.postRegistration(ctx, m.Register, want)
	}
	if err != nil {
		return nil, err
	}
	c := &Client{ID: got.ID, Secret: got.Secret, Method: cmp.Or(got.Method, want.Method), Redirect: redirect, Origin: Registered}
	switch c.Method {
	case "none":
	case "client_secret_basic", "client_secret_post":
		if c.Secret == "" {
			c.Method = "none" // there is nothing to prove with
		}
	default:
		return nil, &Violation{ByIssuer, "RFC 7591 section 3.2.1", fmt.Sprintf("it registered us to prove ourselves by %q, and %s was asked for", text.Clip(c.Method, 60), want.Method)}
	}
	if at := time.Unix(got.SecretExpiry, 0); got.SecretExpiry > 0 && at.Year() <= 9999 { // else it is in ms, or for ever; later years cannot be kept
		c.Expires = at
	}
	t.flow.note("client_id %s, registered now", text.Clip(c.ID, 100))
	return c, nil
}

// postRegistration asks a registration endpoint for a client.
func (t *talk) postRegistration(ctx context.Context, endpoint string, want registration) (*registration, error) {
	body, err := json.Marshal(want)
	if err != nil {
		return nil, err
	}
	r, err := t.post(ctx, endpoint, "application/json", body, nil)
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
	if max(len(got.ID), len(got.Secret)) > maxToken {
		return nil, &Violation{ByIssuer, "RFC 7591 section 3.2.1", "the client_id or client_secret in its answer is longer than " + text.Bytes(maxToken)}
	}
	if got.ID == "" {
		return nil, &Violation{ByIssuer, "RFC 7591 section 3.2.1", "there is no client_id in its answer"}
	}
	return &got, nil
}
