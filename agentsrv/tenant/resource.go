package tenant

import (
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/serve/ingress"
)

// wellKnown is where protected-resource metadata is, with the path of the resource after it (RFC 9728 section 3.1).
const wellKnown = "/.well-known/oauth-protected-resource"

// metadata is protected-resource metadata (RFC 9728 section 2).
type metadata struct {
	Resource string   `json:"resource"`
	Servers  []string `json:"authorization_servers"`
	Scopes   []string `json:"scopes_supported,omitempty"`
	Methods  []string `json:"bearer_methods_supported"`
	Name     string   `json:"resource_name,omitempty"`
}

// hasIssuer reports whether there is an authorization server to send callers to: the issuer of tokens, if it is a URL.
func (a *Authenticator) hasIssuer() bool { return a.jwt != nil && web(a.jwt.options.Issuer) != nil }

// resource is the URL of the endpoint as tokens are made out to it: the audience, if it is a URL, else the one by which the
// caller reached it.
func (a *Authenticator) resource(r *http.Request) string {
	if web(a.jwt.options.Audience) != nil {
		return a.jwt.options.Audience
	}
	u := &url.URL{Scheme: "http", Host: r.Host, Path: front.Path}
	if r.TLS != nil {
		u.Scheme = "https"
	}
	return u.String()
}

// web is a URL that can identify a resource or an issuer, nil for any other text.
func web(s string) *url.URL {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.Fragment != "" || u.User != nil {
		return nil
	}
	return u
}

// Resource is what refused callers are told; nothing where no authorization server is known.
func (a *Authenticator) Resource(r *http.Request) ingress.Resource {
	if !a.hasIssuer() {
		return ingress.Resource{}
	}
	described := ingress.Resource{Scope: strings.Join(a.jwt.options.Scopes, " ")}
	if u := web(a.resource(r)); u != nil { // whoever sends a Host that is none learns no more
		described.Metadata = u.Scheme + "://" + u.Host + wellKnown + strings.TrimSuffix(u.EscapedPath(), "/")
	}
	return described
}

// Pages are the metadata of the endpoint, by pattern of http.ServeMux, for front.Options.Public: at its path, at that of the
// audience, and at the root. There are none where no authorization server is known.
func (a *Authenticator) Pages(name string) map[string]http.Handler {
	pages := map[string]http.Handler{}
	if !a.hasIssuer() {
		return pages
	}
	page := kit.Page(func(r *http.Request) (int, any) {
		o := a.jwt.options
		return http.StatusOK, metadata{a.resource(r), []string{o.Issuer}, o.Scopes, []string{"header"}, name}
	})
	pages[wellKnown], pages[wellKnown+front.Path] = page, page
	if u := web(a.jwt.options.Audience); u != nil {
		// What means something else in a pattern stands in no address that is worth one.
		if at := strings.TrimSuffix(u.Path, "/"); at == path.Clean("/"+at) && !strings.ContainsAny(at, "{} ") {
			pages[wellKnown+at] = page
		}
	}
	return pages
}
