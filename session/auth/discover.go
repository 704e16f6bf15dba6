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

	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
)

// resourceMetadata is protected-resource metadata (RFC 9728 section 2).
type resourceMetadata struct {
	Resource string   `json:"resource"`
	Servers  []string `json:"authorization_servers"`
	Scopes   []string `json:"scopes_supported"`
	DPoP     bool     `json:"dpop_bound_access_tokens_required"`
	Proofs   []string `json:"dpop_signing_alg_values_supported"`
}

// Metadata is that of an authorization server (RFC 8414 section 2), as far as it is used; endpoints have passed checkEndpoints, and the rest is as
// it was sent. What is left out is nil or "".
type Metadata struct {
	Issuer         string   `json:"issuer"`
	Authorize      string   `json:"authorization_endpoint"`
	Token          string   `json:"token_endpoint"`
	Register       string   `json:"registration_endpoint"`
	Revoke         string   `json:"revocation_endpoint"`
	Scopes         []string `json:"scopes_supported"`
	Grants         []string `json:"grant_types_supported"`
	Challenges     []string `json:"code_challenge_methods_supported"`
	Methods        []string `json:"token_endpoint_auth_methods_supported"`
	SigningAlgs    []string `json:"token_endpoint_auth_signing_alg_values_supported"`
	Proofs         []string `json:"dpop_signing_alg_values_supported"`
	NamesItself    bool     `json:"authorization_response_iss_parameter_supported"` // RFC 9207
	TakesDocuments bool     `json:"client_id_metadata_document_supported"`

	unnamed bool // nobody knows what it calls itself: its endpoints are configured, and Issuer is one of them
}

// errAbsent says that there is no document at a URL.
var errAbsent = errors.New("there is none")

// fetch gets a document, errAbsent where the server has none.
func (t *talk) fetch(ctx context.Context, at string, v any) error {
	r, err := t.get(ctx, at)
	if err != nil {
		return err
	}
	if r.status != http.StatusOK {
		t.flow.note("%s: %d %s", mask.URL(at), r.status, http.StatusText(r.status))
		if r.status >= 500 {
			return fmt.Errorf("%s was answered with %d %s", mask.URL(at), r.status, http.StatusText(r.status))
		}
		return errAbsent
	}
	if err := document(r, v); err != nil {
		return err
	}
	t.flow.note("%s: found", mask.URL(at))
	return nil
}

// resource finds the protected-resource metadata; nil if the server has none, as those of revision 2025-03-26.
func (t *talk) resource(ctx context.Context, ch *Challenge) (*resourceMetadata, error) {
	var places []string
	if ch != nil && ch.Metadata != "" {
		u, err := t.url.Parse(ch.Metadata)
		if err != nil {
			return nil, &Violation{ByServer, "RFC 9728 section 5.1", fmt.Sprintf("resource_metadata is %q, which is not a URL", text.Clip(ch.Metadata, 200))}
		}
		t.flow.note("WWW-Authenticate names %s", mask.URL(u.String()))
		places = []string{u.String()}
	} else {
		places = slices.Compact([]string{wellKnown(t.url, "oauth-protected-resource"), origin(t.url) + "/.well-known/oauth-protected-resource"})
	}
	for _, at := range places {
		var m resourceMetadata
		err := t.fetch(ctx, at, &m)
		if errors.Is(err, errAbsent) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return &m, t.checkResource(&m)
	}
	if ch != nil && ch.Metadata != "" {
		return nil, &Violation{ByServer, "RFC 9728 section 5.1", "there is no protected-resource metadata at " + mask.URL(places[0]) + ", which WWW-Authenticate names"}
	}
	t.flow.note("no protected-resource metadata: the authorization server is looked for at the server itself, as in revision 2025-03-26")
	return nil, nil
}

// checkResource checks that metadata is about this server, before anything else of it is used.
func (t *talk) checkResource(m *resourceMetadata) error {
	named, err := url.Parse(m.Resource)
	if err != nil || m.Resource == "" || named.Fragment != "" {
		return &Violation{ByServer, "RFC 9728 section 2", fmt.Sprintf("the metadata's resource is %q, which is not the URI of a resource", text.Clip(mask.URL(m.Resource), 200))}
	}
	if named.User != nil { // which it would have on the page where a person consents, in front of its own host
		return &Violation{ByServer, "RFC 9728 section 2", fmt.Sprintf("the metadata's resource is %q, which has a user in it", text.Clip(mask.URL(m.Resource), 200))}
	}
	have, want := Resource(named), Resource(t.url)
	switch {
	case have == want, strings.TrimSuffix(have, "/") == strings.TrimSuffix(want, "/"):
		return nil
	case origin(named) == origin(t.url) && named.RawQuery == "" && strings.HasPrefix(t.url.Path+"/", strings.TrimSuffix(named.Path, "/")+"/"):
		t.flow.note("the resource is %s, of which this server is a part", text.Clip(have, 200))
		return nil
	}
	return &Violation{ByServer, "RFC 9728 section 3.3", fmt.Sprintf("the metadata is about %q, not about %q", text.Clip(mask.URL(m.Resource), 200), mask.URL(want))}
}

// issuer finds the metadata of an authorization server. Its issuer must be the URL that it was asked as, byte by byte (RFC 8414 section 3.3): else
// one server could have another's logins sent to itself.
func (t *talk) issuer(ctx context.Context, issuer string) (*Metadata, error) {
	u, err := url.Parse(issuer)
	if err != nil {
		return nil, &Violation{ByServer, "RFC 9728 section 2", fmt.Sprintf("the authorization server %q is not a URL", text.Clip(issuer, 200))}
	}
	if err := t.checkURL(ctx, u, &Violation{By: ByServer, Section: "RFC 8414 section 2"}); err != nil {
		return nil, err
	}
	for _, at := range metadataPlaces(u) {
		var m Metadata
		err := t.fetch(ctx, at, &m)
		if errors.Is(err, errAbsent) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if m.Issuer != issuer {
			return nil, &Violation{ByIssuer, "RFC 8414 section 3.3", fmt.Sprintf("its metadata has the issuer %q, and it was asked as %q", text.Clip(mask.URL(m.Issuer), 200), text.Clip(mask.URL(issuer), 200))}
		}
		return &m, t.checkEndpoints(ctx, &m)
	}
	return nil, &Violation{ByIssuer, "RFC 8414 section 3", "there is no authorization-server metadata of " + mask.URL(issuer)}
}

// replace puts the one endpoint that the configuration knows better into what was discovered.
func (t *talk) replace(ctx context.Context, m *Metadata) error {
	o := t.server.OAuth
	if o == nil || o.AuthURL == "" && o.TokenURL == "" {
		return nil
	}
	t.flow.note("the configuration replaces an endpoint")
	m.Authorize, m.Token = cmp.Or(o.AuthURL, m.Authorize), cmp.Or(o.TokenURL, m.Token)
	return t.checkEndpoints(ctx, m)
}

// metadataURL is where the configuration says that the metadata is, "" if it does not.
func (t *talk) metadataURL() string {
	if t.server.OAuth == nil {
		return ""
	}
	return t.server.OAuth.MetadataURL
}

// metadata is that of an authorization server which the configuration chose.
func (t *talk) metadata(ctx context.Context, at string) (*Metadata, error) {
	var m Metadata
	switch err := t.fetch(ctx, at, &m); {
	case errors.Is(err, errAbsent):
		return nil, &Violation{ByUser, "RFC 8414 section 3", "there is no authorization-server metadata at " + mask.URL(at)}
	case err != nil:
		return nil, err
	case m.Issuer == "":
		return nil, &Violation{ByIssuer, "RFC 8414 section 2", "there is no issuer in its metadata"}
	}
	return &m, t.checkEndpoints(ctx, &m)
}

// metadataPlaces are where the metadata of an issuer may be, in the specification's order.
func metadataPlaces(u *url.URL) []string {
	places := []string{wellKnown(u, "oauth-authorization-server"), wellKnown(u, "openid-configuration")}
	if path := strings.TrimSuffix(u.EscapedPath(), "/"); path != "" {
		places = append(places, origin(u)+path+"/.well-known/openid-configuration")
	}
	return places
}

// checkEndpoints checks the endpoints that a browser or a secret is sent to.
func (t *talk) checkEndpoints(ctx context.Context, m *Metadata) error {
	for _, e := range [...]struct {
		name, url string
		must      bool
	}{
		{"authorization_endpoint", m.Authorize, false},
		{"token_endpoint", m.Token, true},
		{"registration_endpoint", m.Register, false},
		{"revocation_endpoint", m.Revoke, false},
	} {
		if e.url == "" && !e.must {
			continue
		}
		by := &Violation{By: ByIssuer, Section: "RFC 8414 section 2"}
		u, err := url.Parse(e.url)
		if err != nil || e.url == "" {
			by.What = fmt.Sprintf("its %s is %q", e.name, text.Clip(mask.URL(e.url), 200))
			return by
		}
		if err := t.checkURL(ctx, u, by); err != nil {
			return err
		}
	}
	return nil
}

// wellKnown puts a name between host and path (RFC 8615, RFC 8414 section 3.1).
func wellKnown(u *url.URL, name string) string {
	at := origin(u) + "/.well-known/" + name + strings.TrimSuffix(u.EscapedPath(), "/")
	if u.RawQuery != "" {
		at += "?" + u.RawQuery
	}
	return at
}

// origin is scheme and host of a URL in lower case, with the port as it is written.
func origin(u *url.URL) string { return strings.ToLower(u.Scheme) + "://" + strings.ToLower(u.Host) }

// legacy is the authorization server of revision 2025-03-26: at the origin of the server, with default endpoints where it
// has no metadata.
func (t *talk) legacy(ctx context.Context) (*Metadata, error) {
	base := origin(t.url)
	var m Metadata
	err := t.fetch(ctx, base+"/.well-known/oauth-authorization-server", &m)
	switch {
	case errors.Is(err, errAbsent):
		t.guess = true
		t.flow.note("no metadata: default endpoints of revision 2025-03-26 at %s", mask.URL(base))
		m = Metadata{Issuer: base, Authorize: base + "/authorize", Token: base + "/token", Register: base + "/register", Challenges: []string{"S256"}}
	case err != nil:
		return nil, err
	case m.Issuer != base && m.Issuer != base+"/":
		return nil, &Violation{ByIssuer, "RFC 8414 section 3.3", fmt.Sprintf("its metadata has the issuer %q, and it was asked as %q", text.Clip(mask.URL(m.Issuer), 200), mask.URL(base))}
	}
	return &m, t.checkEndpoints(ctx, &m)
}
